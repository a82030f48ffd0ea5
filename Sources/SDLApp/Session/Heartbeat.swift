/// Detects a peer that has stopped answering although the transport is still open.
///
/// Not every head unit answers heartbeats. One that has never answered any is sent a single one, and is never lost.
struct Heartbeat: Equatable, Sendable {
  enum Due: Equatable {
    case none
    case send
    case lost
  }

  /// When the first one is sent at the latest, whatever the peer sends: only a peer that is known to answer can be
  /// found to hang.
  static let firstTime = Duration.seconds(1)

  private var interval: Duration?
  /// The peer has answered one.
  private var isKnownToAnswer = false
  private var isUnanswered = false
  private(set) var nextDeadline: Duration?
  /// When the unanswered heartbeat was sent.
  private var sentAt: Duration?
  /// From the last answered heartbeat to its answer.
  private(set) var roundTrip: Duration?

  /// Begins to send heartbeats; an interval of nil switches them off.
  mutating func start(interval: Duration?, now: Duration) {
    self.interval = interval
    nextDeadline = interval.map { now + min($0, Self.firstTime) }
  }

  /// Any byte shows that the peer is alive.
  mutating func bytesReceived(now: Duration) {
    guard isKnownToAnswer else { return }
    isUnanswered = false
    nextDeadline = interval.map { now + $0 }
  }

  mutating func answered(now: Duration) {
    guard let sent = sentAt.take() else { return }
    roundTrip = now - sent
    isKnownToAnswer = true
    bytesReceived(now: now)
  }

  /// What to do if the deadline has passed.
  mutating func advance(now: Duration) -> Due {
    guard let interval, let deadline = nextDeadline, deadline <= now else { return .none }
    guard !isUnanswered else { return .lost }
    isUnanswered = true
    sentAt = now
    nextDeadline = isKnownToAnswer ? now + interval : nil
    return .send
  }
}
