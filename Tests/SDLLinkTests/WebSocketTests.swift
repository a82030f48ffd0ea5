import Glibc
import SDLHeadUnit
import SDLMessages
import SDLWire
import TLSEngine
import Testing

@testable import SDLAppLink
@testable import SDLHeadUnitLink
@testable import SDLLink

extension LinkTests {
  /// WebSocket over sockets.
  @Suite struct WebSocketTests {
    /// Both ends of an open WebSocket.
    private struct Pair {
      let client: WebSocket
      let server: WebSocket
      /// The TCP connection of a client that is no ``WebSocket``.
      var raw: Socket?

      init(_ context: (client: TLSContext, server: TLSContext)? = nil) throws {
        let (first, second) = try Socket.pair()
        client = WebSocket(
          first, request: try WebSocketRequest(host: "x", target: "/"), tls: context?.client.makeSession(with: "x"))
        server = WebSocket(accepting: second, origins: .none, tls: context?.server.makeSession())
        var (clientIsOpen, serverIsOpen) = (false, false)
        for _ in 0..<100 where !clientIsOpen || !serverIsOpen {
          if case .open = client.advance() { clientIsOpen = true }
          if case .open = server.advance() { serverIsOpen = true }
        }
        try #require(clientIsOpen && serverIsOpen)
      }
    }

    static let request = Array(
      ("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").utf8)

    /// The server's end, with a client that speaks bytes.
    private func raw(_ request: String? = nil) throws -> (Socket, WebSocket) {
      let (raw, carrier) = try Socket.pair()
      let server = WebSocket(accepting: carrier, origins: AllowedOrigins(named: []), tls: nil)
      raw.write(request.map { Array($0.utf8) } ?? Self.request)
      return (raw, server)
    }

    static let contexts: (client: TLSContext, server: TLSContext)? = {
      var server = TLSCredentials.Sources()
      server.certificate = .file(TestCertificates.desk.headUnit)
      server.privateKey = .file(TestCertificates.desk.headUnitKey)
      server.authorities = .file(TestCertificates.desk.authority)
      var client = TLSCredentials.Sources()
      client.certificate = .file(TestCertificates.desk.app)
      client.privateKey = .file(TestCertificates.desk.appKey)
      client.authorities = .file(TestCertificates.desk.authority)
      guard let server = try? TLSContext(role: .server, credentials: TLSCredentials(server)),
        let client = try? TLSContext(role: .client, credentials: TLSCredentials(client))
      else { return nil }
      return (client, server)
    }()

    /// Both ways at once, with readers that take a little each time, so that every write is cut somewhere.
    @Test(arguments: [false, true]) func carriesSDLFrames(isEncrypted: Bool) throws {
      let pair = try Pair(isEncrypted ? Self.contexts : nil)
      let stream = (0..<60).flatMap { index -> [UInt8] in
        let payload = noise(1 + index * 997, seed: UInt64(index))
        let header = FrameHeader(
          version: 5, frameType: .single, service: .video, frameInfo: 0, sessionID: 1,
          dataSize: UInt32(payload.count), messageID: 1)
        return Frame(header: header, payload: payload).bytes
      }
      for (sender, receiver) in [(pair.client, pair.server), (pair.server, pair.client)] {
        var received: [UInt8] = []
        var position = 0
        var idleCount = 0
        var turn = 0
        while received.count < stream.count, idleCount < 1000 {
          turn += 1
          let former = (position, received.count)
          if position < stream.count, case .bytes(let count) = stream[position...].withUnsafeBytes({ sender.send($0) })
          {
            position += count
          }
          received += receive(receiver, atMost: [100, 5000, 64 << 10][turn % 3]).1
          idleCount = former == (position, received.count) ? idleCount + 1 : 0
        }
        #expect(position == stream.count && received == stream)
      }
    }

