import SDLApp

/// Lets pictures through at no more than a given rate, evenly: of 30 per second every second one for 15.
///
/// Pictures are due on a grid; the one that comes first to each point, or just before it, passes. Where the input's own
/// rate is known, time stamps may jitter by a third of its interval before the choice changes.
struct FrameRateLimiter {
  /// When a picture comes.
  struct Time {
    /// Running time in ns; nil when the picture has none.
    var presentation: UInt64?
    /// On any clock, in ns.
    var arrival: UInt64
  }

  enum Verdict: Equatable {
    case due
    /// So many ns before the next one is due.
    case early(UInt64)
  }

  private struct Last {
    /// As it came.
    var time: Time
    /// What counts, in ns.
    var runningTime: UInt64
  }

  /// When the next picture is due, in running time.
  private var due: UInt64?
  private var last: Last?

  /// - Parameters:
  ///   - limit: the most pictures per second.
  ///   - inputRate: what the caps say; nil for a variable rate.
  mutating func judge(_ time: Time, limit: Fraction, inputRate: Fraction?) -> Verdict {
    let now = runningTime(of: time)
    let grid = Grid(limit: limit, inputRate: inputRate, sinceLast: last.map { now &- $0.runningTime })
    last = Last(time: time, runningTime: now)
    // A jump back, or a gap, starts the rhythm anew.
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
