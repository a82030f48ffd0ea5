import SDLMessages

/// Which samples come too late to be sent. A head unit plays what comes, so it would play everything behind late samples late as
/// well; the lead makes up for a little.
public struct SampleLateness: Equatable, Sendable {
  /// Threads are not woken more exactly than this on a busy machine.
  private static let shortest = Duration.milliseconds(40)
  /// Timers are late by this much on any machine; to leave that out would cost a ramp.
  private static let negligible = Duration.milliseconds(2)

  /// What the lead makes up for.
  public var lead: Duration
  private var isBehind = false

  /// For sound that leaves so much before its time.
  public init(lead: Duration) {
    self.lead = lead
  }

  /// How many of the next `count` samples are to be left out, so that the following ones leave in time.
  ///
  /// - Parameters:
  ///   - lateness: how long the first of them should have left already; negative if it is early.
  ///   - isSilence: what nobody misses is left out as soon as it is late.
  public mutating func excess(of count: Int, late lateness: Duration, isSilence: Bool, format: PCMFormat) -> Int {
    let limit = isSilence ? Self.shortest : max(lead, Self.shortest)
    guard lateness > (isBehind ? Self.negligible : limit) else {
      isBehind = false
      return 0
    }
    let excess = min(format.sampleCount(in: lateness), count)
    isBehind = excess == count
    return excess
  }
}
