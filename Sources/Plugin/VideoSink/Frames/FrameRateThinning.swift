import SDLApp

/// Raw pictures that come faster than the head unit takes them: which are left out, and when the last one of those has to be
/// shown after all, because nothing follows.
struct FrameRateThinning {
  /// What the caps say; nil when they leave it open.
  var inputRate: Fraction?
  private var limiter = FrameRateLimiter()
  /// When to show the last picture, which was left out, while nothing has come since.
  private(set) var delayedUntil: Duration?
  /// When the timer for one of those fires, or has fired.
  private var timer: Duration = .zero

  /// Longer than the delays of a file that is not played in time.
  private static let unpacedTimeout = Duration.milliseconds(500)
  /// How long to wait for room in the queue.
  private static let fullQueuePause = Duration.milliseconds(20)

  /// What is left out, and the timer that has to be set for it, if any.
  struct Early {
    var value: Duration?
  }

  /// - Parameters:
  ///   - runningTime: of the picture, in ns; `UInt64.max` if it has none.
  ///   - isPaced: whether pictures come when they are to be shown. A file that is not played in time may come with any
  ///     delays.
  /// - Returns: nil for a picture that is due.
  mutating func judge(_ runningTime: UInt64, limit: Fraction, isPaced: Bool, now: Duration) -> Early? {
    let time = FrameRateLimiter.Time(
      presentation: runningTime == .max ? nil : runningTime, arrival: UInt64(clamping: now.nanoseconds))
    guard case .early(let wait) = limiter.judge(time, limit: limit, inputRate: inputRate) else {
      delayedUntil = nil
      return nil
    }
    // By then two intervals have passed with one picture, so that this one does not raise the rate.
    let deadline =
      now + .nanoseconds(Int64(clamping: wait + limit.interval)) + (isPaced ? .zero : Self.unpacedTimeout)
    delayedUntil = deadline
    // A timer that is yet to fire will be set again.
    guard timer <= now else { return Early() }
    timer = deadline
    return Early(value: deadline)
  }

  /// Whether the last picture is to be shown now.
  mutating func takeDelayed(isQueueFull: Bool, now: Duration) -> Bool {
    guard let delayedUntil, now >= delayedUntil, !isQueueFull else { return false }
    self.delayedUntil = nil
    return true
  }

  /// When to look again; nil when nothing is delayed.
  mutating func nextTimer(now: Duration) -> Duration? {
    guard let delayedUntil else { return nil }
    timer = now >= delayedUntil ? now + Self.fullQueuePause : delayedUntil
    return timer
  }

  /// Another picture follows, or none will.
  mutating func forgetDelayed() {
    delayedUntil = nil
  }

  /// Forgets the rhythm, for a new segment.
  mutating func reset() {
    limiter.reset()
    delayedUntil = nil
  }
}
