import Synchronization

/// A clock that stands still until a test advances it.
package final class ManualClock: Sendable {
  private struct State {
    // Not zero: time zero is easily taken for "never".
    var now = Duration.seconds(1000)
    var wakers: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  /// A clock that wakes no thread.
  package init() {}

  /// The time that it stands at.
  package var now: Duration { state.withLock { $0.now } }

  /// Moves the time forward, and wakes those who wait in a system call for a time of this clock.
  package func advance(by time: Duration) {
    let wakers = state.withLock { state in
      state.now += time
      return state.wakers
    }
    for wake in wakers { wake() }
  }

  /// Calls `wake` after each advance, on the thread that advances the clock.
  package func onAdvance(_ wake: @escaping @Sendable () -> Void) {
    state.withLock { $0.wakers.append(wake) }
  }
}
