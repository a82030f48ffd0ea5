import GStreamerKit
import SDLLink
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// A head unit that does not read for four seconds, and encoded video whose frames are numbered by their bytes.
@Suite struct StalledHeadUnitTests {
  /// Twice as long as 30 pictures of 300 kB per second take to fill the sockets' buffers, for which Linux allows some
  /// 20 MB.
  private static let stall = Duration.seconds(4)
  private static let keyFrameInterval = 10
  private static let frameRate = 30

  private static func largeUnits(_ count: Int) throws -> [EncodedUnit] {
    try encodedUnits(count, keyFrameInterval: keyFrameInterval).enumerated().map { index, unit in
      unit.enlarged(by: 300_000 + index)
    }
  }

  private func harness(isLive: Bool) throws -> SinkHarness {
    let harness = try SinkHarness(
      .small(frameRate: nil, maximumBitrate: nil), isLive: isLive, caps: EncodedUnit.caps(), frameRate: Self.frameRate,
      // Repeated pictures have sizes of their own. What is dropped is dropped by the queue: how much would be late
      // depends on how busy the machine is.
      properties: "sync=false keep-alive-interval=0 max-latency=0")
    if isLive { try harness.pipeline["src"].set("block", "false") }
    return harness
  }

  /// By their sizes, which are all different; the first of a stream may have lost what stood before its parameter sets.
  private func indices(_ frames: [[UInt8]], _ units: [EncodedUnit]) -> [Int] {
    frames.map { frame in
      units.firstIndex { abs($0.bytes.count - frame.count) <= 6 && $0.bytes.hasSuffix(frame) } ?? -1
    }
  }

  /// - Parameter longest: nanoseconds for which a frame has waited before, at least.
  private func expectNormalLatency(_ sink: Element, after longest: Int) {
    #expect(eventually { sink.statistics["queue-frames"] == 0 && sink.statistics["queue-bytes"] == 0 })
    #expect(sink.statistics["queue-dwell-last-ns"] < 200_000_000)
    #expect(sink.statistics["queue-dwell-maximum-ns"] > longest)
  }

  @Test func liveSourceDropsWholeGroups() throws {
    let units = try Self.largeUnits(210)
    let harness = try harness(isLive: true)
    let sink = try harness.pipeline.sink
    try harness.pipeline.play()
    // In frames, since a busy machine makes few of them in a time.
    let stall = 30..<30 + Int(Self.stall.components.seconds) * Self.frameRate
    var app: UInt8 = 0
    var largestQueue = 0
    var due = MonotonicClock.now
    for (index, unit) in units.enumerated() {
      harness.push(unit.bytes, flags: unit.flags)
      // Like a camera it makes none while it can't run, so that a busy machine leads to no burst.
      due = max(due, MonotonicClock.now - .seconds(1) / Self.frameRate) + .seconds(1) / Self.frameRate
      while MonotonicClock.now < due { g_usleep(1000) }
      let statistics = sink.statistics
      largestQueue = max(largestQueue, statistics["queue-frames"])
      #expect(statistics["queue-bytes"] <= 3 * 400_000 && statistics.areFramesConserved)
      if index == stall.lowerBound {
        app = try harness.headUnit.waitForApp()
        harness.headUnit.server.setReading(false, for: app)
      }
      if index == stall.upperBound { harness.headUnit.server.setReading(true, for: app) }
    }
    #expect(largestQueue == 3)
    expectNormalLatency(sink, after: 1_000_000_000)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let statistics = sink.statistics
    try harness.headUnit.waitForFrames(statistics["frames-sent"])
    let frames = harness.headUnit.record.video
    let indices = indices(frames, units)
    try #require(!indices.contains(-1))
    #expect(indices == indices.sorted())
    for (former, next) in zip(indices, indices.dropFirst()) where next != former + 1 {
      #expect(!units[next].isDelta, "\(next) after \(former)")
    }
    // It goes on, though a busy machine may drop the end of a group once more.
    #expect(indices.last ?? 0 > units.count - 3 * Self.keyFrameInterval)
    #expect(statistics["frames-dropped-queue-full"] > 0 && statistics["frames-dropped-latency"] == 0, "\(statistics)")
    #expect(statistics.dropped > 15, "\(statistics)")
    #expect(try decode(frames, width: 320, height: 240).count == frames.count)
    // Frames that were in flight when the head unit stalled reach a decoder that has been opened anew since, which
    // can't be avoided; it starts at the next key frame.
    let hasOnlyOldFrames = harness.headUnit.record.violations.allSatisfy {
      switch $0 {
      case .stream(.firstNALUnit), .stream(.pictureBeforeKeyFrame): true
      default: false
      }
    }
    #expect(hasOnlyOldFrames, "\(harness.headUnit.record.violations)")
  }

  @Test func fileLosesNothing() throws {
    let units = try Self.largeUnits(110)
    let harness = try harness(isLive: false)
    let sink = try harness.pipeline.sink
    try harness.pipeline.play()
    for unit in units[..<20] { harness.push(unit.bytes, flags: unit.flags) }
    try harness.headUnit.waitForFrames(10)
    let app = try harness.headUnit.waitForApp()
    harness.headUnit.server.setReading(false, for: app)
    for unit in units[20...] { harness.push(unit.bytes, flags: unit.flags) }
    harness.source.end()
    let end = MonotonicClock.now + Self.stall
    while MonotonicClock.now < end {
      let statistics = sink.statistics
      #expect(statistics["queue-frames"] <= 3 && statistics["queue-bytes"] <= 3 * 400_000)
      #expect(statistics.areFramesConserved && statistics.dropped == 0)
      g_usleep(20_000)
    }
    #expect(sink.statistics["queue-frames"] == 3)
    harness.headUnit.server.setReading(true, for: app)
    try harness.pipeline.waitForEnd()
    let frames = try harness.headUnit.waitForFrames(units.count)
    #expect(indices(frames, units) == Array(units.indices))
    expectNormalLatency(sink, after: 1_000_000_000)
    // The last one counts once its message is written, which is after it has left the queue.
    #expect(eventually { sink.statistics.shown == units.count }, "\(sink.statistics.fields)")
    #expect(sink.statistics.dropped == 0)
  }
}
