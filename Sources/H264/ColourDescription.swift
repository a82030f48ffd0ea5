/// The colours of a stream, in the code points of ITU-T H.273 (H.264, E.2.1).
package struct ColourDescription: Equatable, Sendable {
  package var primaries: UInt8
  package var transferCharacteristics: UInt8
  package var matrixCoefficients: UInt8
  /// Samples use 0…255 rather than 16…235.
  package var isFullRange: Bool

  package init(primaries: UInt8, transferCharacteristics: UInt8, matrixCoefficients: UInt8, isFullRange: Bool) {
    self.primaries = primaries
    self.transferCharacteristics = transferCharacteristics
    self.matrixCoefficients = matrixCoefficients
    self.isFullRange = isFullRange
  }

  /// An access unit with start codes, whose sequence parameter sets describe the colours. Sets that do so already, and
  /// those without any usability information, stay as they are; nil if all do.
  package func added(to accessUnit: UnsafeRawBufferPointer) -> [UInt8]? {
    func described(_ unit: NALUnit) -> [UInt8]? {
      unit.type == .sequenceParameterSet ? try? added(to: accessUnit[unit.range]) : nil
    }
    let units = AnnexB(accessUnit)
    guard units.contains(where: { described($0) != nil }) else { return nil }
    return units.reduce(into: []) { bytes, unit in
      bytes += described(unit) ?? [0, 0, 0, 1] + accessUnit[unit.range]
    }
  }

  /// The parameter set with a start code; nil if it stays as it is.
  private func added(to parameterSet: some Collection<UInt8>) throws(SequenceParameterSet.Malformed) -> [UInt8]? {
    guard let header = parameterSet.first,
      let position = try SequenceParameterSet(nalUnit: parameterSet).usability?.absentSignalType
    else { return nil }
    var reader = PayloadBitReader(payload: parameterSet.dropFirst(), maximumByteCount: .max)
    var writer = PayloadBitWriter()
    for _ in 0..<position { writer.flag(try reader.flag()) }
    _ = try reader.flag()
    writer.flag(true)  // video_signal_type_present_flag
    writer.bits(5, 3)  // video_format: unspecified
    writer.flag(isFullRange)
    writer.flag(true)  // colour_description_present_flag
    for code in [primaries, transferCharacteristics, matrixCoefficients] { writer.bits(Int(code), 8) }
    // The last bit written is the stop bit.
    var zeros = 0
    while let bit = try? reader.flag() {
      guard bit else {
        zeros += 1
        continue
      }
      writer.bits(0, zeros)
      writer.flag(true)
      zeros = 0
    }
    return writer.nalUnit(header: header)
  }
}
