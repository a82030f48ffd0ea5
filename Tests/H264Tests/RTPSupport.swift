import H264
import TestSupport

/// The bytes that a sender writes: for each packet its prefix, then its range of the access unit.
func stream(_ packets: RTPPackets, of accessUnit: UnsafeRawBufferPointer) -> [[UInt8]] {
  packets.map { packet in
    withUnsafeTemporaryAllocation(byteCount: RTPPacket.maximumPrefixByteCount, alignment: 1) { prefix in
      let size = packet.writePrefix(to: prefix)
      return Array(prefix[..<size]) + Array(accessUnit[packet.payloadRange])
    }
  }
}

extension RTPPacketizer {
  /// The packets of an access unit, each with its length in front.
  mutating func packets(of accessUnit: [UInt8], at time: Duration = .zero, endsAccessUnit: Bool = true) -> [[UInt8]] {
    accessUnit.withUnsafeBytes { stream(packets(of: $0, at: time, endsAccessUnit: endsAccessUnit), of: $0) }
  }

  /// Numbers as in the vectors.
  static func test(
    _ sequenceNumber: UInt16 = 0x1000, _ timestamp: UInt32 = 0xBEEF, packetSize: Int = maximumPacketSize
  ) -> RTPPacketizer {
    RTPPacketizer(
      sequenceNumber: sequenceNumber, timestamp: timestamp, synchronizationSource: 0x1122_3344, packetSize: packetSize)
  }
}

extension RTPDepacketizer {
  /// All items from the bytes, which arrive in pieces of `pieceSize`.
  mutating func items(of bytes: [UInt8], pieceSize: Int = .max) -> [Item] {
    var items: [Item] = []
    var offset = 0
    while offset < bytes.count {
      let end = offset + min(pieceSize, bytes.count - offset)
      append(Array(bytes[offset..<end]))
      while let item = next() { items.append(item) }
      offset = end
    }
    return items
  }
}

extension [RTPDepacketizer.Item] {
  var accessUnits: [RTPDepacketizer.AccessUnit] {
    compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
  }

  var faults: [RTPFault] {
    compactMap { if case .fault(let fault) = $0 { fault } else { nil } }
  }
}

/// NAL units after start codes of four bytes, as the depacketizer writes them.
func annexB(_ units: [[UInt8]]) -> [UInt8] {
  units.flatMap { joined([0, 0, 0, 1], $0) }
}

/// A packet of the given fields: version 2, type 96, source 0x11223344.
func packet(
  _ sequenceNumber: UInt16, _ timestamp: UInt32, hasMarker: Bool = true, first: UInt8 = 0x80,
  source: UInt32 = 0x1122_3344, payload: [UInt8]
) -> [UInt8] {
  func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }
  let length = UInt16(12 + payload.count)
  let markerAndType: UInt8 = hasMarker ? 0x80 | 96 : 96
  return joined(
    bytes(length), [first, markerAndType], bytes(sequenceNumber), bytes(timestamp), bytes(source), payload)
}

/// The payloads of SDL messages with RTP.
enum RTPVector {
  static let sps = [UInt8](hex: "67 42 C0 1E DA 02 80 F6 84 00 00 03 00 04 00 00 03 00 F0 3C 58 BA 80")
  static let pps = [UInt8](hex: "68 CE 3C 80")
  static let idr = [UInt8](hex: "65 88 84 21 A0")

  /// Three packets with one NAL unit each.
  static let wholeUnits = [
    [UInt8](hex: "00 23 80 60 10 00 00 00 BE EF 11 22 33 44") + sps,
    [UInt8](hex: "00 10 80 60 10 01 00 00 BE EF 11 22 33 44") + pps,
    [UInt8](hex: "00 11 80 E0 10 02 00 00 BE EF 11 22 33 44") + idr,
  ]

  static let fragmentedUnit: [UInt8] = [0x65] + Array(0x01...0x19)

  /// FU-A in packets of 24 bytes, with the marker on each as SDL's libraries set it.
  static let fragments = [
    [UInt8](hex: "00 18 80 E0 10 03 00 00 CA A7 11 22 33 44 7C 85 01 02 03 04 05 06 07 08 09 0A"),
    [UInt8](hex: "00 18 80 E0 10 04 00 00 CA A7 11 22 33 44 7C 05 0B 0C 0D 0E 0F 10 11 12 13 14"),
    [UInt8](hex: "00 13 80 E0 10 05 00 00 CA A7 11 22 33 44 7C 45 15 16 17 18 19"),
  ]

  /// The beginnings of the packets of a NAL unit of 70 000 bytes, with the marker on each.
  static let largeFragments = [
    [UInt8](hex: "FF FF 80 E0 10 06 00 00 D6 5F 11 22 33 44 7C 85 00 00"),
    [UInt8](hex: "11 8C 80 E0 10 07 00 00 D6 5F 11 22 33 44 7C 45 00 00"),
  ]

  /// The marker is on the last packet only, as in RFC 6184.
  static func withOneMarker(_ packets: [[UInt8]]) -> [[UInt8]] {
    packets.enumerated().map { index, packet in
      var packet = packet
      if index < packets.count - 1 { packet[3] &= 0x7F }
      return packet
    }
  }
}
