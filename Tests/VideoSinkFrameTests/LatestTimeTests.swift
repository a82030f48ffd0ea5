import Testing

@testable import PluginTestSupport

/// A time stamp whose running time is centuries away, as GStreamer's own live sources make them while the state
/// changes: a wait for it would spin in GStreamer's clock, and never end.
@Suite struct LatestTimeTests {
  @Test func pictureIsShownAtOnce() throws {
    let harness = try SinkHarness(
      caps: Picture.caps(frameRate: 1), frameRate: 1, properties: "sync=true max-lateness=-1")
    try harness.start()
    harness.source.push(Picture(320, 240, 1).bytes, at: 9_223_372_036)
    try harness.headUnit.waitForFrames(1)
    harness.pipeline.stop()
    #expect(try harness.statistics.areFramesConserved)
  }
}
