import GStreamerKit
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

/// A stream of sound outside of any pipeline: with a connection whose peer reads nothing, and a clock that stands where
/// the test puts it.
final class SampleBench {
  let sink: AudioSink
  let app: AppClient
  let stream: AudioStream
  private let element: Element
  private let clock: UnsafeMutablePointer<GstClock>
  private let peer: Socket
  /// Upstream; it only answers whether it is live.
  private let source: UnsafeMutablePointer<GstPad>

  /// At running time 1 s, with a service and PCM of 16 kHz.
  ///
  /// - Parameters:
  ///   - isLive: whether the sound is live.
  ///   - isFull: whether the kernel takes nothing more.
  ///   - time: the connection's.
  init(isLive: Bool = false, isFull: Bool = false, time: TimeSource = .monotonic) throws {
    element = try Element("sdlaudiosink")
    sink = AudioSink(element.pointer.cast())
    app = try AppClient(AppSettings(), AppMember(sink), ProtocolLog(sink.gstElement), time: time)
    stream = AudioStream(sink: sink, app: app, settings: AudioSinkSettings())
    let made = try nonNull(g_object_new_with_properties(gst_system_clock_get_type(), 0, nil, nil))
    clock = made.cast()
    gst_object_ref_sink(clock)
    let (ours, theirs) = try Socket.pair()
    peer = theirs
    source = try nonNull(gst_pad_new("src", GST_PAD_SRC))
    gst_object_ref_sink(source)
    let filling = [UInt8](repeating: 0, count: 64 << 10)
    while isFull, case .bytes = filling.withUnsafeBytes({ ours.send($0) }) {}
    app.connection.writer.open(ours)
    setTime(.seconds(1))
    gst_element_set_clock(sink.gstElement, clock)
    gst_segment_init(&sink.baseSink.pointee.segment, GST_FORMAT_TIME)
    gst_pad_set_active(sink.pad, 1)
    if isLive { linkLiveSource() }
    try setCaps(PCMFormat())
    stream.play()
    try setGrant(1)
  }

  deinit {
    gst_pad_set_active(sink.pad, 0)
    gst_pad_unlink(source, sink.pad)
    gst_object_unref(source)
    gst_element_set_clock(sink.gstElement, nil)
    gst_object_unref(clock)
    app.connection.writer.close()
    app.end(isQuiet: true)
  }

  private func linkLiveSource() {
    gst_pad_set_query_function_full(
      source,
      { pad, parent, query in
        guard let query, query.pointee.type == GST_QUERY_LATENCY else {
          return gst_pad_query_default(pad, parent, query)
        }
        gst_query_set_latency(query, 1, 0, 0)
        return 1
      }, nil, nil)
    #expect(gst_pad_link(source, sink.pad) == GST_PAD_LINK_OK)
  }

  var counters: AudioSinkCounters { sink.state.withLock { $0.counters } }

  /// The clock's; it never goes back.
  func setTime(_ time: Duration) {
    gst_clock_set_calibration(clock, 0, GstClockTime(time.nanoseconds), 0, 1)
  }

  func setCaps(_ format: PCMFormat) throws {
    let caps = try nonNull(gst_caps_from_string(SoundSource.caps(format)))
    defer { gst_caps_unref(caps) }
    let isTaken = stream.setCaps(caps)
    #expect(isTaken)
  }

  /// The head unit has granted a service, or ended it.
  ///
  /// - Parameter isKnown: whether the stream knows of it, as well as the connection.
  func setGrant(_ epoch: UInt32?, isKnown: Bool = true) throws {
    let grant = epoch.map { epoch in
      AudioGrant(
        media: MediaGrant(service: .audio, epoch: epoch, sessionID: 1, version: 5, maximumPayload: 100_000),
        format: PCMFormat(), isFormatAssumed: false)
    }
    try app.connection.writer.setGrants(
      [ConnectionWriter.GrantChange(medium: .audio, grant: grant?.media)], sending: [], peer: "peer")
    guard isKnown else { return }
    var status = AppSession.Status()
    status.headUnit = HeadUnitInfo(RPCServiceAcknowledgement(), protocolVersion: ProtocolVersion(5))
    status.headUnit?.announcedPCMFormat = PCMFormat()
    status.audio.grant = grant
    status.audio.state = grant == nil ? .stopped : .streaming
    stream.sessionChanged(to: status)
  }

  /// Brings a buffer with so many samples, which is due at a running time.
  func render(_ sampleCount: Int, at time: Duration) throws {
    let bytes = testSound(sampleCount)
    let buffer = try nonNull(gst_buffer_new_memdup(bytes, gsize(bytes.count)))
    defer { gst_buffer_unref(buffer) }
    buffer.pointee.pts = GstClockTime(time.nanoseconds)
    // As the base class calls it.
    cgst_base_sink_preroll_lock(sink.baseSink)
    defer { cgst_base_sink_preroll_unlock(sink.baseSink) }
    #expect(stream.render(buffer) == GST_FLOW_OK)
  }

  /// A flushing seek has ended, after which running time begins anew, at this time of the clock.
  func flush(baseTime: Duration) throws {
    let event = try nonNull(gst_event_new_flush_stop(1))
    defer { gst_event_unref(event) }
    stream.observe(event)
    gst_element_set_base_time(sink.gstElement, GstClockTime(baseTime.nanoseconds))
  }
}
