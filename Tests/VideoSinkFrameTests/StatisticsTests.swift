import CGStreamerApp
import GStreamerKit
import SDLApp
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLLink

/// `sdl-stats`, in every state and while everything changes.
@Suite struct StatisticsTests {
  private static let fields: Set<String> = [
    "frames-in", "frames-sent", "frames-unchanged", "frames-queued", "frames-dropped-not-streaming",
    "frames-dropped-suspended",
    "frames-dropped-queue-full", "frames-dropped-latency", "frames-dropped-wrong-size",
    "frames-dropped-waiting-for-key-frame", "frames-dropped-frame-rate", "frames-dropped-discarded",
    "frames-dropped-no-picture", "frames-dropped-late", "bitrate-reason", "link-capacity-kbps", "link-delay-ns",
    "frames-repeated", "notice-frames-sent", "frames-encoded", "key-frames-sent", "key-frames-forced",
    "nal-units-left-out", "encode-time-average-ns", "encode-time-maximum-ns", "queue-frames", "queue-bytes",
    "queue-dwell-last-ns",
    "queue-dwell-maximum-ns", "bitrate-target-kbps", "framerate-target", "bitrate-measured-kbps", "bytes-sent",
    "video-bytes-sent",
    "connect-attempts", "connections", "connect-time-ns", "round-trip-ns", "stream-starts", "stream-start-failures",
    "resizes", "touches", "buttons", "navigation-events", "suspensions", "suspended-time-ns", "last-error",
    "session-frames-in",
    "session-frames-sent", "session-frames-unchanged", "session-frames-dropped", "session-video-bytes-sent",
  ]

  /// Counters that never decrease.
  private static let totals = [
    "frames-in", "frames-sent", "frames-unchanged", "frames-dropped-not-streaming", "frames-dropped-suspended",
    "frames-dropped-queue-full", "frames-dropped-latency", "frames-dropped-wrong-size",
    "frames-dropped-waiting-for-key-frame", "frames-dropped-frame-rate", "frames-dropped-discarded",
    "frames-dropped-no-picture", "frames-dropped-late", "frames-repeated", "notice-frames-sent", "frames-encoded",
    "key-frames-sent", "key-frames-forced", "nal-units-left-out", "bytes-sent", "video-bytes-sent", "connect-attempts",
    "connections",
    "stream-starts", "stream-start-failures", "resizes", "suspensions", "suspended-time-ns",
  ]

  private func expectValid(_ statistics: Statistics, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(Set(statistics.fields.keys) == Self.fields, sourceLocation: sourceLocation)
    for field in Self.fields.subtracting(["last-error", "bitrate-reason"]) {
      #expect(statistics[field] >= 0, "\(field)", sourceLocation: sourceLocation)
    }
    #expect(statistics.areFramesConserved, "\(statistics.fields)", sourceLocation: sourceLocation)
  }

  /// A description of a counter that has decreased, or nil.
  private static func firstDecrease(from old: Statistics, to new: Statistics) -> String? {
    totals.first { new[$0] < old[$0] }.map { "\($0): \(old[$0]) → \(new[$0])" }
  }

  @Test func everyFieldInEveryState() throws {
    let harness = try SinkHarness(properties: "sync=false background-notice=false")
    let sink = try harness.pipeline.sink
    var last = sink.statistics
    func expectNoDecrease(sourceLocation: SourceLocation = #_sourceLocation) {
      let statistics = sink.statistics
      expectValid(statistics, sourceLocation: sourceLocation)
      #expect(Self.firstDecrease(from: last, to: statistics) == nil, sourceLocation: sourceLocation)
      last = statistics
    }
    expectNoDecrease()
    for _ in 1...2 {
      for state in [GST_STATE_READY, GST_STATE_PAUSED] {
        harness.pipeline.setState(state)
        expectNoDecrease()
      }
      try harness.start()
      _ = try harness.deliverFirst()
      expectNoDecrease()
      try harness.setAppState(.background)
      try harness.wait(forStreamState: "suspended")
      expectNoDecrease()
      try harness.setAppState(.foreground)
      try harness.wait(forStreamState: "streaming")
      expectNoDecrease()
      try harness.show(.none)
      try harness.wait(forStreamState: "stopped")
      expectNoDecrease()
      try harness.pipeline.reach(GST_STATE_READY)
      expectNoDecrease()
      harness.pipeline.stop()
      expectNoDecrease()
    }
    #expect(last["frames-queued"] == 0 && last["suspensions"] == 4 && last["connections"] == 2)
  }

