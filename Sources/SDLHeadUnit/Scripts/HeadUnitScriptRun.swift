import SDLWire

/// Carries out a script: takes the events and the time, and returns the commands that are due.
///
/// A command may cause the event that it waits for, as in `on hmi-full: level full`. Therefore noting an event only
/// queues its steps, and at most ``maximumStepCount`` of them are due within ``window``: the head unit's thread serves
/// its apps in between. The queue is bounded as well; the steps that do not fit are dropped.
package struct HeadUnitScriptRun: Sendable {
  /// A command that is carried out now, or at a time.
  package struct ScheduledCommand: Equatable, Sendable {
    package var command: HeadUnitCommand
    /// The app whose event caused it; nil for a step at a time.
    package var app: UInt8?
    /// Nil for a message of a gesture.
    package var step: HeadUnitScript.Step?

    /// Creates one that by default belongs to no step and no app.
    package init(command: HeadUnitCommand, app: UInt8? = nil, step: HeadUnitScript.Step? = nil) {
      self.command = command
      self.app = app
      self.step = step
    }
  }

  /// The most commands within a ``window``.
  package static let maximumStepCount = 100
  package static let window = Duration.milliseconds(100)
  package static let maximumWaitingCount = 4000

  /// A task for the owner, which knows the pictures; ``end(_:failure:now:)`` ends it.
  package struct Picture: Sendable {
    package let task: PictureTask
    /// Of which app; nil for the one on the screen.
    package let app: UInt8?
    package let start: Duration
    fileprivate let id: Int
    fileprivate let step: HeadUnitScript.Step?
  }

  private enum Dropping {
    case none
    case unreported
    case reported
  }

  private let script: HeadUnitScript
  /// The events that a step waits for.
  private let events: Set<HeadUnitScript.Event>
  private var counts: [HeadUnitScript.Event: Int] = [:]
  private var frames: [UInt8: FrameCount] = [:]
  /// Sorted by time, and for equal times in the order of addition.
  private var waiting = FIFO<(time: Duration, scheduled: ScheduledCommand)>()
  private var drive: Drive?
  private var windowStart: Duration?
  private var countInWindow = 0
  private var dropping = Dropping.none
  private var expectations = ExpectationRun()
  private var outcomes: [TestOutcome] = []
  /// Tasks that the owner has not taken, and those that it has.
  private var newPictures: [Picture] = []
  private var openPictures: [Picture] = []
  /// The lines with expectations that have not ended once.
  private var unsettledLines: Set<Int>
  private var hasQuit = false
  private var reportedEnds: Set<TestEnd> = []
  private var lastPictureID = 0
  private var replay: Replay?

  private struct FrameCount {
    /// Pictures before the present stream.
    var base: UInt64 = 0
    var total: UInt64 = 0

    var inStream: Int { Int(clamping: total - min(base, total)) }

    mutating func startStream(after pictures: UInt64) {
      base = pictures
      total = pictures
    }
  }

  /// Begins a script, whose times count from `now`.
  package init(_ script: HeadUnitScript = HeadUnitScript(), now: Duration) {
    self.script = script
    replay = script.replay
    events = Set(HeadUnitScript.Event.allCases.filter { script.reacts(to: $0) })
    unsettledLines = Set(script.steps.filter(\.isAwaited).map(\.line))
    for (index, step) in script.steps.enumerated() {
      switch step.trigger {
      case .time(let time): wait(for: now + time, ScheduledCommand(command: step.command, step: step))
      case .then where index == 0: wait(for: now, ScheduledCommand(command: step.command, step: step))
      case .then, .event: break
      }
    }
    for command in replay?.start() ?? [] { wait(for: now, ScheduledCommand(command: command)) }
  }

  /// When ``takeDue(at:)`` returns the next command; nil when the queue is empty.
  package var nextDeadline: Duration? {
    [nextCommand, expectations.nextDeadline, replay?.nextDeadline].compactMap(\.self).min()
  }

  private var nextCommand: Duration? {
    guard let first = [waiting.first?.time, drive?.nextDeadline].compactMap(\.self).min() else { return nil }
    guard let windowStart, countInWindow >= Self.maximumStepCount else { return first }
    return max(first, windowStart + Self.window)
  }

  /// Whether a step waits for `event`. Cheap without a script, because the server asks for each frame.
  package func reacts(to event: HeadUnitScript.Event) -> Bool {
    !events.isEmpty && events.contains(event) || !expectations.isEmpty && expectations.expects(event.rawValue)
  }

  /// Whether expectations wait, to which every event has to be shown.
  var expectsEvents: Bool { !expectations.isEmpty }

  /// Notes an event, which queues the steps that wait for it.
  /// - Parameters:
  ///   - app: the app of the event; nil if there is none.
  ///   - pictures: how many the app has sent since it connected. A stream's pictures count from there.
  package mutating func note(_ event: HeadUnitScript.Event, app: UInt8?, pictures: UInt64 = 0, now: Duration) {
    if event == .streamStarted, let app, reacts(to: .frame) {
      frames[app, default: FrameCount()].startStream(after: pictures)
    }
    if event == .disconnected, let app {
      frames[app] = nil
      replay?.noteEnd(of: app)
    }
    if event == .connected || event == .disconnected { note(EventRecord(event.rawValue), app: app, now: now) }
    guard reacts(to: event) else { return }
    let count = counts[event, default: 0] &+ 1
    counts[event] = count
    trigger(event, count...count, app: app, now: now)
  }

  /// Notes how many pictures the app has sent since it connected.
  package mutating func notePictures(_ total: UInt64, app: UInt8, now: Duration) {
    guard reacts(to: .frame) else { return }
    var count = frames[app, default: FrameCount()]
    let before = count.inStream
    count.total = total
    frames[app] = count
    guard count.inStream > before else { return }
    if expectations.expects(HeadUnitScript.Event.frame.rawValue) {
      for number in before + 1...count.inStream {
        note(EventRecord(HeadUnitScript.Event.frame.rawValue, ["number": .integer(number)]), app: app, now: now)
      }
    }
    trigger(.frame, before + 1...count.inStream, app: app, now: now)
  }

  private mutating func trigger(
    _ event: HeadUnitScript.Event, _ numbers: ClosedRange<Int>, app: UInt8?, now: Duration
  ) {
    for step in script.steps {
      guard case .event(event, let number, let delay) = step.trigger, number.map(numbers.contains) ?? true else {
        continue
      }
      start(ScheduledCommand(command: step.command, app: app, step: step), at: now + delay, now: now)
    }
  }

  /// An expectation whose time has come begins at once, so that it sees what comes next; the rest is queued.
  private mutating func start(_ scheduled: ScheduledCommand, at time: Duration, now: Duration) {
    if time <= now, case .expect = scheduled.command { return begin(scheduled, now: now) }
    wait(for: time, scheduled)
  }

  /// Queues a command for a time; drops it if the queue is full.
  package mutating func wait(for time: Duration, _ scheduled: ScheduledCommand) {
    guard waiting.count < Self.maximumWaitingCount else { return noteDropping() }
    let index = waiting.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
    waiting.insert((time, scheduled), at: index)
  }

  /// Queues the messages of a gesture; none if not all fit, so that no finger stays down.
  package mutating func begin(_ gesture: TouchGesture, app: UInt8, now: Duration) {
    let messages = gesture.messages
    guard waiting.count + messages.count <= Self.maximumWaitingCount else { return noteDropping() }
    for message in messages {
      wait(for: now + message.time, ScheduledCommand(command: .touch(message.event), app: app))
    }
  }

  /// Removes and returns the first command that is due; nil also at the end of a window's commands.
  package mutating func takeDue(at now: Duration) -> ScheduledCommand? {
    if windowStart.map({ now - $0 >= Self.window }) ?? true {
      windowStart = now
      countInWindow = 0
    }
    settle(expectations.advance(to: now), now: now)
    if countInWindow < Self.maximumStepCount, let command = replay?.takeDue(at: now) {
      countInWindow += 1
      return ScheduledCommand(command: command, app: replay?.app)
    }
    if countInWindow < Self.maximumStepCount, let reading = drive?.takeDue(at: now) {
      countInWindow += 1
      return ScheduledCommand(command: .vehicle(reading))
    }
    while countInWindow < Self.maximumStepCount, let first = waiting.first, first.time <= now {
      countInWindow += 1
      waiting.popFirst()
      guard first.scheduled.command.isTest else {
        startStep(after: first.scheduled.step, app: first.scheduled.app, now: now)
        return first.scheduled
      }
      begin(first.scheduled, now: now)
    }
    return nil
  }

  private mutating func noteDropping() {
    if dropping == .none { dropping = .unreported }
  }

  /// Whether commands have been dropped; true only once, because a script that drops one drops many.
  package mutating func takeDropping() -> Bool {
    guard dropping == .unreported else { return false }
    dropping = .reported
    return true
  }
}

