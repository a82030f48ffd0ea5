import CGStreamerApp
import GStreamerKit
import SDLApp
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The way of payloads into the connection's queue, and what is remembered of it.
@Suite struct FrameOutputTests {
  private static let pause = Duration.seconds(1)

  private let bench: FrameBench
  private var output: FrameOutput { bench.output }
  private let grant: VideoGrant

  init() throws {
    bench = try FrameBench()
    grant = bench.grant(1)
    try bench.setGrant(grant)
  }

  private func isQueued(_ outcome: FrameOutcome) -> Bool {
    if case .queued = outcome { true } else { false }
  }

  /// Why a frame was dropped.
  private func reason(_ outcome: FrameOutcome) -> FrameDropReason? {
    if case .dropped(let reason, GST_FLOW_OK) = outcome { reason } else { nil }
  }

  @Test func aServiceBeginsWithAKeyFrameAndSoDoesAFrameAfterAPause() throws {
    #expect(output.needsKeyFrame && output.lastSent(in: grant) == nil)
    #expect(output.begin(grant, longestPause: Self.pause))
    #expect(output.isFirstOfService && !output.isShowing(grant))
    #expect(bench.queue(for: grant) == nil)
    let sent = bench.clock.now
    #expect(!output.needsKeyFrame && !output.isFirstOfService && output.isShowing(grant))
    bench.clock.advance(by: .milliseconds(999))
    #expect(!output.begin(grant, longestPause: Self.pause) && !output.needsKeyFrame)
    #expect(output.lastSent(in: grant) == sent && output.silence(bench.clock.now) == .milliseconds(999))
    bench.clock.advance(by: .milliseconds(1))
    // The same service, which goes on.
    #expect(!output.begin(grant, longestPause: Self.pause) && output.needsKeyFrame && !output.isShowing(grant))
    // Another one.
    #expect(bench.queue(for: grant) == nil)
    let next = bench.grant(2)
    #expect(!output.isShowing(next) && output.lastSent(in: next) == nil)
    #expect(output.begin(next, longestPause: Self.pause) && output.needsKeyFrame && output.isFirstOfService)
    #expect(output.silence(bench.clock.now) == .zero)
  }

  @Test func aResumedServiceGoesOnWithAKeyFrame() throws {
    _ = output.begin(grant, longestPause: Self.pause)
    #expect(bench.queue(for: grant) == nil)
    bench.resumption.raise()
    #expect(!output.isShowing(grant))
    #expect(output.begin(grant, longestPause: Self.pause) && output.needsKeyFrame)
    #expect(bench.queue(for: grant) == nil)
    #expect(!output.begin(grant, longestPause: Self.pause) && !output.needsKeyFrame)
  }

  /// A picture of the notice is no picture of the stream.
  @Test func aNoticeIsNotTheFirstOfAService() throws {
    _ = output.begin(grant, longestPause: Self.pause)
    #expect(output.submitNow(bench.payload(.notice), grant) == nil)
    #expect(output.isFirstOfService && output.needsKeyFrame && bench.takeResults().firstOfService == nil)
    #expect(bench.sink.counters.noticeFramesSent == 1)
  }

  @Test func resultsAreTakenOnce() throws {
    _ = output.begin(grant, longestPause: Self.pause)
    output.setInput(nil, isEncoded: false, .stream(GST_STREAM_ERROR_FORMAT, "The pixels are not square."))
    for seconds in [3, 2, 4] { output.wake(at: .seconds(seconds)) }
    #expect(isQueued(output.submit(bench.payload(.frame), bench.permission(grant), at: .max)))
    let first = bench.takeResults()
    #expect(first.timer == .seconds(2) && first.firstOfService == grant && first.announcements.count == 1)
    #expect(isQueued(output.submit(bench.payload(.frame), bench.permission(grant), at: .max)))
    let second = bench.takeResults()
    #expect(second.timer == nil && second.firstOfService == nil && second.announcements.isEmpty)
  }

  /// The next ones would depend on it; that it was encoded counts all the same.
  @Test func aFrameThatCannotBeQueuedIsFollowedByAKeyFrame() throws {
    _ = output.begin(grant, longestPause: Self.pause)
    #expect(bench.queue(for: grant) == nil && !output.needsKeyFrame)
    try bench.setGrant(nil)
    let payload = bench.payload(.frame)
    payload.encoding = FramePayload.Encoding(time: .milliseconds(3), isForced: true)
    #expect(reason(output.submit(payload, bench.permission(grant), at: .max)) == .notStreaming)
    #expect(output.needsKeyFrame)
    for _ in 0..<2 { _ = bench.takeResults() }
    let counters = bench.sink.counters
    #expect(counters.encodings.count == 1 && counters.keyFramesForced == 1)
    #expect(counters.encodings.maximum == 3_000_000)
    // It is used for the next frame, of which nothing is known.
    #expect(output.takePayload(.frame) === payload)
    let isForgotten = payload.encoding == nil
    #expect(isForgotten && payload.partCount == 0)
  }

