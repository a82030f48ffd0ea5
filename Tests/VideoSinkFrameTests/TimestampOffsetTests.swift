import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The sink adds the time that a file has waited while playing to the application's `ts-offset`, and removes it when it
/// stops.
@Suite struct TimestampOffsetTests {
  /// A harness whose file had to wait for the driver.
  private func delayed() throws -> SinkHarness {
    let harness = try SinkHarness(
      isLive: false, properties: "ts-offset=5000000 max-lateness=-1 suspend-policy=block keep-alive-interval=0")
    try harness.pipeline.play()
    try harness.deliver(1)
    try harness.show(.background)
    try harness.wait(forStreamState: "stopped")
    harness.pushPictures(2)
    #expect(eventually { (try? harness.statistics["frames-queued"]) == 1 })
    try harness.headUnit.show(.full)
    try harness.headUnit.waitForFrames(3)
    return harness
  }

  @Test func offsetIsRestored() throws {
    let harness = try delayed()
    let sink = try harness.pipeline.sink
    #expect(Int(sink["ts-offset"] ?? "") ?? 0 > 5_000_000)
    harness.pipeline.stop()
    #expect(sink["ts-offset"] == "5000000")
  }

  @Test func offsetSetByTheApplicationStays() throws {
    let harness = try delayed()
    let sink = try harness.pipeline.sink
    sink.set("ts-offset", "7000000")
    try harness.deliver(1)
    harness.pipeline.stop()
    #expect(sink["ts-offset"] == "7000000")
  }
}
