import Glibc
import SDLHeadUnit
import SDLMessages
import SDLWire
import TLSEngine
import TestSupport
import Testing

@testable import SDLAppLink
@testable import SDLHeadUnitLink
@testable import SDLLink

extension LinkTests {
  /// A head unit and an app over WebSocket.
  @Suite struct WebSocketConnectionTests {
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
      #expect(failure.reason == "no answer of HTTP comes to the request for a WebSocket")
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
    @Test(arguments: [false, true]) func cloudApp(isSecure: Bool) throws {
      let contexts = try #require(WebSocketTests.contexts)
      let app = ConnectionRecorder()
      let headUnit = HeadUnitRecorder()
      let listener = WebSocketListener(
        address: "127.0.0.1", port: 0, tls: isSecure ? contexts.server : nil
      ) { _ in }
      let connection = AppConnection(
        configuration: AppConnection.Configuration(endpoint: .transport(listener), session: testSession), observer: app)
      try connection.start()
      #expect(eventually { listener.port != 0 })
      var configuration = quickHeadUnit()
      configuration.activation = nil
      let server = try HeadUnitServer(
        configuration: configuration, address: "127.0.0.1", port: 0, observer: headUnit)
      let cloud = WebSocketServer(
        host: "127.0.0.1", port: listener.port, tls: isSecure ? contexts.client : nil)
      server.webSockets.add(
        [CloudApp(cloud, name: "ws://app", isActivated: false)],
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

    /// Five more attempts follow the first one. Then it is pending again, as often as the driver wants it.
    @Test func cloudAppThatIsNotThere() throws {
      let headUnit = HeadUnitRecorder()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: headUnit)
      let nobody = try RefusingPort()
      let cloud = WebSocketServer(host: "127.0.0.1", port: nobody.port)
      server.webSockets.add(
        [CloudApp(cloud, name: "ws://app", isActivated: true, retryPause: .milliseconds(1))], authToken: nil)
      func counts() -> [Int] {
        var (attempts, pending) = (0, 0)
        _ = headUnit.hasReported { event in
          if case .transport(.faultFound) = event { attempts += 1 }
          if case .transport(.status(.waiting)) = event { pending += 1 }
          return false
        }
        return [attempts, pending]
      }
      try server.start()
      for round in 1...2 {
        #expect(eventually { counts() == [6 * round, round] }, "\(counts())")
        #expect(server.webSockets.activate(.activate(nil)))
      }
      server.stop()
      server.join()
    }

    // MARK: Waiting for a head unit

    /// A listener, and what it says.
    private struct Waiting {
      let listener: WebSocketListener
      let events = Monitor<[TransportEvent]>([])
      let lines = Monitor<[String]>([])

      init(tls: TLSContext? = nil, clock: TimeSource = .monotonic) throws {
        let lines = lines
        listener = WebSocketListener(address: "127.0.0.1", port: 0, tls: tls, clock: clock) { line in
          lines.withLock { $0.append(line) }
        }
        let events = events
        try listener.start { event in events.change { $0.append(event) } }
        let listener = listener
        #expect(eventually { listener.port != 0 })
      }

      /// Takes the connection, once it is there.
      func takeConnection() throws -> PeerConnection {
        let connection = events.wait(until: MonotonicClock.now + testTimeout) { events -> PeerConnection? in
          for case .connected(let connection) in events {
            events = []
            return connection
          }
          return nil
        }
        return try #require(connection)
      }

      func hasLogged(_ text: String) -> Bool { lines.withLock { $0.contains { $0.contains(text) } } }

      /// Somebody who connects, and says this.
      func connect(_ request: [UInt8]) throws -> Socket {
        let socket = try #require(Socket.tcp(family: AF_INET))
        let address = try Resolver.addresses(host: "127.0.0.1", port: listener.port, flags: AI_NUMERICHOST).get()
        _ = socket.connect(to: try #require(address.first))
        #expect(eventually { socket.takeError() == 0 && socket.peerAddress != nil })
        socket.write(request)
        return socket
      }
    }

    /// The status line of an answer.
    private func status(_ socket: Socket) -> String? {
      let bytes = socket.readAll { $0.contains(10) }
      return String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").first.map(String.init)
    }

    @Test func secondHeadUnit() throws {
      let waiting = try Waiting()
      let first = try waiting.connect(WebSocketTests.request)
      #expect(status(first) == "HTTP/1.1 101 Switching Protocols")
      var connection: PeerConnection? = try waiting.takeConnection()
      let second = try waiting.connect(WebSocketTests.request)
      let answer = String(decoding: second.readAll(), as: UTF8.self)
      #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"), "\(answer)")
      #expect(answer.hasSuffix("\r\n\r\nthere is a connection already\n"))
      #expect(eventually { waiting.hasLogged("refused: there is a connection already") })
      #expect(connection?.peer.isEmpty == false)
      connection = nil
      #expect(first.readAll().suffix(4) == [0x88, 2, 3, 232], "Close")
      let isFree = eventually {
        let third = try? waiting.connect(WebSocketTests.request)
        return third.flatMap { status($0) } == "HTTP/1.1 101 Switching Protocols"
      }
      #expect(isFree)
      waiting.listener.stop()
    }

    /// Connections that ask for nothing, however many, hold nobody off; the oldest have to go.
    @Test func silentConnections() throws {
      let waiting = try Waiting()
      let silent = try (0..<40).map { try waiting.connect($0.isMultiple(of: 2) ? [] : Array("GET / HT".utf8)) }
      #expect(try status(waiting.connect(WebSocketTests.request)) == "HTTP/1.1 101 Switching Protocols")
      for index in [0, 1, 24] { #expect(silent[index].readAll().isEmpty, "\(index)") }
      #expect(waiting.hasLogged("others want its place"))
      #expect(!silent[25].isClosedByPeer && !silent[39].isClosedByPeer)
      waiting.listener.stop()
    }

    /// The user hears what to do.
    @Test func portThatIsTaken() throws {
      let waiting = try Waiting()
      defer { waiting.listener.stop() }
      let other = WebSocketListener(address: "127.0.0.1", port: waiting.listener.port) { _ in }
      let failures = Monitor<[TransportFailure]>([])
      try other.start { event in
        if case .failed(let failure) = event { failures.change { $0.append(failure) } }
      }
      let failure = failures.wait(until: MonotonicClock.now + testTimeout) { $0.first }
      #expect(failure?.kind == .busy && failure?.reason.contains("cannot listen on 127.0.0.1") == true)
      #expect(failure?.advice.contains("another port") == true && other.port == 0)
      other.stop()
    }

    @Test func timeForTheHandshake() throws {
      let clock = ManualClock()
      let waiting = try Waiting(clock: TimeSource(clock))
      let wakeUp = waiting.listener.wakeUp
      clock.onAdvance { wakeUp.signal() }
      let silent = try waiting.connect(Array("GET / HTTP/1.1\r\n".utf8))
      // It may not be accepted yet.
      #expect(
        eventually {
          clock.advance(by: .seconds(1))
          return silent.isClosedByPeer
        })
      #expect(waiting.hasLogged("it has asked for no WebSocket in 10 s"))
      waiting.listener.stop()
    }
  }
}
