import SDLApp
import Testing

/// What messages to the user say of failures.
@Suite struct AppSessionFailureTests {
  @Test func textsSayWhatToDo() {
    for (failure, advice) in [
      (AppSessionFailure.notSDL(firstBytes: [0x48, 0x69, 0x00]), "check host and port"),
      (.notSDL(firstBytes: [0x48, 0x69, 0x00]), "\"Hi.\""),
      (
        .notSDL(firstBytes: Array("HTTP/1.1 400 Bad".utf8)),
        "\"HTTP/1.1 400 Bad\"; if it takes WebSocket there, write sdl+ws:"
      ),
      (.sessionRefused(reason: "busy"), "(busy)"),
      (.unsupportedProtocol(version: "2.0.0"), "3 or newer"),
      (.unanswered(request: "StartService"), "connect-timeout"),
      (.registrationRefused(resultCode: "DISALLOWED", info: nil), "app-id"),
      (.registrationRefused(resultCode: "APPLICATION_REGISTERED_ALREADY", info: nil), "own former session"),
      (.unregistered(reason: "APP_UNAUTHORIZED"), "app-id"),
      (.unregistered(reason: "IGNITION_OFF"), "switched off"),
      (.unregistered(reason: "RESOURCE_CONSTRAINT"), "short of memory"),
      (.heartbeatLost, "the network has failed"),
      (.heartbeatLost, "hangs"),
      (.endedByHeadUnit, "heartbeats"),
    ] {
      #expect("\(failure)".contains(advice), "\(failure)")
    }
  }

  /// What is tried next, and when, is for the connection to say.
  @Test(arguments: UnregisteredReason.allCases) func textsPromiseNothing(reason: UnregisteredReason) {
    let text = AppSessionFailure.unregistered(reason: reason.rawValue).description
    #expect(text.contains(reason.rawValue) && !text.contains("connect again"), "\(text)")
  }
}