  /// Upstream's encoder knows nothing of the last picture, and no picture refers to one of the notice.
  @Test(arguments: [(.repeated, false), (.notice, false), (.repeated, true)] as [(FramePayload.Kind, Bool)])
  func aPictureWithoutAServiceIsFollowedByAKeyFrame(kind: FramePayload.Kind, isInputEncoded: Bool) throws {
    output.setInput(nil, isEncoded: isInputEncoded, nil)
    _ = output.begin(grant, longestPause: Self.pause)
    #expect(bench.queue(for: grant) == nil && !output.needsKeyFrame)
    try bench.setGrant(nil)
    #expect(output.submitNow(bench.payload(kind), grant) == .notStreaming)
    #expect(output.needsKeyFrame == (kind == .repeated && !isInputEncoded))
  }

  @Test func framesThatAreGivenUpLeaveTheQueue() throws {
    for _ in 0..<5 { bench.sink.count { $0.frameArrived() } }
    bench.output.dropQueued(.latency, count: 0)
    bench.output.dropQueued(.latency, count: 3)
    bench.output.dropQueued(.discarded)
    let counters = bench.sink.counters
    #expect(counters.dropped(.latency) == 3 && counters.dropped(.discarded) == 1 && counters.framesQueued == 1)
  }
}

/// The same with a live source.
@Suite struct LiveFrameOutputTests {
  private let bench: FrameBench

  init() throws {
    bench = try FrameBench(isLive: true)
  }

  @Test func aLiveSourceDoesNotWaitForRoom() throws {
    let (output, grant) = (bench.output, bench.grant(1))
    try bench.setGrant(grant)
    _ = output.begin(grant, longestPause: .seconds(1))
    output.observeLink(bench.permission(grant).targets)
    #expect(output.isUpstreamLive && !output.isQueueFull)
    bench.fill(for: grant)
    output.observeLink(bench.permission(grant).targets)
    #expect(output.isQueueFull && !output.needsKeyFrame)
    let outcome = output.submit(bench.payload(.frame), bench.permission(grant), at: .max)
    guard case .dropped(.queueFull, GST_FLOW_OK) = outcome else { throw TestFailure("\(outcome)") }
    #expect(output.needsKeyFrame)
  }

  @Test func onlyWhatAViewerMissesIsALoss() throws {
    let buffer = try nonNull(gst_buffer_new())
    defer { gst_buffer_unref(buffer) }
    buffer.pointee.pts = 5
    for reason in FrameDropReason.allCases {
      bench.output.announceLoss(reason, of: FrameTime(of: buffer))
      let losses = bench.takeResults().announcements.map { announcement -> UInt64 in
        guard case .loss(let time, isLive: true) = announcement else { return 0 }
        return time.presentation
      }
      #expect(losses == (reason.isLossOfQuality ? [5] : []), "\(reason)")
    }
  }
}

/// Times of frames, by the base class.
@Suite struct FrameClockTests {
  private let bench: FrameBench

  init() throws {
    bench = try FrameBench()
  }

  @Test func timesOfTheSegment() throws {
    let sink = bench.sink
    sink.baseSink.pointee.segment.start = 1000
    #expect(sink.runningTime(of: 1005) == 5)
    #expect(sink.runningTime(of: 1000 + latestRunningTime) == latestRunningTime)
    #expect(sink.runningTime(of: 1001 + latestRunningTime) == .max)
    let buffer = try nonNull(gst_buffer_new())
    defer { gst_buffer_unref(buffer) }
    for (time, isOutside) in [(1000, false), (999, true), (.max, false)] as [(GstClockTime, Bool)] {
      buffer.pointee.pts = time
      #expect(InputFrame(buffer, of: sink).isOutOfSegment == isOutside, "\(time)")
    }
    gst_segment_init(&sink.baseSink.pointee.segment, GST_FORMAT_BYTES)
    #expect(sink.runningTime(of: 1005) == .max)
  }

  /// Nothing waits without a clock.
  @Test func offsets() throws {
    gst_base_sink_set_ts_offset(bench.sink.baseSink, 5_000_000)
    gst_base_sink_set_render_delay(bench.sink.baseSink, 2_000_000)
    #expect(bench.sink.renderDelay == .milliseconds(2) && bench.sink.offset == .milliseconds(3))
    #expect(bench.sink.presentTime == .zero && !bench.sink.hasClock && !bench.sink.isSynchronized(0))
  }
}
