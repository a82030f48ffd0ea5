import SDLApp
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct FrameRateLimiterTests {
  /// Indices of the pictures that pass.
  private func passing(
    _ timestamps: [UInt64?], at limit: Int, from inputRate: Fraction? = nil, arrivals: [UInt64]? = nil
  ) -> [Int] {
    var limiter = FrameRateLimiter()
    return timestamps.indices.filter { index in
      let time = FrameRateLimiter.Time(presentation: timestamps[index], arrival: arrivals?[index] ?? 0)
      return limiter.judge(time, limit: Fraction(clamping: limit), inputRate: inputRate) == .due
    }
  }

  private func stamps(_ count: Int, every rate: Fraction, jitter: Double = 0) -> [UInt64] {
    var random = SeededGenerator(seed: 7)
    return (0..<count).map { index in
      let noise = jitter == 0 ? 0 : Double.random(in: -jitter...jitter, using: &random)
      // Away from zero, so that the first one may come early, too.
      return UInt64((Double(index + 100) + noise) * 1e9 / rate.value)
    }
  }

  private static let ntsc = Fraction(30_000, 1001) ?? Fraction(clamping: 30)
  private static let doubleNTSC = Fraction(60_000, 1001) ?? Fraction(clamping: 60)

  /// Every nth picture for five minutes, with and without knowing the rate from the caps.
  @Test(arguments: [
    (Fraction(clamping: 30), 15, 2), (Fraction(clamping: 60), 15, 4), (Fraction(clamping: 60), 30, 2),
    (Fraction(clamping: 25), 5, 5), (Fraction(clamping: 30), 1, 30), (Fraction(clamping: 120), 60, 2),
    (Fraction(clamping: 15), 15, 1), (Fraction(clamping: 15), 30, 1), (Fraction(clamping: 30), 30, 1),
    (Fraction(clamping: 2), 30, 1),
  ])
  func multiples(_ input: Fraction, _ limit: Int, _ step: Int) {
    let count = Int(input.value * 300)
    let expected = Array(stride(from: 0, to: count, by: step))
    #expect(passing(stamps(count, every: input), at: limit, from: input) == expected)
    #expect(passing(stamps(count, every: input), at: limit) == expected)
  }

  @Test(arguments: [(ntsc, 15, 2), (doubleNTSC, 15, 4), (doubleNTSC, 30, 2), (ntsc, 30, 1)])
  func nearlyMultiples(_ input: Fraction, _ limit: Int, _ step: Int) {
    let expected = Array(stride(from: 0, to: 20_000, by: step))
    #expect(passing(stamps(20_000, every: input), at: limit, from: input) == expected)
  }

  /// The steps that are used, and how often the pattern of them repeats in 10 s.
  @Test(arguments: [
    (30, 20, [1, 2]), (25, 15, [1, 2]), (24, 15, [1, 2]), (60, 25, [2, 3]), (60, 40, [1, 2]), (30, 25, [1, 2]),
    (60, 50, [1, 2]), (50, 15, [3, 4]), (30, 29, [1, 2]), (31, 30, [1, 2]),
  ])
  func otherRatesAreEvenAndExact(_ input: Int, _ limit: Int, _ steps: [Int]) {
    for rate in [Fraction(clamping: input), nil] {
      let indices = passing(stamps(input * 60, every: Fraction(clamping: input)), at: limit, from: rate)
      #expect((limit * 60 - 1...limit * 60 + 1).contains(indices.count), "\(indices.count) in a minute")
      #expect(Set(zip(indices, indices.dropFirst()).map { $1 - $0 }).sorted() == steps)
    }
  }

  @Test func thirdsArePassedInTurn() {
    #expect(passing(stamps(10, every: Fraction(clamping: 30)), at: 20) == [0, 2, 3, 5, 6, 8, 9])
  }

  /// A camera's time stamps: up to a third of an interval off, with a phase that is as far off at the start.
  @Test(arguments: [(30, 15, 2), (60, 15, 4), (60, 30, 2), (15, 15, 1), (30, 30, 1), (15, 30, 1)])
  func jitterDoesNotChangeTheChoice(_ input: Int, _ limit: Int, _ step: Int) {
    let rate = Fraction(clamping: input)
    for seed in 0..<20 {
      let count = 3000
      var stamps = stamps(count, every: rate, jitter: 0.17)
      stamps.removeFirst(seed)
      #expect(passing(stamps, at: limit, from: rate) == Array(stride(from: 0, to: count - seed, by: step)))
    }
  }

  @Test func roundedTimeStampsCount() {
    // Matroska rounds to milliseconds.
    let stamps = (0..<3000).map { UInt64((Double($0) * 1000 / 30).rounded()) * 1_000_000 }
    #expect(passing(stamps, at: 30, from: Fraction(clamping: 30)).count == 3000)
    #expect(passing(stamps, at: 15, from: Fraction(clamping: 30)) == Array(stride(from: 0, to: 3000, by: 2)))
  }

  /// Bursts of 60 pictures per second from a source that draws on demand.
  @Test func variableRate() {
    let starts: [UInt64] = [0, 1_000_000_000, 3_000_000_000]
    let bursts = starts.flatMap { start -> [UInt64] in (0..<10).map { start + $0 * 16_666_667 } }
    #expect(passing(bursts, at: 15) == [0, 4, 8, 10, 14, 18, 20, 24, 28])
  }

  /// Wrong caps don't raise the rate.
  @Test func wrongCaps() {
    let stamps = stamps(6000, every: Fraction(clamping: 60))
    #expect((1500...1501).contains(passing(stamps, at: 15, from: Fraction(clamping: 15)).count))
    #expect((3000...3001).contains(passing(stamps, at: 30, from: Fraction(clamping: 30)).count))
  }

  @Test func gapStartsTheRhythmAnew() {
    #expect(passing([0, 5_000_000_000, 5_033_333_333, 5_066_666_666], at: 15) == [0, 1, 3])
  }

  @Test func jumpBackStartsTheRhythmAnew() {
    #expect(passing([5_000_000_000, 0, 33_333_333, 66_666_666], at: 15) == [0, 1, 3])
  }

  /// Without time stamps, or with one for all, the clock counts.
  @Test(arguments: [nil, 0, 1_000_000_000_000] as [UInt64?])
  func missingTimeStamps(_ stamp: UInt64?) {
    let arrivals = stamps(60, every: Fraction(clamping: 30))
    #expect(
      passing([UInt64?](repeating: stamp, count: 60), at: 15, arrivals: arrivals)
        == Array(stride(from: 0, to: 60, by: 2))
    )
  }

  /// Only key frames of a decoder may have them.
  @Test func someTimeStampsMissing() {
    let arrivals = stamps(60, every: Fraction(clamping: 30))
    let mixed = arrivals.indices.map { $0 % 5 == 0 ? arrivals[$0] &- 3_000_000_000 : nil }
    #expect(
      passing(mixed, at: 15, from: Fraction(clamping: 30), arrivals: arrivals) == Array(stride(from: 0, to: 60, by: 2)))
  }

  @Test func earlyPictureHasItsWaitingTime() {
    var limiter = FrameRateLimiter()
    let limit = Fraction(clamping: 10)
    func judge(_ milliseconds: UInt64) -> FrameRateLimiter.Verdict {
      limiter.judge(.init(presentation: milliseconds * 1_000_000, arrival: 0), limit: limit, inputRate: nil)
    }
    #expect(judge(1000) == .due)
    #expect(judge(1020) == .early(80_000_000))
    #expect(judge(1040) == .early(60_000_000))
    #expect(judge(1099) == .due)
    #expect(judge(1110) == .early(90_000_000))
  }

  @Test func resetForgetsTheRhythm() {
    var limiter = FrameRateLimiter()
    func judge(_ time: UInt64) -> FrameRateLimiter.Verdict {
      limiter.judge(.init(presentation: time, arrival: 0), limit: Fraction(clamping: 1), inputRate: nil)
    }
    #expect(judge(0) == .due)
    #expect(judge(10) == .early(999_999_990))
    limiter.reset()
    #expect(judge(20) == .due)
  }

  @Test func absurdInputIsSurvived() throws {
    let jumping: [UInt64] = [.max, .max - 1, 0, .max]
    #expect(passing(jumping, at: .max).first == 0)
    #expect(passing([0, 1], at: 0) == [0])
    let slowest = try #require(Fraction(1, 2_147_483_647))
    let fastest = Fraction(clamping: .max)
    for (limit, input) in [(slowest, fastest), (fastest, slowest), (slowest, slowest), (fastest, fastest)] {
      var limiter = FrameRateLimiter()
      for stamp in [0, 1, UInt64.max, .max - 1, 1 << 63, 5] as [UInt64] {
        for arrival in [0, UInt64.max] {
          _ = limiter.judge(.init(presentation: stamp, arrival: arrival), limit: limit, inputRate: input)
        }
      }
    }
  }
}
