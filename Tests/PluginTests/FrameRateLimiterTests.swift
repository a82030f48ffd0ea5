import Testing

@testable import Plugin

@Suite struct FrameRateLimiterTests {
  private func admitted(_ timestamps: [UInt64], at frameRate: Int) -> [Int] {
    var limiter = FrameRateLimiter()
    return timestamps.indices.filter { limiter.admits(timestamp: timestamps[$0], frameRate: frameRate) }
  }

  private func stamps(_ count: Int, every rate: Double) -> [UInt64] {
    (0..<count).map { UInt64(Double($0) * 1e9 / rate) }
  }

  @Test func slowerInputPasses() {
    #expect(admitted(stamps(30, every: 15), at: 30).count == 30)
    #expect(admitted(stamps(30, every: 30), at: 30).count == 30)
    #expect(admitted(stamps(30, every: 29.97), at: 30).count == 30)
  }

  @Test func twiceTheRateIsHalved() {
    #expect(admitted(stamps(10, every: 30), at: 15) == [0, 2, 4, 6, 8])
  }

  @Test(arguments: [(30.0, 20), (60, 25), (59.94, 30), (25, 15)])
  func otherRatesAreKeptOverTime(_ input: Double, _ limit: Int) {
    let count = admitted(stamps(Int(input * 10), every: input), at: limit).count
    #expect((limit * 10 - 2...limit * 10 + 1).contains(count), "\(count) in 10 s")
  }

  @Test func roundedTimeStampsCount() {
    // Matroska rounds to milliseconds.
    #expect(admitted([0, 33_000_000, 67_000_000, 100_000_000, 133_000_000], at: 30).count == 5)
  }

  @Test func gapStartsTheRhythmAnew() {
    #expect(admitted([0, 5_000_000_000, 5_033_333_333, 5_066_666_666], at: 15) == [0, 1, 3])
  }

  @Test func jumpBackStartsTheRhythmAnew() {
    #expect(admitted([5_000_000_000, 0, 33_333_333, 66_666_666], at: 15) == [0, 1, 3])
  }

  @Test func resetForgetsTheRhythm() {
    var limiter = FrameRateLimiter()
    var results = [limiter.admits(timestamp: 0, frameRate: 1), limiter.admits(timestamp: 10, frameRate: 1)]
    limiter.reset()
    results.append(limiter.admits(timestamp: 10, frameRate: 1))
    #expect(results == [true, false, true])
  }

  @Test func absurdInputIsSurvived() {
    #expect(admitted([.max, .max - 1, 0, .max], at: .max).first == 0)
    #expect(admitted([0, 1], at: 0) == [0])
    #expect(admitted([0, 1], at: -5) == [0])
  }
}
