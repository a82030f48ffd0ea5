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

  /// What differs from GstBaseSink's defaults: no time is set aside for processing.
  func configureBaseSink() {
    gst_base_sink_set_processing_deadline(baseSink, 0)
  }

  /// The property `lead-time` has changed, of which the pipeline's latency takes account.
  func leadTimeChanged() {
    post(gst_message_new_latency(gstElement.cast()))
  }

  /// Adds the lead to the answer of the base class, so that live sound is there before its time.
  func addLead(to query: UnsafeMutablePointer<GstQuery>) {
    guard gst_base_sink_get_sync(baseSink) != 0 else { return }
    var (isLive, minimum, maximum): (gboolean, GstClockTime, GstClockTime) = (0, 0, 0)
    gst_query_parse_latency(query, &isLive, &minimum, &maximum)
    let lead = UInt64(settings.withLock { $0.leadTime }) * 1_000_000
    // GST_CLOCK_TIME_NONE, which is the largest number, stays.
    gst_query_set_latency(
      query, isLive, GstClockTime(UInt64(minimum).addingClamped(lead)),
      GstClockTime(UInt64(maximum).addingClamped(lead)))
  }

  /// Buffers are waited for until the lead is left of the time to their first sample.
  ///
  /// - Parameter start: of a buffer, in the present segment; it never gets in front of that.
  func subtractLead(from start: inout GstClockTime) {
    guard start != .max else { return }
    let lead = GstClockTime(settings.withLock { $0.leadTime }) * 1_000_000
    start = min(start, max(start - min(start, lead), GstClockTime(baseSink.pointee.segment.start)))
  }

  func checkBeforeStart(_ settings: AudioSinkSettings) throws(ElementError) {}

  func makeStream(_ app: AppClient, _ settings: AudioSinkSettings) -> AudioStreamRun {
    AudioStreamRun(sink: self, app: app, settings: settings)
  }

  func keepCounters() {}

  func changeParentState(_ transition: GstStateChange) -> GstStateChangeReturn {
    gst_sdl_audio_sink_parent_change_state(gstElement, transition)
  }
}
