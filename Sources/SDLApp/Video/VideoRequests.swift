/// What is requested of the head unit. It stays as it is while upstream may yet follow a resize, and nothing new is
/// requested while the head unit may go on resizing.
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
  ///   - next: what is to be requested.
  ///   - isHeld: whether it has nothing to do with the head unit's sizes.
  /// - Returns: whether what is requested changes now.
  mutating func follow(_ next: VideoStartRequest?, isHeld: Bool, now: Duration) -> Bool {
    if let settlesAt, settlesAt <= now { self.settlesAt = nil }
    // What goes on as it is need not wait.
    let request = settlesAt == nil || isHeld || next == current ? next : nil
    defer { current = request }
    return request != current
  }

  /// What to request once the head unit has stopped resizing.
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

  /// Whether the service goes on until upstream has been asked: it need not be interrupted if upstream can't leave the
  /// size of the input, which the head unit still takes, or changes to the one that its acknowledgement has named.
  private func mustAskBeforeStopping(
    _ inputSize: VideoSize, _ grantedSize: VideoSize?, _ selection: VideoSelection, _ upstream: VideoUpstream
  ) -> Bool {
    guard upstream.isToBeAsked, let current else { return false }
    if let size = selection.overridingSize { return size != inputSize && grantedSize == size }
    return upstream.prefersAnotherSize(selection) && selection.ladder.request(for: inputSize) == current
  }
}
