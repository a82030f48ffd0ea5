import H264
import TestSupport
import Testing
import X264Encoder

extension X264EncoderTests {
  /// When repeating a picture makes it no better any more.
  @Suite struct FinestQuantizer {
    /// A detailed picture at a low bitrate, repeated: coarse at first, then finer, then the same for good.
    @Test(arguments: [1, 3]) func repetitionsReachIt(threads: Int) throws {
      let encoder = try EncoderSettings.test(threads: threads).encoder()
      let planes = try Panorama.grainy[0].planes(at: Panorama.pan(0))
      var units: [AccessUnit] = []
      var isFinest: [Bool] = []
      for step in 0..<220 {
        let unit = try encoder.encode(planes, timestamp: Int64(step), as: step == 0 ? .keyFrame : .repetition)
        units.append(AccessUnit(unit))
        isFinest.append(unit.hasFinestQuantizer)
        #expect(unit.unitCount == AnnexB(unit.bytes).reduce(0) { count, _ in count + 1 })
      }
      let first = try #require(isFinest.firstIndex(of: true))
      #expect(first > 0 && isFinest.suffix(20).allSatisfy { $0 }, "\(isFinest)")
      let decoded = try StreamDecoder.decode(units.flatMap(\.bytes), width: 800, height: 480)
      try #require(decoded.count == units.count)
      let original = Panorama.grainy[0].picture(at: Panorama.pan(0), width: 800, height: 480)
      let quality = [0, first, units.count - 20, units.count - 1].map { Picture.psnr(decoded[$0].luma, original.luma) }
      #expect(quality[2] > quality[0] + 1 && quality[3] < quality[2] + 0.05, "\(quality)")
    }

    @Test func optionSetsIt() throws {
      let encoder = try EncoderSettings.test(options: "qpmin=40").encoder()
      let planes = try Panorama.grainy[0].planes(at: Panorama.pan(0))
      #expect(try encoder.encode(planes, timestamp: 0).hasFinestQuantizer)
    }
  }
}
