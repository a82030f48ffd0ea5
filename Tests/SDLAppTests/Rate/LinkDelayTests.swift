import Testing

@testable import SDLApp

/// How old the oldest bytes are that are not acknowledged.
@Suite struct LinkDelayTests {
  private func sample(_ milliseconds: Int, handed: UInt64, waiting: UInt64?) -> LinkSample {
    LinkSample(time: .milliseconds(milliseconds), handedByteCount: handed, unacknowledgedByteCount: waiting)
  }

  @Test func growsWhileNothingIsRead() {
    var delay = LinkDelay()
    #expect(delay.age(sample(0, handed: 100, waiting: 0)) == .zero)
    #expect(delay.age(sample(20, handed: 200, waiting: 100)) == .zero)
    for step in 2...50 {
      let age = delay.age(sample(20 * step, handed: UInt64(100 * (step + 1)), waiting: UInt64(100 * step)))
      #expect(age == .milliseconds(20 * (step - 1)))
    }
    // All but the last two pieces are read.
    #expect(delay.age(sample(1000, handed: 5100, waiting: 200)) == .milliseconds(20))
    #expect(delay.age(sample(1020, handed: 5100, waiting: 0)) == .zero)
  }

  /// What was just sent after a pause is not as old as the pause.
  @Test func aPause() {
    var delay = LinkDelay()
    #expect(delay.age(sample(0, handed: 100, waiting: 0)) == .zero)
    #expect(delay.age(sample(60_000, handed: 6500, waiting: 6400)) == .zero)
    #expect(delay.age(sample(60_064, handed: 8500, waiting: 8400)) == .milliseconds(64))
  }

  @Test func aNewConnectionBeginsAnew() {
    var delay = LinkDelay()
    _ = delay.age(sample(0, handed: 100, waiting: 100))
    #expect(delay.age(sample(900, handed: 200, waiting: 200)) == .milliseconds(900))
    #expect(delay.age(sample(1000, handed: 50, waiting: 50)) == .zero)
  }

  @Test func transportsThatDoNotTell() {
    var delay = LinkDelay()
    _ = delay.age(sample(0, handed: 100, waiting: nil))
    #expect(delay.age(sample(900, handed: 200, waiting: nil)) == .zero)
  }
}
