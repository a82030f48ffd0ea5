/// The TLS side channel on the control service: handshake bytes and errors (protocol specification, "Secure services").
///
/// ```
///  0     1 … 3      4 … 7             8 … 11
/// ┌─────┬──────────┬─────────────────┬───────────┬──────┬────────┐
/// │type │ query id │ sequence number │ JSON size │ JSON │ binary │   big-endian
/// └─────┴──────────┴─────────────────┴───────────┴──────┴────────┘
/// ```
public struct SecurityQuery: Equatable, Sendable {
  /// 0x00 request, 0x10 response, 0x20 notification.
  public var type: UInt8
  /// 24 bits: 1 handshake data, 2 internal error.
  public var queryID: UInt32
  public var sequenceNumber: UInt32
  public var json: [UInt8]
  /// Handshake bytes, or the error id.
  public var binary: [UInt8]

  /// `queryID` of handshake bytes.
  public static let handshakeID: UInt32 = 1
  /// `queryID` of an error report.
  public static let internalErrorID: UInt32 = 2
  /// Size in front of the JSON.
  public static let headerByteCount = 12

  /// Creates a query; of `queryID` the lower 24 bits count.
  public init(type: UInt8, queryID: UInt32, sequenceNumber: UInt32, json: [UInt8] = [], binary: [UInt8] = []) {
    self.type = type
    self.queryID = queryID
    self.sequenceNumber = sequenceNumber
    self.json = json
    self.binary = binary
  }

  /// The error report that ends a handshake, from a peer that does not support encryption.
  public static func notSupported(text: StaticString) -> SecurityQuery {
    SecurityQuery(
      type: 0x20, queryID: internalErrorID, sequenceNumber: 0,
      json: Array("{\"id\":3,\"text\":\"\(text)\"}".utf8), binary: [3])
  }

  /// The payload as bytes.
  public var bytes: [UInt8] {
    (UInt32(type) << 24 | queryID & 0x00FF_FFFF).bigEndianBytes + sequenceNumber.bigEndianBytes
      + UInt32(truncatingIfNeeded: json.count).bigEndianBytes + json + binary
  }

  /// Reads the payload of a single frame of the control service; nil when it is shorter than it announces.
  public init?(payload: [UInt8]) {
    guard payload.count >= Self.headerByteCount else { return nil }
    let word = UInt32(bigEndianBytes: payload.span, at: 0)
    let jsonSize = Int(UInt32(bigEndianBytes: payload.span, at: 8))
    guard jsonSize <= payload.count - Self.headerByteCount else { return nil }
    let body = payload[Self.headerByteCount...]
    self.init(
      type: UInt8(word >> 24), queryID: word & 0x00FF_FFFF,
      sequenceNumber: UInt32(bigEndianBytes: payload.span, at: 4),
      json: Array(body.prefix(jsonSize)), binary: Array(body.dropFirst(jsonSize)))
  }
}
