import SDLApp
import Testing

@testable import Plugin

/// When the last picture is shown that came too early, because none follows.
@Suite struct FrameRateThinningTests {
  private static let limit = Fraction(clamping: 10)

  /// The timers to set of pictures that come at their time, in ms; -1 for one that is due.
  private func judge(_ thinning: inout FrameRateThinning, at times: [Int], isPaced: Bool = true) -> [Duration?] {
    times.map { time in
      let early = thinning.judge(
        UInt64(time) * 1_000_000, limit: Self.limit, inputRate: nil, isPaced: isPaced, now: .milliseconds(time))
      guard let early else { return .milliseconds(-1) }
      return early.timer
    }
  }

  private static let due = Duration.milliseconds(-1)

  /// After two intervals of the head unit with one picture; a source that has no pace gets half a second more.
  @Test(arguments: [(true, 1200), (false, 1700)]) func theLastOneIsShownOnce(isPaced: Bool, time: Int) {
    var thinning = FrameRateThinning()
    let timers = judge(&thinning, at: [1000, 1020, 1040], isPaced: isPaced)
    #expect(timers == [Self.due, .milliseconds(time), nil])
    #expect(thinning.delayedUntil == .milliseconds(time))
    let isShown = [(time - 1, false), (time, true), (time, false), (time, false)].map { time, isQueueFull in
      thinning.takeDelayed(isQueueFull: isQueueFull, now: .milliseconds(time))
    }
    #expect(isShown == [false, false, true, false])
    #expect(thinning.nextTimer(now: .milliseconds(time)) == nil)
  }

  @Test func aPictureThatIsDueReplacesIt() {
    var thinning = FrameRateThinning()
    let timers = judge(&thinning, at: [1000, 1020, 1100])
    #expect(timers == [Self.due, .milliseconds(1200), Self.due] && thinning.delayedUntil == nil)
    // The timer that is set still fires, and asks for the next one.
    #expect(judge(&thinning, at: [1120]) == [nil] && thinning.delayedUntil == .milliseconds(1300))
    #expect(thinning.nextTimer(now: .milliseconds(1200)) == .milliseconds(1300))
    #expect(judge(&thinning, at: [1140]) == [nil])
  }

  /// Such as when the queue was full.
  @Test func aPictureThatIsOverdueIsLookedAtAgainSoon() {
    var thinning = FrameRateThinning()
    _ = judge(&thinning, at: [1000, 1020])
    #expect(thinning.nextTimer(now: .milliseconds(1199)) == .milliseconds(1200))
    #expect(thinning.nextTimer(now: .milliseconds(1200)) == .milliseconds(1220))
    thinning.forgetDelayed()
    #expect(thinning.nextTimer(now: .milliseconds(1220)) == nil)
    thinning.delay(until: .milliseconds(1500))
    #expect(thinning.nextTimer(now: .milliseconds(1300)) == .milliseconds(1500))
  }

  @Test func aNewTimerIsSetOnceTheLastOneHasFired() {
    var thinning = FrameRateThinning()
    _ = judge(&thinning, at: [1000, 1020])
    thinning.forgetDelayed()
    let timers = judge(&thinning, at: [1200, 1220])
    #expect(timers == [Self.due, .milliseconds(1400)])
  }

  @Test func aFlushForgetsTheRhythmAndThePicture() {
    var thinning = FrameRateThinning()
    _ = judge(&thinning, at: [1000, 1020])
    thinning.reset()
    #expect(thinning.delayedUntil == nil)
    #expect(judge(&thinning, at: [1030]) == [Self.due])
  }
}
