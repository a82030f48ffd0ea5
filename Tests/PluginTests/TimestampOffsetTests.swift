import GStreamerKit
import Testing

@testable import Plugin

/// The property `ts-offset` belongs to the application; the sink borrows it.
@Suite struct TimestampOffsetTests {
  /// A file that had to wait for the driver.
  private func heldUp() throws -> SinkHarness {
    let harness = try SinkHarness(
      .small(activation: nil), isLive: false, properties: "ts-offset=5000000 max-lateness=-1")
    try harness.pipeline.play()
    harness.pushPictures(3)
    try harness.pipeline.waitForElementMessage("sdl-connected")
    #expect(eventually { (try? harness.statistics["frames-queued"]) == 1 })
    try harness.headUnit.show(.full)
    try harness.headUnit.waitForFrames(3)
    return harness
  }

  @Test func offsetIsGivenBack() throws {
    let harness = try heldUp()
    let sink = try harness.pipeline.sink
    #expect(Int(sink["ts-offset"] ?? "") ?? 0 > 5_000_000)
    harness.pipeline.stop()
    #expect(sink["ts-offset"] == "5000000")
  }

  @Test func applicationHasTheLastWord() throws {
    let harness = try heldUp()
    let sink = try harness.pipeline.sink
    sink.set("ts-offset", "7000000")
    try harness.deliver(1)
    harness.pipeline.stop()
    #expect(sink["ts-offset"] == "7000000")
  }
}
