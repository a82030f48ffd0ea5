import Testing

@testable import SDLHeadUnitLink

@Suite struct StandstillWatchTests {
  /// Wakes up at each time, and returns since when it takes the machine to have stood still.
  private func standstills(
    deadline: Duration? = nil, isStreaming: Bool, wakingUpAt times: [Int], turns: Duration = .zero
  ) -> [Duration?] {
    var watch = StandstillWatch()
    return times.map { time in
      let now = Duration.milliseconds(time)
      defer { _ = watch.sleep(until: deadline, isStreaming: isStreaming, now: now + turns) }
      return watch.wakeUp(now: now)
    }
  }

  /// Bytes wake the thread as well: then only what has come since the last time can tell.
  @Test func streamWithoutDeadlines() {
    #expect(standstills(isStreaming: true, wakingUpAt: [0, 33, 280, 530]) == [nil, nil, nil, nil])
    let times = [1000, 1033, 4000]
    let since: Duration = .milliseconds(1033 + 250 - 500)
    #expect(standstills(isStreaming: true, wakingUpAt: times).last == since)
    #expect(standstills(isStreaming: false, wakingUpAt: times).last == .some(nil))
  }

  /// A standstill between a wake-up and the next sleep.
  @Test func inTheMiddleOfATurn() {
    let found = standstills(isStreaming: true, wakingUpAt: [1000, 4000], turns: .seconds(3))
    #expect(found == [nil, .milliseconds(1000 + 250 - 500)])
  }

  @Test func deadlineOfAnApp() {
    let deadline = Duration.seconds(5)
    #expect(standstills(deadline: deadline, isStreaming: false, wakingUpAt: [1000, 5005]) == [nil, nil])
    #expect(
      standstills(deadline: deadline, isStreaming: false, wakingUpAt: [1000, 5006]) == [nil, .milliseconds(4500)])
  }

  /// A machine that is always late must notice lost apps.
  @Test func oneASecond() {
    #expect(
      standstills(isStreaming: true, wakingUpAt: [1000, 1300, 1600, 1900, 2200, 2500]).map { $0 != nil }
        == [false, true, false, false, false, true])
    #expect(standstills(isStreaming: true, wakingUpAt: [1000, 1300, 2299]).last == .some(nil))
    let since: Duration = .milliseconds(1300 + 250 - 500)
    #expect(standstills(isStreaming: true, wakingUpAt: [1000, 1300, 2300]).last == since)
  }

  @Test func wakesUpInTime() {
    var watch = StandstillWatch()
    #expect(watch.sleep(until: nil, isStreaming: false, now: .seconds(1)) == nil)
    #expect(watch.sleep(until: .seconds(2), isStreaming: false, now: .seconds(1)) == .seconds(2))
    #expect(watch.sleep(until: .seconds(2), isStreaming: true, now: .seconds(1)) == .milliseconds(1250))
    #expect(watch.sleep(until: .milliseconds(1100), isStreaming: true, now: .seconds(1)) == .milliseconds(1100))
  }
}
