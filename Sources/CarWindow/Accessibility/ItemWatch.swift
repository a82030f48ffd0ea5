import SDLLink

/// A thread that reads which parts of the screen can be focused, after each change of it.
final class ItemWatch: Sendable {
  private struct State: Sendable {
    var schedule: ReadingSchedule
    var size: ScreenSize
    var isOver = false
  }

  private let items: AccessibleItems
  private let state: Monitor<State>
  private let thread = WorkerThread(name: "sdl-items")
  private let report: @Sendable ([ScreenArea]) -> Void

  /// - Parameters:
  ///   - size: of the screen.
  ///   - report: gets the areas when they have changed, on the thread.
  /// - Returns: nil without the bus.
  init?(address: String, size: ScreenSize, report: @escaping @Sendable ([ScreenArea]) -> Void) {
    guard let items = AccessibleItems(address: address) else { return nil }
    self.items = items
    self.report = report
    state = Monitor(State(schedule: ReadingSchedule(now: MonotonicClock.now), size: size))
    do {
      try thread.start { [weak self] in self?.run() }
    } catch {
      return nil
    }
  }

  func screenChanged(_ size: ScreenSize) {
    let isSooner = state.withLock { state in
      state.size = size
      return state.schedule.screenChanged()
    }
    if isSooner { state.broadcast() }
  }

  /// Ends the thread, and waits for that.
  func stop() {
    state.change { $0.isOver = true }
    items.cancel()
    thread.join()
  }

  private func run() {
    var known: [ScreenArea] = []
    while let size = waitForReading() {
      let areas = items.read(on: size)
      // A cancelled reading is incomplete.
      if areas != known, !state.withLock({ $0.isOver }) { report(areas) }
      known = areas
    }
  }

  /// - Returns: the size of the screen; nil at the end.
  private func waitForReading() -> ScreenSize? {
    while true {
      let next = state.withLock { $0.schedule.next }
      state.wait(atLatest: next) { $0.isOver || $0.schedule.next != next }
      if state.withLock({ $0.isOver }) { return nil }
      let size = state.withLock { $0.schedule.begin(now: MonotonicClock.now) ? $0.size : nil }
      if let size { return size }
    }
  }
}

/// When the items of a screen are read: soon after a change, but not too often, and a few times more when nothing has
/// changed for a while, since toolkits publish items after they show them, and a busy program answers late.
struct ReadingSchedule: Equatable, Sendable {
  /// Between two readings, which cost the program time.
  private static let shortestPause = Duration.milliseconds(500)
  /// Before each reading after the one that follows a change.
  private static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8)]

  /// Nil until the screen changes.
  private(set) var next: Duration?
  private var earliest: Duration
  /// Readings since the last change.
  private var count = 0

  /// Begins with a reading.
  init(now: Duration) {
    (next, earliest) = (now, now)
  }

  /// - Returns: whether ``next`` is sooner now.
  mutating func screenChanged() -> Bool {
    count = 0
    guard next.map({ $0 > earliest }) ?? true else { return false }
    next = earliest
    return true
  }

  /// - Returns: whether a reading is due, which begins now.
  mutating func begin(now: Duration) -> Bool {
    guard let next, now >= next else { return false }
    self.next = count < Self.pauses.count ? now + Self.pauses[count] : nil
    count += 1
    earliest = now + Self.shortestPause
    return true
  }
}
