import SDLMessages
import Testing

@testable import SDLHeadUnit

/// What tests expect of apps: patterns, sequences, and their ends.
@Suite struct ExpectationTests {
  private static let start = Duration.seconds(100)

  private func run(_ text: String) throws -> HeadUnitScriptRun {
    try HeadUnitScriptRun(HeadUnitScript(text), now: Self.start)
  }

  /// Commands that are due, by their lines.
  private func due(_ run: inout HeadUnitScriptRun, after time: Duration = .zero) -> [Int] {
    var lines: [Int] = []
    while let operation = run.takeDue(at: Self.start + time) { lines.append(operation.step?.line ?? 0) }
    return lines
  }

  /// The ends of expectations since the last time: the line, and why it failed.
  private func outcomes(_ run: inout HeadUnitScriptRun) -> [String] {
    run.takeOutcomes().map { "\($0.line ?? 0): \($0.failure ?? "met")" }
  }

  private static let show = EventRecord(
    "Show",
    [
      "mainField1": .string("Hello SDL!"), "duration": .integer(5), "isOn": .bool(true),
      "softButtons": .array([.object(["text": .string("OK")]), .object(["text": .string("ROCK 7")])]),
    ])

  /// A failure lists events, which an app makes as long as it likes.
  @Test func longEventsAreCutInFailures() {
    let text = EventRecord("Show", ["mainField1": .string(String(repeating: "x", count: 10_000))]).text
    #expect(text.hasPrefix("Show {\"mainField1\":\"xxx") && (200...300).contains(text.count))
    #expect(EventRecord("Show").text == "Show")
  }

  @Test(
    arguments: [
      ("Show", .matches), ("Show mainField1=\"Hello SDL!\"", .matches), ("Show duration=5 isOn=true", .matches),
      ("Show softButtons.1.text~\"^ROCK [0-9]+$\"", .matches), ("Show mainField1~SDL", .matches),
      ("Alert", .otherEvent), ("Show/response", .otherEvent),
      ("Show mainField1=Hello", .differs(["mainField1 was \"Hello SDL!\""])),
      ("Show softButtons.2.text=OK duration~^6", .differs(["softButtons.2.text was absent", "duration was \"5\""])),
      ("Show softButtons.+0.text=OK", .differs(["softButtons.+0.text was absent"])),
      ("Show mainField1.text=OK", .differs(["mainField1.text was absent"])),
    ] as [(String, EventPattern.Comparison)])
  func patterns(text: String, comparison: EventPattern.Comparison) throws {
    guard case .expect(let expectation)? = try HeadUnitCommand.parse("expect \(text)") else {
      Issue.record("no expectation")
      return
    }
    #expect(expectation.pattern.compare(Self.show) == comparison)
    #expect(expectation.kind == .expect && expectation.time == .seconds(10))
  }

  @Test(arguments: [
    ("expect Shwo", "there is no event and no RPC \"Shwo\"; RPCs are written as in SDL's specification"),
    ("expect", "is not of the form expect EVENT"), ("expect within 1", "there is no event"),
    ("expect Show within 0", "\"0\" is no time in seconds"),
    ("expect Show mainField1", "\"mainField1\" is no condition"), ("expect Show =1", "\"=1\" is no condition"),
    ("expect Show a~(", "\"(\" is no POSIX extended regular expression"),
    ("expect Show a~(a|aa)+(\\1)+", "no POSIX extended regular expression"),
    ("expect Show a..b=1", "\"a..b\" is no path"), ("expect Show .a=1", "is no path"),
    ("expect Show a=\"b", "a quotation mark is missing"), ("never Show", "add \"for SECONDS\""),
    ("never Show for ever", "\"ever\" is no time in seconds"), ("fail", "is not of the form fail TEXT"),
    ("quit now", "is not of the form quit"),
  ])
  func malformed(line: String, text: String) {
    let error = #expect(throws: HeadUnitCommand.Malformed.self) { try HeadUnitCommand.parse(line) }
    #expect(error?.description.contains(text) == true, "\(error?.description ?? "")")
  }