  private struct Poll: Sendable {
    var isOver = false
    var readCount = 0
    var faults: [String] = []
  }

  @Test(arguments: ["drop", "auto"], [true, false])
  func countersAddUpWhileEverythingChanges(policy: String, isLive: Bool) throws {
    let harness = try SinkHarness(
      .small(frameRate: 60), isLive: isLive, frameRate: 100,
      properties: "sync=false keep-alive-interval=5 suspend-policy=\(policy)")
    nonisolated(unsafe) let sink = try harness.pipeline.sink
    let poll = Monitor(Poll())
    let poller = WorkerThread(name: "poll")
    try poller.start {
      var last = sink.statistics
      while !poll.withLock({ $0.isOver }) {
        let statistics = sink.statistics
        let fault =
          statistics.areFramesConserved ? Self.firstDecrease(from: last, to: statistics) : "\(statistics.fields)"
        poll.withLock { poll in
          poll.readCount += 1
          if let fault { poll.faults.append(fault) }
        }
        last = statistics
      }
    }
    try harness.start()
    let picture = Picture(320, 240, 0).bytes
    // The first has started the stream. A live appsrc of GStreamer 1.26 takes none in PAUSED.
    var count: UInt64 = 1
    for step in 0..<300 {
      if harness.source.push(picture, at: step + 1) == GST_FLOW_OK { count += 1 }
      switch step % 30 {
      case 5: try harness.setAppState(.resigning)
      case 10: try harness.setAppState(.foreground)
      case 15: try harness.show(.background)
      case 20: try harness.show(.full)
      case 22: harness.pipeline.setState(GST_STATE_PAUSED)
      case 24: harness.pipeline.setState(GST_STATE_PLAYING)
      case 27 where step > 200: harness.headUnit.server.perform(.endVideo)
      default: g_usleep(1000)
      }
    }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    poll.withLock { $0.isOver = true }
    poller.join()
    let result = poll.withLock { $0 }
    #expect(result.readCount > 50 && result.faults.isEmpty, "\(result.faults.first ?? "")")
    let statistics = sink.statistics
    #expect(statistics.areFramesConserved && statistics["frames-in"] == count, "\(statistics.fields)")
    harness.pipeline.stop()
    #expect(sink.statistics["frames-queued"] == 0 && harness.headUnit.record.violations == [])
  }

  @Test func framesThatComeTooLate() throws {
    let harness = try SinkHarness(properties: "max-lateness=20000000")
    let sink = try harness.pipeline.sink
    var late = 0
    for round in 1...2 {
      try harness.start()
      _ = try harness.headUnit.wait(for: "stream") { $0.starts.count == round ? true : nil }
      // Their time has passed long ago, since the frames are numbered from the start of the pipeline.
      harness.watch(for: .milliseconds(300))
      let index = harness.headUnit.record.video.count
      for _ in 0..<4 { harness.source.push(Picture(320, 240, 0).bytes, at: 0) }
      #expect(eventually { sink.statistics["frames-in"] == round * 5 })
      #expect(sink.statistics["frames-dropped-late"] >= late + 3)
      late = sink.statistics["frames-dropped-late"]
      #expect(sink.statistics.areFramesConserved && harness.headUnit.record.video.count <= index + 1)
      // GstBaseSink resets its own count of them; the statistics keep it.
      for state in [GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL] {
        harness.pipeline.setState(state)
        #expect(sink.statistics["frames-dropped-late"] == late && sink.statistics["frames-in"] == round * 5)
        #expect(sink.statistics.areFramesConserved)
      }
    }
  }

