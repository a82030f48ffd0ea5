import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  /// The start and the end of a connection.
  @Suite struct LifecycleTests {
    /// How far the connection has come when it is stopped.
    enum Phase: CaseIterable {
      case beforeStart, atOnce, connecting, unanswered, registered, streaming, hungHeadUnit, ended
    }

    @Test(arguments: Phase.allCases) func stopsInEveryPhase(phase: Phase) throws {
      let headUnit = HeadUnitRecorder()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: headUnit)
      try server.start()
      let silent = try SilentPort()
      let unresponsive = try RawListener()
      let port =
        phase == .connecting ? silent.port : phase == .unanswered ? unresponsive.port : try #require(server.port)
      let observer = ConnectionRecorder()
      let connection = makeConnection(port: port, connectTimeout: .seconds(1000), observer: observer)
      if phase == .beforeStart { connection.stop(grace: .milliseconds(200)) }
      connection.setVideoRequest(testRequest)
      try connection.start()
      var expected: ConnectionFailure?
      switch phase {
      case .beforeStart, .atOnce: break
      case .connecting: #expect(observer.waitFor { if case .connecting = $0 { true } else { nil } } == true)
      case .unanswered: #expect(observer.waitFor { if case .connected = $0 { true } else { nil } } == true)
      case .registered:
        #expect(observer.waitFor { if case .session(.registered) = $0 { true } else { nil } } == true)
      case .streaming: #expect(observer.waitForGrant() != nil)
      case .hungHeadUnit:
        _ = try #require(observer.waitForGrant())
        server.setReading(false, for: try #require(headUnit.waitForConnection()))
      case .ended:
        _ = try #require(observer.waitForGrant())
        server.perform(.cut)
        let error = try #require(observer.waitForEnd())
        #expect(error != nil)
        expected = error
      }
      connection.stop(grace: .milliseconds(200))
      connection.join()
      #expect(observer.waitForEnd() == .some(expected))
      #expect(observer.endedCount == 1)
      server.stop()
      server.join()
    }

    /// Holds the head unit's thread as soon as an app has connected.
    private final class Holder: HeadUnitServerObserver {
      let isHolding = Monitor(false)
      let isReleased = Monitor(false)

      func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
        guard case .connected = event else { return }
        isHolding.change { $0 = true }
        isReleased.wait(atLatest: MonotonicClock.now + .seconds(30)) { $0 }
      }
    }

    /// All ports are free when the stop returns, whatever the thread has to do until then.
    @Test func portsOfAHeadUnitThatIsStopped() throws {
      func serve(_ ports: [UInt16], _ observer: any HeadUnitServerObserver) throws -> (HeadUnitServer, [UInt16]) {
        var configuration = quickHeadUnit()
        configuration.behaviour.secondaryTransport = .served
        var admission = HeadUnitServer.Admission()
        admission.secondaryPort = ports[1]
        let server = try HeadUnitServer(
          configuration: configuration, address: "127.0.0.1", port: ports[0], admission: admission, observer: observer)
        let webSocketPort = try server.webSockets.listen(
          address: "127.0.0.1", port: ports[2], origins: AllowedOrigins(named: []), tls: nil)
        try server.start()
        return (server, [try #require(server.port), try #require(server.secondaryPort), webSocketPort])
      }
      let holder = Holder()
      let (first, ports) = try serve([0, 0, 0], holder)
      let phone = try PhoneConnection(port: ports[0])
      #expect(holder.isHolding.wait(atLatest: MonotonicClock.now + .seconds(30)) { $0 })
      first.stop()
      let (second, same) = try serve(ports, HeadUnitRecorder())
      #expect(same == ports)
      holder.isReleased.change { $0 = true }
      phone.close()
      first.join()
      second.stop()
      second.join()
    }

    @Test func headUnitSeesTheEndOfTheSession() throws {
      let pair = try StreamingPair()
      pair.connection.stop(grace: .seconds(10))
      pair.connection.join()
      let reason = pair.headUnit.waitFor { event in
        if case .session(_, .appUnregistered(let reason)) = event { reason } else { nil }
      }
      #expect(reason == .requestedByApp)
      let end = pair.headUnit.waitFor { if case .disconnected(_, let error, _) = $0 { error } else { nil } }
      guard case .closedByPeer = end else {
        Issue.record("\(String(describing: end))")
        return
      }
      #expect(pair.headUnit.protocolViolations.isEmpty)
      pair.stop()
    }

    @Test func unansweredSessionFails() throws {
      let unresponsive = try RawListener()
      let observer = ConnectionRecorder()
      let clock = ManualClock()
      let connection = makeConnection(port: unresponsive.port, clock: clock, observer: observer)
      try connection.start()
      #expect(
        eventually {
          clock.advance(by: .seconds(1))
          return observer.endedCount == 1
        })
      connection.join()
      let failure = observer.waitFor { if case .session(.failed(let failure)) = $0 { failure } else { nil } }
      #expect(failure == .unanswered(request: "StartService"))
      #expect(observer.waitForEnd() == .some(.session(.unanswered(request: "StartService"))))
    }

    @Test func webServerIsRecognised() throws {
      let listener = try RawListener()
      let observer = ConnectionRecorder()
      let connection = makeConnection(port: listener.port, observer: observer)
      try connection.start()
      let peer = try listener.accept()
      peer.write(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
      connection.join()
      let failure = observer.waitFor { if case .session(.failed(let failure)) = $0 { failure } else { nil } }
      guard case .notSDL = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
    }

    /// The peer goes away after any number of its messages: one end, with an error, every time.
    @Test func survivesPeerThatLeavesBetweenMessages() throws {
      let answers = try recordedFrames(of: .headUnit)
      #expect(answers.count >= 6)
      for count in 0...answers.count {
        let listener = try RawListener()
        let observer = ConnectionRecorder()
        let connection = makeConnection(port: listener.port, observer: observer)
        connection.setVideoRequest(testRequest)
        try connection.start()
        do {
          let peer = try listener.accept()
          peer.write(Array(answers.prefix(count).joined()))
          _ = shutdown(peer.descriptor, Int32(SHUT_WR))
          _ = peer.readAll()
        }
        connection.join()
        let end = try #require(observer.waitForEnd())
        #expect(end != nil)
        let isUnanswered = if case .link(.closedUnanswered) = end { true } else { false }
        #expect(isUnanswered == (count == 0), "\(String(describing: end))")
        #expect(observer.endedCount == 1)
      }
    }

    /// Whoever closes TCP without a word may be a server of something else.
    @Test func reasonsOfTheEnd() throws {
      let (socket, _) = try Socket.pair()
      let silent = FrameReader(socket: socket, peer: "car")
      var heard = silent
      heard.take(UnsafeRawBufferPointer(start: nil, count: 0))
      let tcp = AppConnection.Endpoint.tcp(host: "car", port: 1)
      let webSocket = AppConnection.Endpoint.webSocket(WebSocketServer(host: "car", port: 1))
      for (endpoint, transfer, reader, error) in [
        (tcp, Socket.Transfer.endOfStream, silent, LinkError.closedUnanswered(address: "car")),
        (tcp, .failed(errno: ECONNRESET), silent, .closedUnanswered(address: "car")),
        (tcp, .failed(errno: EPIPE), silent, .closedUnanswered(address: "car")),
        (tcp, .failed(errno: ETIMEDOUT), silent, .connectionLost(address: "car", errno: ETIMEDOUT)),
        (tcp, .endOfStream, heard, .closedByPeer(address: "car")),
        (tcp, .failed(errno: ECONNRESET), heard, .connectionLost(address: "car", errno: ECONNRESET)),
        (webSocket, .endOfStream, silent, .closedByPeer(address: "car")),
      ] {
        #expect(endpoint.failure(transfer, of: reader) == error, "\(transfer)")
      }
    }
  }
}
