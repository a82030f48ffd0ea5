import GStreamerKit
import SDLApp
import SDLAppLink
import SDLLink
import Synchronization

/// The work of one `sdlaudiosink`: a GstBaseSink that sends sound to a head unit, at the pace of the pipeline's
/// clock.
///
/// It owns the objects that live as long as the element (settings, counters), or as a state (``SinkRuns``).
///
/// It derives from GstBaseSink and not from GstAudioBaseSink, which is made for devices with a clock and a ring buffer
/// of their own: a head unit has neither, and plays samples as they come.
///
/// Locks, outermost first: the pad's stream lock and the preroll lock (taken by GStreamer) → the sample path
/// (``PathAccess``, no lock) → `runs` → the app's state → `state`, whose lock is also that of the
/// stream's → those of
/// notifications, `settings`, the connection. None of ours is held while calling GStreamer or waiting.
final class AudioSink: AppElement {
  // Unowned: the instance frees this object in finalize, after the connection's threads have been joined.
  nonisolated(unsafe) let baseSink: UnsafeMutablePointer<GstBaseSink>

  let settings = ElementSettings(AudioSinkSettings())
  /// The lock of ``state`` and of the negotiation of each stream.
  let lock = MonitorLock()
  let state: Monitor<SampleState>
  let runs = SinkRuns<AudioStream>()
  let time: TimeSource
  /// The property `lead-time` in milliseconds, which the base class's threads read as well.
  private let leadTime = Atomic(AudioSinkSettings().leadTime)

  static let log = LogCategory("sdlaudiosink", "SmartDeviceLink audio sink")

  init(_ baseSink: UnsafeMutablePointer<GstBaseSink>, time: TimeSource = .monotonic) {
    self.baseSink = baseSink
    self.time = time
    state = Monitor(SampleState(), lock: lock)
  }

  var service: StreamService { .audio }

  func countApp(_ change: (inout AppCounters) -> Void) {
    count { change(&$0.app) }
  }

  func countStream(_ change: (inout StreamCounters) -> Void) {
    count { change(&$0.stream) }
  }

  func count(_ change: (inout AudioSinkCounters) -> Void) {
    state.withLock { change(&$0.counters) }
  }

  /// How long before its time sound leaves.
  var lead: Duration { .milliseconds(Int64(leadTime.load(ordering: .relaxed))) }

  /// The volume has changed.
  func gainChanged() {
    state.withLock { $0.gain = settings.withLock { $0.gain } }
  }

  /// The property `lead-time` has changed, which is part of the pipeline's latency.
  func leadTimeChanged() {
    settings.withLock { leadTime.store($0.leadTime, ordering: .relaxed) }
    post(gst_message_new_latency(gstElement.cast()))
  }

  /// Adds the lead to the base class's latency, so that live sound arrives before its time.
  func answerApplication(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    guard answerApplicationByParent(query) else { return false }
    guard query.pointee.type == GST_QUERY_LATENCY, gst_base_sink_get_sync(baseSink) != 0 else { return true }
    var (isLive, minimum, maximum): (gboolean, GstClockTime, GstClockTime) = (0, 0, 0)
    gst_query_parse_latency(query, &isLive, &minimum, &maximum)
    let lead = UInt64(clamping: lead.nanoseconds)
    // GST_CLOCK_TIME_NONE, which is the largest number, stays.
    gst_query_set_latency(
      query, isLive, GstClockTime(UInt64(minimum).addingClamped(lead)),
      GstClockTime(UInt64(maximum).addingClamped(lead)))
    return true
  }

  /// The base class waits until the lead before a buffer's first sample. The time is never before the segment.
  func getTimes(of buffer: UnsafeMutablePointer<GstBuffer>, _ start: inout GstClockTime, _ end: inout GstClockTime) {
    getParentTimes(of: buffer, &start, &end)
    guard start != .max else { return }
    let lead = GstClockTime(clamping: lead.nanoseconds)
    start = min(start, max(start - min(start, lead), GstClockTime(baseSink.pointee.segment.start)))
  }

