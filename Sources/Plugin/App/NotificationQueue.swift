import SDLApp
import SDLLink

/// A stream's notifications that wait to be posted, and changes of its state: each once and in order, whichever threads
/// add them. One thread at a time delivers, also what other threads add meanwhile.
final class NotificationQueue<Notification: Sendable>: Sendable {
  enum Item: Sendable {
    case notification(Notification)
    case state(StreamState)
    /// The wait for a driver may have begun.
    case driverWait
  }

  private struct State: Sendable {
    var items = DeliveryQueue<Item>()
    /// The state that was added last.
    var streamState = StreamState.stopped
  }

  private let state = Monitor(State())

  /// Adds a notification, with the lock of its cause held, so that the order is right.
  func add(_ notification: Notification) { add(.notification(notification)) }

  /// Adds an item, in the order of its cause.
  func add(_ item: Item) {
    state.withLock { $0.items.append([item]) }
  }

  /// Adds the state of the stream if it is another than before, with its lock held; returns whether it is.
  func add(_ streamState: StreamState) -> Bool {
    state.withLock { state in
      guard streamState != state.streamState else { return false }
      state.streamState = streamState
      state.items.append([.state(streamState)])
      return true
    }
  }

  /// Calls `body` with what waits, unless another thread does. Call without locks.
  func deliver(_ body: (Item) -> Void) {
    guard state.withLock({ $0.items.claim() }) else { return }
    while let item = state.withLock({ $0.items.next() }) { body(item) }
    state.broadcast()
  }

  /// Delivers the rest, once no other thread delivers, for which it waits ``DeliveryQueue/closeTimeout`` at most; then
  /// nothing more is delivered.
  ///
  /// - Returns: whether the last state that was delivered is that of a stopped stream.
  func end(_ body: (Item) -> Void) -> Bool {
    let deadline = MonotonicClock.now + DeliveryQueue<Item>.closeTimeout
    let isMine = state.wait(atLatest: deadline) { $0.items.takeOver() }
    while true {
      // In one step, lest another thread adds something in between.
      let (item, isStopped) = state.withLock { state in
        let item = isMine ? state.items.next() : nil
        if item == nil { state.items.close() }
        return (item, state.streamState == .stopped)
      }
      guard let item else { return isMine && isStopped }
      body(item)
    }
  }
}