    /// A client whose carrier takes as many bytes as the test says, and the TCP connection of its server.
    private func narrowClient() throws -> (client: WebSocket, carrier: NarrowSocket, raw: Socket) {
      let (first, second) = try Socket.descriptorPair()
      let (carrier, raw) = (NarrowSocket(adopting: first), Socket(adopting: second))
      let client = WebSocket(
        carrier, request: try WebSocketRequest(host: "x", target: "/", nonce: Array(repeating: 0, count: 16)), tls: nil)
      _ = client.advance()
      _ = receive(raw)
      raw.write(
        Array(
          ("HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: ICX+Yqv66kxgM0FcWaLWlFLwTAI=\r\n\r\n").utf8))
      guard case .open = client.advance() else { throw LinkError.system(operation: "WebSocket", errno: EPROTO) }
      return (client, carrier, raw)
    }

    private func frame(_ size: Int) -> [UInt8] {
      Frame(
        header: FrameHeader(
          version: 5, frameType: .single, service: .video, frameInfo: 0, sessionID: 1, dataSize: UInt32(size),
          messageID: 1), payload: noise(size)
      ).bytes
    }

    /// The kernel may take no more than a part of a message's header. A writer of which it has taken nothing may send
    /// another frame first.
    @Test(arguments: 0...15) func anotherFrameAfterAHeader(taken: Int) throws {
      let (client, carrier, raw) = try narrowClient()
      let frames = [frame(70_000), frame(10)]
      carrier.room = taken
      let begun = if case .bytes(let count) = frames[0].withUnsafeBytes({ client.send($0) }) { count } else { 0 }
      carrier.room = .max
      let order = begun > 0 ? frames : frames.reversed()
      var rest = order.flatMap { $0 }[begun...]
      var wire: [UInt8] = []
      for _ in 0..<100 where !rest.isEmpty {
        if case .bytes(let count) = rest.withUnsafeBytes({ client.send($0) }) { rest = rest.dropFirst(count) }
        wire += receive(raw).1
      }
      while case let (.bytes, bytes) = receive(raw) { wire += bytes }
      #expect(rest.isEmpty)
      #expect(try WebSocketFramingTests.messages(wire, isMasked: true) == order)
    }

    /// The end of a frame may be the last thing that is written for long.
    @Test func pongAfterAFrame() throws {
      let (client, carrier, raw) = try narrowClient()
      let frame = frame(100)
      carrier.room = 50
      guard case .bytes(let begun) = frame.withUnsafeBytes({ client.send($0) }) else {
        return _ = Issue.record("not begun")
      }
      raw.write(WebSocketFramingTests.frame(0x89, [1, 2], key: nil))
      #expect(receive(client).0 == .wouldBlock)
      carrier.room = .max
      #expect(frame[begun...].withUnsafeBytes { client.send($0) } == .bytes(frame.count - begun))
      let wire = receive(raw).1
      #expect(wire.count == frame.count + 6 + 8 && wire.dropLast(7).last == 0x8A)
    }

    // MARK: The end

    /// Whoever lets a connection go says so.
    @Test(arguments: [true, false]) func saysThatItEnds(isServer: Bool) throws {
      func rest() throws -> Socket {
        guard isServer else { return try narrowClient().raw }
        let (raw, server) = try self.raw()
        guard case .open = server.advance() else { throw LinkError.system(operation: "WebSocket", errno: EPROTO) }
        withExtendedLifetime(server) { _ = receive(raw) }
        return raw
      }
      let raw = try rest()
      #expect(try Self.control(receive(raw).1, isMasked: !isServer) == [0x88, 3, 232])
      #expect(receive(raw).0 == .endOfStream)
    }

    /// In the middle of a message nothing can be said, and a peer that takes no more is not waited for.
    @Test(arguments: [(30, Int.max, 30), (0, 0, 0)]) func endsSilently(room: Int, later: Int, written: Int) throws {
      func rest() throws -> Socket {
        let (client, carrier, raw) = try narrowClient()
        carrier.room = room
        _ = frame(100).withUnsafeBytes { client.send($0) }
        withExtendedLifetime(client) { carrier.room = later }
        return raw
      }
      let raw = try rest()
      #expect(receive(raw).1.count == written && receive(raw).0 == .endOfStream)
    }

