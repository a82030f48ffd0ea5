import SDLHeadUnit
import TestSupport
import Testing

@testable import SDLHeadUnitLink
@testable import SDLLink

extension LinkTests {
  /// Which connections every head unit accepts.
  @Suite struct AdmissionTests {
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
      clock.advance(by: .seconds(10))
      for connection in idle { #expect(connection.waitForClose()) }
      #expect(app.request(.listFiles, [:], session: session) == "SUCCESS")
      server.stop()
      server.join()
    }
  }
}