  func checkBeforeStart(_ settings: AudioSinkSettings) throws(ElementError) {}

  func areFormatsKnown(_ session: AppSession.Status) -> Bool { session.headUnit != nil }

  func makeStream(_ app: AppClient, _ settings: AudioSinkSettings) -> AudioStream {
    AudioStream(sink: self, app: app, settings: settings)
  }

  func keepCounters() {}
}

extension AudioSink {
  static let type: GType = {
    let type = BaseSinkType.register("GstSdlAudioSink") { sinkClass, _ in
      // Registers the debug categories, which GST_DEBUG help then lists.
      _ = (AudioSink.log, ProtocolLog.category)
      BaseSinkType.install(on: sinkClass, AudioSink.properties, AudioSink.details, ActionSignal.app)
    } initInstance: { instance, _ in
      let sink = AudioSink(BaseSinkType.parent(of: instance))
      // A difference from GstBaseSink's defaults: no time is reserved for processing.
      gst_base_sink_set_processing_deadline(sink.baseSink, 0)
      BaseSinkType.begin(instance, with: sink)
    }
    // Its properties are the interface.
    var streamVolume = GInterfaceInfo()
    g_type_add_interface_static(type, gst_stream_volume_get_type(), &streamVolume)
    return type
  }()

  /// SDL's formats: the rates are SDL Core's for 8KHZ, 16KHZ, 22KHZ and 44KHZ.
  private static let details = ElementDetails(
    "SmartDeviceLink Audio Sink", "Sink/Audio/Network",
    "Plays sound in a car with a SmartDeviceLink head unit",
    .sink(
      "audio/x-raw, format = (string) { S16LE, U8 }, layout = (string) interleaved, "
        + "rate = (int) { 8000, 16000, 22000, 44000 }, channels = (int) 1"))
}

/// GstBaseSink's virtual functions; without a stream they do nothing.
extension AudioSink {
  func rejectionReason(of caps: UnsafeMutablePointer<GstCaps>) -> ElementError? { AudioCaps.rejectionReason(of: caps) }

  func wait(for event: UnsafeMutablePointer<GstEvent>) -> GstFlowReturn {
    stream?.wait(for: event) ?? GST_FLOW_FLUSHING
  }

  func preroll(with buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn { stream?.preroll() ?? GST_FLOW_FLUSHING }

  func render(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    runs.onPad?.render(buffer) ?? GST_FLOW_FLUSHING
  }
}

/// The element messages about the stream.
extension AudioSink {
  /// `sdl-stream-started`: sound is sent from now on.
  func postStreamStarted(_ grant: AudioGrant, reason: String) {
    let message = Structure("sdl-stream-started")
    message.set("reason", reason)
    message.set("format", grant.format.formatName)
    message.set("rate", Int32(clamping: grant.format.samplingRate.hertz))
    message.set("format-assumed", grant.isFormatAssumed)
    message.set("max-frame-payload", UInt64(clamping: grant.maximumPayload))
    message.set("service", StreamService.audio.rawValue)
    message.set("transport", grant.role == .primary ? "primary" : "secondary")
    postElementMessage(message)
  }

  /// `sdl-stream-stopped`: the service has ended.
  func postStreamStopped(_ reason: AudioStopReason) {
    let message = Structure("sdl-stream-stopped")
    message.set("reason", reason.name)
    message.set("samples-sent", state.withLock { $0.counters.samplesSent })
    message.set("service", StreamService.audio.rawValue)
    postElementMessage(message)
  }

