/// Whether a service that may run on either transport keeps away from the secondary one for a while, because that was of no use to
/// it: a head unit did not start the service there, or the transport ended soon, and not for the first time.
///
/// Otherwise the secondary transport, which the head unit prefers, would be tried for ever, and the primary never.
struct SecondaryAvoidance: Equatable, Sendable {
  /// A secondary transport that ended before was of no use.
  private static let steadyTime = Duration.seconds(1)
  private static let firstPause = Duration.seconds(30)
  private static let longestPause = Duration.seconds(600)

  private var until: Duration?
  private var pause = Self.firstPause
  private var hasEndedSoon = false

  /// Each time for twice as long as before.
  mutating func begin(now: Duration) {
    until = now + pause
    pause = min(pause * 2, Self.longestPause)
  }

  /// The secondary transport has ended, after this time.
  mutating func ended(after time: Duration, now: Duration) {
    guard time < Self.steadyTime else {
      self = SecondaryAvoidance()
      return
    }
    if hasEndedSoon { begin(now: now) }
    hasEndedSoon = true
  }

  func isActive(now: Duration) -> Bool { until.map { now < $0 } ?? false }

  /// When the secondary transport may be used again; nil if it may.
  func nextDeadline(now: Duration) -> Duration? { isActive(now: now) ? until : nil }
}
