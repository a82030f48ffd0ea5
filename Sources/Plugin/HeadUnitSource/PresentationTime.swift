import H264

/// The presentation times of a stream, whose output order may differ from its decoding order.
///
/// The time of a picture that is shown after all earlier ones comes from its decoding time, the depth of the
/// reordering, and the number of pictures still to come that are shown before it. A picture between others gets a time
/// between theirs, by its order count: so times are always in output order, whatever the jitter of the arrival.
struct PresentationTime: Sendable {
  /// As many as a decoder may hold back (H.264, A.3.1).
  private static let mostReordered = 16
  /// A longer time between pictures is a pause, which does not affect the rate.
  private static let longestFrameDuration: UInt64 = 1_000_000_000

  private struct Shown: Sendable {
    var count: Int
    var time: UInt64
  }

  /// The latest pictures of the present sequence, in output order.
  private var shown: [Shown] = []
  private var firstCount = 0
  /// The difference of order counts from frame to frame: 2, as for fields, unless the stream shows otherwise.
  private var countStep = 2
  /// The depth of the reordering, as the stream announces it or has shown.
  private var depth = 0
  /// The recent time between pictures, in nanoseconds; nil before two pictures.
  private var measuredDuration: UInt64?
  private var lastDecoding: UInt64?
  private var latest: UInt64?

  /// Creates the times of a run, in which nothing has been pushed yet.
  init() {}

  mutating func beginStream() {
    shown = []
    depth = 0
    measuredDuration = nil
  }

  /// The presentation time of the next unit; nil if it is unknown.
  ///
  /// - Parameters:
  ///   - place: the unit's place in output order.
  ///   - decoding: its decoding time, which grows until the pipeline begins its running time anew.
  ///   - frameDuration: as the stream gives it.
  /// - Returns: running time; all are in nanoseconds.
  mutating func time(of place: OutputOrder.Place, decoding: UInt64, frameDuration: UInt64) -> UInt64? {
    if let lastDecoding, decoding < lastDecoding { moveBack(by: lastDecoding - decoding) }
    // From picture to picture of one stream.
    let step = shown.isEmpty ? nil : lastDecoding.flatMap { decoding >= $0 ? decoding - $0 : nil }
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

  /// Running time has begun anew: earlier pictures keep their order and their distance, and hold nothing up.
  private mutating func moveBack(by distance: UInt64) {
    for index in shown.indices { shown[index].time -= min(distance, shown[index].time) }
    latest = latest.map { $0 - min(distance, $0) }
  }

  /// The time of a picture that is shown after all earlier ones.
  ///
  /// - Parameter pace: the present time between pictures.
  private mutating func next(
    _ count: Int, _ decoding: UInt64, _ duration: UInt64, pace: UInt64, after last: Shown
  ) -> UInt64 {
    let steps = min(max((count - last.count) / countStep, 1), Self.mostReordered)
    // Pictures in between are still to come, if reordering allows any: at once, if the others have come at once.
    let ahead = UInt64(depth > 0 ? steps - 1 : 0) * (pace <= duration / 2 ? pace : duration)
    let regular = decoding.addingClamped(UInt64(depth) * duration + ahead)
    // Room for pictures that are shown between them.
    let time = note(max(regular, last.time.addingClamped(UInt64(steps) * StreamTime.shortestStep)))
    shown.append(Shown(count: count, time: time))
    if shown.count > 2 * Self.mostReordered { shown.removeFirst() }
    return time
  }

  /// The time of a picture that is shown before an earlier one; a late one not before its arrival.
  private mutating func between(_ count: Int, _ decoding: UInt64) -> UInt64? {
    guard let upper = shown.firstIndex(where: { $0.count > count }), upper > 0 else {
      // It should have come earlier.
      return nil
    }
    depth = max(depth, min(shown.count - upper, Self.mostReordered))
    let (lower, higher) = (shown[upper - 1], shown[upper])
    let share = Double(count - lower.count) / Double(higher.count - lower.count)
    let regular = lower.time.addingClamped(Self.part(share, of: higher.time - lower.time))
    // Room for pictures that are shown after it.
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

  /// The recent time between pictures, beginning with the stream's own. Bursts do not affect it, and a single late
  /// picture only a little.
  private mutating func measure(_ step: UInt64?, frameDuration: UInt64) -> UInt64 {
    let duration = measuredDuration ?? frameDuration
    guard let step, step > frameDuration / 2, step < Self.longestFrameDuration else { return duration }
    let measured = duration - duration / 8 + min(step, max(2 * duration, StreamTime.shortestStep)) / 8
    measuredDuration = measured
    return measured
  }
}
