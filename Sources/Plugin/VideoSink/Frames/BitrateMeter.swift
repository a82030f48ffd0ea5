/// Measures what is sent, over a second at a time.
struct BitrateMeter {
  private static let window = Duration.seconds(1)

  private var began: Duration = .zero
  private var byteCount = 0
  private var measured: UInt64 = 0

  mutating func add(byteCount: Int, at now: Duration) {
    let elapsed = now - began
    if elapsed >= Self.window {
      measured = elapsed < Self.window * 2 ? Self.rate(self.byteCount, over: elapsed) : 0
      began = now
      self.byteCount = 0
    }
    self.byteCount += byteCount
  }

  /// kbit/s of the last full second; 0 when nothing has been sent for two.
  func value(at now: Duration) -> UInt64 { now - began < Self.window * 2 ? measured : 0 }

  private static func rate(_ byteCount: Int, over time: Duration) -> UInt64 {
    let microseconds = max(time.nanoseconds / 1000, 1)
    return UInt64(clamping: byteCount) * 8000 / UInt64(clamping: microseconds)
  }
}
