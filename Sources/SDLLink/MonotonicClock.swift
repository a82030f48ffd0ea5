import Glibc

/// The clock of all deadlines, which never jumps; the state machines get its time.
package enum MonotonicClock {
  /// Time since an arbitrary start, by CLOCK_MONOTONIC.
  package static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Duration(secondsComponent: Int64(time.tv_sec), attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000)
  }
}

extension Duration {
  /// As a timespec; negative times become zero.
  var timespec: timespec {
    let (seconds, attoseconds) = max(self, .zero).components
    return Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
  }

  /// A time-out in milliseconds, for poll(2) and others, rounded up so that no thread wakes just before the deadline and
  /// spins until it.
  package var pollMilliseconds: Int32 {
    let (seconds, attoseconds) = max(self, .zero).components
    let milliseconds = Int64(attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return Int32(clamping: min(seconds, 1_000_000) * 1000 + milliseconds)
  }
}

/// The source of the present time for deadlines and measurements: ``monotonic``, except in tests that advance it.
///
/// A value with a closure rather than a `Swift.Clock`, whose `sleep` nothing here could use: threads wait in poll(2)
/// and on condition variables.
package struct TimeSource: Sendable {
  private let read: @Sendable () -> Duration

  /// The time since an arbitrary start; it must never go back.
  package var now: Duration { read() }

  /// CLOCK_MONOTONIC.
  package static let monotonic = TimeSource { MonotonicClock.now }

  /// A clock of one's own.
  ///
  /// - Parameter now: Called on any thread, also with locks held, so it must not block.
  package init(_ now: @escaping @Sendable () -> Duration) {
    read = now
  }
}
