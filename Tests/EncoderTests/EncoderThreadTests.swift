import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Calls of elements that may not return.
@Suite struct EncoderThreadTests {
  private let gate = Monitor(false)

  /// Returns once the gate is open.
  private func work(_ result: Int32) -> EncoderThread.Work {
    { [gate] in
      gate.wait(atLatest: MonotonicClock.now + .seconds(60)) { $0 }
      return result
    }
  }

  private func open() {
    gate.withLock { $0 = true }
    gate.broadcast()
  }

  @Test func results() throws {
    let thread = try EncoderThread()
    for number in 0..<100 as Range<Int32> { #expect(thread.call { number } == number) }
    #expect(!thread.isStuck)
  }

  @Test func nothingIsCalledBesideACallThatIsStuck() throws {
    let thread = try EncoderThread(longestCall: .milliseconds(20))
    #expect(thread.call(work(1)) == nil)
    #expect(thread.isStuck)
    let calls = Monitor<[String]>([])
    #expect(
      thread.call {
        calls.withLock { $0.append("second") }
        return 2
      } == nil)
    thread.callLast {
      calls.withLock { $0.append("last") }
      return 3
    }
    #expect(calls.withLock { $0 } == [])
    open()
    #expect(eventually { calls.withLock { $0 } == ["last"] })
  }

  /// Otherwise it would be alive when a program ends behind the last call.
  @Test func whatACallHoldsIsFreedBeforeItReturns() throws {
    final class Owned: Sendable {}
    let thread = try EncoderThread()
    for _ in 0..<2000 {
      weak var weakOwned: Owned?
      do {
        let owned = Owned()
        weakOwned = owned
        _ = thread.call { withExtendedLifetime(owned) { 0 } }
      }
      try #require(weakOwned == nil)
    }
  }

  /// What a call has is freed when it returns, although nobody waits for it.
  @Test func abandoned() throws {
    final class Owned: Sendable {}
    weak var weakOwned: Owned?
    do {
      let owned = Owned()
      weakOwned = owned
      let thread = try EncoderThread(longestCall: .milliseconds(20))
      let work = work(1)
      #expect(
        thread.call {
          withExtendedLifetime(owned) { work() }
        } == nil)
    }
    #expect(weakOwned != nil)
    open()
    #expect(eventually { weakOwned == nil })
  }
}
