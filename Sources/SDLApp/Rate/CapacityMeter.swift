/// What a link carries, measured while it is full.
struct CapacityMeter: Equatable, Sendable {
  /// The rate of the last few hundred milliseconds.
  private var recent = DecayingRate(timeConstant: 0.2)
  /// The rate of the last seconds, which a few packets do not change.
  private var steady = DecayingRate(timeConstant: 1.5)
  /// Bytes per second; nil when the link was not full for long enough.
  private(set) var capacity: Double?

  /// Adds bytes that were acknowledged while the link was full all the time.
  mutating func add(_ byteCount: UInt64, over seconds: Double) {
    recent.add(Double(byteCount), over: seconds)
    steady.add(Double(byteCount), over: seconds)
    guard recent.time >= 0.15, let newest = recent.value, newest > 0 else { return }
    guard steady.time >= 0.3, let average = steady.value else {
      capacity = newest
      return
    }
    // The link has changed: what was measured before does not count any more.
    if newest < 0.7 * average || newest > 1.4 * average { steady.restart(from: recent) }
    capacity = steady.value
  }

  /// The link was interrupted: what it carried lately says nothing.
  mutating func interrupt() {
    recent.reset()
  }

  /// What was measured no longer holds.
  mutating func reset() {
    self = CapacityMeter()
  }
}
