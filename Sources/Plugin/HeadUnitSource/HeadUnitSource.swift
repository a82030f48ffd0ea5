import CPluginTypes
import GStreamerKit
import SDLLink
import Synchronization

/// The work behind one `sdlheadunitsrc`: a live GstPushSrc that listens for SDL apps as a head unit does, and pushes the
/// video of the one on the screen.
///
/// One thread (of ``HeadUnitServer``) serves all apps; it puts access units into a queue that the streaming thread takes
/// them from. When the element starts it listens, whether or not it plays, as a head unit is there before its screen is
/// looked at.
///
/// Locks, outermost first: the pad's stream lock (taken by GStreamer) → `state` → `settings`, the server's own. None of
/// ours is held while calling GStreamer or waiting for anything but `state` itself.
final class HeadUnitSource: Sendable {
  // Unowned: the instance frees this object in finalize, after the server's thread has been joined.
  nonisolated(unsafe) let element: UnsafeMutablePointer<GstSdlHeadUnitSrc>

  let settings = Mutex(HeadUnitSourceSettings())
  let state = Monitor(HeadUnitSourceState())
  // Touched only by the streaming thread, and while there is none.
  nonisolated(unsafe) var output = HeadUnitSourceOutput()

  static let log = LogCategory("sdlheadunitsrc", "SmartDeviceLink head unit source")

  init(element: UnsafeMutablePointer<GstSdlHeadUnitSrc>) {
    self.element = element
  }

  var baseSource: UnsafeMutablePointer<GstBaseSrc> { element.cast() }
  var gstElement: UnsafeMutablePointer<GstElement> { element.cast() }

  func log(
    _ level: GstDebugLevel, _ message: @autoclosure () -> String, file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) {
    Self.log.log(level, element, message(), file: file, function: function, line: line)
  }

  /// Posts a warning; the stream goes on.
  func warn(
    _ error: ElementError, file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    log(GST_LEVEL_WARNING, error.text)
    error.post(as: GST_MESSAGE_WARNING, from: gstElement, file: file, function: function, line: line)
  }
}
