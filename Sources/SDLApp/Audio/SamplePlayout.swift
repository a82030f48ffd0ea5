import SDLMessages

/// The sound that a head unit has yet to play. It plays samples as they come, at its own pace: the samples in front of
/// one decide when that is heard, and sound that comes early is heard in time if the time before it is filled.
///
/// All times are those of the pipeline's clock.
package struct SamplePlayout: Equatable, Sendable {
  /// Corrections so that samples are heard in time.
  package enum Correction: Equatable, Sendable {
    case none
    /// Insert so many silent samples before them.
    case silence(Int)
    /// Skip so many of them.
    case leaveOut(Int)
  }

  /// Smaller lateness is not corrected: it is half of what people notice beside a picture.
  private static let tolerance = Duration.milliseconds(20)
  /// Timers are late by this much on any machine; a correction would need a ramp.
  private static let negligible = Duration.milliseconds(2)
  /// No source sends so far ahead of the lead: the clock has changed.
  private static let longestExcess = Duration.seconds(1)

  /// How long before its time sound leaves.
  package var lead: Duration
  /// When all sound sent so far will have been played; nil before the first.
  private var end: Duration?
  private var isLate = false

  /// For a head unit that has nothing to play.
  package init(lead: Duration) {
    self.lead = lead
  }

  /// The correction for the next `count` samples.
  ///
  /// - Parameters:
  ///   - due: when the first of them is to be played.
  ///   - isSilence: silence is skipped to make up for any lateness.
  package func correction(
    for count: Int, due: Duration, now: Duration, isSilence: Bool, format: PCMFormat
  ) -> Correction {
    let early = due - start(now)
    if early > Self.negligible {
      let missing = format.sampleCount(in: min(early, lead))
      return missing > 0 ? .silence(missing) : .none
    }
    let late = .zero - early
    guard late > (isLate || isSilence ? Self.negligible : Self.tolerance) else { return .none }
    return .leaveOut(min(format.sampleCount(in: late), count))
  }

  package mutating func sent(_ count: Int, now: Duration, format: PCMFormat) {
    end = start(now) + format.duration(ofSampleCount: count)
    isLate = false
  }

  /// Samples were left out because they are late.
  ///
  /// - Parameter isAll: none of the samples at hand is left, so the next ones may be late as well.
  package mutating func skipped(isAll: Bool) {
    isLate = isAll
  }

  /// The head unit starts to play from an empty queue.
  package mutating func reset() {
    end = nil
    isLate = false
  }

  /// When samples sent now will be played.
  private func start(_ now: Duration) -> Duration {
    guard let end, end - now <= lead + Self.longestExcess else { return now }
    return max(end, now)
  }
}
