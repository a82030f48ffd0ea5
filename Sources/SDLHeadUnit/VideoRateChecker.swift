/// The rates of a capability. Nil is unlimited.
struct VideoStreamLimits: Equatable, Sendable {
  var picturesPerSecond: Int?
  var kilobitsPerSecond: Int?
}

/// Compares the last five seconds of a stream with the announced rates.
struct VideoRateChecker: Sendable {
  /// The time that a check covers.
  static let window = Duration.seconds(5)
  private static let windowSeconds = 5
  /// Rate control overshoots a little.
  private static let toleratedPercent = 10
  /// A transport delays frames and then delivers several together.
  private static let toleratedPictures = 3
  /// From an announced change until the app has to comply.
  private static let reactionTime = Duration.seconds(1)

  private var limits: VideoStreamLimits
  private var totals = SlidingTotals()
  private var start: Duration?

  init(limits: VideoStreamLimits) {
    self.limits = limits
  }

  /// Other limits were announced to the app.
  mutating func change(to limits: VideoStreamLimits, now: Duration) {
    guard limits != self.limits else { return }
    self.limits = limits
    totals = SlidingTotals()
    start = now + Self.reactionTime
  }

  /// Adds a message.
  /// - Returns: the limits that the window now exceeds. It then begins anew, so that a burst is reported only once.
  mutating func accept(pictures: Int, bits: Int, now: Duration) -> [VideoStreamViolation] {
    if let start, now < start { return [] }
    totals.add(pictures: pictures, bits: bits, now: now)
    var violations: [VideoStreamViolation] = []
    if let limit = Self.limit(limits.picturesPerSecond, of: 1),
      totals.pictures > Self.tolerated(limit) + Self.toleratedPictures
    {
      violations.append(.frameRate(pictures: totals.pictures, limit: limit, within: Self.window))
    }
    if let limit = Self.limit(limits.kilobitsPerSecond, of: 1000), totals.bits > Self.tolerated(limit) {
      violations.append(.bitrate(bits: totals.bits, limit: limit, within: Self.window))
    }
    if !violations.isEmpty { totals = SlidingTotals() }
    return violations
  }

  /// Units in a window. 0 and values outside the RPC specification set no limit.
  private static func limit(_ perSecond: Int?, of unit: Int) -> Int? {
    guard let perSecond, (1...Int(Int32.max)).contains(perSecond) else { return nil }
    return perSecond * unit * windowSeconds
  }

  private static func tolerated(_ limit: Int) -> Int {
    limit + limit * toleratedPercent / 100
  }
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

  /// Forgets what is older than the window.
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
