import Testing

@testable import SDLLink

@Suite struct PollTimeTests {
  /// Rounded up, so that nobody wakes before the deadline; a time in the past is none.
  @Test(
    arguments: [
      (.zero, 0), (.seconds(-5), 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.nanoseconds(1_000_001), 2),
      (.milliseconds(999), 999), (.seconds(2), 2000), (.milliseconds(2500), 2500), (.seconds(1_000_000), 1_000_000_000),
      (.seconds(2_000_000), 1_000_000_000), (.seconds(Int64.max), 1_000_000_000),
    ] as [(Duration, Int32)])
  func milliseconds(time: Duration, expected: Int32) {
    #expect(time.pollMilliseconds == expected)
  }

  @Test func times() {
    let time = Duration.milliseconds(2500).timespec
    #expect(time.tv_sec == 2 && time.tv_nsec == 500_000_000)
    let past = Duration.milliseconds(-2500).timespec
    #expect(past.tv_sec == 0 && past.tv_nsec == 0)
  }
}
