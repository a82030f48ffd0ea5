import GStreamerKit
import SDLApp
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// H.264 input: after a suspension nothing can be decoded before a key frame, for which upstream is asked.
@Suite struct SuspendedEncodedTests {
  @Test(arguments: SuspendPolicyTests.Suspender.allCases, [true, false])
  func resumesWithAKeyFrame(suspender: SuspendPolicyTests.Suspender, framesComeMeanwhile: Bool) throws {
    let units = try encodedUnits(20, keyFrameInterval: 10)
    let harness = try SinkHarness(caps: EncodedUnit.caps(), properties: "sync=false keep-alive-interval=0")
    let requests = try countKeyFrameRequests(at: harness.pipeline["src"].pad("src"))
    try harness.pipeline.play()
    harness.push(units[0].bytes, flags: units[0].flags)
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    // The first one may have come before the service.
    harness.push(units[0].bytes, flags: units[0].flags)
    for unit in units[1..<3] { harness.push(unit.bytes, flags: unit.flags) }
    #expect(
      eventually { (try? harness.statistics["frames-in"]) == 4 && (try? harness.statistics["frames-queued"]) == 0 })
    // The head unit discards what is in flight when the driver leaves.
    let before = try harness.headUnit.waitForFrames(harness.statistics["frames-sent"]).count
    try suspender.suspend(harness)
    try harness.wait(forStreamState: suspender.streamState)
    let meanwhile = framesComeMeanwhile ? 3 : 0
    for unit in units[3..<3 + meanwhile] { harness.push(unit.bytes, flags: unit.flags) }
    #expect(eventually { (try? harness.statistics["frames-dropped-suspended"]) == meanwhile })
    let asked = requests.withLock { $0 }
    try suspender.resume(harness)
    try harness.wait(forStreamState: "streaming")
    for unit in units[6..<10] { harness.push(unit.bytes, flags: unit.flags) }
    // One by one, because a live stream does not wait when the queue is full.
    for (count, unit) in units[10...].enumerated() {
      harness.push(unit.bytes, flags: unit.flags)
      try harness.headUnit.waitForFrames(before + count + 1)
    }
    let video = harness.headUnit.record.video
    #expect(video[before].startsStream)
    #expect(video[(before + 1)...] == units[11...].map(\.bytes)[...])
    #expect(requests.withLock { $0 } == asked + 1)
    let statistics = try harness.statistics
    #expect(statistics["frames-dropped-waiting-for-key-frame"] == 4 && statistics.areFramesConserved)
    #expect(harness.headUnit.record.violations == [])
  }

  /// A blocked file has lost nothing, but the head unit may have opened a new decoder.
  @Test func heldFileGoesOn() throws {
    let units = try encodedUnits(12, keyFrameInterval: 4)
    let harness = try SinkHarness(
      isLive: false, caps: EncodedUnit.caps(), properties: "sync=false suspend-policy=block keep-alive-interval=0")
    try harness.pipeline.play()
    for unit in units[..<4] { harness.push(unit.bytes, flags: unit.flags) }
    try harness.headUnit.waitForFrames(4)
    try harness.show(.background)
    try harness.wait(forStreamState: "stopped")
    for unit in units[4...] { harness.push(unit.bytes, flags: unit.flags) }
    #expect(eventually { (try? harness.statistics["frames-queued"]) == 1 })
    try harness.show(.full)
    let video = try harness.headUnit.waitForFrames(12)
    #expect(video[4].startsStream && video[5...] == units[5...].map(\.bytes)[...])
    #expect(try harness.statistics.dropped == 0)
  }
}
