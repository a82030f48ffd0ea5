/// The type of a NAL unit: the low five bits of its first byte (H.264, table 7-1).
package struct NALUnitType: RawRepresentable, Hashable, Sendable {
  package var rawValue: UInt8

  /// Creates a type from any number; only 0…31 occur in a stream.
  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The type in a NAL unit's first byte.
  package init(header: UInt8) {
    self.init(rawValue: header & 0x1F)
  }

  package static let nonIDRSlice = NALUnitType(rawValue: 1)
  package static let dataPartitionA = NALUnitType(rawValue: 2)
  package static let dataPartitionB = NALUnitType(rawValue: 3)
  package static let dataPartitionC = NALUnitType(rawValue: 4)
  package static let idrSlice = NALUnitType(rawValue: 5)
  package static let supplementalEnhancementInformation = NALUnitType(rawValue: 6)
  package static let sequenceParameterSet = NALUnitType(rawValue: 7)
  package static let pictureParameterSet = NALUnitType(rawValue: 8)
  package static let accessUnitDelimiter = NALUnitType(rawValue: 9)
  package static let endOfSequence = NALUnitType(rawValue: 10)
  package static let endOfStream = NALUnitType(rawValue: 11)
  package static let fillerData = NALUnitType(rawValue: 12)

  /// Whether RTP can carry a unit of this type: RFC 6184 (5.2) uses the types that H.264 leaves open for aggregates and
  /// fragments.
  var fitsInRTP: Bool { 1...23 ~= rawValue }

  /// Whether a unit of this type starts a slice of the primary picture. Partitions B and C only continue one.
  package var startsSlice: Bool {
    self == .nonIDRSlice || self == .idrSlice || self == .dataPartitionA
  }
}

/// The place of a NAL unit in an Annex B byte stream.
package struct NALUnit: Equatable, Sendable {
  package let type: NALUnitType
  /// Offsets into the scanned bytes, from the NAL unit's first byte; without start code and without the zero bytes
  /// that may follow it. Never empty.
  package let range: Range<Int>
}

/// The NAL units of a byte stream with start codes (H.264, Annex B).
///
/// Bytes in front of the first start code, and start codes with nothing after them, are skipped. The bytes are
/// borrowed: keep the memory valid while the sequence or an iterator is in use. Nothing is allocated.
package struct AnnexB: Sequence {
  private let bytes: UnsafeRawBufferPointer
  private let endsAtSlice: Bool

  /// The NAL units in `bytes`, usually one access unit.
  package init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    endsAtSlice = false
  }

  /// The NAL units in front of the first slice of an access unit; the picture itself is not read.
  package init(inFrontOfPictureIn accessUnit: UnsafeRawBufferPointer) {
    bytes = accessUnit
    endsAtSlice = true
  }

  package func makeIterator() -> NALUnits.Iterator {
    let units =
      endsAtSlice
      ? NALUnits(inFrontOfPictureIn: bytes, framing: .startCodes) : NALUnits(bytes, framing: .startCodes)
    return units.makeIterator()
  }
}

/// The search for 00 00 01.
enum StartCode {
  /// The offset after the next start code at or after `offset`; nil when there is none.
  ///
  /// Looks at eight bytes at once for a zero, because compressed video has few: this runs over every byte that is
  /// streamed.
  static func end(ofNextIn bytes: UnsafeRawBufferPointer, from offset: Int) -> Int? {
    var index = offset
    while index + 10 <= bytes.count {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      // The lowest bit set belongs to the first zero byte; higher ones may be carries.
      let zeros = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
      guard zeros != 0 else {
        index += 8
        continue
      }
      index += zeros.trailingZeroBitCount / 8
      // A zero in the word's last byte needs two bytes after the word, which the loop's condition grants.
      if bytes[index + 1] != 0 {
        index += 2
      } else if bytes[index + 2] == 1 {
        return index + 3
      } else {
        index += bytes[index + 2] == 0 ? 1 : 3
      }
    }
    while index + 3 <= bytes.count {
      if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 { return index + 3 }
      index += 1
    }
    return nil
  }

  /// The NAL unit that begins at `start`, given where the one after it begins: the zero bytes at its end belong to
  /// the byte stream (a NAL unit never ends with one).
  static func unitRange(in bytes: UnsafeRawBufferPointer, from start: Int, nextStart: Int?) -> Range<Int> {
    var end = nextStart.map { $0 - 3 } ?? bytes.count
    while end > start, bytes[end - 1] == 0 { end -= 1 }
    return start..<max(start, end)
  }
}
