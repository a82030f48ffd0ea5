import H264

@testable import Plugin

/// NAL units of an access unit, without start codes.
func nalUnits(_ unit: [UInt8]) -> [[UInt8]] {
  unit.withUnsafeBytes { bytes in AnnexB(bytes).map { Array(bytes[$0.range]) } }
}

/// NAL units of an access unit, in order.
func nalTypes(_ unit: [UInt8]) throws -> [NALUnitType] {
  unit.withUnsafeBytes { AnnexB($0).map(\.type) }
}

func isKeyFrame(_ unit: [UInt8]) -> Bool {
  unit.withUnsafeBytes { AccessUnitSummary(scanning: $0).isKeyFrame }
}

/// The first sequence parameter set of an access unit.
func parameterSet(_ unit: [UInt8]) throws -> SequenceParameterSet {
  let range = unit.withUnsafeBytes { bytes in AnnexB(bytes).first { $0.type == .sequenceParameterSet }?.range }
  guard let range else { throw TestFailure("no SPS") }
  return try SequenceParameterSet(nalUnit: unit[range])
}

/// Whether a new decoder can start here: parameter sets, and then an IDR picture.
func startsStream(_ unit: [UInt8]) throws -> Bool {
  let types = try nalTypes(unit).filter { $0 != .accessUnitDelimiter }
  guard let picture = types.firstIndex(of: .idrSlice), let pictureSet = types.firstIndex(of: .pictureParameterSet)
  else { return false }
  return types.first == .sequenceParameterSet && pictureSet < picture
}
