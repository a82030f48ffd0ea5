/// Where the car had nothing to play although an app's sound went on: its sound came too late.
///
/// An app can make a gap with every message, so those of a second are reported together.
struct SoundGaps: Sendable {
  /// The message `sdl-sound-gap`.
  struct Report: Equatable, Sendable {
    /// Gaps since the last report.
    var count: UInt64
    /// Of all of them, in nanoseconds.
    var duration: UInt64
    /// Where the last of them ends; nanoseconds.
    var runningTime: UInt64
  }

  private static let shortestInterval: UInt64 = 1_000_000_000

  /// Up to when there was sound; nil before any.
  private var soundEnd: UInt64?
  private var lastReport: UInt64?
  private var pending: Report?

  /// Sound has got its place.
  ///
  /// - Parameter isStart: whether it is the first of an utterance, in front of which there may be anything.
  /// - Returns: whether there is a gap in front of it.
  mutating func note(_ place: SoundTimeline.Place, isStart: Bool) -> Bool {
    defer { soundEnd = place.time.addingClamped(place.duration) }
    guard !isStart, let soundEnd, place.time > soundEnd else { return false }
    let former = pending ?? Report(count: 0, duration: 0, runningTime: 0)
    pending = Report(
      count: former.count &+ 1, duration: former.duration.addingClamped(place.time - soundEnd),
      runningTime: place.time)
    return true
  }

  /// What is to be reported now.
  mutating func takeReport() -> Report? {
    guard let report = pending else { return nil }
    if let lastReport, report.runningTime < lastReport.addingClamped(Self.shortestInterval) { return nil }
    lastReport = report.runningTime
    pending = nil
    return report
  }
}
