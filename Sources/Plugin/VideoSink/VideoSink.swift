import CPluginTypes
import GStreamerKit
import SDLApp
import SDLLink
import Synchronization
import X264Encoder

/// The work behind one `sdlvideosink`: a GstBaseSink that encodes raw video, or takes H.264 as it is, and sends it to
/// a head unit.
///
/// It derives from GstBaseSink and not from GstVideoSink, because H.264 is an equal input: frames of it must never be
/// dropped for lateness, which is what GstVideoSink is made for.
///
/// Locks, outermost first: the pad's stream lock (taken by GStreamer) → the turn → `preparedNotice` → `state` → `touches`, `settings`, `counters`, the
/// connection's own. None of ours is held while calling GStreamer or waiting for anything but `state` itself; the turn,
/// which is no lock, may be.
final class VideoSink: Sendable {
  // Unowned: the instance frees this object in finalize, after the connection's threads have been joined.
  nonisolated(unsafe) let element: UnsafeMutablePointer<GstSdlVideoSink>

  let settings = Mutex(VideoSinkSettings())
  let state = Monitor(VideoSinkState())
  let counters = Mutex(VideoSinkCounters())

  /// A force-key-unit event came, from upstream or from the application, which may be on any thread. Raw video obeys.
  let isKeyFrameRequested = Atomic(false)

  /// The stream has been resumed, and no frame been sent since: the next one must stand alone.
  let isResumed = Atomic(false)

  /// Motion of fingers waits for the next frame.
  let isMotionWaiting = Atomic(false)
  let touches = Monitor(TouchDesk())

  let turn = FrameTurn()
  // Touched only by the thread whose turn it is.
  nonisolated(unsafe) let input = VideoInput()
  // Touched only on the connection thread.
  nonisolated(unsafe) var notice = NoticeSender()
  let preparedNotice = Mutex(PreparedNotice())
  let payloads = FramePayloadPool()

  static let log = LogCategory("sdlvideosink", "SmartDeviceLink video sink")

  init(element: UnsafeMutablePointer<GstSdlVideoSink>) {
    self.element = element
  }

  var baseSink: UnsafeMutablePointer<GstBaseSink> { element.cast() }
  var gstElement: UnsafeMutablePointer<GstElement> { element.cast() }

  func log(
    _ level: GstDebugLevel, _ message: @autoclosure () -> String, file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) {
    Self.log.log(level, element, message(), file: file, function: function, line: line)
  }

  /// Posts an error once per run and makes every following frame fail.
  func fail(
    _ error: ElementError, file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    let (isFirst, connection) = state.withLock { state in
      defer {
        state.isFailing = true
        state.connectionState = .failed
      }
      return (!state.isFailing, state.connection)
    }
    guard isFirst else { return }
    log(GST_LEVEL_ERROR, "\(error.text) \(error.details ?? "")")
    counters.withLock { $0.lastError = error.text }
    // Before any frame fails: upstream answers that with an error of its own, which tells nothing.
    error.post(as: GST_MESSAGE_ERROR, from: gstElement, file: file, function: function, line: line)
    state.withLock { state in
      // Unless the application has stopped, and even started, the element in answer to the message.
      guard state.connection === connection else { return }
      state.hasFailed = true
    }
    state.broadcast()
    VideoSinkProperty.connectionState.notify(element)
    // Nothing more will come of it.
    connection?.stop(grace: Self.farewell)
  }

  /// Posts a warning; the stream goes on.
  func warn(
    _ error: ElementError, file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    log(GST_LEVEL_WARNING, "\(error.text) \(error.details ?? "")")
    error.post(as: GST_MESSAGE_WARNING, from: gstElement, file: file, function: function, line: line)
  }
}