  @Test func sessionFieldsBeginAnew() throws {
    let harness = try SinkHarness()
    try harness.start()
    try harness.deliver(5)
    #expect(eventually { (try? harness.statistics["session-frames-sent"]) == 5 })
    let first = try harness.statistics
    // The GAP buffer that carried the caps may have come before the registration.
    #expect((5...6).contains(first["session-frames-in"]))
    #expect(first["session-video-bytes-sent"] == first["video-bytes-sent"])
    harness.headUnit.server.perform(.cut)
    try harness.pipeline.waitForElementMessage("sdl-disconnected")
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "reconnected")
    let count = harness.headUnit.record.video.count
    try harness.deliver(2)
    #expect(
      eventually { (try? harness.statistics["session-frames-sent"]) == harness.headUnit.record.video.count - count })
    let second = try harness.statistics
    #expect(second["connections"] == 2 && second["session-frames-in"] == 2 && second["session-frames-dropped"] == 0)
    #expect(second["frames-sent"] == 7 && second["session-video-bytes-sent"] < second["video-bytes-sent"])
    #expect(second["suspensions"] == 1 && second["suspended-time-ns"] > 0)
  }

  @Test func lateFramesBelongToTheSessionInWhichTheyCame() throws {
    let harness = try SinkHarness(properties: "max-lateness=20000000 keep-alive-interval=0")
    try harness.start()
    let sink = try harness.pipeline.sink
    func pushLateFrames(_ count: Int) {
      let before = sink.statistics["frames-in"]
      // Their time has passed long ago, since the frames are numbered from the start of the pipeline.
      for _ in 0..<count { harness.source.push(Picture(320, 240, 0).bytes, at: 0) }
      #expect(eventually { sink.statistics["frames-in"] >= before + count })
    }
    harness.watch(for: .milliseconds(300))
    pushLateFrames(4)
    let first = sink.statistics
    #expect(first["frames-dropped-late"] >= 3)
    #expect(
      first["session-frames-in"] == first["session-frames-sent"] + first["session-frames-unchanged"]
        + first["session-frames-dropped"] + first["frames-queued"], "\(first.fields)")
    #expect(first["session-frames-dropped"] >= first["frames-dropped-late"], "\(first.fields)")
    // The statistics are not read between the late frames and the next registration.
    for _ in 0..<3 { harness.source.push(Picture(320, 240, 0).bytes, at: 0) }
    harness.watch(for: .milliseconds(100))
    harness.headUnit.server.perform(.cut)
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "reconnected")
    let second = sink.statistics
    #expect(second["frames-dropped-late"] >= first["frames-dropped-late"] + 2)
    #expect(second["session-frames-in"] == 0 && second["session-frames-dropped"] == 0, "\(second.fields)")
  }

  @Test func suspendedTime() throws {
    let harness = try SinkHarness()
    try harness.start()
    #expect(try harness.statistics["suspensions"] == 0 && harness.statistics["suspended-time-ns"] == 0)
    for round in 1...2 {
      let before = try harness.statistics["suspended-time-ns"]
      let began = MonotonicClock.now
      try harness.setAppState(.background)
      // The state changes a little before the counters.
      try harness.pipeline.waitForElementMessage("sdl-stream-suspended")
      harness.watch(for: .milliseconds(100))
      // It grows during the suspension.
      #expect(try harness.statistics["suspended-time-ns"] >= before + 100_000_000)
      try harness.setAppState(.foreground)
      try harness.pipeline.waitForElementMessage("sdl-stream-started")
      let most = (MonotonicClock.now - began).nanoseconds
      let statistics = try harness.statistics
      #expect(statistics["suspensions"] == round && statistics["suspended-time-ns"] <= before + most)
      harness.watch(for: .milliseconds(20))
      #expect(try harness.statistics["suspended-time-ns"] == statistics["suspended-time-ns"])
    }
  }

  @Test func measuredBitrate() throws {
    let headUnit = try TestHeadUnit(.small(frameRate: 30))
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true pattern=snow ! \(Picture.caps()) \
      ! sdlvideosink name=sink bitrate=1000 speed-preset=ultrafast uri=\(headUnit.uri)
      """)
    try pipeline.play()
    let sink = try pipeline.sink
    #expect(eventually { sink.statistics["bitrate-measured-kbps"] > 0 })
    let record = headUnit.record
    let began = try #require(record.arrivals.first)
    let end = try #require(record.arrivals.last)
    let actual = record.video.map(\.count).reduce(0, +) * 8 / max((end - began).nanoseconds / 1_000_000, 1)
    let measured = sink.statistics["bitrate-measured-kbps"]
    #expect(measured > actual / 2 && measured < actual * 2, "\(measured) kbit/s, \(actual) at the head unit")
    #expect(sink.statistics["bitrate-target-kbps"] == 1000)
  }
}

/// An application that reads `sdl-stats` all the time.
@Suite struct StatisticsPollTests {
  private struct Poll: Sendable {
    var isOver = false
    var readCount = 0
    var faults: [String] = []
  }

  @Test func countersOnlyGrowAndAddUp() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink sync=false uri=\(headUnit.uri)")
    let poll = Monitor(Poll())
    nonisolated(unsafe) let sink = try pipeline.sink
    let poller = WorkerThread(name: "poll")
    try poller.start {
      var last = 0
      while !poll.withLock({ $0.isOver }) {
        let statistics = sink.statistics
        let sent = statistics["bytes-sent"]
        let isGood = sent >= last && statistics.areFramesConserved
        poll.withLock { poll in
          poll.readCount += 1
          if !isGood { poll.faults.append("\(last) before \(statistics)") }
        }
        last = sent
      }
    }
    for _ in 0..<8 {
      let count = headUnit.record.video.count
      try pipeline.play()
      try headUnit.waitForFrames(count + 2)
      pipeline.stop()
    }
    poll.withLock { $0.isOver = true }
    poller.join()
    let result = poll.withLock { $0 }
    #expect(result.readCount > 8 && result.faults == [])
    #expect(sink.statistics["bytes-sent"] > headUnit.record.video.map(\.count).reduce(0, +))
  }
}

@Suite struct VideoSinkCountersTests {
  private func isConserved(_ counters: VideoSinkCounters) -> Bool {
    let dropped = FrameDropReason.allCases.map(counters.dropped).reduce(0, +)
    return counters.framesIn == counters.framesSent + counters.framesUnchanged + dropped + counters.framesQueued
  }

  @Test func everyFrameIsInOnePlace() {
    var counters = VideoSinkCounters()
    for step in 0..<200 {
      counters.frameArrived()
      #expect(isConserved(counters) && counters.framesQueued == 1)
      if step % 3 == 0 {
        counters.sent(byteCount: 100, isKeyFrame: step % 2 == 0, at: .milliseconds(step))
        counters.frameSent()
      } else if step % 3 == 1 {
        counters.frameUnchanged()
      } else {
        counters.frameDropped(FrameDropReason.allCases[step % FrameDropReason.allCases.count])
      }
      #expect(isConserved(counters) && counters.framesQueued == 0)
    }
    #expect(counters.framesIn == 200 && counters.framesSent == 67 && counters.framesUnchanged == 67)
    #expect(counters.keyFramesSent == 34)
  }

  @Test func everyReasonHasAFieldOfItsOwn() {
    let fields = FrameDropReason.allCases.map(\.field)
    #expect(Set(fields).count == fields.count)
    #expect(fields.allSatisfy { $0.hasPrefix("frames-dropped-") })
  }

  @Test func encodeTimes() {
    var times = EncodeTimes()
    #expect(times.average == 0)
    times.add(.milliseconds(2))
    times.add(.milliseconds(7))
    times.add(.milliseconds(-1))
    #expect(times.count == 3 && times.average == 3_000_000 && times.maximum == 7_000_000)
  }
}
