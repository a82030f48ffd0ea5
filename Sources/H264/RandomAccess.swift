/// Why decoding can begin at a picture (H.264, 3.126: random access).
package enum RandomAccess: Equatable, Sendable {
  /// No later picture depends on one before it.
  case instantaneousRefresh
  /// A recovery point (D.2.8): pictures are right after so many frames of the reference count; 0 for an I picture of an
  /// open group of pictures, more for a refresh that is spread over pictures.
  case recoveryPoint(frameCount: Int)
  /// I slices behind parameter sets, as encoders begin groups of pictures that they do not mark otherwise.
  case intraPicture

  /// How many frames follow before pictures are right.
  package var recoveryFrameCount: Int {
    if case .recoveryPoint(let count) = self { count } else { 0 }
  }

  /// Whether pictures shown before this one may follow it, and depend on those before it.
  package var mayHaveLeadingPictures: Bool { self != .instantaneousRefresh }

  private static let recoveryPointPayload = 6
  /// Real units have some bytes; a recovery point stands at the beginning.
  private static let mostBytesRead = 64

  /// The recovery point in a NAL unit of supplemental enhancement information; nil without one.
  ///
  /// - Parameter unit: from the header byte on; its end may be missing.
  package init?(recoveryPointIn unit: some Collection<UInt8>) {
    // Most units hold something else, and are not copied.
    guard unit.prefix(Self.mostBytesRead).contains(UInt8(Self.recoveryPointPayload)) else { return nil }
    var reader = PayloadBitReader(payload: unit.dropFirst(), maximumByteCount: Self.mostBytesRead)
    guard let count = try? Self.recoveryFrameCount(&reader) else { return nil }
    self = .recoveryPoint(frameCount: count)
  }

  /// Reads messages up to the first recovery point (7.3.2.3.1 and D.1.8); nil without one.
  private static func recoveryFrameCount(
    _ reader: inout PayloadBitReader
  ) throws(SequenceParameterSet.Malformed) -> Int? {
    while true {
      let type = try extendedNumber(&reader)
      let size = try extendedNumber(&reader)
      if type == recoveryPointPayload { return try reader.unsigned("recovery_frame_cnt", in: 0...65535) }
      for _ in 0..<size { _ = try reader.byte() }
    }
  }

  private static func extendedNumber(
    _ reader: inout PayloadBitReader
  ) throws(SequenceParameterSet.Malformed) -> Int {
    var number = 0
    while true {
      let byte = try reader.byte()
      number += Int(byte)
      if byte != 255 { return number }
    }
  }

  /// Whether an I slice begins a picture, by the first byte after the slice's header byte: `first_mb_in_slice` 0, and
  /// `slice_type` 2 or 7 (7.4.3), which together fit into it.
  package static func beginsIntraPicture(_ byte: UInt8) -> Bool {
    byte & 0xF0 == 0b1011_0000 || byte == 0b1000_1000
  }
}
