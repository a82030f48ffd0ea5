import Glibc

/// The clock of all deadlines, which never jumps; the state machines get its time.
public enum MonotonicClock {
  /// Time since an arbitrary start, by CLOCK_MONOTONIC.
  public static var now: Duration {
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
