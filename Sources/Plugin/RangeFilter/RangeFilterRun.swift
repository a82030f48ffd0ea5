import SDLApp
import Synchronization

/// What one run of the filter remembers, from READY→PAUSED to PAUSED→READY. Each run has an object of its own, so that
/// whatever is still under way when the element stops can't change the next run.
final class RangeFilterRun: Sendable {
  private struct State {
    var history = VideoRangeFilterHistory()
    /// The ranges that upstream and downstream have been notified of.
    var ranges: VideoRanges
    /// The event that notifies downstream has not been sent yet.
    var isNotificationPending = false
  }

  private let state: Mutex<State>

  init(ranges: VideoRanges) {
    state = Mutex(State(ranges: ranges))
  }

  /// By which the last query was answered; nil before the first.
  var filter: VideoRangeFilter? { state.withLock { $0.history.current } }

  /// Queries are answered by `filter` from now on.
  func use(_ filter: VideoRangeFilter) {
    state.withLock { $0.history.use(filter) }
  }

  /// Whether an earlier answer allowed pictures of `size`.
  func formerlyAccepted(_ size: VideoSize) -> Bool { state.withLock { $0.history.formerlyAccepted(size) } }

  /// Caps of `size` have arrived. Returns whether to ask upstream for others.
  func capsArrived(_ size: VideoSize) -> Bool { state.withLock { $0.history.capsArrived(size) } }

  /// Whether `warning` has not been given yet.
  func isNew(_ warning: String) -> Bool { state.withLock { $0.history.isNew(warning) } }

  /// Reads the ranges inside the lock, so that of two threads that change properties the later one is not overwritten.
  /// Returns whether they differ from the last ones.
  func updateRanges(_ read: () -> VideoRanges) -> Bool {
    state.withLock { state in
      let ranges = read()
      defer { state.ranges = ranges }
      return ranges != state.ranges
    }
  }

  /// Returns whether to send a notification; false while one is pending that will cover this change too.
  func beginNotification() -> Bool {
    state.withLock { state in
      defer { state.isNotificationPending = true }
      return !state.isNotificationPending
    }
  }

  /// The pending notification is about to be sent.
  func endNotification() {
    state.withLock { $0.isNotificationPending = false }
  }
}
