import GStreamerKit
import SDLApp
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// QOS messages report each dropped frame to the application.
@Suite struct QualityOfServiceTests {
  private func messages(_ harness: SinkHarness) -> [(processed: UInt64, dropped: UInt64)] {
    harness.pipeline.drain().compactMap { message in
      guard case .qualityOfService(let format, let processed, let dropped) = message.kind, message.source == "sink"
      else { return nil }
      #expect(format == GST_FORMAT_BUFFERS)
      return (processed, dropped)
    }
  }

  @Test func suspendedFrames() throws {
    let harness = try SinkHarness()
    try harness.start()
    try harness.deliver(3)
    let before = messages(harness).count
    try harness.setAppState(.background)
    try harness.wait(forStreamState: "suspended")
    harness.pushPictures(4)
    #expect(eventually { (try? harness.statistics["frames-dropped-suspended"]) == 4 })
    #expect(eventually { messages(harness).count == before + 4 })
    let own = messages(harness).suffix(4)
    #expect(own.map(\.processed) == [3, 3, 3, 3])
    // Among them the GAP buffer that carried the caps, and frames from before the stream.
    let dropped = try UInt64(harness.statistics.dropped)
    #expect(own.map(\.dropped) == [dropped - 3, dropped - 2, dropped - 1, dropped])
  }

  @Test func encodedFramesBeforeAKeyFrame() throws {
    let units = try encodedUnits(6, keyFrameInterval: 20)
    let harness = try SinkHarness(.small(activation: nil), caps: EncodedUnit.caps())
    try harness.pipeline.play()
    harness.push(units[1].bytes, flags: units[1].flags)
    #expect(eventually { (try? harness.statistics["frames-in"]) == 1 })
    try harness.pipeline.waitForElementMessage("sdl-connected")
    try harness.show(.full)
    try harness.wait(forStreamState: "suspended")
    for unit in units[2...] { harness.push(unit.bytes, flags: unit.flags) }
    #expect(eventually { (try? harness.statistics["frames-in"]) == 5 && messages(harness).count == 5 })
    #expect(messages(harness).allSatisfy { $0.processed == 0 } && messages(harness).map(\.dropped) == [1, 2, 3, 4, 5])
  }

  /// Whatever format comes, whatever the driver does, and however late frames are.
  @Test(arguments: [true, false]) func theUsersPropertiesStay(isRaw: Bool) throws {
    let names = ["max-lateness", "qos", "ts-offset", "sync", "async", "render-delay", "processing-deadline"]
    let units = isRaw ? [] : try encodedUnits(8, keyFrameInterval: 4)
    let harness = try SinkHarness(
      isLive: false, isPlayer: false, caps: isRaw ? Picture.caps() : EncodedUnit.caps(),
      properties: "keep-alive-interval=0 max-lateness=5000000000 ts-offset=5000000 render-delay=1000000")
    let sink = try harness.pipeline.sink
    let before = names.map { sink[$0] }
    func push(_ range: Range<Int>) {
      for index in range {
        if isRaw { harness.pushPicture() } else { harness.push(units[index].bytes, flags: units[index].flags) }
      }
    }
    try harness.start()
    push(0..<1)
    try harness.headUnit.waitForFrames(1)
    try harness.show(.background)
    try harness.wait(forStreamState: "stopped")
    push(1..<4)
    #expect(eventually { (try? harness.statistics["frames-dropped-suspended"]) == 3 })
    try harness.show(.full)
    try harness.wait(forStreamState: "streaming")
    push(4..<8)
    // Among them the GAP buffer that carried the caps.
    #expect(eventually { (try? harness.statistics["frames-in"]) == 9 })
    #expect(names.map { sink[$0] } == before)
    harness.pipeline.stop()
    #expect(names.map { sink[$0] } == before)
  }

  /// A raw picture is better left out than encoded after its time; one in a second is shown nevertheless.
  @Test func lateRawPictures() throws {
    let harness = try SinkHarness(isLive: false, properties: "keep-alive-interval=0")
    try harness.start()
    harness.watch(for: .milliseconds(600))
    let before = messages(harness).count
    for _ in 0..<4 { harness.source.push(Picture(320, 240, 0).bytes, at: 1) }
    #expect(eventually { (try? harness.statistics["frames-in"]) == 5 })
    let late = try harness.statistics["frames-dropped-late"]
    #expect(late >= 3)
    #expect(eventually { messages(harness).count == before + late })
    #expect(try harness.statistics.areFramesConserved)
  }

  /// Frames that the frame rate limit drops are not lost, so there is no QOS message.
  @Test func notForTheFrameRate() throws {
    let harness = try SinkHarness(.small(frameRate: 15), caps: Picture.caps(frameRate: 60), frameRate: 60)
    try harness.start()
    let before = messages(harness).count
    for _ in 0..<40 {
      let arrived = try harness.statistics["frames-in"]
      harness.pushPicture()
      // The buffer that carried the caps may be counted meanwhile.
      #expect(eventually { (try? harness.statistics["frames-in"]) ?? 0 > arrived })
    }
    #expect(eventually { (try? harness.statistics["frames-queued"]) == 0 })
    #expect(try harness.statistics["frames-dropped-frame-rate"] >= 25)
    #expect(try harness.statistics["frames-dropped-queue-full"] == 0 && messages(harness).count == before)
  }
}
