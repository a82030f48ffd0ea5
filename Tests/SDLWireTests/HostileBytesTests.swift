import SDLWire
import Testing
import TestSupport

/// Random bytes give a result or an error, never a trap, and use no more memory than documented. The generator is
/// seeded, so that a failure can be repeated.
@Suite struct HostileBytesTests {
  private static let seeds = [
    Vector.v02, Vector.v04, Vector.v05, Vector.v09, Vector.v10, Vector.v15, Vector.v17, Vector.v25, Vector.v31,
    Vector.v34, Vector.v41, Vector.v43,
  ]

  private func random(_ count: ClosedRange<Int>, _ generator: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: count, using: &generator)).map { _ in .random(in: 0...255, using: &generator) }
  }

  private func mutated(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let index = Int.random(in: 0..<bytes.count, using: &generator)
      switch Int.random(in: 0...3, using: &generator) {
      case 0: bytes[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
      case 1: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &generator)
      case 2: bytes.insert(.random(in: 0...255, using: &generator), at: index)
      default: if bytes.count > 1 { bytes.remove(at: index) }
      }
    }
    return bytes
  }

  @Test func streams() {
    var generator = SeededGenerator(seed: 11)
    let limits = FrameLimits(payload: 2000)
    var decoder = FrameDecoder(limits: limits)
    var assembler = MessageAssembler(maximumMessageSize: 4096, maximumPartialMessages: 4)
    var frameCount = 0
    for round in 0..<30_000 {
      let seed = Self.seeds[Int.random(in: 0..<Self.seeds.count, using: &generator)]
      decoder.append(round % 4 == 0 ? random(0...60, &generator) : mutated(seed, &generator))
      while let item = decoder.next() {
        guard case .frame(let frame) = item else { continue }
        frameCount += 1
        #expect(frame.payload.count == Int(frame.header.dataSize) && frame.payload.count <= limits.payload)
        guard frame.header.frameType != .control else { continue }
        let message = try? assembler.accept(frame, now: .milliseconds(round))
        #expect((message?.payload.count ?? 0) <= 4096)
        #expect(assembler.partialByteCount <= 3 * 4096)
      }
      #expect(decoder.bufferedByteCount < limits.payload + FrameHeader.maximumByteCount)
    }
    #expect(frameCount > 10_000, "the streams are not mere garbage")
  }

  @Test func payloads() throws {
    var generator = SeededGenerator(seed: 12)
    let vectors = [Vector.v02, Vector.v04, Vector.v05, Vector.v09, Vector.v10, Vector.v25, Vector.v34, Vector.v41]
    let payloads = try vectors.map { try frame($0).payload }
    var documents = 0
    for round in 0..<25_000 {
      let seed = payloads[Int.random(in: 0..<payloads.count, using: &generator)]
      let bytes = round % 8 == 0 ? random(0...60, &generator) : mutated(seed, &generator)
      if let document = try? BSONDocument(decoding: bytes) {
        documents += 1
        // What was read can be written and read again.
        let again = document.bytes
        #expect(try BSONDocument(decoding: again).bytes == again, "\(bytes)")
      }
      if let header = try? RPCHeader(payload: bytes) {
        #expect(header.bytes == Array(bytes.prefix(12)))
      }
      if let query = SecurityQuery(payload: bytes) {
        #expect(query.bytes == bytes)
      }
      switch round % 4 {
      case 0: _ = RPCServiceAcknowledgement(payload: bytes, version: UInt8(round / 4 % 5 + 1))
      case 1: _ = EndServiceRequest(payload: bytes, version: UInt8(round / 4 % 5 + 1))
      case 2: _ = (VideoServiceParameters(payload: bytes), ServiceRejection(payload: bytes))
      default: _ = (RPCServiceRequest(payload: bytes), TransportEventUpdate(payload: bytes))
      }
    }
    #expect(documents > 2_000, "the payloads are not mere garbage")
  }

  /// Handshake bytes of any kind: what is cut into queries comes together again, and no record reaches beyond the
  /// bytes.
  @Test func handshakeBytes() {
    var generator = SeededGenerator(seed: 31)
    for _ in 0..<5000 {
      var bytes = random(0...80, &generator)
      if Bool.random(using: &generator) { bytes = [22, 3, 3, 0, UInt8.random(in: 0...40, using: &generator)] + bytes }
      if Bool.random(using: &generator) { bytes += [UInt8](repeating: 0, count: 20) }
      let limit = Int.random(in: -5...60, using: &generator)
      let queries = SecurityQuery.handshake(bytes, type: 0, sequenceNumber: 1, limit: limit)
      #expect(queries.flatMap(\.binary) == bytes)
      #expect(queries.allSatisfy { !$0.binary.isEmpty && $0.bytes.count <= max(limit, 13) })
      let query = SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: bytes)
      #expect(bytes.starts(with: query.handshakeBytes))
      #expect(bytes.dropFirst(query.handshakeBytes.count).allSatisfy { $0 == 0 })
      _ = query.beginsHandshake
    }
  }
}
