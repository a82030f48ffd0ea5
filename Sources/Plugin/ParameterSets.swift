import H264

/// The parameter sets of an H.264 stream, as they came last.
struct ParameterSets {
  static let startCode: [UInt8] = [0, 0, 0, 1]

  /// SPS and PPS, each behind a start code; empty before the first.
  private(set) var bytes: [UInt8] = []

  /// Whether an access unit brings exactly what is kept. Allocates nothing: key frames repeat their parameter sets.
  func match(_ accessUnit: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    for unit in AnnexB(accessUnit) {
      if unit.type.startsSlice { break }
      guard unit.type.isParameterSet else { continue }
      let start = offset + Self.startCode.count
      let end = start + unit.range.count
      guard end <= bytes.count else { return false }
      for (kept, new) in zip(start..<end, unit.range) where bytes[kept] != accessUnit[new] { return false }
      offset = end
    }
    return offset == bytes.count
  }

  /// Keeps those in front of the picture of an access unit.
  mutating func keep(from accessUnit: UnsafeRawBufferPointer) {
    bytes.removeAll(keepingCapacity: true)
    for unit in AnnexB(accessUnit) {
      if unit.type.startsSlice { return }
      guard unit.type.isParameterSet else { continue }
      bytes += Self.startCode
      bytes.append(contentsOf: accessUnit[unit.range])
    }
  }
}

extension NALUnitType {
  fileprivate var isParameterSet: Bool { self == .sequenceParameterSet || self == .pictureParameterSet }
}
