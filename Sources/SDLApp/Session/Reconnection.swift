/// The pauses before connecting again after a connection has broken. They double, and have a random part so that many
/// apps do not all come back in the same moment.
package struct Reconnection: Equatable, Sendable {
  package struct Timing: Equatable, Sendable {
    /// Before the first attempt.
    package var first: Duration = .milliseconds(500)
    /// No pause is longer.
    package var longest: Duration = .seconds(10)
    /// An app that was registered for this long begins with the shortest pause again.
    package var steady: Duration = .seconds(10)

    package init() {}
  }

  private let timing: Timing
  private var attempts = 0

  package init(timing: Timing = Timing()) {
    self.timing = timing
  }

  /// The pause after a connection.
  /// - Parameters:
  ///   - registeredTime: how long the app was registered on it; nil if it never was.
  ///   - chance: a random number between 0 and 1.
  package mutating func pause(registeredTime: Duration?, chance: Double) -> Duration {
    if let registeredTime, registeredTime >= timing.steady { attempts = 0 }
    let pause = timing.first * (1 << min(attempts, 10)) * (1 + 0.25 * chance)
    attempts = min(attempts + 1, 1000)
    // The longest pause has a random part as well.
    return pause < timing.longest ? pause : timing.longest * (1 - 0.2 * chance)
  }
}

extension AppSessionFailure {
  /// Whether the head unit refuses the app because it still has the same one registered.
  package var isRegisteredAlready: Bool {
    guard case .registrationRefused(let resultCode, _) = self else { return false }
    return ResultCode(rawValue: resultCode) == .applicationRegisteredAlready
  }

  /// Whether another attempt may succeed, once the app has been registered with this head unit.
  package var canHeal: Bool {
    switch self {
    case .unsupportedProtocol, .videoNotSupported, .notEncrypted, .rpcsNotEncrypted, .headUnitNotTrusted: false
    case .registrationRefused(let resultCode, _):
      // Other codes may be temporary: after a broken connection, a head unit may still count the app as registered.
      ![.disallowed, .userDisallowed, .unsupportedVersion, .invalidData].contains(ResultCode(rawValue: resultCode))
    case .unregistered(let reason):
      ![.appUnauthorized, .unsupportedHMIResource].contains(UnregisteredReason(rawValue: reason))
    case .notSDL, .sessionRefused, .unanswered, .endedByHeadUnit, .heartbeatLost, .connectionLost,
      .encryptedTransportLost, .decryptionFailed, .handshakeLost:
      true
    }
  }
}
