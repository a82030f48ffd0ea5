/// Finds a peer that is silent although its transport stands, by asking for a sign of life.
struct Heartbeat: Equatable, Sendable {
  enum Due: Equatable {
    case none
    case send
    case lost
  }

  private var interval: Duration?
  private var isUnanswered = false
  private(set) var nextDeadline: Duration?

  /// Begins to watch; nil never does.
  mutating func start(interval: Duration?, now: Duration) {
    self.interval = interval
    frameReceived(now: now)
  }

  /// Any frame is a sign of life.
  mutating func frameReceived(now: Duration) {
    isUnanswered = false
    nextDeadline = interval.map { now + $0 }
  }

  /// What a passed deadline asks for.
  mutating func advance(now: Duration) -> Due {
    guard let interval, let deadline = nextDeadline, deadline <= now else { return .none }
    guard !isUnanswered else { return .lost }
    isUnanswered = true
    nextDeadline = now + interval
    return .send
  }
}