  @Test func quotationMarksInsideOfTexts() throws {
    let script = try HeadUnitScript(#"then: expect Show mainField1="a \"b\"  # c\\" within 2  # a comment"#)
    guard case .expect(let expectation)? = script.steps.first?.command else {
      Issue.record("no expectation")
      return
    }
    #expect(expectation.time == .seconds(2))
    #expect(
      expectation.pattern.compare(EventRecord("Show", ["mainField1": .string(#"a "b"  # c\"#)])) == .matches)
  }

  /// Each step begins with the end of the one before, so that an event in between is not missed, and none counts twice.
  @Test func sequence() throws {
    var run = try run("then: expect registered\nthen: expect Show\nthen: press OK\nthen: expect Show\nat 3: cut")
    #expect(due(&run) == [] && run.expectsEvents)
    run.note(Self.show, app: 1, now: Self.start)
    #expect(outcomes(&run) == [])
    run.note(EventRecord("registered"), app: 1, now: Self.start)
    run.note(Self.show, app: 1, now: Self.start)
    #expect(outcomes(&run) == ["1: met", "2: met"])
    #expect(!run.expectsEvents)
    #expect(due(&run) == [3] && run.expectsEvents)
    #expect(run.takeEnd() == nil)
    run.note(Self.show, app: 1, now: Self.start)
    #expect(outcomes(&run) == ["4: met"])
    #expect(run.takeEnd() == .settled)
    #expect(run.takeEnd() == nil)
    #expect(due(&run, after: .seconds(3)) == [5])
  }

  /// The rest of a sequence is left out after an expectation that is not met, and the failure says what came.
  @Test func failures() throws {
    var run = try run(
      "then: expect Show mainField1=Bye within 2\nthen: cut\nthen: expect Alert\nthen: fail never reached")
    _ = due(&run)
    #expect(run.nextDeadline == Self.start + .seconds(2))
    run.note(EventRecord("hmi-full"), app: 1, now: Self.start)
    run.note(Self.show, app: 1, now: Self.start)
    #expect(due(&run, after: .milliseconds(1999)) == [] && outcomes(&run) == [])
    #expect(due(&run, after: .seconds(2)) == [])
    #expect(outcomes(&run) == ["1: not within 2 s; Show came once, but mainField1 was \"Hello SDL!\""])
    #expect(run.takeEnd() == .settled)
  }

  /// Nor after a failure that the script tells itself.
  @Test func aFailureInASequence() throws {
    var run = try run("then: fail no\nthen: cut\nthen: expect Alert")
    _ = due(&run)
    #expect(outcomes(&run) == ["1: no"])
    #expect(due(&run, after: .seconds(1)) == [])
    #expect(run.takeEnd() == .settled)
    run.endTest(now: Self.start + .seconds(1))
    #expect(outcomes(&run) == [])
  }

  @Test func whatCameInstead() throws {
    var run = try run("then: expect Show within 1")
    _ = due(&run)
    for index in 0..<20 { run.note(EventRecord("PutFile\(index)"), app: 1, now: Self.start) }
    _ = due(&run, after: .seconds(1))
    let last = (10..<20).map { "PutFile\($0)" }.joined(separator: ", ")
    #expect(outcomes(&run) == ["1: not within 1 s; instead came \(last)"])
    var silent = try self.run("then: expect Show within 1")
    _ = due(&silent)
    _ = due(&silent, after: .seconds(1))
    #expect(outcomes(&silent) == ["1: not within 1 s; nothing came"])
  }

  @Test func never() throws {
    var run = try run("then: never violation for 2\nthen: never Show for 3")
    _ = due(&run)
    run.note(EventRecord("registered"), app: 1, now: Self.start)
    _ = due(&run, after: .seconds(2))
    #expect(outcomes(&run) == ["1: met"])
    run.note(Self.show, app: 1, now: Self.start + .seconds(4))
    let failure = outcomes(&run)
    #expect(failure.count == 1 && failure.first?.hasPrefix("2: it came after 2 s: Show {") == true, "\(failure)")
  }

  /// A sequence after an event is about the app of that event, other sequences are about any.
  @Test func apps() throws {
    var run = try run("on registered: expect Show within 1\nat 0: expect Alert within 1")
    _ = due(&run)
    run.note(EventRecord("registered"), app: 1, now: Self.start)
    run.note(.registered, app: 1, now: Self.start)
    run.note(Self.show, app: 2, now: Self.start)
    #expect(outcomes(&run) == [])
    run.note(EventRecord("Alert"), app: 2, now: Self.start)
    run.note(Self.show, app: 1, now: Self.start)
    #expect(outcomes(&run) == ["2: met", "1: met"])
  }

  /// Pictures are counted in each stream.
  @Test func frames() throws {
    var run = try run("then: expect frame number=3")
    _ = due(&run)
    run.note(.streamStarted, app: 1, pictures: 5, now: Self.start)
    run.notePictures(7, app: 1, now: Self.start)
    #expect(outcomes(&run) == [])
    run.notePictures(9, app: 1, now: Self.start)
    #expect(outcomes(&run) == ["1: met"])
  }

  @Test func theTestsOwnEnd() throws {
    var run = try run("on violation: fail it broke a rule\nat 1: quit\nat 0: expect Show\non frame 9: expect Alert")
    _ = due(&run)
    run.note(.violation, app: 1, now: Self.start)
    _ = due(&run)
    #expect(outcomes(&run) == ["1: it broke a rule"])
    _ = due(&run, after: .seconds(1))
    #expect(run.takeEnd() == .quit)
    run.endTest(now: Self.start + .seconds(1))
    #expect(
      outcomes(&run) == ["3: the test ended before; nothing came", "4: the test ended before it began"])
  }

  /// What follows the last expectation belongs to the test.
  @Test func stepsBehindTheLastExpectation() throws {
    var run = try run("then: expect Show\nthen: cut")
    _ = due(&run)
    run.note(Self.show, app: 1, now: Self.start)
    #expect(run.takeEnd() == nil)
    #expect(due(&run) == [2] && run.takeEnd() == .settled)
  }

  /// A test may quit after all that it expects has ended.
  @Test func bothEnds() throws {
    var run = try run("then: expect Show\nat 1: quit")
    _ = due(&run)
    run.note(Self.show, app: 1, now: Self.start)
    #expect(run.takeEnd() == .settled && run.takeEnd() == nil)
    _ = due(&run, after: .seconds(1))
    #expect(run.takeEnd() == .quit && run.takeEnd() == nil)
  }

  @Test func typed() throws {
    var run = HeadUnitScriptRun(now: Self.start)
    let command = try #require(try HeadUnitCommand.parse("never Show for 1"))
    for _ in 0..<1001 { run.begin(HeadUnitScriptRun.ScheduledCommand(command: command), now: Self.start) }
    #expect(outcomes(&run) == ["0: there are 1000 expectations already"])
    _ = due(&run, after: .seconds(1))
    #expect(outcomes(&run).count { $0 == "0: met" } == 1000)
    #expect(run.takeEnd() == nil)
  }

  /// The last three are named.
  @Test func differencesOfEventsAreBounded() throws {
    var run = try run("then: expect Show mainField1=Bye within 1")
    _ = due(&run)
    for number in 1...5 {
      run.note(EventRecord("Show", ["mainField1": .string("text \(number)")]), app: 1, now: Self.start)
    }
    _ = due(&run, after: .seconds(1))
    let last = (3...5).map { "mainField1 was \"text \($0)\"" }.joined(separator: "; ")
    #expect(outcomes(&run) == ["1: not within 1 s; Show came 5 times, but \(last)"])
  }

  @Test(arguments: [(500, true), (501, false)]) func lengthOfExpressions(count: Int, isTaken: Bool) {
    let line = "expect Show mainField1~" + String(repeating: "x", count: count)
    #expect(((try? HeadUnitCommand.parse(line)) != nil) == isTaken)
  }

  /// An app decides how long its texts are, and the search takes longer with each byte.
  @Test(arguments: [(65_535, true), (65_536, false)]) func lengthOfTheSearch(before: Int, isFound: Bool) throws {
    guard case .expect(let expectation)? = try HeadUnitCommand.parse("expect Show mainField1~b") else {
      Issue.record("no expectation")
      return
    }
    let record = EventRecord("Show", ["mainField1": .string(String(repeating: "a", count: before) + "b")])
    #expect((expectation.pattern.compare(record) == .matches) == isFound)
  }
}

/// Pictures, which the owner of the head unit looks at.
extension ExpectationTests {
  @Test(
    arguments: [
      ("screenshot a.png", PictureTask(file: "a.png", text: "screenshot a.png")),
      (
        "expect picture \"a b.png\" psnr 35.5 within 2",
        PictureTask(
          file: "a b.png", minimumPSNR: 35.5, time: .seconds(2), text: "expect picture \"a b.png\" psnr 35.5 within 2")
      ),
      ("expect picture a.png", PictureTask(file: "a.png", minimumPSNR: 30, text: "expect picture a.png")),
    ] as [(String, PictureTask)])
  func pictureCommands(line: String, task: PictureTask) throws {
    #expect(try HeadUnitCommand.parse(line) == .picture(task))
  }

  @Test(arguments: [
    "screenshot", "screenshot a b", "expect picture", "expect picture a psnr", "expect picture a psnr 101",
    "expect picture a within 0", "expect picture a psnr 30 within",
  ])
  func malformedPictureCommands(line: String) {
    #expect(throws: HeadUnitCommand.Malformed.self) { try HeadUnitCommand.parse(line) }
  }

  /// The next step waits for the picture, and a test that ends before has failed.
  @Test func pictures() throws {
    let now = Duration.seconds(100)
    var run = try HeadUnitScriptRun(
      HeadUnitScript("then: screenshot a.png\nthen: cut\nthen: expect picture b.png"), now: now)
    #expect(run.takeDue(at: now) == nil)
    let first = run.takePictures()
    #expect(first.map(\.task.file) == ["a.png"] && run.takePictures().isEmpty && run.takeEnd() == nil)
    run.end(first[0], failure: nil, now: now)
    run.end(first[0], failure: "twice", now: now)
    #expect(run.takeDue(at: now)?.command == .cut)
    _ = run.takeDue(at: now)
    #expect(run.takePictures().map(\.task.file) == ["b.png"])
    run.endTest(now: now)
    #expect(run.takeOutcomes().map(\.failure) == [nil, "the test ended before"])
  }
}
