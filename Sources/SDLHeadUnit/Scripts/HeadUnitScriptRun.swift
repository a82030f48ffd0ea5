/// Carries out a script: takes the events and the time, and returns the commands that are due.
///
/// A command may cause the event that it waits for, as in `on hmi-full: level full`. Therefore noting an event only
/// queues its steps, and at most ``maximumStepCount`` of them are due within ``window``: the head unit's thread serves
/// its apps in between. The queue is bounded as well; the steps that do not fit are dropped.
package struct HeadUnitScriptRun: Sendable {
  /// A command to carry out.
  package struct Operation: Equatable, Sendable {
    package var command: HeadUnitCommand
    /// The app whose event caused it; nil for a step at a time.
    package var app: UInt8?
    /// Nil for a message of a gesture.
    package var step: HeadUnitScript.Step?

    /// Creates an operation; by default one that belongs to no step and no app.
    package init(command: HeadUnitCommand, app: UInt8? = nil, step: HeadUnitScript.Step? = nil) {
      self.command = command
      self.app = app
      self.step = step
    }
  }

  /// The most operations within a ``window``.
  package static let maximumStepCount = 100
  package static let window = Duration.milliseconds(100)
  package static let maximumWaitingCount = 4000

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
  private var waiting: [(time: Duration, operation: Operation)] = []
  private var windowStart: Duration?
  private var countInWindow = 0
  private var dropping = Dropping.none

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
    events = Set(HeadUnitScript.Event.allCases.filter { script.reacts(to: $0) })
    for step in script.steps {
      guard case .time(let time) = step.trigger else { continue }
      wait(for: now + time, Operation(command: step.command, step: step))
    }
  }

  /// When ``takeDue(at:)`` returns the next operation; nil when the queue is empty.
  package var nextDeadline: Duration? {
    guard let first = waiting.first?.time else { return nil }
    guard let windowStart, countInWindow >= Self.maximumStepCount else { return first }
    return max(first, windowStart + Self.window)
  }

  /// Whether a step waits for `event`. Cheap without a script, because the server asks for each frame.
  package func reacts(to event: HeadUnitScript.Event) -> Bool { !events.isEmpty && events.contains(event) }

  /// Notes an event, which queues the steps that wait for it.
  /// - Parameters:
  ///   - app: the app of the event; nil if there is none.
  ///   - pictures: how many the app has sent since it connected. A stream's pictures count from there.
  package mutating func note(_ event: HeadUnitScript.Event, app: UInt8?, pictures: UInt64 = 0, now: Duration) {
    if event == .streamStarted, let app, reacts(to: .frame) {
      frames[app, default: FrameCount()].startStream(after: pictures)
    }
    if event == .disconnected, let app { frames[app] = nil }
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

  /// Queues an operation for a time; drops it if the queue is full.
  package mutating func wait(for time: Duration, _ operation: Operation) {
    guard waiting.count < Self.maximumWaitingCount else { return noteDropping() }
    let index = waiting.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
    waiting.insert((time, operation), at: index)
  }

  /// Queues the messages of a gesture; none if not all fit, so that no finger stays down.
  package mutating func begin(_ gesture: TouchGesture, app: UInt8, now: Duration) {
    let messages = gesture.messages
    guard waiting.count + messages.count <= Self.maximumWaitingCount else { return noteDropping() }
    for message in messages { wait(for: now + message.time, Operation(command: .touch(message.event), app: app)) }
  }

  /// Removes and returns the first operation that is due; nil also at the end of a window's operations.
  package mutating func takeDue(at now: Duration) -> Operation? {
    if windowStart.map({ now - $0 >= Self.window }) ?? true {
      windowStart = now
      countInWindow = 0
    }
    guard countInWindow < Self.maximumStepCount, let first = waiting.first, first.time <= now else { return nil }
    countInWindow += 1
    waiting.removeFirst()
    return first.operation
  }

  private mutating func noteDropping() {
    if dropping == .none { dropping = .unreported }
  }

  /// Whether operations have been dropped; true only once, because a script that drops one drops many.
  package mutating func takeDropping() -> Bool {
    guard dropping == .unreported else { return false }
    dropping = .reported
    return true
  }
}
