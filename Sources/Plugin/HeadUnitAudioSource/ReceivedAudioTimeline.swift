import SDLMessages

/// The times of pushed samples: running times in nanoseconds, computed from the count of samples since the first one,
/// so that neither jitter nor rounding leaves a gap between them.
///
/// The car plays sound on arrival, or after its buffering time, and then without a gap. Sound that comes later than the
/// tolerance starts a new count. Sound that comes early is played in its order, because all sound has to be heard.
struct ReceivedAudioTimeline: Sendable {
  /// Contiguous samples.
  struct Place: Equatable, Sendable {
    var time: UInt64
    var duration: UInt64
    /// Samples before it since the beginning, as GST_BUFFER_OFFSET counts them.
    var offset: UInt64
    var sampleCount: Int
  }

  let format: PCMFormat
  /// How late sound may come.
  let tolerance: UInt64
  /// How long the car keeps sound before it plays it.
  let playoutDelay: UInt64
  /// The time from which samples are counted; nil before the beginning.
  private var start: UInt64?
  private var count = 0
  private var offset: UInt64 = 0

  init(_ format: PCMFormat, tolerance: UInt64, playoutDelay: UInt64 = 0) {
    self.format = format
    self.tolerance = tolerance
    self.playoutDelay = playoutDelay
  }

  /// The end of the placed samples; 0 before the beginning.
  var end: UInt64 { (start ?? 0).addingClamped(time(of: count)) }

  /// The present time, if nothing has begun yet.
  mutating func begin(at time: UInt64) {
    if start == nil { restart(at: time) }
  }

  /// Begins again, whatever has been placed before.
  mutating func restart(at time: UInt64) {
    start = time
    count = 0
  }

  /// When sound with this arrival begins; nil if it follows the placed samples.
  ///
  /// - Parameter isStart: whether it is the first of an utterance, which begins when it comes.
  func beginning(of arrival: UInt64, isStart: Bool) -> UInt64? {
    let beginning = arrival.addingClamped(playoutDelay)
    guard start != nil, beginning > end else { return nil }
    return isStart || arrival > end.addingClamped(tolerance) ? beginning : nil
  }

  /// The missing samples before that time.
  func missing(before beginning: UInt64) -> Int {
    format.sampleCount(in: .nanoseconds(Int64(clamping: beginning - min(end, beginning))))
  }

  /// Gives the next samples their place.
  mutating func place(_ sampleCount: Int) -> Place {
    var place = Place(time: end, duration: 0, offset: offset, sampleCount: sampleCount)
    count &+= sampleCount
    offset &+= UInt64(clamping: sampleCount)
    place.duration = end - min(place.time, end)
    return place
  }

  /// Skips the missing samples up to a time.
  mutating func skip(to time: UInt64) {
    restart(at: max(time, end))
  }

  private func time(of count: Int) -> UInt64 {
    UInt64(clamping: format.duration(ofSampleCount: count).nanoseconds)
  }
}

/// Times at which the car had nothing to play although an app's sound continued: it came too late.
///
/// An app can make a gap with every message, so those of a second are reported together.
struct ReceivedAudioGaps: Sendable {
  /// The message `sdl-sound-gap`.
  struct Report: Equatable, Sendable {
    /// Gaps since the last report.
    var count: UInt64
    /// Their total duration, in nanoseconds.
    var duration: UInt64
    /// Where the last of them ends; nanoseconds.
    var runningTime: UInt64
  }

  private static let shortestInterval: UInt64 = 1_000_000_000

  /// The end of the sound so far; nil before any.
  private var soundEnd: UInt64?
  private var lastReport: UInt64?
  private var pending: Report?

  /// Sound has been placed.
  ///
  /// - Parameter isStart: whether it is the first of an utterance; a gap in front of that does not count.
  /// - Returns: whether there is a gap in front of it.
  mutating func note(_ place: ReceivedAudioTimeline.Place, isStart: Bool) -> Bool {
    defer { soundEnd = place.time.addingClamped(place.duration) }
    guard !isStart, let soundEnd, place.time > soundEnd else { return false }
    let former = pending ?? Report(count: 0, duration: 0, runningTime: 0)
    pending = Report(
      count: former.count &+ 1, duration: former.duration.addingClamped(place.time - soundEnd),
      runningTime: place.time)
    return true
  }

  mutating func takeReport() -> Report? {
    guard let report = pending else { return nil }
    // One with an earlier time belongs to a running time that has begun anew.
    if let lastReport, report.runningTime >= lastReport,
      report.runningTime < lastReport.addingClamped(Self.shortestInterval)
    {
      return nil
    }
    lastReport = report.runningTime
    pending = nil
    return report
  }
}