    /// The peer's Close gets one back, with its code, or with that of what is wrong with it.
    @Test(
      arguments: [
        ([0x88, 0x00], [0x88]), ([0x88, 0x02, 15, 160], [0x88, 15, 160]),
        ([0x88, 0x03, 3, 232, 0xFF], [0x88, 3, 239]),
        ([0x80, 0x00], [0x88, 3, 234]),
      ] as [([UInt8], [UInt8])])
    func closeIsAnswered(received: [UInt8], answer: [UInt8]) throws {
      let (client, _, raw) = try narrowClient()
      raw.write(received + received)
      while case .wouldBlock = receive(client).0 {}
      #expect(try Self.control(receive(raw).1, isMasked: true) == answer)
      #expect(receive(raw).0 == .endOfStream)
    }

    /// A message that was begun ends first.
    @Test func closeInTheMiddleOfAMessage() throws {
      let (client, carrier, raw) = try narrowClient()
      let frame = frame(100)
      carrier.room = 50
      guard case .bytes(let begun) = frame.withUnsafeBytes({ client.send($0) }) else {
        return _ = Issue.record("not begun")
      }
      raw.write(WebSocketFramingTests.frame(0x88, [3, 233], key: nil))
      #expect(receive(client).0 == .wouldBlock)
      carrier.room = .max
      #expect(frame[begun...].withUnsafeBytes { client.send($0) } == .bytes(frame.count - begun))
      let wire = receive(raw).1
      #expect(try WebSocketFramingTests.messages(Array(wire.dropLast(8)), isMasked: true) == [frame])
      #expect(try Self.control(wire.suffix(8), isMasked: true) == [0x88, 3, 233])
      #expect(receive(client).0 == .endOfStream && frame.withUnsafeBytes { client.send($0) } == .failed(errno: EPIPE))
    }