// MARK: The test that the script is

extension HeadUnitScriptRun {
  /// Begins an expectation or a drive, or carries out another command of tests.
  package mutating func begin(_ scheduled: ScheduledCommand, now: Duration) {
    let (step, app) = (scheduled.step, scheduled.app)
    switch scheduled.command {
    case .expect(let expectation):
      guard !expectations.begin(expectation, step: step, app: app, now: now) else { return }
      let failure = "there are \(ExpectationRun.maximumWaitingCount) expectations already"
      outcomes.append(TestOutcome(line: step?.line, text: expectation.text, failure: failure))
      abandon(step)
    case .picture(let task):
      lastPictureID += 1
      newPictures.append(Picture(task: task, app: app, start: now, id: lastPictureID, step: step))
    case .fail(let text):
      outcomes.append(TestOutcome(line: step?.line, text: "fail", failure: text))
      abandon(step)
    case .quit: hasQuit = true
    // Instead of another drive.
    case .drive(let task):
      drive = task.flatMap { task in task.track.map { Drive($0, factor: task.factor, start: now) } }
    default: break
    }
  }

  /// Shows an event to the expectations, and to the recorded head unit. Call it before the event starts further steps.
  package mutating func show(_ event: HeadUnitSession.Event, app: UInt8, now: Duration) {
    if case .message(let message) = event { replay?.note(message, app: app, now: now) }
    if expectsEvents, let record = EventRecord(event) { note(record, app: app, now: now) }
  }

