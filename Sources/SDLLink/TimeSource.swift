/// The source of the present time for deadlines and measurements: ``monotonic``, except in tests that advance it.
///
/// A value with a closure rather than a `Swift.Clock`, whose `sleep` nothing here could use: threads wait in poll(2)
/// and on condition variables.
public struct TimeSource: Sendable {
  private let read: @Sendable () -> Duration

  /// The time since an arbitrary start; it must never go back.
  public var now: Duration { read() }

  /// CLOCK_MONOTONIC.
  public static let monotonic = TimeSource { MonotonicClock.now }

  /// A clock of one's own.
  ///
  /// - Parameter now: Called on any thread, also with locks held, so it must not block.
  public init(_ now: @escaping @Sendable () -> Duration) {
    read = now
  }
}
