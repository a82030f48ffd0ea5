import H264

/// The presentation times of a stream, which may show its pictures in another order than that in which they come.
///
/// A picture that is shown after all before it is timed by its decoding time, by the depth of the reordering, and by
/// how many pictures are still to come that are shown before it. One that is shown between others gets the time in the
/// middle that its order count asks for: so times are always in the order of the pictures, whatever the jitter of their
/// arrival.
struct PresentationTime: Sendable {
  /// As many as a decoder may hold back (H.264, A.3.1).
  private static let mostReordered = 16
  /// A time between pictures that is longer is a pause, and says nothing of the rate.
  private static let longestFrameDuration: UInt64 = 1_000_000_000

  private struct Shown: Sendable {
    var count: Int
    var time: UInt64
  }

  /// Of the present sequence, in the order in which they are shown; the latest only.
  private var shown: [Shown] = []
  private var firstCount = 0
  /// By how much order counts differ from frame to frame: 2, as for fields, unless the stream shows otherwise.
  private var countStep = 2
  /// How many pictures may come before another and be shown after it, as the stream says or has shown.
  private var depth = 0
  /// Of late, in nanoseconds; nil before two pictures.
  private var measuredDuration: UInt64?
  private var lastDecoding: UInt64?
  private var latest: UInt64?

  /// Creates the times of a run, in which nothing has been pushed yet.
  init() {}

  /// Another stream begins, with pictures of which nothing is known.
  mutating func beginStream() {
    shown = []
    depth = 0
    measuredDuration = nil
    lastDecoding = nil
  }

  /// The presentation time of the next unit; nil if it is unknown.
  ///
  /// - Parameters:
  ///   - place: the unit's place in the order in which pictures are shown.
  ///   - decoding: its decoding time, which always grows.
  ///   - frameDuration: as the stream gives it.
  /// - Returns: running time; all are in nanoseconds.
  mutating func time(of place: OutputOrder.Place, decoding: UInt64, frameDuration: UInt64) -> UInt64? {
    let step = lastDecoding.flatMap { decoding >= $0 ? decoding - $0 : nil }
    let duration = measure(step, frameDuration: min(frameDuration, Self.longestFrameDuration))
    lastDecoding = decoding
    switch place {
    case .unknown:
      shown = []
      return nil
    case .inOrder:
      shown = []
      depth = 0
      return note(decoding)
    case .first(let count, let reordering):
      depth = max(depth, min(reordering ?? 0, Self.mostReordered))
      (firstCount, countStep) = (count, 2)
      let time = note(decoding.addingClamped(UInt64(depth) * duration))
      shown = [Shown(count: count, time: time)]
      return time
    case .further(let count):
      guard let last = shown.last else { return nil }
      if !(count - firstCount).isMultiple(of: 2) { countStep = 1 }
      // Pictures that are sent again have the count of the one before.
      guard count >= last.count else { return between(count, decoding) }
      return next(count, decoding, duration, pace: min(duration, step ?? duration), after: last)
    }
  }

  /// Shown after all that have come.
  ///
  /// - Parameter pace: the time between pictures as they come now.
  private mutating func next(
    _ count: Int, _ decoding: UInt64, _ duration: UInt64, pace: UInt64, after last: Shown
  ) -> UInt64 {
    let steps = min(max((count - last.count) / countStep, 1), Self.mostReordered)
    // Those between are still to come, if any may: at once, if the others have come at once.
    let ahead = UInt64(depth > 0 ? steps - 1 : 0) * (pace <= duration / 2 ? pace : duration)
    let regular = decoding.addingClamped(UInt64(depth) * duration + ahead)
    // Room for those that are to be shown between them.
    let time = note(max(regular, last.time.addingClamped(UInt64(steps) * StreamTime.shortestStep)))
    shown.append(Shown(count: count, time: time))
    if shown.count > 2 * Self.mostReordered { shown.removeFirst() }
    return time
  }

  /// Shown before one that has come, and if it is late, not before it comes.
  private mutating func between(_ count: Int, _ decoding: UInt64) -> UInt64? {
    guard let upper = shown.firstIndex(where: { $0.count > count }), upper > 0 else {
      // It should have come long ago.
      return nil
    }
    depth = max(depth, min(shown.count - upper, Self.mostReordered))
    let (lower, higher) = (shown[upper - 1], shown[upper])
    let share = Double(count - lower.count) / Double(higher.count - lower.count)
    let regular = lower.time.addingClamped(Self.part(share, of: higher.time - lower.time))
    // Room for those that are to be shown after it.
    let steps = min(max((higher.count - count) / countStep, 1), Self.mostReordered)
    let latest = higher.time - min(higher.time, UInt64(steps) * StreamTime.shortestStep)
    let time = min(max(regular, min(decoding, latest)), higher.time)
    shown.insert(Shown(count: count, time: time), at: upper)
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

  /// The time between pictures of late, beginning with the one that the stream gives. Pictures that came at once say
  /// nothing of it, and a single late one little.
  private mutating func measure(_ step: UInt64?, frameDuration: UInt64) -> UInt64 {
    let duration = measuredDuration ?? frameDuration
    guard let step, step > frameDuration / 2, step < Self.longestFrameDuration else { return duration }
    let measured = duration - duration / 8 + min(step, max(2 * duration, StreamTime.shortestStep)) / 8
    measuredDuration = measured
    return measured
  }
}
