import CGStreamerApp
import GStreamerKit
import H264
import Testing

@testable import Plugin

/// Caps that change in mid-stream.
@Suite struct ChangingInputTests {
  @Test func encodedVideoGoesOnWhenItsCapsTellLessOrMore() throws {
    let units = try encodedUnits(10)
    let drive = try Drive(caps: EncodedUnit.caps())
    try drive.start()
    for (index, unit) in units.enumerated() {
      switch index {
      case 3: drive.source.setCaps("video/x-h264,stream-format=byte-stream,alignment=au")
      case 6: drive.source.setCaps("video/x-h264,stream-format=byte-stream,alignment=au,framerate=30/1")
      case 8: drive.source.setCaps(EncodedUnit.caps() + ",framerate=25/1")
      default: break
      }
      drive.push(unit.bytes, flags: unit.flags)
      try drive.headUnit.waitForFrames(index + 1)
    }
    #expect(eventually { (try? drive.statistics["frames-sent"]) == 10 })
    #expect(drive.headUnit.record.starts.count == 1)
    #expect(drive.headUnit.record.violations == [])
  }

  /// Both ways begin with a frame that stands alone, although size and service stay the same.
  @Test func kindOfInputChanges() throws {
    let units = try encodedUnits(12, keyFrameInterval: 10)
    let drive = try Drive()
    try drive.start()
    try drive.deliver(3)
    drive.source.setCaps(EncodedUnit.caps())
    for unit in units[7...] { drive.push(unit.bytes, flags: unit.flags) }
    let encoded = try drive.headUnit.waitForFrames(5)[3...]
    #expect(encoded.map(isKeyFrame) == [true, false])
    #expect(try nalTypes(try #require(encoded.first)).first == .sequenceParameterSet)
    #expect(try drive.statistics["frames-dropped-waiting-for-key-frame"] == 3)
    drive.source.setCaps(Picture.caps())
    try drive.deliver(2)
    let raw = drive.headUnit.record.video[5...]
    #expect(raw.map(isKeyFrame) == [true, false])
    #expect(try nalTypes(try #require(raw.first)).first == .sequenceParameterSet)
    #expect(drive.headUnit.record.starts.count == 1)
    #expect(drive.headUnit.record.violations == [])
  }
}
