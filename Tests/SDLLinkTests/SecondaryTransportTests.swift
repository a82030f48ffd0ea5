import Glibc
import SDLHeadUnit
import SDLMessages
import SDLWire
import TestSupport
import Testing

@testable import SDLLink

extension LinkTests {
  /// A head unit that takes video on a second port, and a phone that is written by hand.
  @Suite struct SecondaryTransportTests {
    private static let video: [UInt8] = [0, 0, 0, 1, 0x67, 1, 2, 3]

    /// An app that may stream, and the address of the second transport that it was told.
    private func streamablePhone(
      admission: HeadUnitServer.Admission = HeadUnitServer.Admission(),
      _ change: (inout HeadUnitConfiguration) -> Void = { _ in }
    ) throws -> (Phone, TransportEventUpdate) {
      let phone = try Phone(admission: admission) { configuration in
        configuration.behaviour.secondaryTransport = .served
        configuration.activation = .zero
        change(&configuration)
      }
      #expect(phone.start()?.id == 1)
      let offer = try #require(phone.waitForOffer())
      #expect(phone.register("Map", "map", session: 1) == "SUCCESS")
      #expect(eventually { phone.headUnit.statuses(of: 1).last?.level == .full })
      return (phone, offer)
    }

    private func registered(_ phone: Phone) throws -> PhoneConnection {
      let connection = try PhoneConnection(port: try #require(phone.server.secondaryPort))
      connection.registerSecondary(session: 1)
      #expect(connection.waitForControl(.registerSecondaryTransportACK, .control, session: 1))
      return connection
    }

    private func startVideo(_ connection: PhoneConnection) {
      let parameters = VideoServiceParameters(width: 800, height: 480, videoProtocol: "RAW", videoCodec: "H264")
      connection.send(.startService, .video, session: 1, payload: parameters.bytes(version: 5))
      #expect(connection.waitForControl(.startServiceACK, .video, session: 1))
    }

    /// Video goes over the second connection, RPCs go on over the first.
    @Test func video() throws {
      let (phone, offer) = try streamablePhone()
      #expect(offer.address == "127.0.0.1" && offer.port == phone.server.secondaryPort.map { Int32($0) })
      #expect(phone.server.secondaryPort != phone.server.port)
      let connection = try registered(phone)
      startVideo(connection)
      for _ in 0..<3 { connection.sendVideo(Self.video) }
      #expect(phone.headUnit.waitForMessages(3))
      #expect(phone.headUnit.videoMessages == [Self.video, Self.video, Self.video])
      #expect(phone.request(.listFiles, [:], session: 1) == "SUCCESS")
      #expect(
        phone.headUnit.hasReported {
          if case .session(1, .videoStarted(_, on: .secondary)) = $0 { true } else { false }
        })
      // The connection of the session is no app of its own.
      #expect(phone.headUnit.connectionIDs == [1] && phone.headUnit.protocolViolations == [])
      phone.stop()
      #expect(connection.waitForClose())
    }

    /// On all addresses of the machine, the offer names the one that the app has used.
    @Test func allAddresses() throws {
      let phone = try Phone(address: nil) { $0.behaviour.secondaryTransport = .served }
      #expect(phone.start()?.id == 1)
      let offer = try #require(phone.waitForOffer())
      #expect(offer.address == "127.0.0.1")
      _ = try registered(phone)
      phone.stop()
    }

