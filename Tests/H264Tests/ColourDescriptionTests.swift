import TestSupport
import Testing

@testable import H264

@Suite struct ColourDescriptionTests {
  private static let colours = ColourDescription(
    primaries: 1, transferCharacteristics: 13, matrixCoefficients: 6, isFullRange: true)
  private static let rest: [UInt8] = [0, 0, 0, 1, 0x68, 0xCE, 0x3C, 0x80, 0, 0, 0, 1, 0x65, 0x88, 0x84]

  private func added(to parameterSet: [UInt8]) -> [UInt8]? {
    joined([0, 0, 0, 1], parameterSet, Self.rest).withUnsafeBytes { Self.colours.added(to: $0) }
  }

  @Test(arguments: EncoderSample.all) func encoders(sample: EncoderSample) throws {
    let former = try SequenceParameterSet(nalUnit: sample.bytes)
    guard sample.fullRange == nil, former.usability != nil else {
      #expect(added(to: sample.bytes) == nil)
      return
    }
    let unit = try #require(added(to: sample.bytes))
    let parameterSet = Array(unit.dropFirst(4).dropLast(Self.rest.count))
    #expect(unit == joined([0, 0, 0, 1], parameterSet, Self.rest))
    let set = try SequenceParameterSet(nalUnit: parameterSet)
    #expect(set.colourPrimaries == 1 && set.transferCharacteristics == 13 && set.matrixCoefficients == 6)
    #expect(set.videoFullRange == true)
    // What comes before and after it is the same.
    #expect(set.width == former.width && set.height == former.height)
    #expect(set.numReorderFrames == former.numReorderFrames && set.frameRate == former.frameRate)
    #expect(added(to: parameterSet) == nil)
  }

  @Test(arguments: ["67", "67 42 C0 16", "67 42 C0 16 8C 8D 40 66 18 B1 15"]) func malformed(hex: String) {
    #expect(added(to: [UInt8](hex: hex)) == nil)
  }
}
