import SDLApp

/// Decides which raw pictures are left out when they come faster than the head unit takes them, and when the last one
/// left out is shown after all, because none follows.
struct FrameRateThinning {
  private var limiter = FrameRateLimiter()
  /// When to show the last picture, which was left out, if none comes after it.
  private(set) var delayedUntil: Duration?
  /// When the timer for such a picture fires, or has fired.
  private var timer: Duration = .zero

  /// How much later the last picture is shown when pictures do not come in time with the clock: longer than such
  /// pictures are usually delayed.
  private static let unpacedTimeout = Duration.milliseconds(500)

  /// A picture is left out.
  struct Early {
    /// The time for which a timer has to be set; nil for none.
    var timer: Duration?
  }

  /// - Parameters:
  ///   - runningTime: of the picture, in ns; `UInt64.max` if it has none.
  ///   - inputRate: the rate in the caps; nil when they leave it open.
  ///   - isPaced: whether pictures come at their time. A file that is played without sync may come with any delays.
  /// - Returns: nil for a picture that is due.
  mutating func judge(
    _ runningTime: UInt64, limit: Fraction, inputRate: Fraction?, isPaced: Bool, now: Duration
  ) -> Early? {
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
    return Early(timer: deadline)
  }

  /// The last picture is shown at `time`, if none comes after it.
  mutating func delay(until time: Duration) {
    delayedUntil = time
  }

  /// Whether to show the last picture now.
  mutating func takeDelayed(isQueueFull: Bool, now: Duration) -> Bool {
    guard let delayedUntil, now >= delayedUntil, !isQueueFull else { return false }
    self.delayedUntil = nil
    return true
  }

  /// When to check again; nil when no picture is delayed.
  mutating func nextTimer(now: Duration) -> Duration? {
    guard let delayedUntil else { return nil }
    timer = now >= delayedUntil ? now + FrameOutput.retryPause : delayedUntil
    return timer
  }

  /// Another picture follows, or none can.
  mutating func forgetDelayed() {
    delayedUntil = nil
  }

  /// Forgets the rhythm, for a new segment.
  mutating func reset() {
    limiter.reset()
    delayedUntil = nil
  }
}

/// Lets pictures through at no more than a given rate, evenly: of 30 per second every second one for 15.
///
/// Pictures are due on a grid; the one that comes first to each point, or just before it, passes. Where the input's own
/// rate is known, time stamps may jitter by a third of its interval before the choice changes.
struct FrameRateLimiter {
  struct Time {
    /// Running time in ns; nil when the picture has none.
    var presentation: UInt64?
    /// On any clock, in ns.
    var arrival: UInt64
  }

  enum Verdict: Equatable {
    case due
    /// How many ns before its due time a picture may pass.
    case early(UInt64)
  }

  private struct Last {
    /// The time stamp and arrival of the picture.
    var time: Time
    /// The time that counts, in ns.
    var runningTime: UInt64
  }

  /// When the next picture is due, in running time.
  private var due: UInt64?
  private var last: Last?

  /// - Parameters:
  ///   - limit: the most pictures per second.
  ///   - inputRate: the rate in the caps; nil for a variable rate.
  mutating func judge(_ time: Time, limit: Fraction, inputRate: Fraction?) -> Verdict {
    let now = runningTime(of: time)
    let grid = Grid(limit: limit, inputRate: inputRate, sinceLast: last.map { now &- $0.runningTime })
    last = Last(time: time, runningTime: now)
    // A jump back, or a gap, restarts the rhythm.
    guard let due, now < due + grid.interval, due <= now + 2 * grid.interval else {
      self.due = now + grid.interval
      return .due
    }
    guard now + grid.tolerance >= due else { return .early(due - now) }
    self.due = due + grid.interval
    return .due
  }

  /// Forgets the rhythm, for a new segment.
  mutating func reset() {
    self = FrameRateLimiter()
  }

  /// A picture without a time stamp, or with that of the one before, is shown when it comes.
  private func runningTime(of time: Time) -> UInt64 {
    guard let last else { return Self.bounded(time.presentation ?? time.arrival) }
    if let presentation = time.presentation, presentation != last.time.presentation {
      return Self.bounded(presentation)
    }
    return Self.bounded(last.runningTime + min(time.arrival &- min(last.time.arrival, time.arrival), Self.latest))
  }

  /// A century, with room to add the longest intervals.
  private static let latest: UInt64 = 1 << 62

  private static func bounded(_ time: UInt64) -> UInt64 { min(time, latest) }
}

/// How far apart pictures are due, and how much earlier one may come; in ns.
private struct Grid {
  var interval: UInt64
  var tolerance: UInt64

  init(limit: Fraction, inputRate: Fraction?, sinceLast: UInt64?) {
    interval = limit.interval
    guard let inputRate else {
      tolerance = Self.share(of: min(sinceLast ?? 0, interval))
      return
    }
    let own = max(inputRate.interval, 1)
    let steps = max((interval + own / 2) / own, 1)
    // 29.97 pictures per second are halved for 15, instead of slipping by one every half a minute.
    let isMultiple = (steps * own).distance(to: interval).magnitude <= interval / 100
    if isMultiple { interval = steps * own }
    tolerance = own > interval || isMultiple && steps == 1 ? interval : Self.share(of: own)
  }

  /// Less than half, so that of two pictures that are equally near the later one passes, whichever way times are
  /// rounded.
  private static func share(of interval: UInt64) -> UInt64 { interval / 8 * 3 }
}
