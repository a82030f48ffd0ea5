/// Whether sound needs a service: always, or from its first samples on until it has been silent for a while, so that a
/// prompt lowers the radio only while it speaks.
public struct SoundActivity: Equatable, Sendable {
  /// False keeps the service from the beginning to the end.
  public var startsOnData: Bool
  /// The silence after which the service ends.
  public var idleTimeout: Duration
  private var lastSound: Duration?
  /// Sound waits to be sent, for any time.
  private var isWaiting = false

  /// Before any sound.
  public init(startsOnData: Bool = false, idleTimeout: Duration = .seconds(2)) {
    self.startsOnData = startsOnData
    self.idleTimeout = idleTimeout
  }

  public var isServiceWanted: Bool { !startsOnData || lastSound != nil }

  /// When ``elapse(now:)`` is due; nil while that depends on something else.
  public var deadline: Duration? {
    guard startsOnData, !isWaiting, let lastSound else { return nil }
    return lastSound + idleTimeout
  }

  /// Sound has come.
  ///
  /// - Parameter isWaiting: whether it has to wait before it is sent.
  public mutating func heard(at now: Duration, isWaiting: Bool = false) {
    lastSound = max(lastSound ?? now, now)
    self.isWaiting = isWaiting
  }

  public mutating func elapse(now: Duration) {
    if let deadline, now >= deadline { reset() }
  }

  /// The sound before is over.
  public mutating func reset() {
    lastSound = nil
    isWaiting = false
  }
}
