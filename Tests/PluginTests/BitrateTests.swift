import SDLMessages
import Testing

@testable import Plugin

@Suite struct BitrateTests {
  @Test func changesApplyToTheRunningStream() throws {
    let drive = try Drive()
    try drive.start()
    try drive.deliver(2)
    #expect(try drive.statistics["bitrate-target-kbps"] == 600)
    try drive.pipeline.sink.set("bitrate", "450")
    try drive.deliver(2)
    #expect(try drive.statistics["bitrate-target-kbps"] == 450)
    // The encoder goes on: no new parameter sets.
    #expect(drive.headUnit.record.video.map(isKeyFrame) == [true, false, false, false])
  }

  @Test func rateBeyondTheLevelNeedsAKeyFrame() throws {
    let drive = try Drive(.small(maximumBitrate: nil))
    try drive.start()
    try drive.deliver(2)
    try drive.pipeline.sink.set("bitrate", "100000")
    try drive.deliver(2)
    #expect(try drive.statistics["bitrate-target-kbps"] == 100_000)
    let frames = drive.headUnit.record.video
    #expect(frames.map(isKeyFrame) == [true, false, true, false])
    #expect(try parameterSet(frames[2]).levelIDC > parameterSet(frames[0]).levelIDC)
    #expect(drive.headUnit.record.violations == [])
  }

  @Test func headUnitsLimitHolds() throws {
    let drive = try Drive(.small(maximumBitrate: 300), properties: "sync=false bitrate=5000")
    try drive.start()
    try drive.deliver(2)
    #expect(try drive.statistics["bitrate-target-kbps"] == 300)
    #expect(try drive.pipeline.sink["bitrate"] == "5000")
    try drive.pipeline.sink.set("bitrate", "200")
    try drive.deliver(1)
    #expect(try drive.statistics["bitrate-target-kbps"] == 200)
  }

  @Test func headUnitsNewLimitHolds() throws {
    let drive = try Drive(.small(maximumBitrate: 500))
    try drive.start()
    try drive.deliver(1)
    #expect(try drive.statistics["bitrate-target-kbps"] == 500)
    var update = VideoStreamingCapability()
    update.maxBitrate = 250
    drive.headUnit.server.updateCapability(update, for: try drive.headUnit.waitForApp())
    #expect(
      eventually {
        drive.pushPicture()
        return (try? drive.statistics["bitrate-target-kbps"]) == 250
      })
  }
}
