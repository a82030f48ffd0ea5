import Glibc
import SDLHeadUnit
import SDLMessages
import SDLWire
import TestSupport
import Testing

@testable import SDLHeadUnitLink
@testable import SDLLink

extension LinkTests {
  /// The second port over time, and what a head unit does with connections there that it does not like.
  @Suite struct SecondaryOfferTests {
    /// Withdrawn, offered again, and at another port.
    @Test func withdrawnAndOfferedAgain() throws {
      let (phone, offer) = try Phone.withOffer()
      phone.server.perform(.behave(.secondaryTransport(.off)))
      #expect(phone.waitForOffer() == TransportEventUpdate(address: nil, port: nil))
      let refused = try PhoneConnection(port: UInt16(clamping: offer.port ?? 0))
      #expect(refused.waitForClose())
      phone.server.perform(.serveSecondaryTransport(port: nil))
      #expect(phone.waitForOffer() == offer)
      phone.server.perform(.serveSecondaryTransport(port: 0))
      let another = try #require(phone.waitForOffer())
      #expect(another != offer && another.port == phone.server.secondaryPort.map { Int32($0) })
      _ = try phone.registeredSecondary()
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
      _ = try phone.registeredSecondary()
      // A port that another program has.
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

    /// Connections that do not register keep no app out for long, and never those on the first port.
    @Test func boundedConnections() throws {
      var admission = HeadUnitServer.Admission()
      admission.maximumConnectionCount = 2
      admission.registrationTime = .seconds(1)
      let (phone, _) = try Phone.withOffer(admission: admission)
      let port = try #require(phone.server.secondaryPort)
      let idle = try (0..<6).map { _ in try PhoneConnection(port: port) }
      let silent = try PhoneConnection(port: try #require(phone.server.port))
      #expect(silent.start()?.id == 2)
      for connection in idle { #expect(connection.waitForClose()) }
      _ = try phone.registeredSecondary()
      phone.stop()
    }

    /// What a script has decided of the next registration; the answer is written before the end.
    @Test func acknowledgedAndClosed() throws {
      let (phone, _) = try Phone.withOffer()
      phone.server.perform(.behave(.secondaryRegistration(.acknowledgeAndClose)))
      #expect(phone.request(.listFiles, [:], session: 1) == "SUCCESS")
      #expect(try phone.registeredSecondary().waitForClose())
      phone.server.perform(.behave(.secondaryRegistration(.acknowledge)))
      _ = try phone.registeredSecondary()
      phone.stop()
    }

    /// A head unit that hangs reads neither connection; what has come meanwhile is not lost.
    @Test func stall() throws {
      let (phone, _) = try Phone.withOffer()
      let connection = try phone.registeredSecondary()
      connection.startVideo()
      phone.server.perform(.stall(.milliseconds(300)))
      for _ in 0..<5 { connection.sendVideo(testVideo) }
      #expect(phone.headUnit.waitForMessages(5))
      #expect(phone.headUnit.protocolViolations == [])
      phone.stop()
    }
  }
}
