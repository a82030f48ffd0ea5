import SDLApp

/// Decides which raw pictures are left out when they come faster than the head unit takes them, and when the last one
/// of those is shown after all, because nothing follows.
struct FrameRateThinning {
  /// What the caps say; nil when they leave it open.
  var inputRate: Fraction?
  private var limiter = FrameRateLimiter()
  /// When to show the last picture, which was left out, while nothing has come since.
  private(set) var delayedUntil: Duration?
  /// When the timer for one of those fires, or has fired.
  private var timer: Duration = .zero

  /// How much later the last picture is shown when pictures do not come in time with the clock: longer than such
  /// pictures are usually delayed.
  private static let unpacedTimeout = Duration.milliseconds(500)
  /// When the queue is full, it is looked at again after this time.
  private static let fullQueuePause = Duration.milliseconds(20)

  /// A picture is left out. `value` is the time for which a timer has to be set; nil for none.
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
    // When the timer that is already set fires, ``nextTimer(now:)`` asks for the next one.
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
