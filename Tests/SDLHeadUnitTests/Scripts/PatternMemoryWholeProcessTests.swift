import SDLMessages
import TestSupport
import Testing

@testable import SDLHeadUnit

/// Measured on the whole process: `make test` gives the suite one of its own.
@Suite struct PatternMemoryWholeProcessTests {
  /// A test of hours compares thousands of events, each with a compiled expression of some KiB.
  @Test func comparisonsLeaveNothing() throws {
    guard case .expect(let expectation)? = try HeadUnitCommand.parse("expect Show mainField1~\"^ROCK [0-9]+$\"") else {
      Issue.record("no expectation")
      return
    }
    let records = ["ROCK 7", "POP 7"].map { EventRecord("Show", ["mainField1": .string($0)]) }
    func matches(_ count: Int) -> Int {
      (0..<count).count { expectation.pattern.compare(records[$0 % 2]) == .matches }
    }
    #expect(matches(100) == 50)
    var growths: [Int] = []
    // The allocator may grow once, for other reasons; a leak is there each time.
    for _ in 0..<3 where growths.last.map({ $0 >= 1 << 20 }) ?? true {
      let before = try residentBytes()
      #expect(matches(1000) == 500)
      growths.append(try residentBytes() - before)
    }
    #expect(growths.last.map { $0 < 1 << 20 } == true, "\(growths)")
  }
}
