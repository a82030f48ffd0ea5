/// How the NAL units of an access unit are told apart.
package enum NALUnitFraming: Equatable, Sendable {
  /// A start code in front of each: a byte stream (H.264, Annex B).
  case startCodes
  /// The length of each in front of it, big-endian, in so many bytes (1…4), as in MP4 files (ISO/IEC 14496-15, 5.3.2).
  case lengths(byteCount: Int)
}

/// The NAL units of an access unit, in either framing.
///
/// The bytes are borrowed: keep the memory valid while the sequence or an iterator is in use. Nothing is allocated. A
/// length that leads out of the bytes ends the sequence: see ``NALUnitLengthError``.
package struct NALUnits: Sequence {
  private let bytes: UnsafeRawBufferPointer
  private let framing: NALUnitFraming
  private let endsAtSlice: Bool

  package init(_ bytes: UnsafeRawBufferPointer, framing: NALUnitFraming) {
    self.bytes = bytes
    self.framing = framing
    endsAtSlice = false
  }

  /// The NAL units in front of the first slice of an access unit; the picture itself is not read.
  package init(inFrontOfPictureIn accessUnit: UnsafeRawBufferPointer, framing: NALUnitFraming) {
    bytes = accessUnit
    self.framing = framing
    endsAtSlice = true
  }

  /// Where the delimiter at the beginning of the access unit ends; nil without one. Nothing after it is read.
  package var delimiterEnd: Int? {
    var cursor = NALUnitCursor(bytes, framing: framing)
    return cursor.advance() == .accessUnitDelimiter ? cursor.range().upperBound : nil
  }

  package func makeIterator() -> Iterator {
    Iterator(cursor: NALUnitCursor(bytes, framing: framing), endsAtSlice: endsAtSlice)
  }

  /// Walks the NAL units in stream order.
  package struct Iterator: IteratorProtocol {
    fileprivate var cursor: NALUnitCursor
    fileprivate let endsAtSlice: Bool

    /// The next NAL unit; nil after the last.
    package mutating func next() -> NALUnit? {
      while let type = cursor.advance() {
        if endsAtSlice, type.startsSlice { return nil }
        let range = cursor.range()
        if !range.isEmpty { return NALUnit(type: type, range: range) }
      }
      return nil
    }
  }
}

/// Steps from one NAL unit to the next, and looks for the end of a unit only on demand: of a large picture in a byte
/// stream only the first bytes are read.
struct NALUnitCursor {
  private let bytes: UnsafeRawBufferPointer
  private let framing: NALUnitFraming
  /// Where the present unit begins; 0 before the first.
  private var start = 0
  /// Where the present unit ends, and in a byte stream where the next one begins; nil until it is asked for.
  private var found: (end: Int, next: Int?)?

  init(_ bytes: UnsafeRawBufferPointer, framing: NALUnitFraming) {
    self.bytes = bytes
    self.framing = framing
  }

  /// Goes to the next unit; its type, or nil after the last.
  mutating func advance() -> NALUnitType? {
    switch framing {
    case .startCodes:
      let next = found.map(\.next) ?? StartCode.end(ofNextIn: bytes, from: start)
      found = nil
      guard let next, next < bytes.count else { return nil }
      start = next
    case .lengths(let byteCount):
      var unit: Range<Int>
      repeat {
        guard let next = LengthPrefix.unitRange(in: bytes, at: found?.end ?? 0, byteCount: byteCount) else {
          return nil
        }
        unit = next
        found = (unit.upperBound, nil)
      } while unit.isEmpty
      start = unit.lowerBound
    }
    return NALUnitType(header: bytes[start])
  }

  /// The present unit, from its header byte, as offsets into the bytes. Empty for a start code with nothing after it.
  mutating func range() -> Range<Int> {
    if let found { return start..<found.end }
    let next = StartCode.end(ofNextIn: bytes, from: start)
    let range = StartCode.unitRange(in: bytes, from: start, nextStart: next)
    found = (range.upperBound, next)
    return range
  }

  /// The rest of the access unit, from the present unit on.
  var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[start...]) }
}

/// An access unit whose lengths do not lead from NAL unit to NAL unit up to its end.
package struct NALUnitLengthError: Error, Equatable, Sendable {
  /// Where the length stands, in bytes from the start of the access unit.
  package let offset: Int
  /// Its value, in bytes; nil when the access unit ends within the length itself.
  package let length: Int?
  /// How many bytes there are after it.
  package let availableByteCount: Int

  /// Follows the lengths of an access unit to its end; zero bytes that fill it up are left alone.
  ///
  /// - Parameter byteCount: of each length, 1…4.
  /// - Throws: for the first length that leads out of the access unit.
  package static func check(
    _ accessUnit: UnsafeRawBufferPointer, lengthByteCount byteCount: Int
  ) throws(NALUnitLengthError) {
    var offset = 0
    while offset < accessUnit.count {
      guard let unit = LengthPrefix.unitRange(in: accessUnit, at: offset, byteCount: byteCount) else {
        if accessUnit[offset...].allSatisfy({ $0 == 0 }) { return }
        let length = LengthPrefix.value(in: accessUnit, at: offset, byteCount: byteCount)
        throw NALUnitLengthError(
          offset: offset, length: length, availableByteCount: max(accessUnit.count - offset - byteCount, 0))
      }
      offset = unit.upperBound
    }
  }
}

/// The lengths in front of NAL units.
enum LengthPrefix {
  /// The length at `offset`; nil when the bytes end before or within it.
  static func value(in bytes: UnsafeRawBufferPointer, at offset: Int, byteCount: Int) -> Int? {
    guard offset >= 0, bytes.count - offset >= byteCount else { return nil }
    var length = 0
    for index in offset..<offset + byteCount { length = length << 8 | Int(bytes[index]) }
    return length
  }

  /// The unit whose length stands at `offset`; nil at the end, and where the length leads out of the bytes.
  static func unitRange(in bytes: UnsafeRawBufferPointer, at offset: Int, byteCount: Int) -> Range<Int>? {
    guard let length = value(in: bytes, at: offset, byteCount: byteCount) else { return nil }
    let start = offset + byteCount
    return length <= bytes.count - start ? start..<start + length : nil
  }
}
