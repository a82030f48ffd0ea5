/// The kernel's state of a connection at one moment.
///
/// A value that the transport can't report is nil; ``RateController`` works without it.
public struct LinkSample: Equatable, Sendable {
  /// On the clock of the app.
  public var time: Duration
  /// All bytes that the kernel has taken since the connection was made; less than in the last sample with a new one.
  public var handedByteCount: UInt64
  /// The part of ``handedByteCount`` that was sound.
  public var soundByteCount: UInt64
  /// The part of ``handedByteCount`` that the peer has not acknowledged (TCP) or read (socket pair): SIOCOUTQ.
  public var unacknowledgedByteCount: UInt64?
  /// Bytes that the kernel holds, but has not sent once: SIOCOUTQNSD.
  public var unsentByteCount: UInt64?
  /// Whether bytes wait because the kernel takes no more.
  public var isBlocked: Bool
  /// Nil without TCP_INFO.
  public var roundTrip: RoundTrip?

  /// The round-trip times of TCP_INFO.
  public struct RoundTrip: Equatable, Sendable {
    /// `tcpi_rtt`, which TCP smooths over about eight acknowledgements.
    public var smoothed: Duration
    /// `tcpi_min_rtt`, the least of the last minutes; 0 where the kernel does not know it.
    public var minimum: Duration

    public init(smoothed: Duration, minimum: Duration) {
      self.smoothed = smoothed
      self.minimum = minimum
    }
  }

  public init(
    time: Duration, handedByteCount: UInt64, soundByteCount: UInt64 = 0, unacknowledgedByteCount: UInt64? = nil,
    unsentByteCount: UInt64? = nil,
    isBlocked: Bool = false, roundTrip: RoundTrip? = nil
  ) {
    self.time = time
    self.handedByteCount = handedByteCount
    self.soundByteCount = soundByteCount
    self.unacknowledgedByteCount = unacknowledgedByteCount
    self.unsentByteCount = unsentByteCount
    self.isBlocked = isBlocked
    self.roundTrip = roundTrip
  }
}

extension LinkSample {
  /// Nil when the transport does not report acknowledgements.
  var acknowledgedByteCount: UInt64? {
    unacknowledgedByteCount.map { $0 < handedByteCount ? handedByteCount - $0 : 0 }
  }
}

extension Duration {
  var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}
