import SDLWire
import TestSupport
import Testing

@testable import SDLLink

/// WebSocket's frames as values (RFC 6455), and the opening handshake.
@Suite struct WebSocketFramingTests {
  /// A frame as another implementation would write it.
  static func frame(_ first: UInt8, _ payload: [UInt8], key: [UInt8]? = [0x37, 0xFA, 0x21, 0x3D]) -> [UInt8] {
    let mask: UInt8 = key == nil ? 0 : 0x80
    var bytes = [first]
    switch payload.count {
    case ..<126: bytes.append(mask | UInt8(payload.count))
    case ...0xFFFF: bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default: bytes += [mask | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - $0 * 8)) }
    }
    guard let key else { return bytes + payload }
    return bytes + key + payload.enumerated().map { $1 ^ key[$0 & 3] }
  }

  /// The bytes of binary messages, when the stream comes in pieces of this size.
  private func decode(_ bytes: [UInt8], pieces: Int, _ input: inout WebSocketInput) throws(WebSocketFault) -> [UInt8] {
    var result: [UInt8] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      var piece = Array(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
      let outcome = piece.withUnsafeMutableBytes { buffer -> Result<Int, WebSocketFault> in
        do throws(WebSocketFault) { return .success(try input.decode(buffer)) } catch { return .failure(error) }
      }
      result += piece.prefix(try outcome.get())
    }
    return result
  }

  private static let sdl = noise(300)

  struct Stream: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var bytes: [UInt8]
    var result: [UInt8]
    var texts = 0
    var ping: [UInt8]?
  }

  static let streams = [
    Stream(
      testDescription: "messages of one byte", bytes: sdl.flatMap { frame(0x82, [$0]) }, result: sdl),
    Stream(testDescription: "all in one message", bytes: frame(0x82, sdl), result: sdl),
    Stream(
      testDescription: "fragments, with a ping in between",
      bytes: joined(
        frame(0x02, Array(sdl[..<7])), frame(0x89, [1, 2]), frame(0x00, Array(sdl[7..<9])),
        frame(0x80, Array(sdl[9...]))),
      result: sdl, ping: [1, 2]),
    Stream(
      testDescription: "empty messages and fragments",
      bytes: joined(frame(0x82, []), frame(0x02, []), frame(0x80, sdl), frame(0x82, [])), result: sdl),
    Stream(
      testDescription: "text is dropped, with its fragments",
      bytes: joined(
        frame(0x81, Array("hello".utf8)), frame(0x82, [9]), frame(0x01, [65]), frame(0x80, [66, 67]),
        frame(0x82, [8])), result: [9, 8], texts: 2),
    Stream(
      testDescription: "only the last ping needs a pong",
      bytes: joined(frame(0x89, [1]), frame(0x8A, [7]), frame(0x89, noise(125))), result: [], ping: noise(125)),
    Stream(testDescription: "a mask of zeros", bytes: frame(0x82, sdl, key: [0, 0, 0, 0]), result: sdl),
    Stream(
      testDescription: "what follows Close is ignored",
      bytes: joined(frame(0x82, [1]), frame(0x88, [3, 232]), [0xFF, 0]),
      result: [1]),
    Stream(
      testDescription: "a frame of the largest SDL frame", bytes: frame(0x82, noise(131_084)), result: noise(131_084)),
  ]

  /// Wherever the stream is cut.
  @Test(arguments: streams) func received(_ stream: Stream) throws {
    for pieces in [1, 2, 3, 7, 64 << 10] where pieces > 3 || stream.bytes.count < 10_000 {
      var input = WebSocketInput(peerIsClient: true)
      #expect(try decode(stream.bytes, pieces: pieces, &input) == stream.result, "\(pieces)")
      #expect(input.textMessageCount == stream.texts)
      #expect(input.takePing() == stream.ping && input.takePing() == nil)
    }
  }

  @Test(
    arguments: [
      ("a reserved bit", frame(0xC2, [1]), true), ("no mask of a client", frame(0x82, [1], key: nil), true),
      ("a mask of a server", frame(0x82, [1]), false), ("a continuation of nothing", frame(0x80, [1]), true),
      ("a message inside of another", frame(0x02, [1]) + frame(0x82, [1]), true),
      ("a fragmented ping", frame(0x09, []), true), ("a long ping", frame(0x89, noise(126)), true),
      ("a reserved opcode", frame(0x83, []), true), ("a reserved control opcode", frame(0x8B, []), true),
      ("a negative length", [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4], true),
    ])
  func fault(_ name: String, bytes: [UInt8], peerIsClient: Bool) {
    for pieces in [1, 1000] {
      var input = WebSocketInput(peerIsClient: peerIsClient)
      #expect(throws: WebSocketFault.self, "\(name)") { try decode(bytes, pieces: pieces, &input) }
    }
  }

  /// What the peer's Close says, or how it is broken.
  @Test(
    arguments: [
      ([], nil, nil), ([3, 232], 1000, nil), ([3, 233] + Array("ö".utf8), 1001, nil), ([0x0F, 0xA0], 4000, nil),
      ([3, 235], 1003, nil), ([3, 239], 1007, nil), ([3, 246], 1014, nil), ([0x13, 0x87], 4999, nil),
      ([3], nil, 1002), ([3, 236], nil, 1002), ([3, 238], nil, 1002), ([3, 247], nil, 1002), ([0, 0], nil, 1002),
      ([0x0B, 0xB7], nil, 1002), ([0x13, 0x88], nil, 1002),
      ([3, 232, 0xC3], nil, 1007),
    ] as [([UInt8], UInt16?, UInt16?)])
  func close(payload: [UInt8], code: UInt16?, fault: UInt16?) {
    for pieces in [1, 1000] {
      var input = WebSocketInput(peerIsClient: true)
      var found: UInt16?
      do throws(WebSocketFault) {
        #expect(try decode(Self.frame(0x88, payload), pieces: pieces, &input) == [])
      } catch {
        found = error.code
      }
      #expect(found == fault && input.closeCode == code && input.isClosed)
    }
  }

  /// The kernel takes any number of bytes each time, and the writer passes pieces that end anywhere in a frame.
  @Test(arguments: [1, 2, 3] as [UInt64], [true, false]) func sent(seed: UInt64, isClient: Bool) throws {
    var random = SeededGenerator(seed: seed)
    let frames = (0..<40).map { index in
      let size = [0, 1, 113, 114, 500, 65_523, 65_524, 70_000][index % 8]
      return Frame(
        header: FrameHeader(
          version: index % 5 == 4 ? 1 : 5, frameType: .control, service: .video, frameInfo: 1, sessionID: 1,
          dataSize: UInt32(size), messageID: UInt32(index)), payload: noise(size, seed: UInt64(index))
      ).bytes
    }
    let stream = frames.flatMap { $0 }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)
    defer { memory.deallocate() }
    var output = WebSocketOutput(isClient: isClient)
    var wire: [UInt8] = []
    var position = 0
    var ends = Set<Int>()
    for frame in frames { ends.insert((ends.max() ?? 0) + frame.count) }
    stream.withUnsafeBytes { bytes in
      while position < bytes.count || !output.isBetweenMessages {
        // At least a header's bytes where a frame begins.
        let first = min(Int.random(in: 12...9000, using: &random), bytes.count - position)
        let second = min(Int.random(in: 0...9000, using: &random), bytes.count - position - first)
        let pieces = [
          UnsafeRawBufferPointer(rebasing: bytes[position..<(position + first)]),
          UnsafeRawBufferPointer(rebasing: bytes[(position + first)..<(position + first + second)]),
        ]
        if output.isBetweenMessages { output.begin(pieces) }
        let count = output.fill(memory, from: pieces)
        let taken = Int.random(in: 1...count, using: &random)
        wire += memory[..<taken]
        position += output.advance(by: taken)
        #expect(!output.isBetweenMessages || ends.contains(position))
      }
    }
    #expect(try Self.messages(wire, isMasked: isClient) == frames)
  }

  /// The payloads of unfragmented binary messages, by an independent reading of RFC 6455.
  static func messages(_ wire: [UInt8], isMasked: Bool) throws -> [[UInt8]] {
    var result: [[UInt8]] = []
    var rest = wire[...]
    func take(_ count: Int) -> ArraySlice<UInt8> {
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
    while !rest.isEmpty {
      let start = Array(take(2))
      try #require(start.count == 2 && start[0] == 0x82 && (start[1] & 0x80 != 0) == isMasked)
      var length = Int(start[1] & 0x7F)
      if length > 125 { length = take(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
      let key = isMasked ? Array(take(4)) : [0, 0, 0, 0]
      result.append(take(length).enumerated().map { $1 ^ key[$0 & 3] })
    }
    return result
  }

  // MARK: The opening handshake

  /// The example of RFC 6455, section 1.3.
  @Test func acceptKey() throws {
    #expect(try WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    #expect(
      ["", "f", "fo", "foo", "foob"].map { WebSocketHandshake.base64(Array($0.utf8)) }
        == ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="])
  }

  private func head(_ lines: String...) throws -> HTTPHead {
    try #require(HTTPHead(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)[...]))
  }

  @Test(
    arguments: [
      ("HTTP/1.1 404 Not Found", "no WebSocket at /map (404 Not Found)", "path"),
      ("HTTP/1.1 403 Forbidden", "refuses the WebSocket (403 Forbidden)", "log"),
      ("HTTP/1.1 302 Found\r\nLocation: https://x.example/", "leads elsewhere to https://x.example/", "URI"),
      ("HTTP/1.1 503 Service Unavailable", "no place for a WebSocket now (503", "End"),
      ("HTTP/1.1 500 Oh", "answers 500 Oh", "Check"), ("HTTP/1.1 500 Oh\u{7}", "does not answer with HTTP", "sdl://"),
      ("HTTP/1.1 200 OK", "answers 200 OK", "Check"),
      ("SSH-2.0-OpenSSH", "does not answer with HTTP", "sdl://"),
      (
        "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: x", "belong",
        "proxy"
      ),
      (
        "HTTP/1.1 101 Switching\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
          + "Sec-WebSocket-Accept: ICX+Yqv66kxgM0FcWaLWlFLwTAI=\r\nSec-WebSocket-Extensions: permessage-deflate",
        "extension", "proxy"
      ),
    ])
  func refusedAnswer(_ answer: String, reason: String, advice: String) throws {
    let request = try WebSocketRequest(host: "car.example:2020", target: "/map", nonce: Array(repeating: 0, count: 16))
    let head = HTTPHead(Array((answer + "\r\n\r\n").utf8)[...])
    let failure = #expect(throws: TransportFailure.self) {
      guard let head else { throw TransportFailure.notHTTP }
      try request.check(head)
    }
    #expect(failure?.reason.contains(reason) == true, "\(failure?.reason ?? "none")")
    #expect(failure?.advice.contains(advice) == true, "\(failure?.advice ?? "none")")
  }

  @Test func acceptedAnswer() throws {
    let request = try WebSocketRequest(host: "car.example:2020", target: "/", nonce: Array(repeating: 0, count: 16))
    let text = String(decoding: request.bytes, as: UTF8.self)
    #expect(text.hasPrefix("GET / HTTP/1.1\r\nHost: car.example:2020\r\n") && text.hasSuffix("\r\n\r\n"))
    #expect(!text.contains("Extensions"))
    let parsed = try #require(HTTPHead(request.bytes[...]))
    guard case .accepted(let answer) = try WebSocketAnswer(to: parsed, origins: .none, at: nil) else {
      Issue.record("refused")
      return
    }
    try request.check(try #require(HTTPHead(answer[...])))
  }

  private static let request = [
    "GET /any?path HTTP/1.1", "Host: localhost:2020", "upgrade: WebSocket", "Connection: keep-alive, Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
  ]

  @Test(
    arguments: [
      ([], [:], "101"), (["Sec-WebSocket-Protocol: x", "Sec-WebSocket-Extensions: permessage-deflate"], [:], "101"),
      ([], [:], "503"), ([], [0: "POST / HTTP/1.1"], "400"), ([], [0: "GET / HTTP/1.0"], "400"),
      ([], [2: "X: y"], "426"),
      ([], [3: "Connection: close"], "426"), ([], [5: "Sec-WebSocket-Version: 8"], "426"),
      ([], [4: "Sec-WebSocket-Key: short"], "400"), (["Origin: https://elsewhere.example"], [:], "403"),
      (["Origin: http://localhost:8080"], [:], "101"), (["Origin: null"], [:], "403"),
      // Two cannot be told apart from one that a proxy has added.
      (["Origin: http://localhost", "Origin: http://localhost"], [:], "403"),
    ] as [([String], [Int: String], String)])
  func answer(added: [String], changed: [Int: String], status: String) throws {
    var lines = Self.request
    for (index, line) in changed { lines[index] = line }
    let head = try #require(HTTPHead(Array(((lines + added).joined(separator: "\r\n") + "\r\n\r\n").utf8)[...]))
    let bytes =
      switch try WebSocketAnswer(
        to: head, origins: AllowedOrigins(named: []), at: nil, obstacle: status == "503" ? "busy" : nil)
      {
      case .accepted(let bytes), .refused(let bytes, _): bytes
      }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text)")
    #expect(!text.contains("Protocol:") && !text.contains("Extensions:"))
    if status == "101" { #expect(text.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")) }
  }

  /// The server's address is 192.0.2.1.
  @Test(
    arguments: [
      ("http://localhost", [], true), ("https://localhost:8443", [], true), ("http://127.0.0.1:1", [], true),
      ("http://[::1]:80", [], true), ("http://192.0.2.1:8000", [], true), ("file://", [], true),
      ("http://192.0.2.2", [], false), ("null", [], false), ("", [], false), ("https://localhost.example", [], false),
      ("http://elsewhere.example:2020", [], false), ("localhost", [], false), ("http://[::1", [], false),
      ("http://localhost:8080@elsewhere.example", [], false), ("http://localhost:", [], false),
      ("null", ["null"], true), ("https://a.example", ["https://b.example"], false), ("https://a.example", ["*"], true),
    ])
  func origin(_ origin: String, named: [String], isAllowed: Bool) throws {
    let address = try #require(try Resolver.addresses(host: "192.0.2.1", port: 2020, flags: 4).get().first)
    #expect(AllowedOrigins(named: named).allows(origin, at: address) == isAllowed)
    #expect(!AllowedOrigins.none.allows(origin, at: address))
  }
}
