/// Notices that the machine stood still, or had no time for this thread: it may have kept the apps waiting too, which
/// are not to blame.
struct StandstillWatch {
  /// How late a wake-up must be to count.
  private static let noticeableDelay = Duration.milliseconds(5)
  /// How long before a missed deadline a standstill may have begun, and how long the apps may take to recover from it.
  private static let longestRecovery = Duration.milliseconds(500)
  /// The shortest time between two standstills, so that a machine that is always late still notices a lost app.
  private static let pause = longestRecovery * 2

  private var last: Duration?

  /// The thread has woken up, and was to do so at `deadline` at the latest.
  /// - Returns: since when the machine may have stood still; nil if it did not, or did a moment ago.
  mutating func start(ofMissing deadline: Duration, now: Duration) -> Duration? {
    guard now - deadline > Self.noticeableDelay else { return nil }
    if let last, now - last < Self.pause { return nil }
    last = now
    return deadline - Self.longestRecovery
  }
}
