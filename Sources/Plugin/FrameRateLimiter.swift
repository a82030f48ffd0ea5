/// Lets pictures through at no more than a given rate, evenly.
struct FrameRateLimiter {
  private var due: UInt64?

  /// A picture counts as in time when it comes this much early: time stamps are rounded.
  private static let tolerance: UInt64 = 1_000_000

  /// Whether the picture at `timestamp` (ns) is due at `frameRate` pictures per second.
  mutating func admits(timestamp: UInt64, frameRate: Int) -> Bool {
    let interval = 1_000_000_000 / UInt64(max(frameRate, 1))
    // A jump back, or a gap, starts the rhythm anew.
    guard let due, timestamp < due &+ interval, timestamp &+ 2 &* interval > due else {
      self.due = timestamp &+ interval
      return true
    }
    guard timestamp &+ Self.tolerance >= due else { return false }
    self.due = due &+ interval
    return true
  }

  /// Forgets the rhythm, for a new segment.
  mutating func reset() {
    due = nil
  }
}
