/// The TLS side channel on the control service: handshake bytes and errors (protocol specification, "Secure services").
///
/// ```
///  0     1 … 3      4 … 7             8 … 11
/// ┌─────┬──────────┬─────────────────┬───────────┬──────┬────────┐
/// │type │ query id │ sequence number │ JSON size │ JSON │ binary │   big-endian
/// └─────┴──────────┴─────────────────┴───────────┴──────┴────────┘
/// ```
package struct SecurityQuery: Equatable, Sendable {
  /// 0x00 request, 0x10 response, 0x20 notification.
  package var type: UInt8
  /// 24 bits: 1 handshake data, 2 internal error.
  package var queryID: UInt32
  package var sequenceNumber: UInt32
  package var json: [UInt8]
  /// Handshake bytes, or the error id.
  package var binary: [UInt8]

  /// `queryID` of handshake bytes.
  package static let handshakeID: UInt32 = 1
  /// `queryID` of an error report.
  package static let internalErrorID: UInt32 = 2
  /// `type` of a request, of its answer, and of a message without an answer.
  package static let request: UInt8 = 0x00
  package static let response: UInt8 = 0x10
  package static let notification: UInt8 = 0x20
  /// Size in front of the JSON.
  package static let headerByteCount = 12

  /// Creates a query; of `queryID` the lower 24 bits count.
  package init(type: UInt8, queryID: UInt32, sequenceNumber: UInt32, json: [UInt8] = [], binary: [UInt8] = []) {
    self.type = type
    self.queryID = queryID
    self.sequenceNumber = sequenceNumber
    self.json = json
    self.binary = binary
  }

  package var bytes: [UInt8] {
    (UInt32(type) << 24 | queryID & 0x00FF_FFFF).bigEndianBytes + sequenceNumber.bigEndianBytes
      + UInt32(truncatingIfNeeded: json.count).bigEndianBytes + json + binary
  }

  /// Reads the payload of a single frame of the control service; nil when it is shorter than it announces.
  package init?(payload: [UInt8]) {
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

extension SecurityQuery {
  /// Handshake bytes, split into queries of at most `limit` bytes: between two records or, for TLS only, in the middle
  /// of one.
  package static func handshake(
    _ bytes: [UInt8], type: UInt8, sequenceNumber: UInt32, limit: Int
  ) -> [SecurityQuery] {
    var queries: [SecurityQuery] = []
    var rest = bytes[...]
    let room = max(limit - headerByteCount, 1)
    while !rest.isEmpty {
      var count = 0
      while let size = recordByteCount(rest.dropFirst(count)), size <= rest.count - count, count + size <= room {
        count += size
      }
      let piece = rest.prefix(count > 0 ? count : room)
      rest = rest.dropFirst(piece.count)
      queries.append(
        SecurityQuery(type: type, queryID: handshakeID, sequenceNumber: sequenceNumber, binary: Array(piece)))
    }
    return queries
  }

  /// ``binary`` without the zeros after the last record, with which some libraries fill up their buffer.
  package var handshakeBytes: [UInt8] {
    var count = 0
    while let size = Self.recordByteCount(binary[count...]), size <= binary.count - count { count += size }
    guard count > 0, binary[count...].allSatisfy({ $0 == 0 }) else { return binary }
    return Array(binary[..<count])
  }

  /// Whether handshake bytes begin a handshake, rather than go on with one.
  package var beginsHandshake: Bool {
    let position = isDatagram(binary[...]) ? 13 : 5
    return binary.count > position && binary[0] == 22 && binary[position] == 1
  }

  /// The size of the TLS or DTLS record at the start of `bytes`, header included; nil if there is none.
  private static func recordByteCount(_ bytes: ArraySlice<UInt8>) -> Int? {
    let headerSize = isDatagram(bytes) ? 13 : 5
    guard bytes.count >= headerSize, let type = bytes.first, (20...23).contains(type) else { return nil }
    let start = bytes.startIndex + headerSize
    return headerSize + Int(bytes[start - 2]) << 8 + Int(bytes[start - 1])
  }

  private static func isDatagram(_ bytes: ArraySlice<UInt8>) -> Bool { bytes.dropFirst().first == 0xFE }

  private func isDatagram(_ bytes: ArraySlice<UInt8>) -> Bool { Self.isDatagram(bytes) }
}
