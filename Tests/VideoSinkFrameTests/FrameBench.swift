import CGStreamerApp
import GStreamerKit
import Testing

import class TestSupport.ManualClock

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

/// The lower end of a sink's frame path, outside of any pipeline: with a connection whose peer reads nothing by itself,
/// and a clock that stands still.
final class FrameBench {
  private final class Observer: AppConnectionObserver {
    func connection(_ connection: AppConnection, didReport event: ConnectionEvent) {}
  }

  let clock = ManualClock()
  let sink: VideoSink
  let connection: AppConnection
  let output: FrameOutput
  let resumption = AtomicFlag()
  private let element: Element
  private let upstream: UnsafeMutablePointer<GstPad>
  private let peer: Socket
  private let observer = Observer()

  /// - Parameter isLive: whether upstream is.
  init(isLive: Bool = false) throws {
    let clock = clock
    let time = TimeSource { clock.now }
    element = try Element("sdlvideosink")
    sink = VideoSink(element.pointer.cast(), time: time)
    connection = AppConnection(
      configuration: try AppSettings().connection(number: 1, clock: time) { _ in }, observer: observer)
    output = FrameOutput(sink: sink, connection: connection, time: time, resumption: resumption)
    let (ours, theirs) = try Socket.pair()
    peer = theirs
    upstream = try nonNull(gst_pad_new("src", GST_PAD_SRC))
    gst_object_ref_sink(upstream)
    gst_segment_init(&sink.baseSink.pointee.segment, GST_FORMAT_TIME)
    connection.writer.open(ours)
    guard isLive else { return }
    gst_pad_set_query_function_full(
      upstream,
      { pad, parent, query in
        guard let query, query.pointee.type == GST_QUERY_LATENCY else {
          return gst_pad_query_default(pad, parent, query)
        }
        gst_query_set_latency(query, 1, 0, 0)
        return 1
      }, nil, nil)
    #expect(gst_pad_link(upstream, sink.pad) == GST_PAD_LINK_OK)
  }

  deinit {
    connection.writer.close()
    gst_pad_unlink(upstream, sink.pad)
    gst_object_unref(upstream)
  }

  func grant(_ epoch: UInt32) -> VideoGrant {
    VideoGrant(
      media: MediaGrant(service: .video, epoch: epoch, sessionID: 1, version: 5, maximumPayload: 100_000),
      size: VideoSize(320, 240))
  }

  func permission(_ grant: VideoGrant) -> VideoNegotiation.Permission {
    VideoNegotiation.Permission(grant: grant, targets: EncoderTargets(size: grant.size), frameRateLimit: nil)
  }

  /// The head unit has granted a service, or ended it.
  func setGrant(_ grant: VideoGrant?) throws {
    try connection.writer.setGrants(
      [ConnectionWriter.GrantChange(medium: .video, grant: grant?.media)], sending: [], peer: "peer")
  }

  /// Queues a payload of so many bytes; returns why it is not queued.
  func queue(_ byteCount: Int = 10, for grant: VideoGrant) -> FrameDropReason? {
    output.submitNow(payload(.repeated, byteCount), grant)
  }

  /// Queues payloads until there is no room.
  func fill(for grant: VideoGrant) {
    for _ in 0..<20 {
      guard !connection.video.isFull else { return }
      #expect(queue(400_000, for: grant) == nil)
    }
    Issue.record("the queue has no end")
  }

  /// The peer reads all that has been sent.
  func readAll() {
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    while case .bytes = bytes.withUnsafeMutableBytes({ peer.receive(into: $0) }) {}
  }

  func payload(_ kind: FramePayload.Kind, _ byteCount: Int = 10) -> FramePayload {
    let payload = output.takePayload(kind)
    [UInt8](repeating: 0, count: byteCount).withUnsafeBytes { payload.store($0, isKeyFrame: false) }
    return payload
  }

  /// The results so far, which are counted as well.
  func takeResults() -> FrameResults {
    sink.state.withLock { output.takeResults(&$0.counters, now: clock.now) }
  }
}
