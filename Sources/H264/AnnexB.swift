/// The NAL units of a byte stream with start codes (H.264, Annex B).
///
/// Bytes in front of the first start code, and start codes with nothing behind them, are skipped. The bytes are
/// borrowed: keep the memory valid while the sequence or an iterator is in use. Nothing is allocated.
public struct AnnexB: Sequence {
  private let bytes: UnsafeRawBufferPointer
  private let endsAtSlice: Bool

  /// The NAL units in `bytes`, usually one access unit.
  public init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    endsAtSlice = false
  }

  /// The NAL units in front of the first slice of an access unit; the picture itself is not read.
  public init(inFrontOfPictureIn accessUnit: UnsafeRawBufferPointer) {
    bytes = accessUnit
    endsAtSlice = true
  }

  /// Starts at the first NAL unit.
  public func makeIterator() -> NALUnits.Iterator {
    let units =
      endsAtSlice
      ? NALUnits(inFrontOfPictureIn: bytes, framing: .startCodes) : NALUnits(bytes, framing: .startCodes)
    return units.makeIterator()
  }
}

/// The search for 00 00 01.
enum StartCode {
  /// The offset behind the next start code at or after `offset`; nil when there is none.
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
      // A zero in the word's last byte needs two bytes behind the word, which the loop's condition grants.
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

  /// The NAL unit that begins at `start`, given where the one behind it begins: the zero bytes at its end belong to
  /// the byte stream (a NAL unit never ends with one).
  static func unitRange(in bytes: UnsafeRawBufferPointer, from start: Int, nextStart: Int?) -> Range<Int> {
    var end = nextStart.map { $0 - 3 } ?? bytes.count
    while end > start, bytes[end - 1] == 0 { end -= 1 }
    return start..<max(start, end)
  }
}
