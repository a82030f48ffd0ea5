/// The deadlines of a session: one per purpose, so that arming one again moves it.
struct TimerTable: Sendable {
  enum Purpose: Int, CaseIterable, Sendable {
    case activation
    case videoStart
    case policyUpdate
    case transportEventUpdate
    case alert
    case overlay
    case speech
    case microphone
    case button
    case scriptedAnswer
    case stopGrace
    case endServiceACK
    case audioStopGrace
    case audioEndServiceACK
    case videoData
    case heartbeat
    case handshake
    case incompleteMessage

    /// Whether it waits for a message of the app.
    var awaitsApp: Bool {
      switch self {
      case .activation, .videoStart, .policyUpdate, .transportEventUpdate, .alert, .overlay, .speech, .microphone,
        .button, .scriptedAnswer:
        false
      case .stopGrace, .endServiceACK, .audioStopGrace, .audioEndServiceACK, .videoData, .heartbeat, .handshake,
        .incompleteMessage:
        true
      }
    }
  }

  private var deadlines: [Purpose: Duration] = [:]
  /// While it is set, no deadline for the app is due.
  private var holdsAppDeadlines = false

  var next: Duration? { active.values.min() }

  private var active: [Purpose: Duration] {
    holdsAppDeadlines ? deadlines.filter { !$0.key.awaitsApp } : deadlines
  }

  /// Nil when it is not armed.
  func deadline(of purpose: Purpose) -> Duration? { deadlines[purpose] }

  mutating func arm(_ purpose: Purpose, at deadline: Duration) {
    deadlines[purpose] = deadline
  }

  mutating func cancel(_ purposes: Purpose...) {
    for purpose in purposes { deadlines[purpose] = nil }
  }

  mutating func cancelAll() {
    deadlines = [:]
  }

  /// Until ``releaseAppDeadlines(postponedBy:)`` no deadline for the app is due.
  mutating func holdAppDeadlines() {
    holdsAppDeadlines = true
  }

  mutating func releaseAppDeadlines(postponedBy time: Duration) {
    holdsAppDeadlines = false
    for (purpose, deadline) in deadlines where purpose.awaitsApp { deadlines[purpose] = deadline + time }
  }

  /// Removes and returns the earliest deadline that is due. One at a time, because its handler may cancel another.
  mutating func takeDue(at now: Duration) -> Purpose? {
    let due = active.filter { $0.value <= now }.min { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) }
    guard let due else { return nil }
    deadlines[due.key] = nil
    return due.key
  }
}
