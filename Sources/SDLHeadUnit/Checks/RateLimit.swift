/// A limit for the number of events in a sliding window. Memory is one time stamp per allowed event.
package struct RateLimit: Sendable {
  /// Events in a window.
  package let limit: Int
  /// How long an event counts.
  package let window: Duration
  private var times: [Duration] = []
  private var oldest = 0

  package init(limit: Int, window: Duration) {
    self.limit = limit
    self.window = window
  }

  /// Whether one more event would be too many.
  package func isReached(at now: Duration) -> Bool {
    times.count >= limit && now - times[oldest] < window
  }

  /// Counts an event.
  /// - Returns: true if there were more than `limit` within the window.
  package mutating func exceeds(at now: Duration) -> Bool {
    guard times.count >= limit else {
      times.append(now)
      return false
    }
    let isExceeded = isReached(at: now)
    times[oldest] = now
    oldest = (oldest + 1) % limit
    return isExceeded
  }
}
