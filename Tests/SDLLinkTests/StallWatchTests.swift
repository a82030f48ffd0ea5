import Testing

@testable import SDLAppLink

@Suite struct StallWatchTests {
  private var watch = StallWatch()

  private mutating func look(at seconds: Double, sent: UInt64 = 0, isWaiting: Bool = true) -> StallWatch.Verdict {
    watch.observe(isWaiting: isWaiting, sentByteCount: sent, now: .seconds(seconds))
  }

  @Test mutating func noticesOnceAndGivesUp() {
    #expect(look(at: 10) == .wait)
    #expect(watch.nextDeadline == .seconds(15))
    #expect(look(at: 14.9) == .wait)
    #expect(look(at: 15) == .notice(after: .seconds(5)))
    #expect(watch.nextDeadline == .seconds(30))
    #expect(look(at: 29) == .wait)
    #expect(look(at: 30) == .giveUp(after: .seconds(20)))
  }

  @Test mutating func anyProgressStartsAnew() {
    #expect(look(at: 0) == .wait)
    #expect(look(at: 4, sent: 1) == .wait)
    #expect(look(at: 6, sent: 1) == .wait)
    #expect(look(at: 9, sent: 1) == .notice(after: .seconds(5)))
    #expect(look(at: 10, sent: 2) == .wait)
    #expect(look(at: 15, sent: 2) == .notice(after: .seconds(5)))
  }

  @Test mutating func nothingWaits() {
    #expect(look(at: 0) == .wait)
    #expect(look(at: 60, isWaiting: false) == .wait)
    #expect(watch.nextDeadline == nil)
    #expect(look(at: 61) == .wait)
    #expect(look(at: 65) == .wait)
    #expect(look(at: 66) == .notice(after: .seconds(5)))
  }

  /// A connection that another can replace is given up soon, and without a word before.
  @Test mutating func replaceable() {
    watch.limit = StallWatch.replaceableLimit
    #expect(look(at: 10) == .wait)
    #expect(watch.nextDeadline == .seconds(12))
    #expect(look(at: 11.9) == .wait)
    #expect(look(at: 12) == .giveUp(after: .seconds(2)))
  }
}
