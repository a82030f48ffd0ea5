/// The kind of an RPC, in the top four bits of its binary header.
package enum RPCType: UInt8, CaseIterable, Sendable {
  case request = 0
  case response = 1
  case notification = 2
}

/// The 12 bytes in front of the JSON of every RPC (protocol 2 and later).
///
/// ```
///  0 … 3                     4 … 7            8 … 11
/// ┌────┬────────────────────┬────────────────┬───────────┬──────┬──────┐
/// │type│ function id 28 bit │ correlation id │ JSON size │ JSON │ bulk │   big-endian
/// └────┴────────────────────┴────────────────┴───────────┴──────┴──────┘
/// ```
/// Source: protocol specification, "Binary Header".
package struct RPCHeader: Equatable, Sendable {
  package var type: RPCType
  /// 28 bits.
  package var functionID: UInt32
  /// Chosen by the requester; head units put 0 or 0xFFFFFFFF (−1) into notifications.
  package var correlationID: Int32
  /// Bytes of JSON after the header; what follows them is bulk data.
  package var jsonSize: UInt32

  package static let byteCount = 12

  /// Creates a header; of `functionID` the lower 28 bits count.
  package init(type: RPCType, functionID: UInt32, correlationID: Int32, jsonSize: UInt32) {
    self.type = type
    self.functionID = functionID
    self.correlationID = correlationID
    self.jsonSize = jsonSize
  }

  package var bytes: [UInt8] {
    (UInt32(type.rawValue) << 28 | functionID & 0x0FFF_FFFF).bigEndianBytes
      + UInt32(bitPattern: correlationID).bigEndianBytes + jsonSize.bigEndianBytes
  }

  package enum Malformed: Error, Equatable, Sendable {
    case truncated
    case type(UInt8)
    /// More JSON announced than there are bytes.
    case jsonSize(UInt32)
  }

  package init(payload: [UInt8]) throws(Malformed) {
    guard payload.count >= Self.byteCount else { throw .truncated }
    let word = UInt32(bigEndianBytes: payload.span, at: 0)
    guard let type = RPCType(rawValue: UInt8(word >> 28)) else { throw .type(UInt8(word >> 28)) }
    let jsonSize = UInt32(bigEndianBytes: payload.span, at: 8)
    guard Int(jsonSize) <= payload.count - Self.byteCount else { throw .jsonSize(jsonSize) }
    self.init(
      type: type, functionID: word & 0x0FFF_FFFF,
      correlationID: Int32(bitPattern: UInt32(bigEndianBytes: payload.span, at: 4)), jsonSize: jsonSize)
  }
}
