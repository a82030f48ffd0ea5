/// How long bytes have been on their way that the peer has not acknowledged: sound that comes later than a live source can wait
/// is better left out, and the kernel would take seconds of it.
public struct LinkDelay: Equatable, Sendable {
  private var history = SendHistory()
  private var handedByteCount: UInt64 = 0
  private var lastTime: Duration = .zero

  /// Before anything was sent.
  public init() {}

  /// The age of the oldest bytes that are not acknowledged; zero where the transport does not tell.
  public mutating func age(_ sample: LinkSample) -> Duration {
    if sample.handedByteCount < handedByteCount { self = LinkDelay() }
    if sample.handedByteCount > handedByteCount {
      let began = handedByteCount == 0 ? sample.time : lastTime
      history.append(handedByteCount..<sample.handedByteCount, time: began, showsPathDelay: false)
      handedByteCount = sample.handedByteCount
    }
    lastTime = sample.time
    guard let acknowledged = sample.acknowledgedByteCount else { return .zero }
    _ = history.acknowledge(acknowledged, now: sample.time)
    return history.oldest.map { max(sample.time - $0.time, .zero) } ?? .zero
  }
}
