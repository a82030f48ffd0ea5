/// Turns the RTP timestamps of a stream (RFC 6184, section 5.1: 90 kHz) into times of arrival without the network's
/// jitter.
///
/// Times are measured from the access unit with the shortest delay; one with a shorter delay replaces it. So does one
/// with too long a delay: then the clocks differ, or the app has restarted its timestamps. Since every unit is due
/// within ``longestLag`` before its arrival or becomes the reference itself, the distance to the reference is bounded
/// by the time that has passed, whatever timestamps an app sends.
struct RTPTime: Sendable {
  /// In timestamp units per second.
  private static let rate = 90_000
  /// The most jitter that is taken out; downstream is asked to allow for it.
  static let longestLag = Duration.milliseconds(40)

  private struct Reference {
    /// The arrival of the unit with the shortest delay.
    var arrival: Duration
    /// Timestamp units from that unit to the last one.
    var distance: Int
    /// The timestamp of the last unit.
    var timestamp: UInt32
  }

  private var reference: Reference?

  /// When an access unit with this timestamp that came at `arrival` was due; never later than `arrival`.
  mutating func time(of timestamp: UInt32, arrival: Duration) -> Duration {
    if let reference {
      // The difference is signed, so that timestamps may wrap around and go back.
      let (distance, overflow) = reference.distance.addingReportingOverflow(
        Int(Int32(bitPattern: timestamp &- reference.timestamp)))
      let due = reference.arrival + Self.duration(distance)
      if !overflow, due <= arrival, arrival - due <= Self.longestLag {
        self.reference = Reference(arrival: reference.arrival, distance: distance, timestamp: timestamp)
        return due
      }
    }
    reference = Reference(arrival: arrival, distance: 0, timestamp: timestamp)
    return arrival
  }

  /// Seconds and the rest apart, because units times 10⁹ can exceed 64 bits.
  private static func duration(_ units: Int) -> Duration {
    .seconds(units / rate) + .nanoseconds(units % rate * 1_000_000_000 / rate)
  }
}

/// The decoding times of the buffers that are pushed: running times of arrival, which grow until the pipeline begins its
/// running time anew.
///
/// Pictures that arrive at once get different times, because a muxer would otherwise give samples no duration.
struct StreamTime: Sendable {
  /// The shortest duration, in nanoseconds; shorter ones vanish in the time scales of recordings.
  static let shortestStep: UInt64 = 1_000_000
  /// By how much, in nanoseconds, times may be later than the arrival so that steps are longer than the shortest one.
  static let longestLead: UInt64 = 40_000_000

  private var rtp = RTPTime()
  private var last: UInt64?
  /// The pipeline's at the last unit.
  private var lastRunningTime: UInt64 = 0

  /// Creates the times of a run, in which nothing has been pushed yet.
  init() {}

  /// The decoding time of a unit.
  ///
  /// - Parameters:
  ///   - unit: the next unit to push.
  ///   - now: the present time by the clock that measured the unit's arrival.
  ///   - runningTime: the pipeline's present running time, in nanoseconds.
  ///   - frameDuration: the stream's own, in nanoseconds.
  /// - Returns: running time in nanoseconds.
  mutating func decodingTime(
    of unit: QueuedAccessUnit, now: Duration, runningTime: UInt64, frameDuration: UInt64
  ) -> UInt64 {
    if unit.isStart { rtp = RTPTime() }
    // A flushing seek in another branch of the pipeline starts running time again.
    if runningTime < lastRunningTime { last = nil }
    lastRunningTime = runningTime
    let due = unit.timestamp.map { rtp.time(of: $0, arrival: unit.arrival) } ?? unit.arrival
    let age = UInt64(clamping: (now - due).nanoseconds)
    // A unit that came before the pipeline played gets the time of its beginning.
    var time = runningTime > age ? runningTime - age : 0
    if let last {
      let apart = min(last.addingClamped(frameDuration / 2), time.addingClamped(Self.longestLead))
      time = max(time, last.addingClamped(Self.shortestStep), apart)
    }
    last = time
    return time
  }
}

extension UInt64 {
  func addingClamped(_ other: UInt64) -> UInt64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