    /// As of the built-in head unit: the first connection is a socket pair, the second one comes over TCP.
    @Test func besideAConnectionThatIsThere() throws {
      let headUnit = HeadUnitRecorder()
      let (ours, theirs) = try Socket.pair()
      let server = try HeadUnitServer(
        configuration: HeadUnitPreset.bluetoothAndWiFi.configuration, serving: theirs, clock: .monotonic,
        observer: headUnit)
      try server.start()
      let phone = PhoneConnection(ours)
      #expect(phone.start()?.id == 1)
      let offer = try #require(phone.waitForOffer())
      #expect(offer.address == "127.0.0.1" && offer.port == server.secondaryPort.map { Int32($0) })
      let connection = try PhoneConnection(port: try #require(server.secondaryPort))
      connection.registerSecondary(session: 1)
      #expect(connection.waitForControl(.registerSecondaryTransportACK, .control, session: 1))
      // The server ends with the connection that it was made for.
      phone.close()
      #expect(connection.waitForClose())
      #expect(headUnit.waitFor { if case .ended = $0 { true } else { nil } } == true)
      server.join()
    }

    /// A message whose parts come in single bytes, and one that is longer than what is read at once.
    @Test func piecesAndLongMessages() throws {
      let (phone, _) = try streamablePhone()
      let connection = try registered(phone)
      startVideo(connection)
      let message = Fragmentation(
        service: .video, version: 5, sessionID: 1, messageID: 70, payloadSize: Self.video.count, maximumPayload: 1000)
      for byte in message.frames(of: Self.video) { connection.send([byte]) }
      let long = [0, 0, 0, 1, 0x67] + noise(300_000)
      connection.sendVideo(long)
      #expect(phone.headUnit.waitForMessages(2))
      #expect(phone.headUnit.videoMessages == [Self.video, long])
      phone.stop()
    }

    @Test func moveThereAndBack() throws {
      let (phone, _) = try streamablePhone { $0.behaviour.videoTransports = [.secondary, .primary] }
      let secondary = try registered(phone)
      var sent = 0
      for connection in [phone, secondary, phone, secondary] {
        startVideo(connection)
        for _ in 0..<10 { connection.sendVideo(Self.video) }
        sent += 10
        connection.send(.endService, .video, session: 1)
        #expect(connection.waitForControl(.endServiceACK, .video, session: 1))
        #expect(phone.headUnit.waitForMessages(sent))
      }
      #expect(phone.headUnit.protocolViolations == [])
      phone.stop()
    }

    /// What is refused is answered, and closed.
    @Test(
      arguments: [
        (0, HeadUnitSession.SecondaryRefusal.noSessionID), (9, .unknownSession), (1, .registeredAlready),
      ] as [(UInt8, HeadUnitSession.SecondaryRefusal)])
    func refused(session: UInt8, reason: HeadUnitSession.SecondaryRefusal) throws {
      let (phone, _) = try streamablePhone()
      let first = try registered(phone)
      let other = try PhoneConnection(port: try #require(phone.server.secondaryPort))
      other.registerSecondary(session: session)
      let payload = other.waitFor { frame in
        frame.header.controlFrame == .registerSecondaryTransportNAK && frame.header.sessionID == session
          ? frame.payload : nil
      }
      #expect(payload.map { ServiceRejection(payload: $0).reason } == reason.rawValue)
      #expect(other.waitForClose())
      let isReported = phone.headUnit.hasReported { event in
        switch event {
        case .secondaryTransportRefused(_, reason), .session(1, .secondaryTransportRefused(reason)): true
        default: false
        }
      }
      #expect(isReported)
      // The session, and its second transport, are as they were.
      startVideo(first)
      phone.stop()
    }

    /// Before the session's RPC service, and on the first port.
    @Test func tooEarlyAndElsewhere() throws {
      let phone = try Phone { $0.behaviour.secondaryTransport = .served }
      let early = try PhoneConnection(port: try #require(phone.server.secondaryPort))
      early.registerSecondary(session: 1)
      #expect(early.waitForControl(.registerSecondaryTransportNAK, .control, session: 1) && early.waitForClose())
      #expect(phone.start()?.id == 1)
      let first = try PhoneConnection(port: try #require(phone.server.port))
      first.registerSecondary(session: 1)
      #expect(first.waitForControl(.registerSecondaryTransportNAK, .control, session: 1))
      phone.stop()
    }

    /// Everything else than RegisterSecondaryTransport closes the connection.
    @Test(arguments: ["session", "garbage", "video"]) func notRegistered(first: String) throws {
      let (phone, _) = try streamablePhone()
      let connection = try PhoneConnection(port: try #require(phone.server.secondaryPort))
      switch first {
      case "session":
        connection.send(
          .startService, .rpc, session: 0, payload: RPCServiceRequest(protocolVersion: ProtocolVersion(5, 4)).bytes)
      case "video": connection.sendVideo(Self.video)
      default: connection.send([UInt8](repeating: 0xFF, count: 20))
      }
      #expect(connection.waitForClose())
      #expect(phone.request(.listFiles, [:], session: 1) == "SUCCESS")
      #expect(phone.headUnit.connectionIDs == [1] && phone.headUnit.protocolViolations == [])
      phone.stop()
    }

    /// Either side may lose the second connection; the services there end, and the session goes on.
    @Test(arguments: ["app", "cut", "silence"]) func lost(by cause: String) throws {
      let (phone, _) = try streamablePhone()
      let connection = try registered(phone)
      startVideo(connection)
      switch cause {
      case "app": connection.close()
      case "cut": phone.server.perform(.cutSecondary)
      default: phone.server.perform(.serveSecondaryTransport(port: 0))
      }
      guard cause != "silence" else {
        // Another port alone ends nothing.
        connection.sendVideo(Self.video)
        #expect(phone.headUnit.waitForMessages(1))
        return phone.stop()
      }
      #expect(
        phone.headUnit.waitFor { if case .session(1, .secondaryTransportLost) = $0 { true } else { nil } } == true)
      #expect(
        phone.headUnit.hasReported {
          if case .session(1, .videoStopped(reason: .transportLost)) = $0 { true } else { false }
        })
      #expect(connection.waitForClose())
      #expect(phone.request(.listFiles, [:], session: 1) == "SUCCESS")
      startVideo(phone)
      let again = try registered(phone)
      phone.send(.endService, .video, session: 1)
      #expect(phone.waitForControl(.endServiceACK, .video, session: 1))
      startVideo(again)
      phone.stop()
    }

    /// An app that connects anew may do so before the head unit has read the end of the former connection.
    @Test func connectedAnew() throws {
      let (phone, _) = try streamablePhone()
      for _ in 0..<20 {
        let connection = try registered(phone)
        startVideo(connection)
        connection.sendVideo(Self.video)
        connection.close()
      }
      phone.stop()
    }

    /// The end of the first transport, or of the session, is that of the second.
    @Test(arguments: ["cut", "unregister", "app", "session"]) func primaryLost(by cause: String) throws {
      let (phone, _) = try streamablePhone()
      let connection = try registered(phone)
      startVideo(connection)
      switch cause {
      case "cut": phone.server.disconnect(1)
      case "unregister": phone.server.unregisterApp(.protocolViolation, for: 1)
      case "app": phone.close()
      default:
        phone.send(.endService, .rpc, session: 1, payload: EndServiceRequest(hashID: 0x0001_0001).bytes(version: 5))
      }
      #expect(connection.waitForClose())
      #expect(
        phone.headUnit.hasReported { if case .session(1, .appUnregistered) = $0 { true } else { false } })
      phone.stop()
    }

    /// Withdrawn, offered again, and at another port.
    @Test func withdrawnAndOfferedAgain() throws {
      let (phone, offer) = try streamablePhone()
      phone.server.change(.secondaryTransport(.off))
      #expect(phone.waitForOffer() == TransportEventUpdate(address: nil, port: nil))
      let refused = try PhoneConnection(port: UInt16(clamping: offer.port ?? 0))
      #expect(refused.waitForClose())
      phone.server.perform(.serveSecondaryTransport(port: nil))
      #expect(phone.waitForOffer() == offer)
      phone.server.perform(.serveSecondaryTransport(port: 0))
      let another = try #require(phone.waitForOffer())
      #expect(another != offer && another.port == phone.server.secondaryPort.map { Int32($0) })
      _ = try registered(phone)
      phone.stop()
    }

    /// A head unit that has offered none opens its port when a script says so, for the sessions to come.
    @Test func openedLate() throws {
      let phone = try Phone()
      #expect(phone.server.secondaryPort == nil)
      phone.server.perform(.serveSecondaryTransport(port: nil))
      #expect(eventually { phone.server.secondaryPort != nil })
      #expect(phone.start()?.id == 1)
      let offer = try #require(phone.waitForOffer())
      #expect(offer.port == phone.server.secondaryPort.map { Int32($0) })
      _ = try registered(phone)
      // A port that somebody else has.
      phone.server.perform(.serveSecondaryTransport(port: phone.server.port))
      #expect(
        phone.headUnit.waitFor {
          if case .secondaryPortFailed(.cannotListen(_, EADDRINUSE)) = $0 { true } else { nil }
        } == true)
      #expect(phone.server.secondaryPort == offer.port.map { UInt16($0) })
      phone.stop()
    }

    @Test func portThatIsTaken() throws {
      let listener = try ListeningPort(address: "127.0.0.1", port: 0)
      var admission = HeadUnitServer.Admission()
      admission.secondaryPort = listener.address.port
      var configuration = HeadUnitPreset.standard.configuration
      configuration.behaviour.secondaryTransport = .served
      #expect(throws: LinkError.cannotListen(address: listener.address.description, errno: EADDRINUSE)) {
        try HeadUnitServer(
          configuration: configuration, address: "127.0.0.1", port: 0, admission: admission,
          observer: HeadUnitRecorder())
      }
    }

