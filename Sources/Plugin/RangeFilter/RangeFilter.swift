import CPluginTypes
import GStreamerKit
import SDLApp
import Synchronization

/// The work behind one `sdlrangefilter`: a GstBaseTransform that never touches a buffer, and prunes caps by what the app
/// supports.
///
/// It is no capsfilter, because orientation, ratio and diagonal fit no caps, and because only the head unit knows the
/// diagonal, and the size on its screen, which the ratio is of. So it asks for those downstream (``CapabilityQuery``).
///
/// Locks, outermost first: the pad's stream lock (taken by GStreamer) → `state` → a child's range. None of ours is held
/// while calling GStreamer.
final class RangeFilter: Sendable {
  // Unowned: the instance frees this object in finalize.
  nonisolated(unsafe) let element: UnsafeMutablePointer<GstSdlRangeFilter>

  let state = Mutex(RangeFilterState())

  static let log = LogCategory("sdlrangefilter", "SmartDeviceLink range filter")

  init(element: UnsafeMutablePointer<GstSdlRangeFilter>) {
    self.element = element
  }

  var transform: UnsafeMutablePointer<GstBaseTransform> { element.cast() }
  var gstElement: UnsafeMutablePointer<GstElement> { element.cast() }

  func log(
    _ level: GstDebugLevel, _ message: @autoclosure () -> String, file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) {
    Self.log.log(level, element, message(), file: file, function: function, line: line)
  }

  func start() {
    postWaitingWarnings()
    state.withLock { $0.restart() }
  }

  func stop() {
    state.withLock { $0.restart() }
  }
}
