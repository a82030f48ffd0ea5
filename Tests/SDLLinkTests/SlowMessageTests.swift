import SDLMessages
import SDLWire
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLLink

extension LinkTests {
  /// A slow link, which brings a long message of the head unit in small pieces.
  @Suite struct SlowMessageTests {
    private static let interval = Duration.seconds(4)

    @Test(arguments: [true, false]) func heartbeatsCountEachByte(isComing: Bool) throws {
      let listener = try RawListener()
      let clock = ManualClock()
      let app = ConnectionRecorder()
      let connection = makeConnection(port: listener.port, clock: clock, heartbeat: Self.interval, observer: app)
      try connection.start()
      let peer = try listener.accept()
      let header = try answerFirstHeartbeat(peer, app, clock)
      let status = RPCMessage(
        type: .notification, function: .onHMIStatus, correlationID: 0,
        parameters: ["hmiLevel": .string("FULL"), "padding": .string(String(repeating: "x", count: 2000))])
      let message = Fragmentation(
        service: .rpc, version: header.version, sessionID: header.sessionID, messageID: 100,
        payloadSize: status.payload.count, maximumPayload: 10_000
      ).frames(of: status.payload)
      for piece in 0..<10 where isComing {
        let received = connection.statistics.receivedByteCount
        peer.write(Array(message[piece * 100..<(piece + 1) * 100]))
        #expect(eventually { connection.statistics.receivedByteCount == received + 100 })
        clock.advance(by: Self.interval / 2)
        #expect(connection.settle(app))
      }
      #expect(app.endedCount == 0)
      #expect(
        eventually {
          clock.advance(by: Self.interval / 2)
          return app.endedCount == 1
        })
      #expect(app.waitForEnd() == .session(.heartbeatLost))
      connection.stop(grace: .zero)
      connection.join()
    }

    /// Plays the head unit until the app knows that it answers heartbeats.
    private func answerFirstHeartbeat(
      _ peer: Socket, _ app: ConnectionRecorder, _ clock: ManualClock
    ) throws -> FrameHeader {
      peer.write(Array(try recordedFrames(of: .headUnit).prefix(2).joined()))
      #expect(eventually { app.registrationCount == 1 })
      clock.advance(by: .seconds(1))
      func heartbeat(_ bytes: [UInt8]) -> FrameHeader? {
        decode(bytes).frames.map(\.header).first { $0.controlFrame == .heartbeat }
      }
      let sent = peer.readAll { heartbeat($0) != nil }
      let header = try #require(heartbeat(sent))
      peer.write(
        Frame.control(.heartbeatACK, service: .control, version: header.version, sessionID: header.sessionID).bytes)
      let isAnswered: Bool? = app.waitFor {
        if case .sessionChanged(let status, _) = $0, status.roundTrip != nil { true } else { nil }
      }
      #expect(isAnswered == true)
      return header
    }
  }
}
