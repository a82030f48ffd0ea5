/// When to connect again after a connection has broken: pauses that double, with some chance in them, so that many apps
/// do not all come back in the same moment.
public struct Reconnection: Equatable, Sendable {
  /// Times that are kept.
  public struct Timing: Equatable, Sendable {
    /// Before the first attempt.
    public var first: Duration = .milliseconds(500)
    /// No pause is longer.
    public var longest: Duration = .seconds(10)
    /// An app that was registered for as long begins with the shortest pause again.
    public var steady: Duration = .seconds(10)

    /// The usual times.
    public init() {}
  }

  private let timing: Timing
  private var attempts = 0

  /// Without an attempt so far.
  public init(timing: Timing = Timing()) {
    self.timing = timing
  }

  /// The pause after a connection on which the app was registered for `registeredTime`; nil if it never was. `chance`
  /// is between 0 and 1.
  public mutating func pause(registeredTime: Duration?, chance: Double) -> Duration {
    if let registeredTime, registeredTime >= timing.steady { attempts = 0 }
    let pause = timing.first * (1 << min(attempts, 10)) * (1 + 0.25 * chance)
    attempts += 1
    // The longest pause has its share of chance as well.
    return pause < timing.longest ? pause : timing.longest * (1 - 0.2 * chance)
  }
}

extension AppSessionFailure {
  /// Whether another attempt may succeed, once the app has been registered with this head unit.
  public var canHeal: Bool {
    switch self {
    case .unsupportedProtocol, .videoNotSupported: false
    case .registrationRefused(let resultCode, _):
      // Among the others is an app that the head unit still takes for registered, after a connection that broke.
      ![.disallowed, .userDisallowed, .unsupportedVersion, .invalidData].contains(ResultCode(rawValue: resultCode))
    case .unregistered(let reason):
      ![.appUnauthorized, .unsupportedHMIResource].contains(UnregisteredReason(rawValue: reason))
    case .notSDL, .sessionRefused, .unanswered, .endedByHeadUnit, .heartbeatLost, .connectionLost: true
    }
  }
}
