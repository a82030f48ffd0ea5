import GStreamerKit
import Testing

@testable import Plugin

/// The property `ts-offset` belongs to the application; the sink borrows it.
@Suite struct HeldTimeTests {
  /// A file that had to wait for the driver.
  private func heldUp() throws -> Drive {
    let drive = try Drive(.small(activation: nil), isLive: false, properties: "ts-offset=5000000 max-lateness=-1")
    try drive.pipeline.play()
    drive.pushPictures(3)
    try drive.pipeline.waitForElementMessage("sdl-connected")
    #expect(eventually { (try? drive.statistics["frames-queued"]) == 1 })
    try drive.headUnit.show(.full)
    try drive.headUnit.waitForFrames(3)
    return drive
  }

  @Test func offsetIsGivenBack() throws {
    let drive = try heldUp()
    let sink = try drive.pipeline.sink
    #expect(Int(sink["ts-offset"] ?? "") ?? 0 > 5_000_000)
    drive.pipeline.stop()
    #expect(sink["ts-offset"] == "5000000")
  }

  @Test func applicationHasTheLastWord() throws {
    let drive = try heldUp()
    let sink = try drive.pipeline.sink
    sink.set("ts-offset", "7000000")
    try drive.deliver(1)
    drive.pipeline.stop()
    #expect(sink["ts-offset"] == "7000000")
  }
}
