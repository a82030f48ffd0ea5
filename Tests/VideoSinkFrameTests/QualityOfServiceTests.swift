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
    let harness = try SinkHarness(caps: EncodedUnit.caps())
    try harness.pipeline.play()
    harness.push(units[1].bytes, flags: units[1].flags)
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    for unit in units[2...] { harness.push(unit.bytes, flags: unit.flags) }
    #expect(eventually { (try? harness.statistics["frames-in"]) == 5 && messages(harness).count == 5 })
    #expect(messages(harness).allSatisfy { $0.processed == 0 } && messages(harness).map(\.dropped) == [1, 2, 3, 4, 5])
  }

  /// The base class would drop late frames of H.264, on which others depend.
  @Test func limitsSetDuringH264AreForRawVideo() throws {
    let units = try encodedUnits(6, keyFrameInterval: 20)
    let harness = try SinkHarness(caps: EncodedUnit.caps(), properties: "keep-alive-interval=0")
    let sink = try harness.pipeline.sink
    try harness.pipeline.play()
    harness.push(units[0].bytes, flags: units[0].flags)
    try harness.headUnit.waitForFrames(1)
    #expect(sink["max-lateness"] == "-1" && sink["qos"] == "false")
    sink.set("max-lateness", "20000000")
    sink.set("qos", "true")
    // The time of the other frames has passed then.
    harness.watch(for: .milliseconds(500))
    for unit in units[1...] { harness.push(unit.bytes, flags: unit.flags) }
    try harness.headUnit.waitForFrames(units.count)
    #expect(sink.statistics["frames-dropped-late"] == 0)
    #expect(sink["max-lateness"] == "-1" && sink["qos"] == "false")
    harness.pipeline.stop()
    #expect(sink["max-lateness"] == "20000000" && sink["qos"] == "true")
  }

  @Test func limitsSetAfterTheLastFrameOfH264Stay() throws {
    let unit = try encodedUnits(1)[0]
    let harness = try SinkHarness(caps: EncodedUnit.caps(), properties: "max-lateness=50000000 qos=false")
    let sink = try harness.pipeline.sink
    for value in ["20000000", "30000000"] {
      try harness.pipeline.play()
      let count = harness.headUnit.record.video.count
      harness.push(unit.bytes, flags: unit.flags)
      try harness.headUnit.waitForFrames(count + 1)
      sink.set("max-lateness", value)
      harness.pipeline.stop()
      #expect(sink["max-lateness"] == value && sink["qos"] == "false")
    }
  }

  /// Frames that the frame rate limit drops are not lost, so there is no QOS message.
  @Test func notForTheFrameRate() throws {
    let harness = try SinkHarness(.small(frameRate: 15), caps: Picture.caps(frameRate: 60), frameRate: 60)
    try harness.start()
    let before = messages(harness).count
    for _ in 0..<40 {
      let arrived = try harness.statistics["frames-in"]
      harness.pushPicture()
      #expect(eventually { (try? harness.statistics["frames-in"]) == arrived + 1 })
    }
    #expect(eventually { (try? harness.statistics["frames-queued"]) == 0 })
    #expect(try harness.statistics["frames-dropped-frame-rate"] >= 25)
    #expect(try harness.statistics["frames-dropped-queue-full"] == 0 && messages(harness).count == before)
  }
}
