/// What was reported to the application about a stream, so that each change is reported once.
struct StreamAnnouncements: Equatable, Sendable {
  private enum Last {
    /// Nothing, or the end of a stream.
    case none
    case started
    case suspended
  }

  private var last = Last.none
  private(set) var hasStreamed = false
  /// The stream was lost with its connection.
  private(set) var wasLost = false
  private var lastStop: StreamStopReason?
  /// The application was asked to pause, and not yet to play on.
  private(set) var hasRequestedPause = false

  var isStarted: Bool { last == .started }

  /// - Parameter session: the state of the service in the session.
  func streamState(_ session: StreamState, hasGrant: Bool) -> StreamState {
    switch session {
    case .streaming, .suspended: !hasGrant ? .stopping : isStarted ? .streaming : .suspended
    case .stopped, .starting, .stopping: session
    }
  }

  /// Frames can be sent from now on.
  ///
  /// - Parameter hasNewSize: whether the size is another than that of the stream before.
  /// - Returns: the reason for the message of a start, nil when none is due; and whether the pipeline has to play on.
  mutating func start(hasNewSize: Bool = false) -> (reason: String?, requestsPlaying: Bool) {
    let reason = last == .started ? nil : startReason(hasNewSize: hasNewSize)
    hasStreamed = true
    wasLost = false
    lastStop = nil
    last = .started
    return (reason, hasRequestedPause.take())
  }

  private func startReason(hasNewSize: Bool) -> String {
    if !hasStreamed { return "first-start" }
    if wasLost { return "reconnected" }
    switch lastStop {
    // A start without frames leaves the size as it was.
    case .resized, .outOfRange: return hasNewSize ? "resized" : "restarted"
    case .moved, .transportLost: return "moved"
    default: return last == .suspended ? "resumed" : "restarted"
    }
  }

  /// - Returns: whether to report it to the application.
  mutating func suspend(_ reason: SuspensionReason) -> Bool {
    // A pause that the sink itself has requested is announced by its reason.
    guard last != .suspended, reason != .paused || !hasRequestedPause else { return false }
    last = .suspended
    return true
  }

  /// - Returns: whether the stream that has ended was reported to the application.
  mutating func stop(_ reason: StreamStopReason) -> Bool {
    defer { last = .none }
    lastStop = reason
    return last != .none
  }

  /// The application should pause.
  ///
  /// - Returns: whether to ask it now.
  mutating func requestPause() -> Bool {
    defer { hasRequestedPause = true }
    return !hasRequestedPause
  }

  /// - Returns: whether to ask the application to play on.
  mutating func requestPlaying() -> Bool { hasRequestedPause.take() }

  /// - Returns: whether a stream is lost with the connection.
  mutating func connectionLost() -> Bool {
    wasLost = hasStreamed
    return hasStreamed
  }
}

/// Why nothing is sent while there is a service; the value in messages.
enum SuspensionReason: String {
  case paused
  case appState = "app-state"
  /// The head unit does not play the app's sound now.
  case notAudible = "not-audible"
}

extension Bool {
  /// Its value, which becomes false.
  fileprivate mutating func take() -> Bool {
    defer { self = false }
    return self
  }
}
