/// What an encoder of live pictures should aim at, so that they are not delayed by the link.
public struct RateTargets: Equatable, Sendable {
  /// Why the targets are what they are.
  public enum Reason: Equatable, Sendable {
    /// The link carries all that the encoder may use.
    case ceiling
    /// The link may carry more, which is being tried.
    case probing
    /// The link was full.
    case link
    /// The link does not carry the minimum, so there are fewer pictures.
    case belowMinimum
    /// The peer acknowledges nothing.
    case stalled
  }

  /// Bits per second at the wanted rate of pictures, so one picture gets `bitrate` divided by that rate. Always from the
  /// minimum to the ceiling.
  public var bitrate: Int
  /// The most pictures per second: less than wanted where the link does not carry the minimum bitrate.
  public var frameRate: Double
  /// Bits per second with `frameRate` pictures: `bitrate`, or less below the minimum. Together with `frameRate` this is
  /// what an encoder is set to.
  public var sentBitrate: Int
  /// The most bits that a single picture should have, so that it alone is no longer on the way than the maximum latency;
  /// nil when nothing is known against any number. The size of the encoder's VBV buffer.
  public var maximumPictureBits: Int?
  /// Why.
  public var reason: Reason
}

/// Whether a live picture should be encoded now.
public enum LinkReadiness: Equatable, Sendable {
  case ready
  /// Ask again after this time, with a new sample. If another picture has come by then, it takes the place of this one.
  case wait(Duration)
}
