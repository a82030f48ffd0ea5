/// Amounts over time, of which older ones count less.
struct DecayingRate: Equatable, Sendable {
  /// Seconds.
  var timeConstant: Double
  private var amount = 0.0
  /// Seconds that count; approaches the time constant.
  private(set) var time = 0.0

  /// `timeConstant` is in seconds.
  init(timeConstant: Double) {
    self.timeConstant = timeConstant
  }

  /// Amount per second; nil before any time has passed.
  var value: Double? { time > 0 ? amount / time : nil }

  mutating func add(_ amount: Double, over seconds: Double) {
    guard seconds >= 0, seconds.isFinite, amount.isFinite else { return }
    let decay = timeConstant / (timeConstant + seconds)
    self.amount = self.amount * decay + amount
    time = time * decay + seconds
  }

  /// Starts again with the values of `other`.
  mutating func restart(from other: DecayingRate) {
    amount = other.amount
    time = other.time
  }

  mutating func reset() {
    amount = 0
    time = 0
  }
}

/// The least of the values of the last seconds: at least one window, at most two. Without newer values the old ones
/// stay.
struct WindowedMinimum: Equatable, Sendable {
  /// Seconds.
  let window: Double
  private var former: Double?
  private var current: Double?
  private var start = 0.0
  /// Of the last value, in seconds.
  private(set) var time = 0.0

  /// `window` is in seconds.
  init(window: Double) {
    self.window = window
  }

  /// Nil before the first one.
  var value: Double? {
    guard let current else { return former }
    return min(former ?? current, current)
  }

  mutating func add(_ value: Double, at time: Double) {
    self.time = time
    guard let current, abs(time - start) < window else {
      former = current
      current = value
      start = time
      return
    }
    self.current = min(current, value)
  }
}
