/// Translates the head unit's time stamps to the app's clock. Their distances stay what they are; how long the way took is
/// taken to be the least that has been seen.
public struct TouchClock: Equatable, Sendable {
  /// A head unit whose time stamps are farther off has set its clock anew.
  static let longestWay = Duration.seconds(5)

  private var offset: Duration?

  /// Nothing is known yet.
  public init() {}

  /// When, by the app's clock, what arrives at `arrival` with the stamp `time` happened.
  public mutating func local(_ time: Duration, arrival: Duration) -> Duration {
    let newest = arrival - time
    guard let known = offset, known <= newest, newest - known <= Self.longestWay else {
      offset = newest
      return arrival
    }
    return time + known
  }
}
