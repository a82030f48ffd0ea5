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
final class AudioSink: AppSink, BaseSinkElement {
  // Unowned: the instance frees this object in finalize, after the connection's threads have been joined.
  nonisolated(unsafe) let baseSink: UnsafeMutablePointer<GstBaseSink>

  let settings = ElementSettings(AudioSinkSettings())
  let counters = Mutex(AudioSinkCounters())
  let runs = SinkRuns<AudioStreamRun>()
  let payloads = PayloadPool<SamplePayload>()
  let time: TimeSource

  static let log = LogCategory("sdlaudiosink", "SmartDeviceLink audio sink")

  init(_ baseSink: UnsafeMutablePointer<GstBaseSink>, time: TimeSource = .monotonic) {
    self.baseSink = baseSink
    self.time = time
  }

  var service: StreamService { .audio }

  /// Sound is not encrypted.
  func notifyEncryption() {}

  func countApp(_ change: (inout AppCounters) -> Void) {
    counters.withLock { change(&$0.app) }
  }

  func countStream(_ change: (inout StreamCounters) -> Void) {
    counters.withLock { change(&$0.stream) }
  }

  /// The property `lead-time` has changed, of which the pipeline's latency takes account.
  func leadTimeChanged() {
    post(gst_message_new_latency(gstElement.cast()))
  }

  /// Adds the lead to the latency that the base class answers with, so that live sound is there before its time.
  func answerApplication(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    guard answerApplicationByParent(query) else { return false }
    guard query.pointee.type == GST_QUERY_LATENCY, gst_base_sink_get_sync(baseSink) != 0 else { return true }
    var (isLive, minimum, maximum): (gboolean, GstClockTime, GstClockTime) = (0, 0, 0)
    gst_query_parse_latency(query, &isLive, &minimum, &maximum)
    let lead = UInt64(settings.withLock { $0.leadTime }) * 1_000_000
    // GST_CLOCK_TIME_NONE, which is the largest number, stays.
    gst_query_set_latency(
      query, isLive, GstClockTime(UInt64(minimum).addingClamped(lead)),
      GstClockTime(UInt64(maximum).addingClamped(lead)))
    return true
  }

  /// Buffers are waited for until the lead is left of the time to their first sample.
  /// The time never gets in front of the segment.
  func getTimes(of buffer: UnsafeMutablePointer<GstBuffer>, _ start: inout GstClockTime, _ end: inout GstClockTime) {
    getParentTimes(of: buffer, &start, &end)
    guard start != .max else { return }
    let lead = GstClockTime(settings.withLock { $0.leadTime }) * 1_000_000
    start = min(start, max(start - min(start, lead), GstClockTime(baseSink.pointee.segment.start)))
  }

  func checkBeforeStart(_ settings: AudioSinkSettings) throws(ElementError) {}

  func makeStream(_ app: AppClient, _ settings: AudioSinkSettings) -> AudioStreamRun {
    AudioStreamRun(sink: self, app: app, settings: settings)
  }

  func keepCounters() {}
}

/// The type.
extension AudioSink {
  static let type: GType = {
    let type = BaseSinkType.register("GstSdlAudioSink") { sinkClass, _ in
      // Registers the debug categories, which GST_DEBUG help then lists.
      _ = (AudioSink.log, ProtocolLog.category)
      BaseSinkType.install(on: sinkClass, AudioSink.properties, AudioSink.details)
    } initInstance: { instance, _ in
      let sink = AudioSink(BaseSinkType.parent(of: instance))
      // What differs from GstBaseSink's defaults: no time is set aside for processing.
      gst_base_sink_set_processing_deadline(sink.baseSink, 0)
      BaseSinkType.begin(instance, with: sink)
    }
    // Its properties are the interface.
    var streamVolume = GInterfaceInfo()
    g_type_add_interface_static(type, gst_stream_volume_get_type(), &streamVolume)
    return type
  }()

  /// What SDL knows: the rates are those that SDL Core counts for 8KHZ, 16KHZ, 22KHZ and 44KHZ.
  private static let details = ElementDetails(
    "SmartDeviceLink Audio Sink", "Sink/Audio/Network",
    "Plays sound in a car, whose head unit speaks SmartDeviceLink",
    .sink(
      "audio/x-raw, format = (string) { S16LE, U8 }, layout = (string) interleaved, "
        + "rate = (int) { 8000, 16000, 22000, 44000 }, channels = (int) 1"))
}

/// What GstBaseSink asks for; without a stream nothing is heard.
extension AudioSink {
  func willBeFreed() {
    // Its state is NULL; only an app that lingers can be left.
    _ = app?.leave(ObjectIdentifier(self), nil)
  }

  func rejectionReason(of caps: UnsafeMutablePointer<GstCaps>) -> ElementError? { AudioCaps.rejectionReason(of: caps) }

  func setCaps(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool { stream?.setCaps(caps) ?? false }

  func wait(for event: UnsafeMutablePointer<GstEvent>) -> GstFlowReturn {
    stream?.wait(for: event) ?? GST_FLOW_FLUSHING
  }

  func setFlushing(_ isFlushing: Bool) {
    stream?.setFlushing(isFlushing)
  }

  func waitForPreroll() -> Bool { stream?.waitForPreroll() == true }

  func preroll(with buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn { stream?.preroll() ?? GST_FLOW_FLUSHING }

  func render(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    stream?.render(buffer) ?? GST_FLOW_FLUSHING
  }
}
