import SDLHeadUnit
import Testing

@testable import Plugin

/// An app can break a rule with every byte: what is reported of that, and kept.
@Suite struct ViolationLogTests {
  private var log = ViolationLog()

  /// How many were suppressed before each one; nil for those that are not reported.
  private mutating func note(_ count: Int, at time: Duration) -> [UInt64?] {
    (0..<count).map { _ in
      let record = ViolationRecord(appID: 1, appName: "Map", violation: .transport("\(log.count + 1)"), runningTime: 5)
      return log.note(record, now: time)?.suppressed
    }
  }

  @Test mutating func twentyASecondAreReported() {
    let reported = [UInt64?](repeating: 0, count: 20)
    #expect(note(25, at: .seconds(50)) == reported + [nil, nil, nil, nil, nil])
    #expect(note(1, at: .milliseconds(50_999)) == [nil])
    // The next one says how many there were.
    #expect(note(2, at: .seconds(51)) == [6, 0])
    #expect(log.count == 28 && log.last.count == 22)
    #expect(log.last.map(\.suppressed).filter { $0 > 0 } == [6])
    // A second begins with its first violation.
    #expect(note(19, at: .milliseconds(51_999)) == [UInt64?](repeating: 0, count: 18) + [nil])
    #expect(note(1, at: .milliseconds(52_500)) == [1])
    #expect(note(20, at: .milliseconds(53_499)) == [UInt64?](repeating: 0, count: 19) + [nil])
  }

  @Test mutating func theLastHundredAreKept() {
    for second in 1...10 {
      let reports = note(15, at: .seconds(second))
      #expect(reports == [UInt64?](repeating: 0, count: 15))
      #expect(log.last.count == min(15 * second, 100))
    }
    #expect(log.last.map(\.violation) == (51...150).map { .transport("\($0)") } && log.count == 150)
  }
}
