import SDLHeadUnit
import TestSupport
import Testing

@testable import SDLHeadUnitLink
@testable import SDLLink

extension LinkTests {
  /// Which connections every head unit accepts.
  @Suite struct AdmissionTests {
    /// Apps of one address that are there and do nothing keep no other address out.
    @Test func idleAppsKeepNobodyOut() throws {
      let phone = try Phone()
      let port = try #require(phone.server.port)
      for number in 2...16 {
        let app = try PhoneConnection(port: port)
        let session = try #require(app.start()?.id)
        #expect(app.register("App \(number)", "\(number)", session: session) == "SUCCESS")
      }
      #expect(try PhoneConnection(port: port).waitForClose())
      let other = try PhoneConnection(port: port, isStranger: true)
      let session = try #require(other.start()?.id)
      #expect(other.register("Map", "map", session: session) == "SUCCESS")
      phone.stop()
    }

    @Test func idleConnectionsKeepNobodyOut() throws {
      let clock = ManualClock()
      let headUnit = HeadUnitRecorder()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, clock: TimeSource(clock), observer: headUnit)
      clock.onAdvance { [weak server] in server?.wakeUp.signal() }
      try server.start()
      let port = try #require(server.port)
      let idle = try (0..<16).map { _ in try PhoneConnection(port: port) }
      #expect(eventually { headUnit.connectionIDs.count == 16 })
      let refused = try PhoneConnection(port: port)
      #expect(refused.waitForClose())
      #expect(headUnit.waitFor { if case .refused = $0 { true } else { nil } } == true)
      clock.advance(by: .seconds(1))
      let app = try PhoneConnection(port: port)
      let session = try #require(app.start()).id
      #expect(app.register("Map", "1", session: session) == "SUCCESS")
      // It has the place of the first.
      #expect(idle[0].waitForClose())
      clock.advance(by: .seconds(10))
      for connection in idle { #expect(connection.waitForClose()) }
      #expect(app.request(.listFiles, [:], session: session) == "SUCCESS")
      server.stop()
      server.join()
    }

    /// A connection that has no app any more has the time for a registration once more.
    @Test func connectionWhoseAppHasGone() throws {
      let clock = ManualClock()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, clock: TimeSource(clock),
        observer: HeadUnitRecorder())
      clock.onAdvance { [weak server] in server?.wakeUp.signal() }
      try server.start()
      let app = try PhoneConnection(port: try #require(server.port))
      let session = try #require(app.start()).id
      for rest in [1, 0] {
        #expect(app.register("Map", "1", session: session) == "SUCCESS")
        clock.advance(by: .seconds(60))
        #expect(app.request(.unregisterAppInterface, [:], session: session) == "SUCCESS")
        clock.advance(by: .seconds(10) - .milliseconds(rest))
      }
      #expect(app.waitForClose())
      server.stop()
      server.join()
    }

    /// There is a place for the second transport of each app, and two more for those that come before the end of a
    /// former one is noticed. Who does not say in ten seconds whose it is has to go.
    @Test func secondTransports() throws {
      let clock = ManualClock()
      var configuration = quickHeadUnit()
      configuration.behaviour.secondaryTransport = .served
      var admission = HeadUnitServer.Admission()
      admission.maximumConnectionCount = 1
      let server = try HeadUnitServer(
        configuration: configuration, address: "127.0.0.1", port: 0, admission: admission, clock: TimeSource(clock),
        observer: HeadUnitRecorder())
      clock.onAdvance { [weak server] in server?.wakeUp.signal() }
      try server.start()
      let app = try PhoneConnection(port: try #require(server.port))
      let session = try #require(app.start()).id
      #expect(app.waitForOffer() != nil)
      #expect(app.register("Map", "1", session: session) == "SUCCESS")
      let port = try #require(server.secondaryPort)
      let connections = try (0..<3).map { _ in try PhoneConnection(port: port) }
      #expect(try PhoneConnection(port: port).waitForClose())
      clock.advance(by: .milliseconds(9999))
      connections[2].registerSecondary(session: session)
      #expect(connections[2].waitForControl(.registerSecondaryTransportACK, .control, session: session))
      clock.advance(by: .milliseconds(1))
      for connection in connections[..<2] { #expect(connection.waitForClose()) }
      // The one that has said it stays.
      connections[2].send(.heartbeat, .control, session: session)
      #expect(connections[2].waitForControl(.heartbeatACK, .control, session: session))
      #expect(app.request(.listFiles, [:], session: session) == "SUCCESS")
      server.stop()
      server.join()
    }
  }
}
