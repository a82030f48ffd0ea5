import SDLMessages

/// What a head unit has yet to play. It plays what comes, when it comes, at its own pace: what is in front of a sample
/// decides when that is heard, and sound that comes before its time is heard in time if that time is filled.
///
/// All times are those of the pipeline's clock.
public struct SamplePlayout: Equatable, Sendable {
  /// What is to be done about samples, so that they are heard in time.
  public enum Correction: Equatable, Sendable {
    case none
    /// So many silent ones go in front of them.
    case silence(Int)
    /// So many of them are not sent.
    case leaveOut(Int)
  }

  /// Sound that is less late stays: half of what people notice beside a picture.
  private static let tolerance = Duration.milliseconds(20)
  /// Timers are late by this much on any machine; to correct that would cost a ramp.
  private static let negligible = Duration.milliseconds(2)
  /// No source sends so much ahead of the lead: the clock is another one.
  private static let longestExcess = Duration.seconds(1)

  /// How long before its time sound leaves.
  public var lead: Duration
  /// When all that was sent will have been played; nil before anything was.
  private var end: Duration?
  private var isLate = false

  /// For a head unit that has nothing to play.
  public init(lead: Duration) {
    self.lead = lead
  }

  /// What is to be done about the next `count` samples.
  ///
  /// - Parameters:
  ///   - due: when the first of them is to be played.
  ///   - isSilence: silence is left out to make up for any lateness.
  public func correction(
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

  /// Samples are sent.
  public mutating func sent(_ count: Int, now: Duration, format: PCMFormat) {
    end = start(now) + format.duration(ofSampleCount: count)
    isLate = false
  }

  /// Samples were left out because they are late.
  ///
  /// - Parameter isAll: none of those at hand is left, so that the next ones may be late as well.
  public mutating func skipped(isAll: Bool) {
    isLate = isAll
  }

  /// The head unit begins to play anew.
  public mutating func reset() {
    end = nil
    isLate = false
  }

  /// When samples will be played that are sent now.
  private func start(_ now: Duration) -> Duration {
    guard let end, end - now <= lead + Self.longestExcess else { return now }
    return max(end, now)
  }
}
