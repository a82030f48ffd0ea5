/// Measures how many frames there are per second, for streams whose caps do not say.
struct FrameRateMeter {
  private static let second: UInt64 = 1_000_000_000

  private var start: UInt64?
  private var count = 0

  /// Adds a frame; `time` is in ns. The rate over the last second or more, once it is over.
  mutating func observe(_ time: UInt64) -> Double? {
    guard let start, time >= start else {
      start = time
      count = 0
      return nil
    }
    count += 1
    let elapsed = time - start
    guard elapsed >= Self.second else { return nil }
    defer {
      self.start = time
      count = 0
    }
    return Double(count) * Double(Self.second) / Double(elapsed)
  }
}
