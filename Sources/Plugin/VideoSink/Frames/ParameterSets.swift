import H264

/// The parameter sets of an H.264 stream, as they came last.
struct ParameterSets {
  static let startCode: [UInt8] = [0, 0, 0, 1]

  /// Each with a start code; all units of a kind in one access unit.
  private var sequence: [UInt8] = []
  private var picture: [UInt8] = []

  /// Everything that a decoder needs in front of a key frame; nil before both kinds have come.
  var bytes: [UInt8]? { isComplete ? sequence + picture : nil }

  var isComplete: Bool { !sequence.isEmpty && !picture.isEmpty }

  /// Takes the parameter sets in front of the picture of an access unit; whether any of them is new. Allocates nothing
  /// for those that are not: key frames repeat their parameter sets.
  mutating func update(from accessUnit: UnsafeRawBufferPointer, framing: NALUnitFraming = .startCodes) -> Bool {
    let isSequenceNew = Self.update(&sequence, .sequenceParameterSet, from: accessUnit, framing)
    let isPictureNew = Self.update(&picture, .pictureParameterSet, from: accessUnit, framing)
    return isSequenceNew || isPictureNew
  }

  private static func update(
    _ kept: inout [UInt8], _ type: NALUnitType, from accessUnit: UnsafeRawBufferPointer, _ framing: NALUnitFraming
  ) -> Bool {
    var offset = 0
    var isNew = false
    for unit in NALUnits(inFrontOfPictureIn: accessUnit, framing: framing) where unit.type == type {
      let end = offset + startCode.count + unit.range.count
      if !isNew, !isKept(kept, offset + startCode.count, accessUnit[unit.range]) {
        isNew = true
        kept.removeSubrange(min(offset, kept.count)...)
      }
      if isNew {
        kept += startCode
        kept.append(contentsOf: accessUnit[unit.range])
      }
      offset = end
    }
    // Units that are not there any more; none at all means that the access unit has nothing to say of this kind.
    if offset > 0, offset < kept.count {
      kept.removeSubrange(offset...)
      isNew = true
    }
    return isNew
  }

  private static func isKept(_ kept: [UInt8], _ start: Int, _ unit: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard start + unit.count <= kept.count else { return false }
    for (index, byte) in unit.enumerated() where kept[start + index] != byte { return false }
    return true
  }

  /// Where the start code of the unit at `offset` begins: it has three or four bytes.
  static func startCodeOffset(before offset: Int, in bytes: UnsafeRawBufferPointer) -> Int {
    let hasFourBytes = offset >= 4 && bytes[offset - 4] == 0
    return max(offset - (hasFourBytes ? 4 : 3), 0)
  }
}
