import CPluginTypes
import GStreamerKit
import SDLApp
import SDLLink
import Synchronization

/// The work behind one `sdlaudiosink`: a GstBaseSink that sends sound to a head unit, at the pace of the pipeline's clock.
///
/// It keeps what lives as long as the element (settings, counters) and what lives as long as a state (``SinkRuns``).
///
/// It derives from GstBaseSink and not from GstAudioBaseSink, which is made for devices with a clock and a ring buffer of their
/// own: a head unit has neither, and plays what comes.
///
/// Locks, outermost first: the pad's stream lock and the preroll lock (taken by GStreamer) → the sample path
/// (``ExclusiveAccess``, no lock) → `runs` → the app's state → the stream's state → those of notifications, `settings`,
/// `counters`, the connection. None of ours is held while calling GStreamer or waiting.
final class AudioSink: AppSink {
  // Unowned: the instance frees this object in finalize, after the connection's threads have been joined.
  nonisolated(unsafe) let element: UnsafeMutablePointer<GstSdlAudioSink>

  let settings = ElementSettings(AudioSinkSettings())
  let counters = Mutex(AudioSinkCounters())
  let runs = SinkRuns<AudioStreamRun>()
  let payloads = PayloadPool<SamplePayload>()
  let time: TimeSource

  static let log = LogCategory("sdlaudiosink", "SmartDeviceLink audio sink")

  init(element: UnsafeMutablePointer<GstSdlAudioSink>, time: TimeSource = .monotonic) {
    self.element = element
    self.time = time
  }

  var baseSink: UnsafeMutablePointer<GstBaseSink> { element.cast() }
  var gstElement: UnsafeMutablePointer<GstElement> { element.cast() }
  var pad: UnsafeMutablePointer<GstPad> { cgst_base_sink_pad(element) }

  var service: StreamService { .audio }

  /// Sound is not encrypted.
  func notifyEncryption() {}

  func countApp(_ change: (inout AppCounters) -> Void) {
    counters.withLock { change(&$0.app) }
  }

  func countStream(_ change: (inout StreamCounters) -> Void) {
    counters.withLock { change(&$0.stream) }
  }

  /// What differs from GstBaseSink's defaults: no time is set aside for processing, and sound leaves before its time.
  func configureBaseSink() {
    gst_base_sink_set_processing_deadline(baseSink, 0)
    applyLeadTime()
  }

  /// The property `lead-time` has changed: GStreamer's own way to begin earlier, of which the pipeline's latency takes account.
  func applyLeadTime() {
    gst_base_sink_set_render_delay(baseSink, GstClockTime(settings.withLock { $0.lead }.nanoseconds))
  }

  func checkBeforeStart(_ settings: AudioSinkSettings) throws(ElementError) {}

  func makeStream(_ app: AppRun, _ settings: AudioSinkSettings) -> AudioStreamRun {
    AudioStreamRun(sink: self, app: app, settings: settings)
  }

  func keepCounters() {}

  func changeParentState(_ transition: GstStateChange) -> GstStateChangeReturn {
    gst_sdl_audio_sink_parent_change_state(gstElement, transition)
  }
}
