import SDLApp
import Testing

@Suite struct ReconnectionTests {
  @Test func pausesDouble() {
    var reconnection = Reconnection()
    let pauses = (0..<8).map { _ in reconnection.pause(registeredTime: nil, chance: 0) }
    #expect(pauses == [0.5, 1, 2, 4, 8, 10, 10, 10].map { .seconds($0) })
  }

  @Test func chanceStaysInBounds() {
    var reconnection = Reconnection()
    for _ in 0..<100 {
      let pause = reconnection.pause(registeredTime: .seconds(1), chance: .random(in: 0..<1))
      #expect((.milliseconds(500))...(.seconds(10)) ~= pause)
    }
    var late = Reconnection()
    var last = Reconnection()
    for _ in 0..<8 {
      let (first, second) = (
        late.pause(registeredTime: nil, chance: 0.1), last.pause(registeredTime: nil, chance: 0.9)
      )
      #expect(first != second)
    }
  }

  @Test func lastingConnectionsBeginAnew() {
    var reconnection = Reconnection()
    for _ in 0..<5 { _ = reconnection.pause(registeredTime: .seconds(9), chance: 0) }
    #expect(reconnection.pause(registeredTime: .seconds(10), chance: 0) == .milliseconds(500))
    #expect(reconnection.pause(registeredTime: nil, chance: 0) == .seconds(1))
  }

  @Test(
    arguments: [
      (.connectionLost, true), (.heartbeatLost, true), (.endedByHeadUnit, true), (.unanswered(request: "x"), true),
      (.sessionRefused(reason: nil), true), (.notSDL(firstBytes: []), true),
      (.rpcsNotEncrypted(reason: "x", isRequiredByHeadUnit: true), false),
      (.unsupportedProtocol(version: "2"), false), (.videoNotSupported, false),
      (.registrationRefused(resultCode: "DISALLOWED", info: nil), false),
      (.registrationRefused(resultCode: "USER_DISALLOWED", info: nil), false),
      (.registrationRefused(resultCode: "UNSUPPORTED_VERSION", info: nil), false),
      (.registrationRefused(resultCode: "INVALID_DATA", info: nil), false),
      (.registrationRefused(resultCode: "APPLICATION_REGISTERED_ALREADY", info: nil), true),
      (.registrationRefused(resultCode: "TOO_MANY_APPLICATIONS", info: nil), true),
      (.registrationRefused(resultCode: "unheard of", info: nil), true),
      (.unregistered(reason: "APP_UNAUTHORIZED"), false), (.unregistered(reason: "UNSUPPORTED_HMI_RESOURCE"), false),
      (.unregistered(reason: "IGNITION_OFF"), true), (.unregistered(reason: "LANGUAGE_CHANGE"), true),
      (.unregistered(reason: "PROTOCOL_VIOLATION"), true), (.unregistered(reason: ""), true),
    ] as [(AppSessionFailure, Bool)])
  func heals(failure: AppSessionFailure, canHeal: Bool) {
    #expect(failure.canHeal == canHeal)
  }

  /// Frames made for an earlier session must not be sent in the new one.
  @Test func epochsCountOn() {
    var session = AppSession(configuration: AppDriver.configuration, lastEpoch: 7)
    #expect(session.epoch == 7)
    _ = session.transportConnected(now: .zero)
    #expect(session.status.video.grant == nil)
  }
}
