import SDLHeadUnit
import SDLMessages
import SDLWire
import TestSupport
import Testing

@testable import SDLHeadUnitLink
@testable import SDLLink

extension LinkTests {
  /// Many connections that each take a little.
  @Suite struct HostilePhoneTests {
    /// A message of 60 000 bytes without its end.
    private func begin(_ phone: PhoneConnection, session: UInt8) {
      func frame(_ type: FrameType, _ number: UInt8, _ payload: [UInt8]) -> [UInt8] {
        Frame(
          header: FrameHeader(
            version: 5, frameType: type, service: .rpc, frameInfo: number, sessionID: session,
            dataSize: UInt32(payload.count), messageID: 77),
          payload: payload
        ).bytes
      }
      phone.send(frame(.first, 0, [0, 0, 0xEA, 0x60, 0, 0, 0, 2]))
      phone.send(frame(.consecutive, 1, [UInt8](repeating: 0, count: 40_000)))
    }

    /// There is one budget for the messages of all apps, and those who have not said who they are go first.
    @Test func incompleteMessages() throws {
      var admission = HeadUnitServer.Admission()
      admission.maximumIncompleteByteCount = 200_000
      let phone = try Phone(admission: admission)
      let id = try #require(phone.start()?.id)
      #expect(phone.register("Map", "1234", session: id) == "SUCCESS")
      begin(phone, session: id)
      let strangers = try (0..<4).map { _ in try PhoneConnection(port: try #require(phone.server.port)) }
      for stranger in strangers { begin(stranger, session: try #require(stranger.start()?.id)) }
      func drops() -> [UInt8] {
        zip(phone.headUnit.violatingIDs, phone.headUnit.protocolViolations).compactMap { id, violation in
          violation == .brokenMessage(.rpc, .noRoom) ? id : nil
        }
      }
      #expect(eventually { drops().count >= 2 })
      #expect(phone.request(.listFiles, [:], session: id) == "SUCCESS")
      #expect(drops().count == 2 && !drops().contains(id))
      phone.stop()
    }

    /// Each is told to the application, so that they are not taken as fast as they come.
    @Test func connections() throws {
      let clock = ManualClock()
      let headUnit = HeadUnitRecorder()
      var admission = HeadUnitServer.Admission()
      admission.maximumConnectionCount = 200
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, admission: admission,
        clock: TimeSource(clock), observer: headUnit)
      let wakeUp = server.wakeUp
      clock.onAdvance { wakeUp.signal() }
      try server.start()
      let phones = try (0..<120).map { _ in try PhoneConnection(port: try #require(server.port)) }
      #expect(eventually { headUnit.connectionIDs.count == 101 })
      // Those that are there are served meanwhile.
      let session = try #require(phones[0].start()?.id)
      #expect(phones[0].register("Map", "1234", session: session) == "SUCCESS")
      #expect(headUnit.connectionIDs.count == 101)
      clock.advance(by: .seconds(1))
      #expect(eventually { headUnit.connectionIDs.count == 120 })
      withExtendedLifetime(phones) {}
      server.stop()
      server.join()
    }
  }
}
