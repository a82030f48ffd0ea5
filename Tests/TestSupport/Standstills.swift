import Foundation
import Synchronization

/// Notes when the machine did not run this process for a while, as a loaded host does: tests with upper bounds for
/// times allow for it.
package final class Standstills: Sendable {
  private static let pause = 0.002
  private static let noticeable = Duration.milliseconds(20)

  private struct State {
    var times: [Duration] = []
    /// When the thread ran last.
    var last = ContinuousClock.now

    /// A standstill that is just over, or not yet, counts before the thread has run again.
    mutating func note() {
      let now = ContinuousClock.now
      if now - last > noticeable { times.append(now - last) }
      last = now
    }
  }

  private let state = Mutex(State())

  /// Watches from now on.
  package init() {
    let thread = Thread { [weak self] in
      while true {
        Thread.sleep(forTimeInterval: Self.pause)
        guard let self else { return }
        state.withLock { $0.note() }
      }
    }
    thread.start()
  }

  /// All of them together.
  package var total: Duration { times.reduce(.zero, +) }

  /// How many were longer than `limit`.
  package func count(longerThan limit: Duration) -> Int { times.count { $0 > limit } }

  private var times: [Duration] {
    state.withLock {
      $0.note()
      return $0.times
    }
  }
}
