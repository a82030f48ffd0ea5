import SDLWire

extension FuzzTarget {
  /// Frames, messages, control payloads, and the queries of TLS.
  static let wire = [
    FuzzTarget("frames", bytesPerInputByte: 8) { checkFrames($0) },
    FuzzTarget("bson", bytesPerInputByte: 64) { checkBSON($0) },
    FuzzTarget("queries", bytesPerInputByte: 24) { checkQueries($0) },
  ]

  /// Both ways to decode a stream, whatever its pieces, find the same frames; and messages stay within their bounds.
  private static func checkFrames(_ bytes: [UInt8]) {
    let limits = FrameLimits(payload: 2000)
    var input = FuzzInput(bytes)
    let maximum = 1 + Int(input.byte()) * 16
    let pieceSize = 1 + Int(input.byte())
    let stream = Array(input.rest)
    var decoder = FrameDecoder(limits: limits)
    var direct = FrameDecoder(limits: limits)
    var assembler = MessageAssembler(maximumMessageSize: maximum, maximumPartialMessages: 3)
    var frameBytes = 0
    for start in stride(from: 0, to: stream.count, by: pieceSize) {
      let piece = Array(stream[start..<min(start + pieceSize, stream.count)])
      decoder.append(piece)
      piece.withUnsafeBytes { whole in
        var rest = whole
        while let item = decoder.next() {
          let same = direct.next(from: &rest)
          switch (item, same) {
          case (.frame(let frame), .frame(let other)):
            rule(frame == other, "the decoders disagree about a frame")
            rule(frame.payload.count == Int(frame.header.dataSize), "a frame of another size than it says")
            frameBytes += frame.bytes.count
            guard frame.header.frameType != .control else { continue }
            let message = try? assembler.accept(frame, now: .milliseconds(start))
            if let message, frame.header.frameType == .consecutive {
              rule(message.payload.count <= maximum, "a message beyond its bound")
            }
            rule(assembler.partialByteCount <= 3 * maximum + 64, "incomplete messages beyond their bound")
          case (.garbage(let reason, _), .garbage(let other, _)):
            rule(reason == other, "the decoders disagree about garbage")
          default: rule(false, "the decoders find different things")
          }
        }
        rule(direct.next(from: &rest) == nil, "only one decoder finds another frame")
      }
      rule(decoder.bufferedByteCount < limits.payload + FrameHeader.maximumByteCount, "a buffer beyond its bound")
    }
    rule(frameBytes <= stream.count, "more frames than bytes")
  }

  /// What was read can be written and read again.
  private static func checkBSON(_ bytes: [UInt8]) {
    if let document = try? BSONDocument(decoding: bytes) {
      let again = document.bytes
      rule((try? BSONDocument(decoding: again).bytes) == again, "a document that can't be read again")
    }
    for version: UInt8 in [1, 2, 5] {
      _ = RPCServiceAcknowledgement(payload: bytes, version: version)
      _ = EndServiceRequest(payload: bytes, version: version)
    }
    _ = (VideoServiceParameters(payload: bytes), ServiceRejection(payload: bytes))
    _ = (RPCServiceRequest(payload: bytes), TransportEventUpdate(payload: bytes))
  }

  /// Handshake bytes that are cut into queries come together again.
  private static func checkQueries(_ bytes: [UInt8]) {
    if let header = try? RPCHeader(payload: bytes) {
      rule(header.bytes == Array(bytes.prefix(12)), "a header that is written in another way")
    }
    if let query = SecurityQuery(payload: bytes) {
      rule(query.bytes == bytes, "a query that is written in another way")
      rule(query.binary.starts(with: query.handshakeBytes), "handshake bytes from nowhere")
      _ = query.beginsHandshake
    }
    let limit = Int(bytes.first ?? 0) - 20
    // Each query has its own memory, and real ones have a kilobyte: small ones get few bytes here.
    let handshake = Array(bytes.dropFirst().prefix(limit < 64 ? 64 : .max))
    let queries = SecurityQuery.handshake(handshake, type: 0, sequenceNumber: 1, limit: limit)
    rule(queries.flatMap(\.binary) == handshake, "lost handshake bytes")
    rule(queries.allSatisfy { $0.bytes.count <= max(limit, 13) }, "a query that is too long")
  }
}
