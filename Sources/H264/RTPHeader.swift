/// The fixed header of an RTP packet (RFC 3550, 5.1).
package struct RTPHeader: Equatable, Sendable {
  /// Size of the fixed header, without extension and contributing sources.
  package static let byteCount = 12

  /// This packet ends an access unit (RFC 6184, 5.1).
  package var hasMarker: Bool
  /// 0…127; dynamic numbers begin at 96.
  package var payloadType: UInt8
  /// Counts packets, modulo 2¹⁶.
  package var sequenceNumber: UInt16
  /// When to show the picture, in units of 1/90 000 s from an arbitrary start, modulo 2³².
  package var timestamp: UInt32
  /// The sender's number (SSRC).
  package var synchronizationSource: UInt32

  /// Creates a header; of the payload type only seven bits count.
  package init(
    hasMarker: Bool, payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32, synchronizationSource: UInt32
  ) {
    self.hasMarker = hasMarker
    self.payloadType = payloadType & 0x7F
    self.sequenceNumber = sequenceNumber
    self.timestamp = timestamp
    self.synchronizationSource = synchronizationSource
  }

  /// Reads the twelve bytes at `offset`, which the caller has checked to exist; nil for another version than 2.
  init?(decoding bytes: Span<UInt8>, at offset: Int) {
    guard Self.isSupportedVersion(bytes[offset]) else { return nil }
    hasMarker = bytes[offset + 1] & 0x80 != 0
    payloadType = bytes[offset + 1] & 0x7F
    sequenceNumber = UInt16(bytes[offset + 2]) << 8 | UInt16(bytes[offset + 3])
    timestamp = (4..<8).reduce(0) { $0 << 8 | UInt32(bytes[offset + $1]) }
    synchronizationSource = (8..<12).reduce(0) { $0 << 8 | UInt32(bytes[offset + $1]) }
  }

  /// Whether a header of version 2 can begin with this byte.
  static func isSupportedVersion(_ firstByte: UInt8) -> Bool { firstByte >> 6 == 2 }

  /// Writes ``byteCount`` bytes at `offset`: version 2, without padding, extension and contributing sources.
  func write(to destination: UnsafeMutableRawBufferPointer, at offset: Int) {
    destination[offset] = 0x80
    destination[offset + 1] = (hasMarker ? 0x80 : 0) | payloadType
    destination.storeBytes(of: sequenceNumber.bigEndian, toByteOffset: offset + 2, as: UInt16.self)
    destination.storeBytes(of: timestamp.bigEndian, toByteOffset: offset + 4, as: UInt32.self)
    destination.storeBytes(of: synchronizationSource.bigEndian, toByteOffset: offset + 8, as: UInt32.self)
  }
}

/// The NAL unit types that RFC 6184 adds for packets that are not just one NAL unit (table 1).
extension NALUnitType {
  /// STAP-A: several NAL units of one access unit.
  static let singleTimeAggregation = NALUnitType(rawValue: 24)
  /// FU-A: a piece of a NAL unit.
  static let fragmentationUnit = NALUnitType(rawValue: 28)

  /// Whether it is a type of H.264 itself and not one of RFC 6184's packet types.
  var isPlain: Bool { (1...23).contains(rawValue) }
}
