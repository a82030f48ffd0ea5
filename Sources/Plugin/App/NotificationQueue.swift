import SDLLink

/// A stream's notifications that wait to be posted: each change once and in order, whichever threads add them. One
/// thread at a time delivers, also the notifications that other threads add meanwhile.
final class NotificationQueue<Notification: Sendable>: Sendable {
  private struct State: Sendable {
    var waiting: [Notification] = []
    var isDelivering = false
    /// The stream has ended: nothing more is posted about it.
    var isOver = false
  }

  private let state = Monitor(State())

  /// Adds a notification, with the lock of its cause held, so that the order is right.
  func add(_ notification: Notification) {
    state.withLock { if !$0.isOver { $0.waiting.append(notification) } }
  }

  /// Calls `body` with waiting notifications, unless another thread does. Call without locks.
  func deliver(_ body: (Notification) -> Void) {
    let isMine = state.withLock { state in
      guard !state.isDelivering, !state.waiting.isEmpty else { return false }
      state.isDelivering = true
      return true
    }
    guard isMine else { return }
    while let notification = next() { body(notification) }
  }

  private func next() -> Notification? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isDelivering = false
        return nil
      }
      return state.waiting.removeFirst()
    }
  }

  /// Nothing more is delivered.
  func end() {
    state.withLock { state in
      state.isOver = true
      state.waiting = []
    }
  }
}
