import Glibc

/// State under a lock that threads can wait on.
///
/// A pthread mutex rather than `Mutex`, because waiting needs a condition variable, and one that follows
/// CLOCK_MONOTONIC; and because the thread sanitizer does not see into `Mutex` when threads contend for it.
///
/// `@unchecked Sendable`: the state is touched only by the thread that holds the mutex, and being `Sendable` it may be
/// touched by a different thread each time.
package final class Monitor<State: Sendable>: @unchecked Sendable {
  private let lock: MonitorLock
  // In memory of its own, because a pthread object must not move and Swift may move a stored property's value.
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state: State

  private var mutex: UnsafeMutablePointer<pthread_mutex_t> { lock.mutex }

  /// A monitor over `state`.
  ///
  /// - Parameter lock: for states of which one thread reads or changes several at once.
  package init(_ state: State, lock: MonitorLock = MonitorLock()) {
    self.state = state
    self.lock = lock
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
  }

  /// Runs `body` with the lock held; it must not call out.
  package func withLock<Result, Failure>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Runs `body` with this state and that of a monitor with the same lock, which is taken once.
  package func withLock<Other, Result>(
    and other: Monitor<Other>, _ body: (inout State, inout Other) -> Result
  ) -> Result {
    precondition(lock === other.lock)
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&state, &other.state)
  }

  /// Runs `body` with the lock held, and then makes every thread in ``wait(until:for:)`` look at the state.
  @discardableResult
  package func change<Result, Failure>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
    defer { broadcast() }
    return try withLock(body)
  }

  /// Makes every thread in ``wait(until:for:)`` look at the state again.
  package func broadcast() {
    pthread_cond_broadcast(condition)
  }

  /// Calls `attempt`, with the lock held, now and after each ``broadcast()`` until it returns a result.
  ///
  /// - Parameter deadline: Of ``MonotonicClock``; nil waits without end.
  /// - Returns: Nil when there was no result before `deadline`.
  package func wait<Result>(until deadline: Duration?, for attempt: (inout State) -> Result?) -> Result? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = attempt(&state) { return result }
      guard let deadline else {
        pthread_cond_wait(condition, mutex)
        continue
      }
      var time = deadline.timespec
      if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT { return attempt(&state) }
    }
  }

  /// The same until `isMet` is true: whether it is, before `deadline`.
  @discardableResult
  package func wait(atLatest deadline: Duration? = nil, until isMet: (inout State) -> Bool) -> Bool {
    wait(until: deadline) { isMet(&$0) ? () : nil } != nil
  }
}

/// The lock of one ``Monitor``, or of several.
///
/// `@unchecked Sendable`: a mutex is there to be used by several threads.
package final class MonitorLock: @unchecked Sendable {
  // As for the condition of a monitor.
  fileprivate let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  package init() {
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }
}