  mutating func note(_ record: EventRecord, app: UInt8?, now: Duration) {
    settle(expectations.note(record, app: app, now: now), now: now)
  }

  /// The pictures that the owner has to look at since the last call.
  package mutating func takePictures() -> [Picture] {
    defer { newPictures = [] }
    openPictures += newPictures
    return newPictures
  }

  /// The owner has looked at a picture.
  /// - Parameter failure: why it was not written, or is another; nil if it is as it should be.
  package mutating func end(_ picture: Picture, failure: String?, now: Duration) {
    guard let index = openPictures.firstIndex(where: { $0.id == picture.id }) else { return }
    openPictures.remove(at: index)
    let outcome = TestOutcome(
      line: picture.step?.line, text: picture.task.text, failure: failure, time: now - picture.start)
    settle([ExpectationRun.Settled(outcome: outcome, step: picture.step, app: picture.app)], now: now)
  }

  /// The head unit ends: what is still expected has failed.
  package mutating func endTest(now: Duration) {
    settle(expectations.end(now: now), now: now)
    replay?.finish()
    for picture in takePictures() + openPictures { end(picture, failure: "the test ended before", now: now) }
    for step in script.steps where unsettledLines.remove(step.line) != nil {
      outcomes.append(TestOutcome(line: step.line, text: step.text, failure: "the test ended before it began"))
    }
  }

  /// The ends of expectations since the last call.
  package mutating func takeOutcomes() -> [TestOutcome] {
    defer { outcomes = [] }
    return outcomes + (replay?.takeOutcomes() ?? [])
  }

  /// Why the test is over, each reason once; nil while there is none, and afterwards.
  package mutating func takeEnd() -> TestEnd? {
    if isSettled, reportedEnds.insert(.settled).inserted { return .settled }
    return hasQuit && reportedEnds.insert(.quit).inserted ? .quit : nil
  }

  /// Whether all that the script expects has ended.
  private var isSettled: Bool {
    let isWaiting = !expectations.isEmpty || !newPictures.isEmpty || !openPictures.isEmpty
    let isFollowing = waiting.contains { $0.scheduled.step?.trigger == .then }
    return script.isTest && unsettledLines.isEmpty && !isWaiting && !isFollowing && replay?.isOver != false
  }

  private mutating func settle(_ settled: [ExpectationRun.Settled], now: Duration) {
    for one in settled {
      outcomes.append(one.outcome)
      guard let step = one.step else { continue }
      unsettledLines.remove(step.line)
      if one.outcome.failure == nil { startStep(after: step, app: one.app, now: now) } else { abandon(step) }
    }
  }

  /// Starts the next step of a sequence, if there is one.
  private mutating func startStep(after step: HeadUnitScript.Step?, app: UInt8?, now: Duration) {
    guard let step, let next = script.steps(after: step).first else { return }
    start(ScheduledCommand(command: next.command, app: app, step: next), at: now, now: now)
  }

  /// The rest of a sequence is not reached.
  private mutating func abandon(_ step: HeadUnitScript.Step?) {
    guard let step else { return }
    for step in [step] + script.steps(after: step) { unsettledLines.remove(step.line) }
  }
}
