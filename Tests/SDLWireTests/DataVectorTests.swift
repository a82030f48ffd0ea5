import SDLWire
import Testing
import TestSupport

@Suite struct DataVectorTests {
  /// V14.
  @Test func accessUnitInASingleFrame() throws {
    let accessUnit = [UInt8](
      hex: """
        00 00 00 01 67 42 C0 1E DA 02 80 F6 84 00 00 03 00 04 00 00 03 00 F0 3C 58 BA 80
        00 00 00 01 68 CE 3C 80 00 00 00 01 65 88 84 21 A0
        """)
    #expect(try frame(Vector.v14).payload == accessUnit)
    let message = Fragmentation(
      service: .video, version: 5, sessionID: 1, messageID: 5, payloadSize: accessUnit.count, maximumPayload: 131_060)
    #expect(message.frames(of: accessUnit) == Vector.v14)
  }

  /// V15.
  @Test func messageInSeveralFrames() throws {
    let payload = [UInt8](0..<20)
    let message = Fragmentation(
      service: .video, version: 5, sessionID: 1, messageID: 6, payloadSize: 20, maximumPayload: 8)
    #expect(message.frames(of: payload) == Vector.v15)
    var assembler = MessageAssembler()
    let messages = try frames(decode(Vector.v15)).compactMap { try assembler.accept($0, now: .zero) }
    #expect(messages.map(\.payload) == [payload])
    #expect(messages.first?.header.messageID == 6 && assembler.nextDeadline == nil)
  }

  /// V16: the start of each frame; all payload bytes are zero.
  @Test func accessUnitOf300000Bytes() {
    let starts = [
      "52 0B 00 01 00 00 00 08 00 00 00 07 00 04 93 E0 00 00 00 03",
      "53 0B 01 01 00 01 FF F4 00 00 00 07 00 00 00 00 00 00 00 00",
      "53 0B 02 01 00 01 FF F4 00 00 00 07 00 00 00 00 00 00 00 00",
      "53 0B 00 01 00 00 93 F8 00 00 00 07 00 00 00 00 00 00 00 00",
    ].map { [UInt8](hex: $0) }
    let message = Fragmentation(
      service: .video, version: 5, sessionID: 1, messageID: 7, payloadSize: 300_000, maximumPayload: 131_060)
    #expect(message.map(\.payloadRange) == [0..<0, 0..<131_060, 131_060..<262_120, 262_120..<300_000])
    let bytes = message.frames(of: [UInt8](repeating: 0, count: 300_000))
    let decoded = frames(decode(bytes))
    #expect(decoded.map { Array($0.bytes.prefix(20)) } == starts)
    #expect(decoded.map(\.payload.count) == [8, 131_060, 131_060, 37_880])
    #expect(decoded.flatMap(\.bytes) == bytes)
  }

  /// V17.
  @Test func runningNumbersSkipZero() {
    let message = Fragmentation(
      service: .video, version: 5, sessionID: 1, messageID: 8, payloadSize: 300, maximumPayload: 1)
    let bytes = message.frames(of: [UInt8](repeating: 0xAA, count: 300))
    let consecutive = frames(decode(bytes)).dropFirst()
    #expect(consecutive.dropFirst(253).prefix(4).flatMap(\.bytes) == Vector.v17)
  }

