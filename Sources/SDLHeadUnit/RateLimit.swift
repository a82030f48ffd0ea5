/// Counts events in a sliding window. Memory is one time stamp per allowed event.
struct RateGuard: Sendable {
  let limit: Int
  let window: Duration
  private var times: [Duration] = []
  private var oldest = 0

  init(limit: Int, window: Duration) {
    self.limit = limit
    self.window = window
  }

  /// Notes an event; true when it is one more than `limit` within the window.
  mutating func exceeds(at now: Duration) -> Bool {
    guard times.count >= limit else {
      times.append(now)
      return false
    }
    let isExceeded = now - times[oldest] < window
    times[oldest] = now
    oldest = (oldest + 1) % limit
    return isExceeded
  }
}
