/// A rule of RTP, of its framing or of its H.264 payload that a sender broke.
public enum RTPFault: Equatable, Sendable {
  /// Bytes that are no packet with its length in front (RFC 4571); the first 16 of them. What follows is not read.
  case framing(firstBytes: [UInt8])
  /// Extension, contributing sources or padding do not fit into the packet (RFC 3550, 5.1).
  case packetStructure(sequenceNumber: UInt16)
  /// Packets are missing, or come in another order.
  case lostPackets(expected: UInt16, got: UInt16)
  /// The payload is of a kind that packetization mode 1 does not have, or of none at all; the type is as in RFC 6184,
  /// table 1.
  case payloadType(UInt8)
  /// There is no payload, or sizes in it do not fit into the packet.
  case payloadStructure(sequenceNumber: UInt16)
  /// A further piece of a NAL unit without its first, or of another one.
  case strayFragment(sequenceNumber: UInt16)
  /// A NAL unit whose last piece did not come.
  case unfinishedNALUnit(type: UInt8)
  /// The marker bit before the last packet of an access unit. SDL's libraries set it on all pieces of the last NAL unit.
  case earlyMarker(sequenceNumber: UInt16)
  /// An access unit ended without the marker bit.
  case missingMarker(timestamp: UInt32)
  /// The timestamp of an access unit is not later than the one before.
  case timestampNotGrowing(previous: UInt32, got: UInt32)
  /// An access unit that is larger than the receiver takes was dropped.
  case oversizedAccessUnit(limit: Int)
}