  /// V35 and V36 as SDL sees them: single frames with opaque payload, numbered one after the other.
  @Test(arguments: [
    (Vector.v35, UInt32(30), [37, 18, 19]), (Vector.v36, UInt32(33), [26, 26, 21]),
  ])
  func rtpPacketsInSingleFrames(vector: [UInt8], firstID: UInt32, sizes: [Int]) {
    let decoded = frames(decode(vector))
    #expect(decoded.map(\.payload.count) == sizes)
    // Each starts with the packet's length (RFC 4571).
    for frame in decoded { #expect(Int(frame.payload[0]) << 8 + Int(frame.payload[1]) == frame.payload.count - 2) }
    let rebuilt = decoded.enumerated().flatMap { index, frame in
      Fragmentation(
        service: .video, version: 5, sessionID: 1, messageID: firstID + UInt32(index),
        payloadSize: frame.payload.count, maximumPayload: 131_060
      ).frames(of: frame.payload)
    }
    #expect(rebuilt == vector)
  }

  /// V37: the start of each frame; the rest of the NAL unit is zero.
  @Test(arguments: [
    ("51 0B 00 01 00 01 00 01 00 00 00 24 FF FF 80 E0 10 06 00 00 D6 5F 11 22 33 44 7C 85 00 00", 65_537),
    ("51 0B 00 01 00 00 11 8E 00 00 00 25 11 8C 80 E0 10 07 00 00 D6 5F 11 22 33 44 7C 45 00 00", 4494),
  ])
  func largestRTPPacket(start: String, size: Int) throws {
    let start = [UInt8](hex: start)
    let bytes = start + [UInt8](repeating: 0, count: 12 + size - start.count)
    let decoded = try frame(bytes)
    #expect(decoded.payload.count == size && decoded.header.frameType == .single)
    let message = Fragmentation(
      service: .video, version: 5, sessionID: 1, messageID: decoded.header.messageID, payloadSize: size,
      maximumPayload: 131_060)
    #expect(message.frames(of: decoded.payload) == bytes)
  }

  /// V38.
  @Test func audio() throws {
    let samples: [Int16] = [0, 1000, -1000, 32767]
    let payload = samples.flatMap { sample in withUnsafeBytes(of: sample.littleEndian, Array.init) }
    #expect(try frame(Vector.v38).payload == payload)
    let message = Fragmentation(
      service: .audio, version: 5, sessionID: 1, messageID: 40, payloadSize: 8, maximumPayload: 131_060)
    #expect(message.frames(of: payload) == Vector.v38)
  }

  /// V43: sizes are checked on the plaintext, so the assembler sees frames after decryption.
  @Test func encryptedMessage() throws {
    var decoded = frames(decode(Vector.v43))
    #expect(decoded.map(\.header.isEncrypted) == [false, true, true])
    #expect(decoded.flatMap(\.bytes) == Vector.v43)
    decoded[1].payload = [UInt8](repeating: 1, count: 60)
    decoded[2].payload = [UInt8](repeating: 2, count: 40)
    var assembler = MessageAssembler()
    let messages = try decoded.compactMap { try assembler.accept($0, now: .zero) }
    #expect(messages.map(\.payload) == [decoded[1].payload + decoded[2].payload])
  }
}

@Suite struct RPCHeaderVectorTests {
  @Test(arguments: [
    (Vector.v29, RPCHeader(type: .request, functionID: 1, correlationID: 1, jsonSize: 219), 0),
    (Vector.v30, RPCHeader(type: .response, functionID: 1, correlationID: 1, jsonSize: 151), 0),
    (Vector.v31, RPCHeader(type: .notification, functionID: 0x8000, correlationID: 0, jsonSize: 122), 0),
    (Vector.v32, RPCHeader(type: .request, functionID: 48, correlationID: 2, jsonSize: 59), 0),
    (Vector.v33, RPCHeader(type: .notification, functionID: 0x800C, correlationID: 0, jsonSize: 73), 0),
    (Vector.v34, RPCHeader(type: .notification, functionID: 0x800D, correlationID: 0, jsonSize: 61), 4),
  ])
  func bothDirections(vector: [UInt8], header: RPCHeader, bulkSize: Int) throws {
    let payload = try frame(vector).payload
    #expect(try RPCHeader(payload: payload) == header)
    #expect(Array(payload.prefix(12)) == header.bytes)
    #expect(payload.count == 12 + Int(header.jsonSize) + bulkSize)
  }

  @Test func malformed() throws {
    let payload = try frame(Vector.v32).payload
    for length in 0..<12 {
      #expect(throws: RPCHeader.Malformed.truncated) { try RPCHeader(payload: Array(payload.prefix(length))) }
    }
    for length in 12..<payload.count {
      #expect(throws: RPCHeader.Malformed.jsonSize(59)) { try RPCHeader(payload: Array(payload.prefix(length))) }
    }
    for type in UInt8(3)...15 {
      #expect(throws: RPCHeader.Malformed.type(type)) {
        try RPCHeader(payload: [type << 4] + payload.dropFirst())
      }
    }
    #expect(throws: RPCHeader.Malformed.jsonSize(.max)) {
      try RPCHeader(payload: [UInt8](hex: "00 00 00 01 00 00 00 01 FF FF FF FF 7B 7D"))
    }
  }

  @Test func extremes() throws {
    let header = RPCHeader(type: .notification, functionID: 0x0FFF_FFFF, correlationID: -1, jsonSize: 0)
    #expect(header.bytes == [UInt8](hex: "2F FF FF FF FF FF FF FF 00 00 00 00"))
    #expect(try RPCHeader(payload: header.bytes) == header)
  }
}

