/// The request to the head unit. It stays as it is while upstream may still follow a resize, and while the head unit
/// may continue resizing.
struct VideoRequests: Sendable {
  private(set) var current: VideoStartRequest?
  /// No service is requested before this.
  private var settlesAt: Duration?

  /// When a request that waits is due.
  var deadline: Duration? { settlesAt }

  /// The head unit has resized, and may do so again: head units that change their layout often send several updates.
  mutating func settle(now: Duration) {
    settlesAt = settlesAt ?? now + VideoNegotiation.settlingTime
  }

  mutating func connectionLost() {
    settlesAt = nil
  }

  /// - Parameters:
  ///   - next: the new request.
  ///   - isHeld: whether it does not depend on the head unit's sizes.
  /// - Returns: whether the request changes now.
  mutating func update(to next: VideoStartRequest?, isHeld: Bool, now: Duration) -> Bool {
    if let settlesAt, settlesAt <= now { self.settlesAt = nil }
    // A request that stays the same need not wait.
    let request = settlesAt == nil || isHeld || next == current ? next : nil
    defer { current = request }
    return request != current
  }

  /// The request once the head unit has stopped resizing.
  ///
  /// - Parameters:
  ///   - heldSize: of a service that is kept whatever the head unit resizes.
  ///   - grantedSize: of the service; nil without one.
  func next(
    heldSize: VideoSize?, grantedSize: VideoSize?, _ selection: VideoSelection, _ upstream: VideoUpstream
  ) -> VideoStartRequest? {
    guard selection.isCurrent, let size = upstream.size else { return nil }
    if let size = heldSize ?? upstream.expectedSize { return selection.ladder.request(for: size) }
    if mustAskBeforeStopping(size, grantedSize, selection, upstream) { return current }
    guard !upstream.prefersAnotherSize(selection), !upstream.expectsOutdatedFrames, selection.accepts(size) == true
    else { return nil }
    return selection.ladder.request(for: size)
  }

  /// Whether the service goes on until upstream has been asked: it need not be interrupted if upstream can't change
  /// from a size that the head unit still takes, or changes to the acknowledged size.
  private func mustAskBeforeStopping(
    _ inputSize: VideoSize, _ grantedSize: VideoSize?, _ selection: VideoSelection, _ upstream: VideoUpstream
  ) -> Bool {
    guard upstream.isToBeAsked, let current else { return false }
    if let size = selection.overridingSize { return size != inputSize && grantedSize == size }
    return upstream.prefersAnotherSize(selection) && selection.ladder.request(for: inputSize) == current
  }
}
