import SDLLink

/// Turns the RTP timestamps of a stream into times of arrival, as if nothing had been late.
///
/// An access unit that comes quicker than any before sets the measure. One that lags too far behind sets it anew: then
/// the clocks differ, or the app has begun to count anew.
struct RTPTime: Sendable {
  /// In 90 kHz units per second.
  private static let rate = 90_000
  /// What jitter may be taken out; downstream is told to allow for it.
  static let longestLag = Duration.milliseconds(40)

  private var last: (timestamp: UInt32, unwrapped: Int)?
  /// Time of arrival − time of the timestamp.
  private var offset: Duration?

  /// When an access unit with this timestamp should have come that came at `arrival`; never later than that.
  mutating func time(of timestamp: UInt32, arrival: Duration) -> Duration {
    let unwrapped = last.map { $0.unwrapped + Int(Int32(bitPattern: timestamp &- $0.timestamp)) } ?? 0
    last = (timestamp, unwrapped)
    let mediaTime = Duration.nanoseconds(
      unwrapped / Self.rate * 1_000_000_000 + unwrapped % Self.rate * 1_000_000_000 / Self.rate)
    let lag = arrival - mediaTime
    let measure = offset.map { min(lag, $0) } ?? lag
    offset = lag - measure > Self.longestLag ? lag : measure
    return mediaTime + (offset ?? lag)
  }
}

/// The times of the buffers that are pushed: running times that always grow, since muxers and parsers take no time twice.
struct StreamTime: Sendable {
  private var rtp = RTPTime()
  private var last: UInt64?

  /// Nothing has been pushed; with another pipeline's clock, or none, times begin anew.
  init() {}

  /// The presentation time of a unit, in nanoseconds. `now` and `runningTime` are the present, in the two clocks.
  mutating func presentationTime(of unit: QueuedAccessUnit, now: Duration, runningTime: UInt64) -> UInt64 {
    if unit.isStart { rtp = RTPTime() }
    let arrival = unit.timestamp.map { rtp.time(of: $0, arrival: unit.arrival) } ?? unit.arrival
    let age = UInt64(clamping: (now - arrival).nanoseconds)
    // What came before the pipeline played is as old as its beginning.
    let time = max(runningTime > age ? runningTime - age : 0, last.map { $0 + 1 } ?? 0)
    last = time
    return time
  }
}
