import Testing

@testable import SDLHeadUnit

@Suite struct VideoRateCheckerTests {
  /// What came late counts with all that has come since the head unit stopped reading.
  @Test func moreThanABacklog() {
    var checker = VideoRateChecker(limits: VideoStreamLimits(picturesPerSecond: 30, kilobitsPerSecond: 1000))
    _ = checker.accept(pictures: 1, bits: 1000, now: .zero)
    checker.expectBacklog(of: .seconds(10), now: .seconds(20))
    let tenSeconds = checker.accept(pictures: 300, bits: 10_000_000, now: .seconds(20))
    #expect(tenSeconds == [])
    let more = checker.accept(pictures: 0, bits: 2_000_000, now: .seconds(20))
    #expect(more == [.bitrate(bits: 12_000_000, limit: 10_000_000, within: .seconds(10))])
  }

  private static func checker(rate: Int = 30) -> VideoRateChecker {
    var checker = VideoRateChecker(limits: VideoStreamLimits(picturesPerSecond: rate))
    // Then nothing has to be caught up.
    _ = checker.accept(pictures: 1, bits: 0, now: .zero)
    return checker
  }

  private func excess(_ checker: inout VideoRateChecker, _ pictures: Int, at seconds: Double) -> [String] {
    checker.accept(pictures: pictures, bits: 0, now: .seconds(seconds)).map { violation in
      guard case .frameRate(let pictures, let limit, let time) = violation else { return "\(violation)" }
      return "\(pictures) of \(limit) in \(time / .seconds(1)) s"
    }
  }

  /// Pictures are counted together from the beginning of a pause of reading on, and reported once.
  @Test func picturesOfABacklog() {
    var checker = Self.checker()
    checker.expectBacklog(of: .seconds(10), now: .seconds(20))
    #expect(excess(&checker, 300, at: 20) == [])
    #expect(excess(&checker, 33, at: 20) == [])
    #expect(excess(&checker, 1, at: 20) == ["334 of 300 in 10.0 s"])
    #expect(excess(&checker, 168, at: 20) == [])
    #expect(excess(&checker, 1, at: 20) == ["169 of 150 in 5.0 s"])
  }

  /// A second pause before the first one's pictures must have come prolongs the time for both.
  @Test func severalBacklogs() {
    var checker = Self.checker()
    checker.expectBacklog(of: .seconds(1), now: .seconds(10))
    checker.expectBacklog(of: .seconds(2), now: .seconds(14))
    // Since 9 s, until 40 s.
    #expect(excess(&checker, 894, at: 36) == [])
    #expect(excess(&checker, 1, at: 36) == ["895 of 810 in 27.0 s"])
  }

  /// What is to be caught up comes later as well.
  @Test func pauseWhileSomethingIsCaughtUp() {
    var checker = Self.checker()
    checker.expectBacklog(of: .milliseconds(500), now: .milliseconds(700))
    #expect(excess(&checker, 1000, at: 1.4) == [])
    #expect(excess(&checker, 169, at: 1.5) == ["169 of 150 in 5.0 s"])
  }

  /// The app has a second to comply with other limits; the same ones change nothing.
  @Test func otherLimits() {
    var checker = Self.checker()
    #expect(excess(&checker, 100, at: 9) == [])
    checker.change(to: VideoStreamLimits(picturesPerSecond: 30), now: .seconds(10))
    #expect(excess(&checker, 69, at: 10) == ["169 of 150 in 5.0 s"])
    checker.change(to: VideoStreamLimits(picturesPerSecond: 10), now: .seconds(10))
    #expect(excess(&checker, 100, at: 10.9) == [])
    #expect(excess(&checker, 58, at: 11) == [])
    #expect(excess(&checker, 1, at: 11) == ["59 of 50 in 5.0 s"])
  }

  /// What piled up under the former limits arrives as late as that.
  @Test func otherLimitsDuringABacklog() {
    var checker = Self.checker()
    checker.expectBacklog(of: .seconds(1), now: .seconds(10))
    checker.change(to: VideoStreamLimits(picturesPerSecond: 10), now: .seconds(12))
    #expect(excess(&checker, 100, at: 20.9) == [])
    #expect(excess(&checker, 59, at: 21) == ["59 of 50 in 5.0 s"])
  }

  /// Each picture counts for five seconds.
  @Test func window() {
    var checker = Self.checker()
    #expect(excess(&checker, 80, at: 10) == [])
    #expect(excess(&checker, 80, at: 14) == [])
    #expect(excess(&checker, 80, at: 15.5) == [])
    #expect(excess(&checker, 8, at: 16) == [])
    #expect(excess(&checker, 1, at: 16) == ["169 of 150 in 5.0 s"])
  }
}
