/// The kernel's state of a connection at one moment.
///
/// A value that the transport can't report is nil; ``RateController`` works without it.
package struct LinkSample: Equatable, Sendable {
  /// On the clock of the app.
  package var time: Duration
  /// All bytes that the kernel has taken since the connection was made; less than in the last sample with a new one.
  package var handedByteCount: UInt64
  /// The part of ``handedByteCount`` that was sound.
  package var soundByteCount: UInt64
  /// The part of ``handedByteCount`` that the peer has not acknowledged (TCP) or read (socket pair): SIOCOUTQ.
  package var unacknowledgedByteCount: UInt64?
  /// Bytes that the kernel holds, but has not sent once: SIOCOUTQNSD.
  package var unsentByteCount: UInt64?
  /// Whether bytes wait because the kernel takes no more.
  package var isBlocked: Bool
  /// Nil without TCP_INFO.
  package var roundTrip: RoundTrip?

  /// The round-trip times of TCP_INFO.
  package struct RoundTrip: Equatable, Sendable {
    /// `tcpi_rtt`, which TCP smooths over about eight acknowledgements.
    package var smoothed: Duration
    /// `tcpi_min_rtt`, the least of the last minutes; 0 where the kernel does not know it.
    package var minimum: Duration

    package init(smoothed: Duration, minimum: Duration) {
      self.smoothed = smoothed
      self.minimum = minimum
    }
  }

  package init(
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
