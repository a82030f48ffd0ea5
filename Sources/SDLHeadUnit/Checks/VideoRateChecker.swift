/// The rates of a capability. Nil is unlimited.
struct VideoStreamLimits: Equatable, Sendable {
  var picturesPerSecond: Int?
  var kilobitsPerSecond: Int?
}

/// Compares the last five seconds of a stream with the announced rates.
///
/// After a time in which the head unit did not read, it compares all data since the beginning of that time, until the
/// backlog must have arrived.
struct VideoRateChecker: Sendable {
  /// The time that a check covers.
  static let window = Duration.seconds(5)
  /// Rate control overshoots a little.
  private static let toleratedPercent = 10
  /// A transport delays frames and then delivers several together.
  private static let toleratedPictures = 3
  /// At the start and after a pause an app may catch up: frames since the last key frame, with which a decoder begins, or
  /// a file that has fallen behind. What comes within this time from the first frame on does not count.
  private static let catchUpTime = Duration.seconds(1)
  /// The time from an announced change until the app has to comply.
  private static let reactionTime = Duration.seconds(1)

  /// A backlog that takes so many times as long to arrive as to pile up stays within ``toleratedPercent``.
  private static let backlogFactor = 100 / toleratedPercent

  private var limits: VideoStreamLimits
  private var totals = SlidingTotals()
  private var start: Duration?
  private var backlog: Backlog?
  private var isCatchUpExpected = true

  init(limits: VideoStreamLimits) {
    self.limits = limits
  }

  /// Other limits were announced to the app.
  mutating func change(to limits: VideoStreamLimits, now: Duration) {
    guard limits != self.limits else { return }
    self.limits = limits
    totals = SlidingTotals()
    start = now + Self.reactionTime
    // The backlog under the former limits arrives as late.
    if let backlog, backlog.end > now { start = backlog.end + Self.reactionTime }
    backlog = nil
  }

  /// The app has sent nothing for a while.
  mutating func expectCatchUp() {
    isCatchUpExpected = true
  }

  /// Nothing was read for this time, in which the app may have continued sending.
  mutating func expectBacklog(of time: Duration, now: Duration) {
    let began = now - time
    if let former = backlog, former.end > began {
      backlog?.end = max(former.end, now) + time * Self.backlogFactor
    } else {
      backlog = Backlog(start: began, end: now + time * Self.backlogFactor)
    }
    if let start, start > began { self.start = start + time }
    totals = SlidingTotals()
  }

  /// Adds a message.
  /// - Returns: the limits that the window now exceeds. It then restarts, so that a burst is reported only once.
  mutating func accept(pictures: Int, bits: Int, now: Duration) -> [VideoStreamViolation] {
    if isCatchUpExpected {
      isCatchUpExpected = false
      totals = SlidingTotals()
      start = max(start ?? .zero, now + Self.catchUpTime)
    }
    if let start, now < start { return [] }
    if let backlog, backlog.end <= now { self.backlog = nil }
    backlog?.pictures += pictures
    backlog?.bits += bits
    if backlog == nil { totals.add(pictures: pictures, bits: bits, now: now) }
    let time = max(backlog.map { now - $0.start } ?? Self.window, Self.window)
    let came = backlog.map { ($0.pictures, $0.bits) } ?? (totals.pictures, totals.bits)
    var violations: [VideoStreamViolation] = []
    if let limit = Self.limit(limits.picturesPerSecond, of: 1, within: time),
      came.0 > Self.tolerated(limit) + Self.toleratedPictures
    {
      violations.append(.frameRate(pictures: came.0, limit: limit, within: time))
    }
    if let limit = Self.limit(limits.kilobitsPerSecond, of: 1000, within: time), came.1 > Self.tolerated(limit) {
      violations.append(.bitrate(bits: came.1, limit: limit, within: time))
    }
    if !violations.isEmpty {
      totals = SlidingTotals()
      backlog = nil
    }
    return violations
  }

  /// A rate limit as units in a time. 0 and values outside the RPC specification set no limit.
  private static func limit(_ perSecond: Int?, of unit: Int, within time: Duration) -> Int? {
    guard let perSecond, (1...Int(Int32.max)).contains(perSecond) else { return nil }
    return Int(min(Double(perSecond * unit) * (time / .seconds(1)), 1e15))
  }

  private static func tolerated(_ limit: Int) -> Int {
    limit + limit * toleratedPercent / 100
  }
}

/// The data since the head unit stopped reading.
private struct Backlog: Sendable {
  var start: Duration
  /// When the backlog must have arrived.
  var end: Duration
  var pictures = 0
  var bits = 0
}

/// Sums over ``VideoRateChecker/window``, in steps of 100 ms.
private struct SlidingTotals: Sendable {
  private static let step = Duration.milliseconds(100)
  private static let stepCount = 50

  private struct Step: Sendable {
    var pictures = 0
    var bits = 0
  }

  private(set) var pictures = 0
  private(set) var bits = 0
  private var steps = [Step](repeating: Step(), count: stepCount)
  private var current = 0
  private var currentStart: Duration?

  mutating func add(pictures: Int, bits: Int, now: Duration) {
    advance(to: now)
    steps[current].pictures += pictures
    steps[current].bits += bits
    self.pictures += pictures
    self.bits += bits
  }

  /// Forgets data that is older than the window.
  private mutating func advance(to now: Duration) {
    guard var start = currentStart, now - start < VideoRateChecker.window else {
      self = SlidingTotals()
      currentStart = now
      return
    }
    while now - start >= Self.step {
      start += Self.step
      current = (current + 1) % Self.stepCount
      pictures -= steps[current].pictures
      bits -= steps[current].bits
      steps[current] = Step()
    }
    currentStart = start
  }
}