@Suite struct SecurityQueryVectorTests {
  private static let clientHello = [UInt8](hex: "16 03 01 00 05 01 00 00 01 00")

  @Test(arguments: [
    (Vector.v39, SecurityQuery(type: 0x00, queryID: 1, sequenceNumber: 1, binary: clientHello)),
    (Vector.v40, SecurityQuery(type: 0x10, queryID: 1, sequenceNumber: 0, binary: clientHello)),
    (
      Vector.v41,
      SecurityQuery(
        type: 0x20, queryID: SecurityQuery.internalErrorID, sequenceNumber: 0,
        json: Array(#"{"id":8,"text":"bad TLS data"}"#.utf8), binary: [8])
    ),
  ])
  func bothDirections(vector: [UInt8], query: SecurityQuery) throws {
    let payload = try frame(vector).payload
    #expect(SecurityQuery(payload: payload) == query)
    #expect(query.bytes == payload)
  }

  /// Records stay whole where they fit; DTLS records always have to fit.
  @Test func handshakePieces() {
    let records: [UInt8] = [22, 3, 3, 0, 4, 1, 2, 3, 4, 22, 3, 3, 0, 2, 5, 6, 20, 3, 3, 0, 1, 1]
    func pieces(_ limit: Int) -> [[UInt8]] {
      let queries = SecurityQuery.handshake(records, type: 0x10, sequenceNumber: 5, limit: limit)
      for query in queries {
        #expect(query.type == 0x10)
        #expect(query.queryID == 1)
        #expect(query.sequenceNumber == 5)
      }
      #expect(queries.allSatisfy { $0.bytes.count <= max(limit, 13) })
      #expect(queries.flatMap(\.binary) == records)
      return queries.map(\.binary)
    }
    #expect(pieces(1000).map(\.count) == [22])
    #expect(pieces(12 + 16).map(\.count) == [16, 6])
    #expect(pieces(12 + 9).map(\.count) == [9, 7, 6])
    #expect(pieces(12 + 5).map(\.count).allSatisfy { $0 <= 5 })
    _ = pieces(0)
    #expect(SecurityQuery.handshake([], type: 0, sequenceNumber: 0, limit: 100).isEmpty)
  }

  /// An Android library sends its whole buffer.
  @Test func handshakeWithZerosBehind() {
    let record: [UInt8] = [22, 3, 3, 0, 3, 2, 0, 0]
    func bytes(_ binary: [UInt8]) -> [UInt8] {
      SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: binary).handshakeBytes
    }
    #expect(bytes(record) == record)
    #expect(bytes(record + [UInt8](repeating: 0, count: 4000)) == record)
    // The rest of a record comes with the next query.
    #expect(bytes(Array(record.dropLast())) == Array(record.dropLast()))
    #expect(bytes([0, 0, 0]) == [0, 0, 0])
    #expect(bytes([]) == [])
  }

  @Test func beginOfHandshake() {
    func begins(_ binary: [UInt8]) -> Bool {
      SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: binary).beginsHandshake
    }
    #expect(begins([22, 3, 1, 0, 5, 1, 0]))
    #expect(!begins([22, 3, 1, 0, 5, 16, 0]))
    #expect(begins([22, 0xFE, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 1, 0]))
    for count in 0..<5 { #expect(!begins(Array([22, 3, 1, 0, 5].prefix(count)))) }
  }

  @Test func tooShort() throws {
    let payload = try frame(Vector.v41).payload
    for length in 0..<42 { #expect(SecurityQuery(payload: Array(payload.prefix(length))) == nil) }
    #expect(SecurityQuery(payload: Array(payload.prefix(42)))?.binary.isEmpty == true)
    #expect(SecurityQuery(payload: [UInt8](repeating: 0xFF, count: 64)) == nil)
    let nothing = SecurityQuery(type: 0x10, queryID: 1, sequenceNumber: 3)
    #expect(nothing.bytes.count == 12 && SecurityQuery(payload: nothing.bytes) == nothing)
  }
}
