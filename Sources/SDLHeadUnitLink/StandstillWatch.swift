/// Notices that the machine stood still, or had no time for this thread: it may have kept the apps waiting too, which
/// are not to blame. What an app sent meanwhile comes at once afterwards.
struct StandstillWatch {
  /// How late a wake-up must be to count.
  private static let noticeableDelay = Duration.milliseconds(5)
  /// How long before a missed deadline a standstill may have begun, and how long the apps may take to recover from it.
  private static let longestRecovery = Duration.milliseconds(500)
  /// The shortest time between two standstills, so that a machine that is always late still notices a lost app.
  private static let pause = longestRecovery * 2
  /// How long the thread sleeps while an app streams. A shorter standstill is not noticed; what it delays is within the
  /// tolerance of the rates.
  private static let longestSleep = Duration.milliseconds(250)

  private var last: Duration?
  /// When the thread woke up last.
  private var lastWakeUp: Duration?
  /// The latest time for the next wake-up.
  private var awaited: Duration?

  /// The thread is about to sleep.
  /// - Parameter deadline: the first one of the apps.
  /// - Returns: when to wake up at the latest.
  mutating func sleep(until deadline: Duration?, isStreaming: Bool, now: Duration) -> Duration? {
    let limit = isStreaming ? (lastWakeUp ?? now) + Self.longestSleep : nil
    awaited = [deadline, limit].compactMap(\.self).min()
    return awaited
  }

  /// The thread has woken up.
  /// - Returns: since when the machine may have stood still; nil if it did not, or did a moment ago.
  mutating func wakeUp(now: Duration) -> Duration? {
    lastWakeUp = now
    guard let deadline = awaited.take(), now - deadline > Self.noticeableDelay else { return nil }
    if let last, now - last < Self.pause { return nil }
    last = now
    return deadline - Self.longestRecovery
  }
}
