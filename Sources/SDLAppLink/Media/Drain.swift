/// The end of a service, whose last media have to be with the head unit before it is asked for: head units drop what
/// comes right before an EndService.
struct Drain {
  /// When the end is asked for all the same.
  let deadline: Duration
  /// The bytes of the connection that were handed to the kernel when the service's queue was empty.
  private var handedByteCount: UInt64?

  init(deadline: Duration) {
    self.deadline = deadline
  }

  /// Whether the peer has acknowledged what was written of the service. To be asked from the moment on at which its
  /// queue is empty; what the other service writes meanwhile does not count.
  ///
  /// - Parameters:
  ///   - handed: All bytes of the connection that the kernel has been given.
  ///   - unacknowledged: Those of them that the peer has not acknowledged yet.
  mutating func isDelivered(handed: UInt64, unacknowledged: UInt64) -> Bool {
    let last = handedByteCount ?? handed
    handedByteCount = last
    return handed - min(unacknowledged, handed) >= last
  }
}
