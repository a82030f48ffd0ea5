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

    /// The server's end, with a client that speaks bytes.
    private func raw(_ request: String? = nil) throws -> (Socket, WebSocket) {
      let (raw, carrier) = try Socket.pair()
      let server = WebSocket(accepting: carrier, origins: AllowedOrigins(named: []), tls: nil)
      raw.write(
        Array(
          (request
            ?? "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").utf8))
      return (raw, server)
    }

    private func receive(_ socket: Socket, atMost count: Int = 64 << 10) -> (Socket.Transfer, [UInt8]) {
      var bytes = [UInt8](repeating: 0, count: count)
      let transfer = bytes.withUnsafeMutableBytes { socket.receive(into: $0) }
      guard case .bytes(let count) = transfer else { return (transfer, []) }
      return (transfer, Array(bytes[..<count]))
    }

    private static let contexts: (client: TLSContext, server: TLSContext)? = {
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
      let stream = (0..<60).flatMap { index in
        Frame(
          header: FrameHeader(
            version: 5, frameType: .single, service: .video, frameInfo: 0, sessionID: 1,
            dataSize: UInt32(1 + index * 997), messageID: 1), payload: noise(1 + index * 997, seed: UInt64(index))
        ).bytes
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

    /// The end of TLS in the same read as data: poll(2) has to show it, for the peer may send no more.
    @Test func brokenRecordBehindData() throws {
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
      func record(_ bytes: [UInt8]) throws -> [UInt8] {
        var record = [UInt8](repeating: 0, count: bytes.count + TLSRecord.maximumOverhead)
        let count = try bytes.withUnsafeBytes { bytes in
          try record.withUnsafeMutableBytes { try tls.encrypt(bytes, into: $0) }
        }
        return Array(record[..<count])
      }
      raw.write(try record(Array(try WebSocketRequest(host: "x", target: "/").bytes)))
      guard case .open = server.advance() else { return _ = Issue.record("not open") }
      raw.write(try record(WebSocketFramingTests.frame(0x82, [1, 2, 3])) + [23, 3, 3, 0, 1, 0])
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

    // MARK: A head unit and an app

    private func serve(
      _ recorder: HeadUnitRecorder, _ configuration: HeadUnitConfiguration = quickHeadUnit()
    ) throws -> (server: HeadUnitServer, port: UInt16) {
      let server = try HeadUnitServer(configuration: configuration, address: "127.0.0.1", port: 0, observer: recorder)
      let port = try server.webSockets.listen(
        address: "127.0.0.1", port: 0, origins: AllowedOrigins(named: []), tls: nil)
      try server.start()
      return (server, port)
    }

    @Test func appRegisters() throws {
      let headUnit = HeadUnitRecorder()
      let app = ConnectionRecorder()
      let (server, port) = try serve(headUnit)
      let connection = AppConnection(
        configuration: AppConnection.Configuration(
          endpoint: .webSocket(WebSocketServer(host: "localhost", port: port, target: "/path?query")),
          session: testSession), observer: app)
      try connection.start()
      #expect(eventually { app.registrationCount == 1 })
      #expect(connection.isPeerOnThisMachine)
      connection.stop(grace: .seconds(1))
      connection.join()
      server.stop()
      server.join()
      #expect(headUnit.protocolViolations.isEmpty)
    }

    /// Although the head unit offers one to apps on TCP.
    @Test func noSecondaryTransportIsOffered() throws {
      let (server, port) = try serve(HeadUnitRecorder(), HeadUnitPreset.bluetoothAndWiFi.configuration)
      let tcp = try #require(Socket.tcp(family: AF_INET))
      let address = try #require(try Resolver.addresses(host: "127.0.0.1", port: port, flags: 4).get().first)
      _ = tcp.connect(to: address)
      let wakeUp = WakeUp()
      try wakeUp.open()
      let opened = try WebSocketServer(host: "127.0.0.1", port: port).open(
        tcp, until: MonotonicClock.now + testTimeout, clock: .monotonic, wakeUp: wakeUp, isWanted: { true })
      let phone = PhoneConnection(try #require(opened))
      phone.send(
        .startService, .rpc, session: 0, payload: RPCServiceRequest(protocolVersion: ProtocolVersion(5, 4)).bytes)
      let answer = try #require(phone.waitFor { $0.header.controlFrame == .startServiceACK ? $0 : nil })
      #expect(RPCServiceAcknowledgement(payload: answer.payload, version: 5).secondaryTransports == [])
      server.stop()
      server.join()
    }

    @Test func wrongServer() throws {
      let app = ConnectionRecorder()
      let headUnit = HeadUnitRecorder()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: headUnit)
      try server.start()
      let connection = AppConnection(
        configuration: AppConnection.Configuration(
          endpoint: .webSocket(WebSocketServer(host: "127.0.0.1", port: try #require(server.port))),
          session: testSession,
          connectTimeout: .milliseconds(200)), observer: app)
      try connection.start()
      guard case .some(.some(.link(.noWebSocket(_, let failure)))) = app.waitForEnd() else {
        Issue.record("\(app.events)")
        return
      }
      #expect(failure.advice.contains("sdl://"))
      server.stop()
      server.join()
    }

    /// What follows the answer in the same segment is read at once: here Close, after which nothing comes.
    @Test func closeBehindTheHandshake() throws {
      let app = ConnectionRecorder()
      let (listener, address) = try Socket.listening(address: "127.0.0.1", port: 0)
      let connection = AppConnection(
        configuration: AppConnection.Configuration(
          endpoint: .webSocket(WebSocketServer(host: "127.0.0.1", port: address.port)), session: testSession),
        observer: app)
      try connection.start()
      var accepted: Socket?
      #expect(
        eventually {
          accepted = listener.accept()
          return accepted != nil
        })
      let raw = try #require(accepted)
      var request: [UInt8] = []
      #expect(
        eventually {
          request += receive(raw).1
          return request.suffix(4) == [13, 10, 13, 10]
        })
      let head = try #require(HTTPHead(request[...]))
      guard case .accepted(let answer) = try WebSocketAnswer(to: head, origins: .none, at: nil) else {
        return _ = Issue.record("refused")
      }
      raw.write(answer + WebSocketFramingTests.frame(0x88, [3, 232], key: nil))
      guard case .some(.some(.link(.closedByPeer))) = app.waitForEnd() else {
        return _ = Issue.record("\(app.events)")
      }
      connection.join()
    }

    /// The head unit comes to the app, when the driver wants it, and tells the token.
    @Test func cloudApp() throws {
      let app = ConnectionRecorder()
      let headUnit = HeadUnitRecorder()
      let listener = WebSocketListener(address: "127.0.0.1", port: 0) { _ in }
      let connection = AppConnection(
        configuration: AppConnection.Configuration(endpoint: .transport(listener), session: testSession), observer: app)
      try connection.start()
      #expect(eventually { listener.port != 0 })
      var configuration = quickHeadUnit()
      configuration.activation = nil
      let server = try HeadUnitServer(
        configuration: configuration, address: "127.0.0.1", port: 0, observer: headUnit)
      server.webSockets.add(
        [CloudApp(WebSocketServer(host: "127.0.0.1", port: listener.port), name: "ws://app", isActivated: false)],
        authToken: "secret")
      try server.start()
      #expect(server.webSockets.activate(.activate(nil)))
      #expect(!server.webSockets.activate(.activate(nil)))
      connection.setVideoRequest(testRequest)
      #expect(app.waitForGrant() != nil, "the driver has opened it")
      // When the app has gone, it is pending again.
      connection.stop(grace: .seconds(1))
      connection.join()
      #expect(eventually { server.webSockets.activate(.activate(nil)) })
      server.stop()
      server.join()
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
