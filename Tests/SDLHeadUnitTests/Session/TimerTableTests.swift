import Testing

@testable import SDLHeadUnit

@Suite struct TimerTableTests {
  private typealias Purpose = TimerTable.Purpose

  /// Those that wait for a message of the app, which can't be read.
  private static let postponed: Set<Purpose> = [
    .stopGrace, .endServiceACK, .audioStopGrace, .audioEndServiceACK, .videoData, .heartbeat, .handshake,
    .incompleteMessage,
  ]
  /// What the driver waits for, and what the head unit does by itself.
  private static let punctual: Set<Purpose> = [
    .activation, .videoStart, .policyUpdate, .transportEventUpdate, .alert, .overlay, .speech, .microphone, .button,
    .scriptedAnswer,
  ]

  @Test func whatAPausePostpones() {
    #expect(Self.postponed.union(Self.punctual) == Set(Purpose.allCases))
    for purpose in Purpose.allCases {
      let isPostponed = Self.postponed.contains(purpose)
      // Over before the deadline, and after it.
      for pause in [3, 12] {
        var timers = TimerTable()
        timers.arm(purpose, at: .seconds(10))
        timers.holdAppDeadlines()
        #expect(timers.next == (isPostponed ? nil : .seconds(10)), "\(purpose)")
        #expect(timers.deadline(of: purpose) == .seconds(10), "\(purpose)")
        if pause > 10 {
          #expect(timers.takeDue(at: .seconds(pause)) == (isPostponed ? nil : purpose), "\(purpose)")
        }
        timers.releaseAppDeadlines(postponedBy: .seconds(pause))
        let isOver = pause > 10 && !isPostponed
        let deadline = Duration.seconds(isPostponed ? 10 + pause : 10)
        #expect(timers.next == (isOver ? nil : deadline), "\(purpose)")
        #expect(timers.takeDue(at: deadline - .nanoseconds(1)) == nil, "\(purpose)")
        #expect(timers.takeDue(at: deadline) == (isOver ? nil : purpose), "\(purpose)")
        #expect(timers.next == nil && timers.deadline(of: purpose) == nil, "\(purpose)")
      }
    }
  }

  /// An own deadline does not wait for an earlier one of the app.
  @Test func ownDeadlinesAreNextDuringAPause() {
    var timers = TimerTable()
    timers.arm(.heartbeat, at: .seconds(1))
    timers.arm(.alert, at: .seconds(2))
    #expect(timers.next == .seconds(1))
    timers.holdAppDeadlines()
    #expect(timers.next == .seconds(2) && timers.takeDue(at: .seconds(2)) == .alert)
    timers.releaseAppDeadlines(postponedBy: .seconds(5))
    #expect(timers.next == .seconds(6) && timers.takeDue(at: .seconds(6)) == .heartbeat)
  }

  /// The earliest first; of the same time, in the order of the purposes.
  @Test func orderOfThoseThatAreDue() {
    var timers = TimerTable()
    for purpose in Purpose.allCases.reversed() { timers.arm(purpose, at: .seconds(2)) }
    timers.arm(.incompleteMessage, at: .seconds(1))
    timers.arm(.activation, at: .seconds(3))
    timers.cancel(.alert, .speech)
    let expected = Purpose.allCases.filter { ![.activation, .incompleteMessage, .alert, .speech].contains($0) }
    var due: [Purpose] = []
    while let purpose = timers.takeDue(at: .seconds(2)) { due.append(purpose) }
    #expect(due == [.incompleteMessage] + expected)
    #expect(timers.takeDue(at: .seconds(3)) == .activation && timers.next == nil)
  }
}
