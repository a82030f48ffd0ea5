import GStreamerKit
import SDLApp
import SDLHeadUnit
import Testing

@testable import Plugin

/// QOS messages tell the application of each frame that it loses.
@Suite struct QualityOfServiceTests {
  private func messages(_ drive: Drive) -> [(processed: UInt64, dropped: UInt64)] {
    drive.pipeline.drain().compactMap { message in
      guard case .qualityOfService(let format, let processed, let dropped) = message.kind, message.source == "sink"
      else { return nil }
      #expect(format == GST_FORMAT_BUFFERS)
      return (processed, dropped)
    }
  }

  @Test func suspendedFrames() throws {
    let drive = try Drive()
    try drive.start()
    try drive.deliver(3)
    let before = messages(drive).count
    try drive.setAppState(.background)
    try drive.wait(forStreamState: "suspended")
    drive.pushPictures(4)
    #expect(eventually { (try? drive.statistics["frames-dropped-suspended"]) == 4 })
    #expect(eventually { messages(drive).count == before + 4 })
    let own = messages(drive).suffix(4)
    #expect(own.map(\.processed) == [3, 3, 3, 3])
    // The first one is the GAP that has taken the caps there, and whatever came before the stream.
    let dropped = try UInt64(drive.statistics.dropped)
    #expect(own.map(\.dropped) == [dropped - 3, dropped - 2, dropped - 1, dropped])
  }

  @Test func encodedFramesBeforeAKeyFrame() throws {
    let units = try encodedUnits(6, keyFrameInterval: 20)
    let drive = try Drive(caps: EncodedUnit.caps())
    try drive.pipeline.play()
    drive.push(units[1].bytes, flags: units[1].flags)
    try drive.pipeline.waitForElementMessage("sdl-stream-started")
    for unit in units[2...] { drive.push(unit.bytes, flags: unit.flags) }
    #expect(eventually { (try? drive.statistics["frames-in"]) == 5 && messages(drive).count == 5 })
    #expect(messages(drive).allSatisfy { $0.processed == 0 } && messages(drive).map(\.dropped) == [1, 2, 3, 4, 5])
  }

  /// A lower frame rate is what the head unit wishes: nobody misses anything.
  @Test func notForTheFrameRate() throws {
    let drive = try Drive(.small(frameRate: 15), caps: Picture.caps(frameRate: 60), frameRate: 60)
    try drive.start()
    let before = messages(drive).count
    for _ in 0..<40 {
      let arrived = try drive.statistics["frames-in"]
      drive.pushPicture()
      #expect(eventually { (try? drive.statistics["frames-in"]) == arrived + 1 })
    }
    #expect(eventually { (try? drive.statistics["frames-queued"]) == 0 })
    #expect(try drive.statistics["frames-dropped-frame-rate"] >= 25)
    #expect(try drive.statistics["frames-dropped-queue-full"] == 0 && messages(drive).count == before)
  }
}