  /// The head unit does not announce its audio format.
  func postAssumedFormat(_ format: PCMFormat) {
    let text = "The head unit lists no format for sound: assuming \(format), one channel, which most head units play."
    log(GST_LEVEL_INFO, text)
    ElementError.stream(GST_STREAM_ERROR_FORMAT, text, details: text).post(as: GST_MESSAGE_INFO, from: gstElement)
  }
}

/// The counters: the property `sdl-stats`.
extension AudioSink {
  /// The property `sdl-stats`; valid in every state.
  func statistics() -> Structure {
    let (counters, link, now) = countersAndLink
    let structure = Structure("application/x-sdl-stats")
    structure.set("samples-in", counters.samplesIn)
    structure.set("samples-sent", counters.samplesSent)
    structure.set("samples-queued", counters.samplesQueued)
    for reason in SampleDropReason.allCases {
      structure.set(reason.field, counters.dropped(reason))
    }
    structure.set("silence-samples-sent", counters.silenceSent)
    structure.set("queue-bytes", UInt64(clamping: link?.audio.queuedByteCount ?? 0))
    structure.set("queue-dwell-last-ns", UInt64(clamping: (link?.audio.lastDwellTime ?? .zero).nanoseconds))
    structure.set("queue-dwell-maximum-ns", UInt64(clamping: (link?.audio.longestDwellTime ?? .zero).nanoseconds))
    structure.set("bytes-sent", counters.app.formerBytesSent &+ (link?.sentByteCount ?? 0))
    structure.set("audio-bytes-sent", counters.audioBytesSent)
    counters.app.fill(structure)
    counters.stream.fill(structure, now: now)
    structure.set("last-error", counters.app.lastError ?? "")
    return structure
  }

  /// Counters, connection and time of one moment.
  private var countersAndLink: (counters: AudioSinkCounters, link: LinkStatistics?, now: Duration) {
    runs.readWithConnection { link in
      let (counters, now) = state.withLock { ($0.counters, time.now) }
      return (counters, link, now)
    }
  }
}

/// Caps: the one format that the head unit plays, and the format that upstream sends.
extension AudioSink {
  /// The answer to a CAPS query; nil, which stands for the template, until the head unit is known.
  func caps(filter: UnsafeMutablePointer<GstCaps>?) -> UnsafeMutablePointer<GstCaps>? {
    guard let format = app?.status.pcmFormat else { return nil }
    let caps = format.caps
    guard let filter else { return caps.take() }
    let wanted = Caps(retaining: filter)
    let common = wanted.intersected(with: caps)
    // Upstream may have chosen its first caps before the head unit was known. Transform elements ask about them with a
    // filter, and an empty intersection would end the pipeline. So they pass, and upstream is asked for others when
    // they come.
    guard common.isEmpty, stream != nil, gst_pad_has_current_caps(pad) == 0 else { return common.take() }
    return wanted.intersected(with: Caps.template(of: pad)).take()
  }

  /// Any format of SDL stays acceptable: an error that names the cause helps more than a link that fails.
  func accepts(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    Caps(retaining: caps).isSubset(of: Caps.template(of: pad))
  }
}

/// Why caps that the core is about to refuse can't be used.
enum AudioCaps {
  private static let advice = "put audioconvert ! audioresample before sdlaudiosink"

  /// Nil when they can be used.
  static func rejectionReason(of caps: UnsafeMutablePointer<GstCaps>) -> ElementError? {
    guard let structure = StructureView(caps: caps, 0) else { return nil }
    guard structure.hasName("audio/x-raw") else {
      return .stream(
        GST_STREAM_ERROR_WRONG_TYPE,
        "\(structure.name) can't be played: sdlaudiosink takes raw sound (put decodebin and audioconvert before it).")
    }
    guard PCMFormat(structure) == nil else { return nil }
    let format = structure.string("format") ?? "unknown"
    let (rate, channels) = (structure.integer("rate") ?? 0, structure.integer("channels") ?? 0)
    let layout = structure.string("layout").map { " (\($0))" } ?? ""
    return .stream(
      GST_STREAM_ERROR_FORMAT,
      "Head units play one channel of S16LE or U8 at 8000, 16000, 22000 or 44000 Hz, but the input is \(format) at \(rate) Hz with \(channels) channel(s)\(layout): \(advice)."
    )
  }
}
