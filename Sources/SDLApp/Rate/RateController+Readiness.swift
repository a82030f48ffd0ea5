extension RateController {
  /// What may wait on the way before a picture is encoded, of the maximum latency; the rest is for the picture itself.
  private static let queueShare = 0.25
  private static let shortestWait = Duration.milliseconds(2)
  private static let longestWait = Duration.milliseconds(20)

  /// Whether the link is ready for a picture, by the last sample: whether what is on the way already leaves it time.
  ///
  /// A link that looks full never ends the stream, whatever makes it look so: one picture per second goes, as long as the
  /// kernel sends what it is given. Without a maximum latency the link is always ready.
  public var readiness: LinkReadiness {
    guard limits.maximumLatency > .zero, let last = link.last else { return .ready }
    let sendsAll = !last.isBlocked && (last.unsentByteCount ?? 0) == 0
    guard let outstanding = link.outstandingByteCount, link.pathDelay != nil else {
      return sendsAll ? .ready : .wait(Self.longestWait)
    }
    if sendsAll {
      let sinceHanded = last.time - link.handedTime
      if outstanding <= LinkEstimator.segmentByteCount || sinceHanded >= .seconds(1) { return .ready }
    }
    let excess = link.queueingDelay - limits.maximumLatency.seconds * Self.queueShare
    guard excess > 0 else { return .ready }
    let wait = Duration.microseconds(Int64((min(excess, 1) * 1e6).rounded()))
    return .wait(min(max(wait, Self.shortestWait), Self.longestWait))
  }

  /// Even if each acknowledgement comes late, so that the link looks slow, a key frame goes after this time.
  private static let longestBreak = Duration.seconds(2)
  /// What may wait, of the maximum latency, before a picture that comes encoded is left out: a key frame alone may take longer
  /// than that, and all up to the next one would be lost.
  private static let encodedShare = 3

  /// Whether a picture that comes encoded would be too late, by the last sample.
  ///
  /// - Parameters:
  ///   - isKeyFrameNeeded: whether pictures have been left out, so that only a key frame can be decoded.
  ///   - sinceSent: from the last picture that was sent.
  public func isLate(isKeyFrameNeeded: Bool, sinceSent: Duration) -> Bool {
    guard limits.maximumLatency > .zero, queueingDelay > limits.maximumLatency * Self.encodedShare else { return false }
    return !isKeyFrameNeeded || sinceSent < Self.longestBreak
  }
}
