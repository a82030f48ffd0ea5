import GStreamerKit
import H264
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// H.264 whose parameter sets come in buffers of their own, as from some hardware encoders.
@Suite struct LooseParameterSetsTests {
  @Test func theyAreNoPictures() throws {
    let units = try encodedUnits(31, keyFrameInterval: 5)
    let harness = try SinkHarness(.small(frameRate: 30), isLive: false, caps: EncodedUnit.caps())
    try harness.pipeline.play()
    for (index, unit) in units.enumerated() {
      if unit.isDelta {
        harness.source.push(unit.bytes, at: index, flags: unit.flags)
      } else {
        harness.source.push(nalUnits(unit, ofParameters: true), at: index, flags: GST_BUFFER_FLAG_HEADER)
        harness.source.push(nalUnits(unit, ofParameters: false), at: index)
      }
    }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let record = harness.headUnit.record
    #expect(record.video.count == 31 && record.violations == [])
    #expect(record.video.allSatisfy { !isKeyFrame($0) || $0.startsStream })
    #expect(try decode(record.video, width: 320, height: 240).count == 31)
    #expect(harness.pipeline.drain().allSatisfy { $0.warning == nil })
    let statistics = try harness.statistics
    #expect(statistics["frames-sent"] == 31 && statistics["frames-dropped-no-picture"] == 7)
    #expect(statistics.areFramesConserved)
  }

  /// The parameter sets of a unit, or all else.
  private func nalUnits(_ unit: EncodedUnit, ofParameters: Bool) -> [UInt8] {
    unit.bytes.withUnsafeBytes { bytes in
      AnnexB(bytes).filter { [.sequenceParameterSet, .pictureParameterSet].contains($0.type) == ofParameters }
        .flatMap { [0, 0, 0, 1] + bytes[$0.range] }
    }
  }
}
