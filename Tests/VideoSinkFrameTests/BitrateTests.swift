import CGStreamerApp
import GStreamerKit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct BitrateTests {
  @Test func changesApplyToTheRunningStream() throws {
    let harness = try SinkHarness()
    try harness.start()
    try harness.deliver(2)
    #expect(try harness.statistics["bitrate-target-kbps"] == 600)
    try harness.pipeline.sink.set("bitrate", "450")
    try harness.deliver(2)
    #expect(try harness.statistics["bitrate-target-kbps"] == 450)
    // The encoder is not restarted: no new parameter sets.
    harness.expectKeyFrames([true, false, false, false])
  }

  @Test func rateBeyondTheLevelNeedsAKeyFrame() throws {
    let harness = try SinkHarness(.small(maximumBitrate: nil))
    try harness.start()
    try harness.deliver(2)
    try harness.pipeline.sink.set("bitrate", "100000")
    try harness.deliver(2)
    #expect(try harness.statistics["bitrate-target-kbps"] == 100_000)
    let frames = harness.headUnit.record.video
    harness.expectKeyFrames([true, false, true, false])
    #expect(try parameterSet(frames[2]).levelIDC > parameterSet(frames[0]).levelIDC)
    #expect(harness.headUnit.record.violations == [])
  }

  @Test func headUnitsLimitHolds() throws {
    let harness = try SinkHarness(.small(maximumBitrate: 300), properties: "sync=false bitrate=5000")
    try harness.start()
    try harness.deliver(2)
    #expect(try harness.statistics["bitrate-target-kbps"] == 200)
    #expect(try harness.pipeline.sink["bitrate"] == "5000")
    try harness.pipeline.sink.set("bitrate", "150")
    try harness.deliver(1)
    #expect(try harness.statistics["bitrate-target-kbps"] == 150)
  }

  /// An encoder upstream is bound to what the sink aims at.
  @Test(arguments: [true, false]) func encodersFollowTheTarget(isLive: Bool) throws {
    let harness = try SinkHarness(.small(maximumBitrate: 300), isLive: isLive)
    let sink = try harness.pipeline.sink
    let encoder = try Element("x264enc")
    sink.bind("target-bitrate", to: encoder, "bitrate")
    #expect(encoder["bitrate"] == "600")
    try harness.start()
    try harness.deliver(2)
    #expect(eventually { encoder["bitrate"] == "200" })
    sink.set("bitrate", "150")
    #expect(
      eventually {
        harness.pushPicture()
        return encoder["bitrate"] == "150"
      })
    #expect(sink["target-bitrate"] == "150")
  }

  @Test func headUnitsNewLimitHolds() throws {
    let harness = try SinkHarness(.small(maximumBitrate: 500))
    try harness.start()
    try harness.deliver(1)
    #expect(try harness.statistics["bitrate-target-kbps"] == 334)
    var update = VideoStreamingCapability()
    update.maxBitrate = 250
    harness.headUnit.server.perform(.update(update))
    #expect(
      eventually {
        harness.pushPicture()
        return (try? harness.statistics["bitrate-target-kbps"]) == 167
      })
  }
}
