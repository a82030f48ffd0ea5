import SDLLink

struct TimeSource: Sendable {
  private let read: @Sendable () -> Duration
  init(_ read: @escaping @Sendable () -> Duration) { self.read = read }
  var now: Duration { read() }
  static let monotonic = TimeSource { MonotonicClock.now }
}
