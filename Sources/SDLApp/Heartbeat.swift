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
  private var askedAt: Duration?
  /// From the last request to its answer.
  private(set) var roundTrip: Duration?

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

  /// The answer has come.
  mutating func answered(now: Duration) {
    if let asked = askedAt.take() { roundTrip = now - asked }
  }

  /// What a passed deadline asks for.
  mutating func advance(now: Duration) -> Due {
    guard let interval, let deadline = nextDeadline, deadline <= now else { return .none }
    guard !isUnanswered else { return .lost }
    isUnanswered = true
    askedAt = now
    nextDeadline = now + interval
    return .send
  }
}
