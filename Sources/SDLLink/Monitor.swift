import Glibc

/// State under a lock that threads can wait on.
///
/// A pthread mutex rather than `Mutex`, because waiting needs a condition variable, and one that follows
/// CLOCK_MONOTONIC; and because the thread sanitizer does not see into `Mutex` when threads contend for it.
///
/// `@unchecked Sendable`: the state is touched only by the thread that holds the mutex, and being `Sendable` it may be
/// touched by a different thread each time.
public final class Monitor<State: Sendable>: @unchecked Sendable {
  // In memory of their own, because a pthread object must not move and Swift may move a stored property's value.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state: State

  /// A monitor over `state`.
  public init(_ state: State) {
    self.state = state
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` with the lock held; it must not call out.
  public func withLock<Result, Failure>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Makes every thread in ``wait(until:for:)`` look at the state again.
  public func broadcast() {
    pthread_cond_broadcast(condition)
  }

  /// Calls `attempt`, with the lock held, now and after each ``broadcast()`` until it returns a result.
  ///
  /// - Parameter deadline: Of ``MonotonicClock``; nil waits for ever.
  /// - Returns: Nil when there was no result before `deadline`.
  public func wait<Result>(until deadline: Duration?, for attempt: (inout State) -> Result?) -> Result? {
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
}
