import CGStreamerApp
import GStreamerKit
import H264
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Caps that change in mid-stream.
@Suite struct ChangingInputTests {
  @Test func encodedVideoGoesOnWhenItsCapsTellLessOrMore() throws {
    let units = try encodedUnits(10)
    let harness = try SinkHarness(caps: EncodedUnit.caps())
    try harness.start()
    for (index, unit) in units.enumerated() {
      switch index {
      case 3: harness.source.setCaps("video/x-h264,stream-format=byte-stream,alignment=au")
      case 6: harness.source.setCaps("video/x-h264,stream-format=byte-stream,alignment=au,framerate=30/1")
      case 8: harness.source.setCaps(EncodedUnit.caps() + ",framerate=25/1")
      default: break
      }
      harness.push(unit.bytes, flags: unit.flags)
      try harness.headUnit.waitForFrames(index + 1)
    }
    #expect(eventually { (try? harness.statistics["frames-sent"]) == 10 })
    #expect(harness.headUnit.record.starts.count == 1)
    #expect(harness.headUnit.record.violations == [])
  }

  /// In both directions the first frame is a key frame, although size and service stay the same.
  @Test func kindOfInputChanges() throws {
    let units = try encodedUnits(12, keyFrameInterval: 10)
    let harness = try SinkHarness()
    try harness.start()
    try harness.deliver(3)
    harness.source.setCaps(EncodedUnit.caps())
    for unit in units[7...] { harness.push(unit.bytes, flags: unit.flags) }
    let encoded = try harness.headUnit.waitForFrames(5)[3...]
    #expect(encoded.map(isKeyFrame) == [true, false])
    #expect(try #require(encoded.first).startsStream)
    #expect(try harness.statistics["frames-dropped-waiting-for-key-frame"] == 3)
    harness.source.setCaps(Picture.caps())
    try harness.deliver(2)
    let raw = harness.headUnit.record.video[5...]
    #expect(raw.map(isKeyFrame) == [true, false])
    #expect(try nalTypes(try #require(raw.first)).first == .sequenceParameterSet)
    #expect(harness.headUnit.record.starts.count == 1)
    #expect(harness.headUnit.record.violations == [])
  }
}
