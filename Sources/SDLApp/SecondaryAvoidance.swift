/// Whether a service that may run on either transport keeps away from the secondary one for a while, because the head unit does not
/// start it there.
///
/// Otherwise the secondary transport, which the head unit prefers, would be tried for ever, and the primary never.
struct SecondaryAvoidance: Equatable, Sendable {
  /// A refusal may be about a service that the head unit still believes to run elsewhere; several in a row are not.
  private static let mostRefusals = 3
  private static let firstPause = Duration.seconds(30)
  private static let longestPause = Duration.seconds(600)

  private var until: Duration?
  private var pause = Self.firstPause
  private var refusals = 0

  /// The head unit has not answered a start. Each time for twice as long as before.
  mutating func unanswered(now: Duration) {
    until = now + pause
    pause = min(pause * 2, Self.longestPause)
    refusals = 0
  }

  /// It has refused one for no reason that another request would mend.
  mutating func refused(now: Duration) {
    refusals += 1
    if refusals >= Self.mostRefusals { unanswered(now: now) }
  }

  /// The service has started there.
  mutating func started() {
    refusals = 0
  }

  func isActive(now: Duration) -> Bool { until.map { now < $0 } ?? false }

  /// When the secondary transport may be used again; nil if it may.
  func nextDeadline(now: Duration) -> Duration? { isActive(now: now) ? until : nil }
}
