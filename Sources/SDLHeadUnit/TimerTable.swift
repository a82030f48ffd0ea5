/// The deadlines of a session: one per purpose, so that arming again moves it.
struct TimerTable: Sendable {
  enum Purpose: Int, CaseIterable, Sendable {
    case activation
    case videoStart
    case policyUpdate
    case stopGrace
    case endServiceACK
    case videoData
    case heartbeat
  }

  private var deadlines: [Purpose: Duration] = [:]

  var next: Duration? { deadlines.values.min() }

  mutating func arm(_ purpose: Purpose, at deadline: Duration) {
    deadlines[purpose] = deadline
  }

  mutating func cancel(_ purposes: Purpose...) {
    for purpose in purposes { deadlines[purpose] = nil }
  }

  mutating func cancelAll() {
    deadlines = [:]
  }

  /// Removes and returns the earliest deadline that is due. One at a time, because its handler may cancel another.
  mutating func takeDue(at now: Duration) -> Purpose? {
    let due = deadlines.filter { $0.value <= now }.min { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) }
    guard let due else { return nil }
    deadlines[due.key] = nil
    return due.key
  }
}
