/// A script that is carried out: takes what happens and the time, and says what to do.
///
/// A command may cause the event that it waits for. Therefore steps are only due, never carried out, when an event is
/// noted; at most ``maximumStepCount`` of them become due within ``window``, so that the head unit stays one whatever the
/// script says; and what waits is bounded.
public struct HeadUnitScriptRun: Sendable {
  /// Something to carry out.
  public struct Operation: Equatable, Sendable {
    public var command: HeadUnitCommand
    /// Whom the event was about that caused it.
    public var app: UInt8?
    /// Nil for a part of a command that takes its time.
    public var step: HeadUnitScript.Step?

    /// Memberwise.
    public init(command: HeadUnitCommand, app: UInt8? = nil, step: HeadUnitScript.Step? = nil) {
      self.command = command
      self.app = app
      self.step = step
    }
  }

  /// Steps were put off, or dropped, because there were too many at once.
  public struct Congestion: Equatable, Sendable {
    public var waiting: Int
    /// Steps, or parts of steps that take their time, that were never carried out; since the beginning.
    public var dropped: Int
  }

  public static let maximumStepCount = 100
  public static let window = Duration.milliseconds(100)
  /// More do not wait.
  public static let maximumWaitingCount = 4000
  /// So long passes between two reports of dropped steps.
  public static let droppingReportInterval = Duration.seconds(10)

  private let script: HeadUnitScript
  private let events: Set<HeadUnitScript.Event>
  private var counts: [HeadUnitScript.Event: Int] = [:]
  private var frames: [UInt8: FrameCount] = [:]
  /// In the order of their times; of one time in that of their coming.
  private var waiting: [(time: Duration, order: Operation)] = []
  private var windowStart: Duration?
  private var countInWindow = 0
  private var dropped = 0
  private var isCongested = false
  private var reportedDropping: (count: Int, time: Duration)?

  private struct FrameCount {
    /// Before the stream that runs.
    var base: UInt64 = 0
    var total: UInt64 = 0

    var inStream: Int { Int(clamping: total - min(base, total)) }

    mutating func startStream(after pictures: UInt64) {
      base = pictures
      total = pictures
    }
  }

  /// A head unit that begins to listen at `now`.
  public init(_ script: HeadUnitScript = HeadUnitScript(), now: Duration) {
    self.script = script
    events = Set(HeadUnitScript.Event.allCases.filter { script.reacts(to: $0) })
    for step in script.steps {
      guard case .time(let time) = step.trigger else { continue }
      wait(for: now + time, Operation(command: step.command, step: step))
    }
  }

  /// When ``takeDue(at:)`` has something; nil when nothing waits.
  public var nextDeadline: Duration? {
    guard let first = waiting.first?.time else { return nil }
    guard let windowStart, countInWindow >= Self.maximumStepCount else { return first }
    return max(first, windowStart + Self.window)
  }

  /// Whether a step waits for `event`. Without a script that costs nothing, because it is asked for per frame.
  public func reacts(to event: HeadUnitScript.Event) -> Bool { !events.isEmpty && events.contains(event) }

  /// Something happened, to the app if there is one, which has sent so many `pictures` since it is connected: they count
  /// when a stream starts, because the ones that came between two streams were not noted.
  public mutating func note(_ event: HeadUnitScript.Event, app: UInt8?, pictures: UInt64 = 0, now: Duration) {
    if event == .streamStarted, let app, reacts(to: .frame) {
      frames[app, default: FrameCount()].startStream(after: pictures)
    }
    if event == .disconnected, let app { frames[app] = nil }
    guard reacts(to: event) else { return }
    let count = counts[event, default: 0] + 1
    counts[event] = count
    trigger(event, count...count, app: app, now: now)
  }

  /// The app has sent so many pictures by now, since it is connected.
  public mutating func notePictures(_ total: UInt64, app: UInt8, now: Duration) {
    guard reacts(to: .frame) else { return }
    var count = frames[app, default: FrameCount()]
    let before = count.inStream
    count.total = total
    frames[app] = count
    guard count.inStream > before else { return }
    trigger(.frame, before + 1...count.inStream, app: app, now: now)
  }

  private mutating func trigger(
    _ event: HeadUnitScript.Event, _ numbers: ClosedRange<Int>, app: UInt8?, now: Duration
  ) {
    for step in script.steps {
      guard case .event(event, let number, let delay) = step.trigger, number.map(numbers.contains) ?? true else {
        continue
      }
      wait(for: now + delay, Operation(command: step.command, app: app, step: step))
    }
  }

  /// Lets a command wait; for those that take their time.
  public mutating func wait(for time: Duration, _ order: Operation) {
    guard waiting.count < Self.maximumWaitingCount else {
      dropped += 1
      return
    }
    let index = waiting.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
    waiting.insert((time, order), at: index)
  }

  /// Lets a gesture begin: with all of its messages or, when they are too many, with none, so that no finger stays down.
  public mutating func begin(_ gesture: TouchGesture, app: UInt8, now: Duration) {
    let messages = gesture.messages
    guard waiting.count + messages.count <= Self.maximumWaitingCount else {
      dropped += 1
      return
    }
    for message in messages { wait(for: now + message.time, Operation(command: .touch(message.event), app: app)) }
  }

  /// Removes and returns the first of what is due; nil also when there was too much of it.
  public mutating func takeDue(at now: Duration) -> Operation? {
    if let start = windowStart, now - start >= Self.window {
      // Steps that cause each other fill every window: that is one congestion.
      if countInWindow < Self.maximumStepCount || now - start >= Self.window * 2 { isCongested = false }
      windowStart = nil
    }
    if windowStart == nil {
      windowStart = now
      countInWindow = 0
    }
    guard countInWindow < Self.maximumStepCount, let first = waiting.first, first.time <= now else { return nil }
    countInWindow += 1
    waiting.removeFirst()
    return first.order
  }

  /// Tells once of each congestion, which lasts until a window has room, and again when steps have been dropped since.
  public mutating func takeCongestion(at now: Duration) -> Congestion? {
    let isDue = waiting.first.map { $0.time <= now } ?? false
    let begins = !isCongested && isDue && countInWindow >= Self.maximumStepCount
    if begins { isCongested = true }
    let dropsMore =
      dropped > (reportedDropping?.count ?? 0)
      && reportedDropping.map { now - $0.time >= Self.droppingReportInterval } ?? true
    guard begins || dropsMore else { return nil }
    if dropped > 0 { reportedDropping = (dropped, now) }
    return Congestion(waiting: waiting.count, dropped: dropped)
  }
}