    /// Connections that do not register keep nobody out for long, and never those on the first port.
    @Test func boundedConnections() throws {
      var admission = HeadUnitServer.Admission()
      admission.maximumConnectionCount = 2
      admission.registrationTime = .milliseconds(300)
      let (phone, _) = try streamablePhone(admission: admission)
      let port = try #require(phone.server.secondaryPort)
      let idle = try (0..<6).map { _ in try PhoneConnection(port: port) }
      let silent = try PhoneConnection(port: try #require(phone.server.port))
      #expect(silent.start()?.id == 2)
      _ = try registered(phone)
      for connection in idle { #expect(connection.waitForClose()) }
      phone.stop()
    }

    /// An answer that does not come, and one behind which the connection is closed.
    @Test func scriptedRegistrations() throws {
      var admission = HeadUnitServer.Admission()
      admission.registrationTime = .milliseconds(300)
      let (phone, _) = try streamablePhone(admission: admission) { $0.behaviour.secondaryRegistration = .silence }
      let port = try #require(phone.server.secondaryPort)
      let unanswered = try PhoneConnection(port: port)
      unanswered.registerSecondary(session: 1)
      #expect(unanswered.waitForClose())
      for (answer, frame) in [
        (HeadUnitBehaviour.SecondaryRegistrationAnswer.reject, ControlFrame.registerSecondaryTransportNAK),
        (.acknowledgeAndClose, .registerSecondaryTransportACK),
      ] {
        phone.server.change(.secondaryRegistration(answer))
        #expect(phone.request(.listFiles, [:], session: 1) == "SUCCESS")
        let connection = try PhoneConnection(port: port)
        connection.registerSecondary(session: 1)
        #expect(connection.waitForControl(frame, .control, session: 1) && connection.waitForClose())
      }
      phone.server.change(.secondaryRegistration(.acknowledge))
      _ = try registered(phone)
      phone.stop()
    }

    /// A head unit that hangs reads neither connection; what has come meanwhile is not lost.
    @Test func stall() throws {
      let (phone, _) = try streamablePhone()
      let connection = try registered(phone)
      startVideo(connection)
      phone.server.perform(.stall(.milliseconds(300)))
      for _ in 0..<5 { connection.sendVideo(Self.video) }
      #expect(phone.headUnit.waitForMessages(5))
      #expect(phone.headUnit.protocolViolations == [])
      phone.stop()
    }
  }
}

extension PhoneConnection {
  fileprivate func registerSecondary(session: UInt8) {
    send(.registerSecondaryTransport, .control, session: session)
  }

  fileprivate func waitForOffer() -> TransportEventUpdate? {
    waitFor { frame in
      frame.header.controlFrame == .transportEventUpdate ? TransportEventUpdate(payload: frame.payload) : nil
    }
  }

  fileprivate func sendVideo(_ bytes: [UInt8]) {
    let message = Fragmentation(
      service: .video, version: 5, sessionID: 1, messageID: 5, payloadSize: bytes.count, maximumPayload: 100_000)
    send(message.frames(of: bytes))
  }
}
