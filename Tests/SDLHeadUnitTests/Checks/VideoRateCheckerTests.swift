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
}
