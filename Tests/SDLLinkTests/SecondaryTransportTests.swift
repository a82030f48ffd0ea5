import Glibc
import SDLHeadUnit
import SDLMessages
import SDLWire
import TestSupport
import Testing

@testable import SDLHeadUnitLink
@testable import SDLLink

extension LinkTests {
  /// A head unit that takes video on a second port, and a phone that is written by hand.
  @Suite struct SecondaryTransportTests {
    /// Video goes over the second connection, RPCs go on over the first.
    @Test func video() throws {
      let (phone, offer) = try Phone.withOffer()
      #expect(offer.address == "127.0.0.1" && offer.port == phone.server.secondaryPort.map { Int32($0) })
      #expect(phone.server.secondaryPort != phone.server.port)
      let connection = try phone.registeredSecondary()
      connection.startVideo()
      for _ in 0..<3 { connection.sendVideo(testVideo) }
      #expect(phone.headUnit.waitForMessages(3))
      #expect(phone.headUnit.videoMessages == [testVideo, testVideo, testVideo])
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
      _ = try phone.registeredSecondary()
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
      let session = try #require(phone.start()?.id)
      let offer = try #require(phone.waitForOffer())
      #expect(offer.address == "127.0.0.1" && offer.port == server.secondaryPort.map { Int32($0) })
      let connection = try PhoneConnection(port: try #require(server.secondaryPort))
      connection.registerSecondary(session: session)
      #expect(connection.waitForControl(.registerSecondaryTransportACK, .control, session: session))
      // The server ends with the connection that it was made for.
      phone.close()
      #expect(connection.waitForClose())
      #expect(headUnit.waitFor { if case .ended = $0 { true } else { nil } } == true)
      server.join()
    }

    /// It keeps no other app out, so its app may take its time.
    @Test func noTimeLimitOfAConnectionThatIsThere() throws {
      let clock = ManualClock()
      let (ours, theirs) = try Socket.pair()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), serving: theirs, clock: TimeSource(clock), observer: HeadUnitRecorder())
      try server.start()
      let phone = PhoneConnection(ours)
      let session = try #require(phone.start()?.id)
      clock.advance(by: .seconds(3600))
      phone.send(.heartbeat, .control, session: session)
      #expect(phone.waitForControl(.heartbeatACK, .control, session: session))
      #expect(phone.register("Late", "late", session: session) == "SUCCESS")
      phone.close()
      server.join()
    }

    /// What is refused is answered, and closed.
    @Test(
      arguments: [
        (0, HeadUnitSession.SecondaryRefusal.noSessionID), (9, .unknownSession), (1, .registeredAlready),
      ] as [(UInt8, HeadUnitSession.SecondaryRefusal)])
    func refused(session: UInt8, reason: HeadUnitSession.SecondaryRefusal) throws {
      let (phone, _) = try Phone.withOffer()
      let first = try phone.registeredSecondary()
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
      first.startVideo()
      phone.stop()
    }

    /// Nothing but the address shows whether a connection is the app's.
    @Test(arguments: SecondaryOrigin.allCases) func anotherAddress(origin: SecondaryOrigin) throws {
      var admission = HeadUnitServer.Admission()
      admission.secondaryOrigin = origin
      let (phone, _) = try Phone.withOffer(admission: admission)
      let other = try PhoneConnection(port: try #require(phone.server.secondaryPort), isStranger: true)
      other.registerSecondary(session: 1)
      let isTaken = origin == .any
      let answer = isTaken ? ControlFrame.registerSecondaryTransportACK : .registerSecondaryTransportNAK
      #expect(other.waitForControl(answer, .control, session: 1))
      if !isTaken {
        #expect(other.waitForClose())
        try phone.registeredSecondary().startVideo()
      }
      phone.stop()
    }

    /// Everything else than RegisterSecondaryTransport closes the connection.
    @Test(arguments: ["session", "garbage", "video"]) func notRegistered(first: String) throws {
      let (phone, _) = try Phone.withOffer()
      let connection = try PhoneConnection(port: try #require(phone.server.secondaryPort))
      switch first {
      case "session":
        connection.send(
          .startService, .rpc, session: 0, payload: RPCServiceRequest(protocolVersion: ProtocolVersion(5, 4)).bytes)
      case "video": connection.sendVideo(testVideo)
      default: connection.send([UInt8](repeating: 0xFF, count: 20))
      }
      #expect(connection.waitForClose())
      #expect(phone.request(.listFiles, [:], session: 1) == "SUCCESS")
      #expect(phone.headUnit.connectionIDs == [1] && phone.headUnit.protocolViolations == [])
      phone.stop()
    }

    /// Either side may lose the second connection; the services there end, and the session goes on.
    @Test(arguments: ["app", "cut", "silence"]) func lost(by cause: String) throws {
      let (phone, _) = try Phone.withOffer()
      let connection = try phone.registeredSecondary()
      connection.startVideo()
      switch cause {
      case "app": connection.close()
      case "cut": phone.server.perform(.cutSecondary)
      default: phone.server.perform(.serveSecondaryTransport(port: 0))
      }
      guard cause != "silence" else {
        // Another port alone ends nothing.
        connection.sendVideo(testVideo)
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
      phone.startVideo()
      let again = try phone.registeredSecondary()
      phone.send(.endService, .video, session: 1)
      #expect(phone.waitForControl(.endServiceACK, .video, session: 1))
      again.startVideo()
      phone.stop()
    }

    /// An app that connects anew may do so before the head unit has read the end of the former connection.
    @Test func connectedAnew() throws {
      let (phone, _) = try Phone.withOffer()
      for _ in 0..<20 {
        let connection = try phone.registeredSecondary()
        connection.startVideo()
        connection.sendVideo(testVideo)
        connection.close()
      }
      phone.stop()
    }

    /// An app that closes the second connection and starts again on the first one at once: nothing of the video is
    /// lost, and the head unit knows that the service is over.
    @Test func backToTheFirstAtOnce() throws {
      let (phone, _) = try Phone.withOffer()
      var sent = 0
      for _ in 0..<20 {
        let connection = try phone.registeredSecondary()
        connection.startVideo()
        for _ in 0..<30 { connection.sendVideo(testVideo) }
        connection.close()
        phone.startVideo()
        sent += 30
        #expect(phone.headUnit.videoMessages.count == sent)
        phone.send(.endService, .video, session: 1)
        #expect(phone.waitForControl(.endServiceACK, .video, session: 1))
      }
      #expect(phone.headUnit.protocolViolations == [])
      phone.stop()
    }

    /// The end of the first transport, or of the session, is that of the second.
    @Test(arguments: [true, false]) func primaryLost(isSessionAlone: Bool) throws {
      let (phone, _) = try Phone.withOffer()
      let connection = try phone.registeredSecondary()
      connection.startVideo()
      if isSessionAlone {
        phone.send(.endService, .rpc, session: 1, payload: EndServiceRequest(hashID: 0x0001_0001).bytes(version: 5))
      } else {
        phone.close()
      }
      #expect(connection.waitForClose())
      #expect(
        phone.headUnit.hasReported { if case .session(1, .appUnregistered) = $0 { true } else { false } })
      phone.stop()
    }
  }
}
