import CPluginTypes
import GStreamerKit
import SDLApp
import SDLLink
import Synchronization
import X264Encoder

/// The work behind one `sdlvideosink`: a GstBaseSink that encodes raw video, or takes H.264 as it is, and sends it to a
/// head unit.
///
/// It keeps what lives as long as the element (settings, counters) and what lives as long as a state: the app from
/// NULL→READY on, the stream from READY→PAUSED on.
///
/// It derives from GstBaseSink and not from GstVideoSink, which is made for raw video: that drops late frames, but
/// frames of H.264, which depend on each other, must not be dropped.
///
/// Locks, outermost first: the pad's stream lock (taken by GStreamer) → the frame path (``ExclusiveAccess``, no lock) →
/// `runs` → the app's state → the stream's state → those of notifications, touches, haptic rectangles and notice,
/// `settings`, `counters`, the connection. None of ours is held while calling GStreamer or waiting.
final class VideoSink: AppHost {
  /// What lasts as long as a state of the element.
  private struct Runs: Sendable {
    var app: AppRun?
    var stream: StreamRun?
    /// When the last stream ended, and how long that took.
    var streamEnd: (at: Duration, took: Duration)?
  }

  // Unowned: the instance frees this object in finalize, after the connection's threads have been joined.
  nonisolated(unsafe) let element: UnsafeMutablePointer<GstSdlVideoSink>

  let settings = ElementSettings(VideoSinkSettings())
  let counters = Mutex(VideoSinkCounters())
  private let runs = Mutex(Runs())
  let payloads = FramePayloadPool()
  let time: TimeSource

  static let log = LogCategory("sdlvideosink", "SmartDeviceLink video sink")

  init(element: UnsafeMutablePointer<GstSdlVideoSink>, time: TimeSource = .monotonic) {
    self.element = element
    self.time = time
  }

  var baseSink: UnsafeMutablePointer<GstBaseSink> { element.cast() }
  var gstElement: UnsafeMutablePointer<GstElement> { element.cast() }
  var pad: UnsafeMutablePointer<GstPad> { cgst_base_sink_pad(element) }

  /// Nil in NULL.
  var app: AppRun? { runs.withLock { $0.app } }
  /// Nil in NULL and READY.
  var stream: StreamRun? { runs.withLock { $0.stream } }

  func countApp(_ change: (inout AppCounters) -> Void) {
    counters.withLock { change(&$0.app) }
  }

  /// What differs from GstBaseSink's defaults: raw pictures that are late are dropped before they cost an encoding, and
  /// no time is set aside for processing, because a frame is encoded behind the wait for its time.
  func configureBaseSink() {
    gst_base_sink_set_processing_deadline(baseSink, 0)
    gst_base_sink_set_qos_enabled(baseSink, 1)
    gst_base_sink_set_max_lateness(baseSink, LatenessLimit.raw)
  }

  /// Posts an error and makes every following frame fail.
  func fail(_ error: ElementError) {
    guard let app else { return postError(error) }
    app.fail(error, self)
  }
}

/// States: what begins on the way up and ends on the way down.
extension VideoSink {
  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn {
    do {
      switch transition {
      case GST_STATE_CHANGE_NULL_TO_READY:
        postRefusals()
        try beginApp()
      case GST_STATE_CHANGE_READY_TO_PAUSED: try beginStream()
      case GST_STATE_CHANGE_PAUSED_TO_PLAYING: stream?.play()
      // Before the base class deactivates the pad, so that events still reach upstream.
      case GST_STATE_CHANGE_PAUSED_TO_READY:
        stream?.touches.finish()
        app?.setGoingDown(true)
      default: break
      }
    } catch {
      postError(error)
      return GST_STATE_CHANGE_FAILURE
    }
    countLateFrames()
    let result = gst_sdl_video_sink_parent_change_state(gstElement, transition)
    switch transition {
    case GST_STATE_CHANGE_NULL_TO_READY where result == GST_STATE_CHANGE_FAILURE: endApp()
    case GST_STATE_CHANGE_READY_TO_PAUSED where result == GST_STATE_CHANGE_FAILURE: endStream()
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED: stream?.pause()
    case GST_STATE_CHANGE_PAUSED_TO_READY: endStream()
    case GST_STATE_CHANGE_READY_TO_NULL:
      // `set_state` of the whole pipeline to NULL ends the app, whatever its parts do on the way.
      if !isKeptByPlayer || app?.linger() != true { endApp() }
    default: break
    }
    return result
  }

  /// Begins to register the app, unless there is one already that has not failed and was made with the same settings.
  private func beginApp() throws(ElementError) {
    let settings = self.settings.current
    try settings.encoder.check()
    if let app {
      guard !app.stopLingering() || !app.isUsable || app.settings != settings.app else { return }
      endApp()
    }
    let app = try AppRun(settings.app, host: self, time: time)
    runs.withLock { $0.app = app }
    announceHeadUnit(settings.app)
    do {
      try app.start(self)
    } catch {
      runs.withLock { $0.app = nil }
      app.endProgress(GST_PROGRESS_TYPE_ERROR, "The connection could not be started", self)
      app.end(self)
      throw error
    }
  }

  private func announceHeadUnit(_ settings: AppSettings) {
    if settings.uri == nil {
      // As details as well, because gst-launch shows nothing else.
      let hint = "No uri is set, so the built-in head unit is used. For a real one: uri=sdl://HOST:12345"
      ElementError.resource(GST_RESOURCE_ERROR_SETTINGS, hint, details: hint)
        .post(as: GST_MESSAGE_INFO, from: gstElement)
    }
    postProgress(GST_PROGRESS_TYPE_START, "Connecting to \(settings.uri ?? "the built-in head unit")")
  }

  private func beginStream() throws(ElementError) {
    try beginApp()
    guard let app else { return }
    let stream = StreamRun(sink: self, app: app, settings: settings.current)
    runs.withLock { $0.stream = stream }
    app.setGoingDown(false)
    app.repeatUnheard(self)
    stream.begin()
  }

  private func endStream() {
    guard let stream = runs.withLock({ $0.stream.take() }) else { return }
    let began = time.now
    stream.end()
    let now = time.now
    runs.withLock { $0.streamEnd = (now, now - began) }
  }

  func appHasLingered(_ app: AppRun) {
    if self.app === app { endApp() }
  }

  /// Ends the stream and the app, if there are any.
  func endApp() {
    endStream()
    guard let app else { return }
    // Both together are one stop for the application, which waits for it.
    let streamEnd = runs.withLock { $0.streamEnd.take() }
    let isRecent = streamEnd.map { time.now - $0.at < .seconds(1) } ?? false
    app.end(self, after: isRecent ? streamEnd?.took ?? .zero : .zero)
    let bytesSent = app.connection.statistics.sentByteCount
    runs.withLock { runs in
      guard runs.app === app else { return }
      runs.app = nil
      counters.withLock { $0.formerBytesSent &+= bytesSent }
    }
  }

  /// Counters, connection and time of one moment. Read one by one, the bytes of a connection that ends could be missed
  /// or counted twice, and a suspension that ends could seem longer than it was.
  var countersAndLink: (counters: VideoSinkCounters, link: LinkStatistics?, now: Duration) {
    runs.withLock { runs in
      let (counters, now) = counters.withLock { ($0, time.now) }
      return (counters, runs.app?.connection.statistics, now)
    }
  }
}
