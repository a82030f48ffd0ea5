/// Detects a peer that has stopped answering although the transport is still open.
struct Heartbeat: Equatable, Sendable {
  enum Due: Equatable {
    case none
    case send
    case lost
  }

  private var interval: Duration?
  private var isUnanswered = false
  private(set) var nextDeadline: Duration?
  /// When the unanswered heartbeat was sent.
  private var sentAt: Duration?
  /// From the last answered heartbeat to its answer.
  private(set) var roundTrip: Duration?

  /// Begins to expect frames; an interval of nil switches heartbeats off.
  mutating func start(interval: Duration?, now: Duration) {
    self.interval = interval
    frameReceived(now: now)
  }

  /// Any frame shows that the peer is alive.
  mutating func frameReceived(now: Duration) {
    isUnanswered = false
    nextDeadline = interval.map { now + $0 }
  }

  /// The answer has come.
  mutating func answered(now: Duration) {
    if let sent = sentAt.take() { roundTrip = now - sent }
  }

  /// What to do if the deadline has passed.
  mutating func advance(now: Duration) -> Due {
    guard let interval, let deadline = nextDeadline, deadline <= now else { return .none }
    guard !isUnanswered else { return .lost }
    isUnanswered = true
    sentAt = now
    nextDeadline = now + interval
    return .send
  }
}
