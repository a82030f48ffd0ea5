import SDLHeadUnit
import SDLMessages
import SDLWire
import TestSupport
import Testing

@testable import SDLApp

extension LinkTests {
  /// An app that is stopped while the head unit registers it, and one that the head unit still has registered.
  @Suite struct RegistrationEndTests {
    /// The connection stays, also beyond what the stop allows, until the head unit has taken the registration back: one
    /// that closes earlier leaves an app that SDL Core never unregisters.
    @Test func stopWaitsForTheRegistration() throws {
      let answers = try recordedFrames(of: .headUnit)
      let registration = try #require(
        answers.firstIndex { Self.messages(in: [$0]).first?.function == .registerAppInterface })
      let listener = try RawListener()
      let clock = ManualClock()
      let observer = ConnectionRecorder()
      let connection = makeConnection(port: listener.port, clock: clock, observer: observer)
      try connection.start()
      let peer = try listener.accept()
      peer.write(Array(answers[..<registration].joined()))
      var sent = peer.readAll { Self.messages(in: decode($0).frames.map(\.bytes)).count == 1 }
      connection.stop(grace: .milliseconds(200))
      #expect(connection.settle(observer))
      clock.advance(by: .seconds(5))
      #expect(connection.settle(observer))
      #expect(observer.endedCount == 0)
      peer.write(answers[registration])
      sent = peer.readAll { !$0.isEmpty }
      let request = try #require(Self.messages(in: decode(sent).frames.map(\.bytes)).first)
      #expect(decode(sent).frames.count == 1 && request.function == .unregisterAppInterface)
      let answer = RPCMessage(
        type: .response, function: .unregisterAppInterface, correlationID: request.correlationID,
        parameters: RPCResult(success: true, resultCode: .success).json)
      let header = try #require(decode(sent).frames.first?.header)
      peer.write(
        Fragmentation(
          service: .rpc, version: header.version, sessionID: header.sessionID, messageID: 100,
          payloadSize: answer.payload.count, maximumPayload: 1000
        ).frames(of: answer.payload))
      sent = peer.readAll { !$0.isEmpty }
      #expect(decode(sent).frames.first?.header.controlFrame == .endService)
      peer.write(
        Frame.control(.endServiceACK, service: .rpc, version: header.version, sessionID: header.sessionID).bytes)
      connection.join()
      #expect(observer.waitForEnd() == .some(nil))
      #expect(observer.registrationCount == 0)
    }

    /// A head unit that never answers does not keep the connection without end.
    @Test func stopEndsWithoutAnAnswer() throws {
      let answers = try recordedFrames(of: .headUnit)
      let listener = try RawListener()
      let clock = ManualClock()
      let observer = ConnectionRecorder()
      let connection = makeConnection(port: listener.port, clock: clock, observer: observer)
      try connection.start()
      let peer = try listener.accept()
      peer.write(answers[0])
      _ = peer.readAll { Self.messages(in: decode($0).frames.map(\.bytes)).count == 1 }
      connection.stop(grace: .milliseconds(200))
      #expect(
        eventually {
          clock.advance(by: .seconds(1))
          return observer.endedCount == 1
        })
      connection.join()
      #expect(observer.waitForEnd() == .some(nil))
    }

    /// An app that is started again just after it was stopped.
    @Test func formerSession() throws {
      var configuration = quickHeadUnit()
      configuration.behaviour.registration = .result(.applicationRegisteredAlready, success: false)
      let clock = ManualClock()
      let pair = try ReconnectingPair(.init(first: .milliseconds(500)), configuration, clock: clock)
      // During an attempt time passes slowly: a busy machine needs some for each answer.
      func pass() {
        let isPausing = pair.app.losses.count == pair.app.attemptCount
        clock.advance(by: .milliseconds(isPausing ? 100 : 1))
      }
      // Beyond the time for the connection, with growing pauses.
      let end = clock.now + .seconds(30)
      #expect(
        eventually {
          pass()
          return clock.now >= end && pair.app.losses.count > 3
        })
      #expect(pair.app.endedCount == 0)
      #expect(
        pair.app.losses.allSatisfy {
          if case .session(let failure) = $0.failure { failure.isRegisteredAlready } else { false }
        })
      pair.server.perform(.behave(.registration(.regular)))
      #expect(
        eventually {
          pass()
          return pair.app.latestGrant != nil
        })
      pair.stop()
    }

    /// The RPCs that are whole in `frames`.
    private static func messages(in frames: [[UInt8]]) -> [RPCMessage] {
      var assembler = MessageAssembler(maximumMessageSize: 1 << 20)
      return decode(Array(frames.joined())).frames.compactMap { frame in
        guard frame.header.service == .rpc, frame.header.controlFrame == nil,
          let message = try? assembler.accept(frame, now: .zero)
        else { return nil }
        return try? RPCMessage(payload: message.payload)
      }
    }
  }
}
