import Testing

@testable import SDLApp

/// When the next attempt to start video may be made.
@Suite struct VideoStartHistoryTests {
  private static let first = VideoStartRequest(size: VideoSize(800, 480))
  private static let second = VideoStartRequest(size: VideoSize(400, 240))

  @Test func nothingHasFailed() {
    #expect(VideoStartHistory().earliestStart(of: Self.first) == .zero)
  }

  @Test func pausesDoubleUpToTheLongest() {
    var history = VideoStartHistory()
    let pauses = (0..<2000).map { _ in history.failed(now: .seconds(1)) }
    #expect(Array(pauses.prefix(6)) == [2, 4, 8, 16, 30, 30].map(Duration.seconds))
    #expect(pauses.last == .seconds(30))
    #expect(history.earliestStart(of: Self.first) == .seconds(31))
  }

  @Test func refusedForGood() {
    var history = VideoStartHistory()
    history.refusedForGood(Self.first, now: .seconds(1))
    #expect(history.earliestStart(of: Self.first) == nil)
    // Any other request may be made at once.
    #expect(history.earliestStart(of: Self.second) == .zero)
    history.requestChanged(to: Self.second)
    #expect(history.earliestStart(of: Self.first) == .seconds(3))
    // Refused once more, it has to wait longer.
    history.refusedForGood(Self.first, now: .seconds(3))
    history.requestChanged(to: nil)
    #expect(history.earliestStart(of: Self.first) == .seconds(7))
    #expect(history.earliestStart(of: Self.second) == .zero)
  }

  @Test func streamThatHasEnded() {
    var history = VideoStartHistory()
    _ = history.failed(now: .zero)
    history.refusedForGood(Self.first, now: .zero)
    history.streamEnded(after: .seconds(1))
    #expect(history.failureCount == 1)
    #expect(history.earliestStart(of: Self.first) == .seconds(2))
    history.streamEnded(after: .seconds(5))
    #expect(history.failureCount == 0)
  }

  @Test func manyRefusalsAreFinal() {
    var history = VideoStartHistory()
    let pauses = (1...8).map { _ in history.refused(Self.first, now: .zero) }
    #expect(pauses == [2, 4, 8, 16, 30, 30, 30].map(Duration.seconds) + [nil])
    #expect(history.earliestStart(of: Self.first) == nil)
    history.requestChanged(to: nil)
    #expect(history.earliestStart(of: Self.first) == .seconds(30))
  }

  @Test func driverLeft() {
    var history = VideoStartHistory()
    history.limits.longestPause = .seconds(5)
    _ = history.unanswered(now: .zero)
    history.refusedForGood(Self.first, now: .zero)
    history.driverLeft()
    var expected = VideoStartHistory()
    expected.limits.longestPause = .seconds(5)
    #expect(history == expected)
  }
}
