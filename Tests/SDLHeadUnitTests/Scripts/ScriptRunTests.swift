import SDLHeadUnit
import SDLMessages
import Testing

/// When the steps of scripts are due.
@Suite struct ScriptRunTests {
  private static let start = Duration.seconds(100)

  private func run(_ text: String) throws -> HeadUnitScriptRun {
    try HeadUnitScriptRun(HeadUnitScript(text), now: Self.start)
  }

  /// Lines that become due, with their apps.
  private func expect(
    _ lines: [String], from run: inout HeadUnitScriptRun, after time: Duration = .zero,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var due: [String] = []
    while let operation = run.takeDue(at: Self.start + time) {
      due.append("\(operation.step?.line ?? 0)" + (operation.app.map { "@\($0)" } ?? ""))
    }
    #expect(due == lines, sourceLocation: sourceLocation)
  }

  @Test func times() throws {
    var run = try run("at 2: cut\nat 0: cut\nat 1: cut\nat 1: end-video")
    #expect(run.nextDeadline == Self.start)
    expect(["2"], from: &run)
    #expect(run.nextDeadline == Self.start + .seconds(1))
    expect([], from: &run, after: .milliseconds(999))
    expect(["3", "4"], from: &run, after: .milliseconds(1001))
    expect(["1"], from: &run, after: .seconds(5))
    #expect(run.nextDeadline == nil)
  }

  @Test func events() throws {
    var run = try run(
      "on registered: cut\non registered 2: cut\non registered 2 after 1: cut\non disconnected: cut\non registered: cut"
    )
    run.note(.connected, app: 1, now: Self.start)
    #expect(run.nextDeadline == nil)
    run.note(.registered, app: 1, now: Self.start)
    expect(["1@1", "5@1"], from: &run)
    run.note(.registered, app: 2, now: Self.start)
    run.note(.disconnected, app: 1, now: Self.start)
    expect(["1@2", "2@2", "5@2", "4@1"], from: &run)
    #expect(run.nextDeadline == Self.start + .seconds(1))
    expect(["3@2"], from: &run, after: .seconds(1))
    run.note(.registered, app: nil, now: Self.start + .seconds(2))
    expect(["1", "5"], from: &run, after: .seconds(2))
  }

  @Test func frames() throws {
    var run = try run("on frame 3: cut\non frame: cut\non stream-started: end-video")
    run.note(.streamStarted, app: 1, now: Self.start)
    expect(["3@1"], from: &run)
    for (total, due) in [(1, ["2@1"]), (1, []), (2, ["2@1"]), (4, ["1@1", "2@1"]), (9, ["2@1"])] as [(UInt64, [String])]
    {
      run.notePictures(total, app: 1, now: Self.start)
      expect(due, from: &run)
    }
    // Each app and each stream is counted by itself.
    run.notePictures(3, app: 2, now: Self.start)
    expect(["1@2", "2@2"], from: &run)
    run.note(.streamStarted, app: 1, pictures: 9, now: Self.start)
    run.notePictures(11, app: 1, now: Self.start)
    expect(["3@1", "2@1"], from: &run)
    run.notePictures(12, app: 1, now: Self.start)
    expect(["1@1", "2@1"], from: &run)
    run.note(.disconnected, app: 1, now: Self.start)
    run.notePictures(3, app: 1, now: Self.start)
    expect(["1@1", "2@1"], from: &run)
  }

  /// Pictures between two streams belong to neither.
  @Test func framesBetweenStreams() throws {
    var run = try run("on frame 3: cut")
    run.notePictures(2, app: 1, now: Self.start)
    run.note(.streamStarted, app: 1, pictures: 14, now: Self.start)
    run.notePictures(16, app: 1, now: Self.start)
    expect([], from: &run)
    run.notePictures(17, app: 1, now: Self.start)
    expect(["1@1"], from: &run)
    // Nor do those before the first stream.
    run.note(.streamStarted, app: 2, pictures: 5, now: Self.start)
    run.notePictures(7, app: 2, now: Self.start)
    expect([], from: &run)
  }

  /// Operations are carried out in the order of their times, not in that of their queueing.
  @Test func partsOfCommandsComeInBetween() throws {
    var run = try run("at 1: cut\nat 3: cut")
    run.wait(for: Self.start + .seconds(2), HeadUnitScriptRun.ScheduledCommand(command: .cut, app: 7))
    expect(["1", "0@7", "2"], from: &run, after: .seconds(9))
  }

  /// Steps with a long delay fill the queue.
  @Test func droppedStepsAreReportedOnce() throws {
    var run = try run("on frame after 3600: cut")
    let limit = UInt64(HeadUnitScriptRun.maximumWaitingCount)
    for total in 1...limit { run.notePictures(total, app: 1, now: Self.start) }
    var reports = [run.takeDropping()]
    run.notePictures(1, app: 2, now: Self.start)
    reports += [run.takeDropping(), run.takeDropping()]
    run.notePictures(limit + 1, app: 1, now: Self.start)
    reports.append(run.takeDropping())
    #expect(reports == [false, true, false, false])
    var (now, count) = (Self.start, UInt64(0))
    while let deadline = run.nextDeadline {
      now = max(now, deadline)
      while run.takeDue(at: now) != nil { count += 1 }
    }
    #expect(count == limit)
  }

  /// Half a gesture would leave the finger on the screen.
  @Test func gesturesAreQueuedWhole() throws {
    let place = OnTouchEvent.Sample(x: 0, y: 0)
    let swipe = TouchGesture(from: place, to: OnTouchEvent.Sample(x: 100, y: 0), duration: .seconds(1))
    let count = swipe.messages.count
    #expect(count == 52)
    var run = try run("on frame after 3600: cut")
    let most = UInt64(HeadUnitScriptRun.maximumWaitingCount - count)
    for total in 1...(most + 1) { run.notePictures(total, app: 1, now: Self.start) }
    run.begin(swipe, app: 1, now: Self.start)
    var isDropping = run.takeDropping()
    #expect(isDropping && run.nextDeadline == Self.start + .seconds(3600))
    _ = run.takeDue(at: Self.start + .seconds(3600))
    run.begin(swipe, app: 1, now: Self.start)
    isDropping = run.takeDropping()
    #expect(!isDropping && run.nextDeadline == Self.start)
    var messages = 0
    while let deadline = run.nextDeadline, deadline <= Self.start + .seconds(2) {
      while run.takeDue(at: deadline) != nil { messages += 1 }
    }
    #expect(messages == count)
  }

  /// Steps that cause each other without end are limited to 100 in 100 ms.
  @Test func stepsThatCauseEachOther() throws {
    var run = try run("on hmi-none: level none\non hmi-none: level none")
    var now = Self.start
    run.note(.hmiNone, app: 1, now: now)
    for _ in 0..<100 {
      var count = 0
      while run.takeDue(at: now) != nil {
        count += 1
        run.note(.hmiNone, app: 1, now: now)
      }
      #expect(count == 100)
      #expect(run.nextDeadline == now + .milliseconds(100))
      expect([], from: &run, after: now + .milliseconds(99) - Self.start)
      now += .milliseconds(100)
    }
    let isDropping = run.takeDropping()
    #expect(isDropping)
    // Without further events the queue drains.
    var rest = 0
    while let deadline = run.nextDeadline {
      now = max(now, deadline)
      while run.takeDue(at: now) != nil { rest += 1 }
    }
    #expect(rest <= 4000)
    now += .milliseconds(100)
    run.note(.hmiNone, app: 1, now: now)
    expect(["1@1", "2@1"], from: &run, after: now - Self.start)
  }
}