    /// Over TLS, its own end follows; that of the peer is answered.
    @Test(arguments: [false, true]) func endOfTLS(byPeer: Bool) throws {
      func rest() throws -> (Socket, TLSSession) {
        let (raw, tls, server) = try rawTLS()
        if byPeer {
          raw.write(tls.end())
          #expect(receive(server).0 == .endOfStream && server.takeComplaint() == nil)
        }
        return (raw, tls)
      }
      let (raw, tls) = try rest()
      let end = receive(raw).1
      if byPeer { return #expect(end.first == 21, "an alert") }
      var plaintext: [UInt8] = []
      let step = end.withUnsafeBytes { tls.receive($0, into: &plaintext) }
      #expect(try step.failure?.kind == .alert && Self.control(plaintext, isMasked: false) == [0x88, 3, 232])
    }

    /// The opcode, with its bits, and the payload of the only control frame in `wire`.
    private static func control(_ wire: some Collection<UInt8>, isMasked: Bool) throws -> [UInt8] {
      let bytes = Array(wire)
      try #require(bytes.count >= 2 && bytes[1] & 0x80 == (isMasked ? 0x80 : 0))
      let size = Int(bytes[1] & 0x7F)
      let key = isMasked ? Array(bytes[2..<6]) : [0, 0, 0, 0]
      let payload = bytes[(isMasked ? 6 : 2)...]
      try #require(payload.count == size)
      return [bytes[0]] + payload.enumerated().map { $1 ^ key[$0 & 3] }
    }

    /// A head unit's port may be reached by anybody: nothing that a client sends makes the server's memory grow.
    @Test func memoryIsBounded() throws {
      let (raw, server) = try raw()
      guard case .open = server.advance() else {
        Issue.record("not open")
        return
      }
      let former = try residentBytes()
      // A client that pings and never reads, and whose one message never ends.
      let flood = (0..<2000).flatMap { _ in
        WebSocketFramingTests.frame(0x89, noise(125)) + WebSocketFramingTests.frame(0x00, noise(1000))
      }
      raw.write(WebSocketFramingTests.frame(0x02, [1]))
      _ = receive(server)
      for _ in 0..<20 {
        var position = 0
        while position < flood.count {
          if case .bytes(let count) = flood[position...].withUnsafeBytes({ raw.send($0) }) { position += count }
          _ = receive(server)
        }
      }
      #expect(try residentBytes() - former < 8 << 20)
      // It is answered when it reads again.
      let answer = WebSocketFramingTests.frame(0x8A, noise(125), key: nil)
      var answers: [UInt8] = []
      while case let (.bytes, bytes) = receive(raw) { answers += bytes }
      #expect(answers.count > answer.count && answers.suffix(answer.count) == answer[...])
    }

    /// Nothing above would notice, since no frame of SDL comes. A single byte of one is enough.
    @Test(
      arguments: [
        ("text", [(0x81, 1000)], true), ("pings", [(0x89, 100)], true), ("empty", [(0x82, 0)], true),
        ("text between data", [(0x81, 1000), (0x82, 1)], false),
      ] as [(String, [(Int, Int)], Bool)])
    func peerThatSendsNothingOfSDL(_ name: String, frames: [(opcode: Int, size: Int)], isEnded: Bool) throws {
      let (raw, server) = try raw()
      guard case .open = server.advance() else {
        Issue.record("not open")
        return
      }
      let one = frames.flatMap { WebSocketFramingTests.frame(UInt8($0.opcode), noise($0.size)) }
      let block = (0..<(200_000 / one.count)).flatMap { _ in one }
      var hasEnded = false
      for _ in 0..<60 where !hasEnded {
        var position = 0
        while position < block.count, !hasEnded {
          if case .bytes(let count) = block[position...].withUnsafeBytes({ raw.send($0) }) { position += count }
          while case .bytes = receive(raw).0 {}
          if case .failed = receive(server).0 { hasEnded = true }
        }
      }
      #expect(hasEnded == isEnded)
      // Of texts there is another one.
      let complaints = (0..<2).compactMap { _ in server.takeComplaint() }
      #expect(complaints.contains { $0.contains("without any of SDL") } == isEnded, "\(complaints)")
    }

    @Test func halfARequest() throws {
      let (silent, server) = try raw("GET / HTTP/1.1\r\nHost: x\r\n")
      #expect(receive(server).0 == .wouldBlock && receive(server).0 == .wouldBlock)
      silent.write(Array("\r\n".utf8))
      #expect(receive(server).0 == .endOfStream, "it asks for no WebSocket")
      let (talkative, endless) = try raw(String(repeating: "x: y\r\n", count: 2000).replacing(0, "G"))
      #expect(receive(endless).0 == .endOfStream)
      #expect(!talkative.isClosedByPeer, "its owner closes it")
    }

    /// The complaint of each, and whether the connection is over then.
    @Test(
      arguments: [
        ("text", WebSocketFramingTests.frame(0x81, [65]), "text message", Socket.Transfer.wouldBlock),
        (
          "an unmasked frame", WebSocketFramingTests.frame(0x82, [1], key: nil), "without a mask",
          .failed(errno: EPROTO)
        ),
        ("Close", WebSocketFramingTests.frame(0x88, [3, 232]), nil, .endOfStream),
      ] as [(String, [UInt8], String?, Socket.Transfer)])
    func complaint(_ name: String, bytes: [UInt8], complaint: String?, transfer: Socket.Transfer) throws {
      let (raw, server) = try raw()
      guard case .open = server.advance() else { return _ = Issue.record("not open") }
      raw.write(bytes)
      var last = receive(server).0
      if transfer == .endOfStream { last = receive(server).0 }
      #expect(last == transfer)
      let text = server.takeComplaint()
      #expect(complaint.map { text?.contains($0) == true } ?? (text == nil), "\(text ?? "none")")
      #expect(server.takeComplaint() == nil)
    }

    @Test(
      arguments: [
        ("SDL instead of HTTP", "\u{10}\u{7}\u{1}\0\0\0\0\0", "something else than HTTP"),
        ("TLS instead of HTTP", "\u{16}\u{3}\u{1}\0\0\0", "begins with TLS"),
        (
          "a page from elsewhere",
          "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: https://elsewhere.example\r\n\r\n",
          "https://elsewhere.example may not connect"
        ),
        ("a request without an end", "GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: 9000), "8192 bytes"),
        ("a field without a name", "GET / HTTP/1.1\r\n: x\r\n\r\n", "fields are not those of HTTP"),
      ])
    func refused(_ name: String, request: String, complaint: String) throws {
      let (raw, server) = try raw(request)
      #expect(receive(server).0 == .endOfStream)
      #expect(server.takeComplaint()?.contains(complaint) == true)
      if request.contains("Origin") {
        #expect(String(decoding: receive(raw).1, as: UTF8.self).hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
      }
    }

    /// The server's end over TLS, with a client that speaks records.
    private func rawTLS() throws -> (Socket, TLSSession, WebSocket) {
      let contexts = try #require(Self.contexts)
      let (raw, carrier) = try Socket.pair()
      let server = WebSocket(accepting: carrier, origins: .none, tls: contexts.server.makeSession())
      let tls = contexts.client.makeSession(with: "x")
      var plaintext: [UInt8] = []
      raw.write(tls.begin().output)
      for _ in 0..<10 where !tls.isEstablished {
        _ = server.advance()
        raw.write(receive(raw).1.withUnsafeBytes { tls.receive($0, into: &plaintext) }.output)
      }
      raw.write(try record(Array(try WebSocketRequest(host: "x", target: "/").bytes), tls))
      guard case .open = server.advance() else { throw LinkError.system(operation: "WebSocket", errno: EPROTO) }
      _ = receive(raw).1.withUnsafeBytes { tls.receive($0, into: &plaintext) }
      return (raw, tls, server)
    }

    private func record(_ bytes: [UInt8], _ tls: TLSSession) throws -> [UInt8] {
      var record = [UInt8](repeating: 0, count: bytes.count + TLSRecord.maximumOverhead)
      let count = try bytes.withUnsafeBytes { bytes in
        try record.withUnsafeMutableBytes { try tls.encrypt(bytes, into: $0) }
      }
      return Array(record[..<count])
    }

    /// The end of TLS in the same read as data: poll(2) has to show it, for the peer may send no more.
    @Test func brokenRecordBehindData() throws {
      let (raw, tls, server) = try rawTLS()
      raw.write(try record(WebSocketFramingTests.frame(0x82, [1, 2, 3]), tls) + [23, 3, 3, 0, 1, 0])
      #expect(receive(server).1 == [1, 2, 3])
      #expect(server.takeComplaint()?.contains("TLS of the WebSocket failed") == true)
      #expect(server.isClosedByPeer && receive(server).0 == .endOfStream)
    }

    /// A client names what is wrong with the server.
    @Test(
      arguments: [
        ("its authority is unknown", TestCertificates.foreign, "TLS failed"),
        ("it has expired", TestCertificates.expired, "expired"),
      ])
    func wrongCertificate(_ name: String, certificates: TestCertificates, reason: String) throws {
      var sources = TLSCredentials.Sources()
      sources.certificate = .file(certificates.headUnit)
      sources.privateKey = .file(certificates.headUnitKey)
      let context = try TLSContext(role: .server, credentials: TLSCredentials(sources))
      let (first, second) = try Socket.pair()
      let client = WebSocket(
        first, request: try WebSocketRequest(host: "x", target: "/"),
        tls: try #require(Self.contexts).client.makeSession(with: "x"))
      let server = WebSocket(accepting: second, origins: .none, tls: context.makeSession())
      var failure: TransportFailure?
      for _ in 0..<100 where failure == nil {
        if case .failed(let reason) = client.advance() { failure = reason }
        _ = server.advance()
      }
      #expect(failure?.reason.contains(reason) == true, "\(failure?.reason ?? "none")")
      #expect(failure?.advice.contains("ca-certificates") == true)
    }
  }
}

/// Takes as many bytes as the test says.
private final class NarrowSocket: Socket, @unchecked Sendable {
  var room = Int.max

  override func send(_ bytes: UnsafeRawBufferPointer) -> Transfer {
    guard room > 0 else { return .wouldBlock }
    let transfer = super.send(UnsafeRawBufferPointer(rebasing: bytes.prefix(room)))
    if case .bytes(let count) = transfer { room -= count }
    return transfer
  }
}

extension String {
  fileprivate func replacing(_ index: Int, _ character: Character) -> String {
    var text = self
    let place = text.index(text.startIndex, offsetBy: index)
    text.replaceSubrange(place...place, with: [character])
    return text
  }
}
