import H264

/// The presentation times of a stream, which may show its pictures in another order than that in which they come.
///
/// A picture that is shown after all before it is timed by its decoding time, and by how many pictures are still to come
/// that are shown before it. One that is shown between others gets the time in the middle that its order count asks for: so
/// times are always in the order of the pictures, whatever the jitter of their arrival.
struct PresentationTime: Sendable {
  /// As many as a decoder may hold back (H.264, A.3.1).
  private static let mostReordered = 16
  /// A time between pictures that is longer is a pause, and says nothing of the rate.
  private static let longestFrameDuration: UInt64 = 1_000_000_000

  /// A picture that is later than that is shown late.
  private static let longestLearntDelay: UInt64 = 1_000_000_000

  private struct Shown: Sendable {
    var count: Int
    var time: UInt64
    /// The delay that its time was made with.
    var delay: UInt64
  }

  /// Of the present sequence, in the order in which they are shown; the latest only.
  private var shown: [Shown] = []
  private var firstCount = 0
  /// Pictures that have come after the first of the sequence.
  private var index = 0
  /// By how much order counts differ from frame to frame: 2, as for fields, unless the stream shows otherwise.
  private var countStep = 2
  /// Whether the stream says, or has shown, that pictures come before others and are shown after them.
  private var isReordering = false
  /// From the decoding of a picture to its presentation, if it is shown in its turn; nanoseconds.
  private var delay: UInt64 = 0
  /// Of late, in nanoseconds; nil before two pictures.
  private var measuredDuration: UInt64?
  private var lastDecoding: UInt64?
  private var latest: UInt64?

  /// Creates the times of a run, in which nothing has been pushed yet.
  init() {}

  /// Another stream begins, with pictures of which nothing is known.
  mutating func beginStream() {
    shown = []
    isReordering = false
    delay = 0
  }

  /// The presentation time of the next unit; nil if it is unknown.
  ///
  /// - Parameters:
  ///   - place: the unit's place in the order in which pictures are shown.
  ///   - decoding: its decoding time, which always grows.
  ///   - frameDuration: as the stream gives it.
  /// - Returns: running time; all are in nanoseconds.
  mutating func time(of place: OutputOrder.Place, decoding: UInt64, frameDuration: UInt64) -> UInt64? {
    let duration = measure(decoding) ?? frameDuration
    switch place {
    case .unknown:
      shown = []
      return nil
    case .inOrder:
      shown = []
      delay = 0
      return note(decoding)
    case .first(let count, let reordering):
      isReordering = isReordering || reordering ?? 0 > 0
      delay = max(delay, UInt64(min(reordering ?? 0, Self.mostReordered)) * min(duration, Self.longestFrameDuration))
      (firstCount, index, countStep) = (count, 0, 2)
      let time = note(decoding.addingClamped(delay))
      shown = [Shown(count: count, time: time, delay: delay)]
      return time
    case .further(let count):
      guard let last = shown.last else { return nil }
      index += 1
      if !(count - firstCount).isMultiple(of: 2) { countStep = 1 }
      // Pictures that are sent again have the count of the one before.
      return count >= last.count ? next(count, decoding, duration, after: last) : between(count, decoding)
    }
  }

  /// Shown after all that have come.
  private mutating func next(_ count: Int, _ decoding: UInt64, _ duration: UInt64, after last: Shown) -> UInt64 {
    let ahead = isReordering ? min(max((count - firstCount) / countStep - index, 0), Self.mostReordered) : 0
    let steps = min(max((count - last.count) / countStep, 1), Self.mostReordered)
    let regular = decoding.addingClamped(delay).addingClamped(
      UInt64(ahead) * min(duration, Self.longestFrameDuration))
    // Room for those that are to be shown between them.
    let time = note(max(regular, last.time.addingClamped(UInt64(steps) * StreamTime.shortestStep)))
    shown.append(Shown(count: count, time: time, delay: delay))
    if shown.count > 2 * Self.mostReordered { shown.removeFirst() }
    return time
  }

  /// Shown before one that has come.
  private mutating func between(_ count: Int, _ decoding: UInt64) -> UInt64? {
    guard let upper = shown.firstIndex(where: { $0.count > count }), upper > 0 else {
      // It should have come long ago.
      return nil
    }
    isReordering = true
    let (lower, higher) = (shown[upper - 1], shown[upper])
    let share = Double(count - lower.count) / Double(higher.count - lower.count)
    let time = min(lower.time.addingClamped(Self.part(share, of: higher.time - lower.time)), higher.time)
    // It came too late: those that follow are shown later.
    if decoding > time {
      delay = max(delay, min(higher.delay.addingClamped(decoding - time), Self.longestLearntDelay))
    }
    shown.insert(Shown(count: count, time: time, delay: higher.delay), at: upper)
    if shown.count > 2 * Self.mostReordered { shown.removeFirst() }
    return time
  }

  private static func part(_ share: Double, of time: UInt64) -> UInt64 {
    UInt64(exactly: (Double(time) * share).rounded()) ?? time
  }

  /// Never before a picture that is shown earlier.
  private mutating func note(_ time: UInt64) -> UInt64 {
    let time = max(time, latest.map { $0.addingClamped(StreamTime.shortestStep) } ?? 0)
    latest = time
    return time
  }

  /// The average of the last times between pictures.
  private mutating func measure(_ decoding: UInt64) -> UInt64? {
    if let lastDecoding, decoding >= lastDecoding, decoding - lastDecoding < Self.longestFrameDuration {
      let step = decoding - lastDecoding
      measuredDuration = measuredDuration.map { $0 - $0 / 8 + step / 8 } ?? step
    }
    lastDecoding = decoding
    return measuredDuration
  }
}
