/// Translates the head unit's time stamps to the app's clock. Intervals are kept; the transmission time is taken to be the
/// shortest so far.
public struct TouchClock: Equatable, Sendable {
  /// With a longer apparent transmission time, the head unit must have set its clock anew.
  static let longestTransmission = Duration.seconds(5)

  private var offset: Duration?

  /// Creates a clock before the first time stamp.
  public init() {}

  /// The time of an event by the app's clock.
  /// - Parameters:
  ///   - time: its time stamp, by the head unit's clock.
  ///   - arrival: when it was received, by the app's clock.
  public mutating func local(_ time: Duration, arrival: Duration) -> Duration {
    let newest = arrival - time
    guard let known = offset, known <= newest, newest - known <= Self.longestTransmission else {
      offset = newest
      return arrival
    }
    return time + known
  }
}
