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
final class VideoSink: AppSink {
  // Unowned: the instance frees this object in finalize, after the connection's threads have been joined.
  nonisolated(unsafe) let element: UnsafeMutablePointer<GstSdlVideoSink>

  let settings = ElementSettings(VideoSinkSettings())
  let counters = Mutex(VideoSinkCounters())
  let runs = SinkRuns<VideoStreamRun>()
  let payloads = PayloadPool<FramePayload>()
  let time: TimeSource

  static let log = LogCategory("sdlvideosink", "SmartDeviceLink video sink")

  init(element: UnsafeMutablePointer<GstSdlVideoSink>, time: TimeSource = .monotonic) {
    self.element = element
    self.time = time
  }

  var baseSink: UnsafeMutablePointer<GstBaseSink> { element.cast() }
  var gstElement: UnsafeMutablePointer<GstElement> { element.cast() }
  var pad: UnsafeMutablePointer<GstPad> { cgst_base_sink_pad(element) }

  var service: StreamService { .video }

  func notifyEncryption() {
    notify(.encryptionState)
  }

  func countApp(_ change: (inout AppCounters) -> Void) {
    // A registration begins the counters of a session, of which late frames from before it are none.
    countLateFrames()
    counters.withLock { change(&$0.app) }
  }

  func countStream(_ change: (inout StreamCounters) -> Void) {
    counters.withLock { change(&$0.stream) }
  }

  /// What differs from GstBaseSink's defaults: raw pictures that are late are dropped before they cost an encoding, and
  /// no time is set aside for processing, because a frame is encoded behind the wait for its time.
  func configureBaseSink() {
    gst_base_sink_set_processing_deadline(baseSink, 0)
    gst_base_sink_set_qos_enabled(baseSink, 1)
    gst_base_sink_set_max_lateness(baseSink, LatenessLimit.raw)
  }

  func checkBeforeStart(_ settings: VideoSinkSettings) throws(ElementError) {
    try settings.encoder.check()
  }

  func makeStream(_ app: AppRun, _ settings: VideoSinkSettings) -> VideoStreamRun {
    VideoStreamRun(sink: self, app: app, settings: settings)
  }

  func keepCounters() {
    countLateFrames()
  }

  func changeParentState(_ transition: GstStateChange) -> GstStateChangeReturn {
    gst_sdl_video_sink_parent_change_state(gstElement, transition)
  }

  /// Counters, connection and time of one moment; a suspension that ends could seem longer than it was otherwise.
  var countersAndLink: (counters: VideoSinkCounters, link: LinkStatistics?, now: Duration) {
    runs.readWithConnection { link in
      let (counters, now) = counters.withLock { ($0, time.now) }
      return (counters, link, now)
    }
  }
}
