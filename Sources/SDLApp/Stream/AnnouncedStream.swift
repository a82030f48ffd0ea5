/// The service of a stream, from its grant until the application is told of its end, and what the application was told
/// of it, so that each change is reported once.
struct AnnouncedStream<Grant: StreamGrant>: Sendable {
  /// What the application was told of starts and ends.
  private enum Last: Equatable {
    case nothing
    case start
    case end(StreamStopReason)
    /// The stream was lost with its connection.
    case loss
  }

  private var last = Last.nothing
  /// The grant of the service, and whether the application was told that it is suspended.
  private var open: (grant: Grant, isSuspended: Bool)?
  /// The application was asked to pause, and not yet to play on.
  private(set) var hasRequestedPause = false

  var grant: Grant? { open?.grant }
  var isStarted: Bool { last == .start && open?.isSuspended == false }
  var hasStreamed: Bool { last != .nothing }

  /// - Parameter session: the state of the service in the session.
  func streamState(_ session: StreamState) -> StreamState {
    switch session {
    case .streaming, .suspended: open == nil ? .stopping : isStarted ? .streaming : .suspended
    case .stopped, .starting, .stopping: session
    }
  }

  /// The service was granted; the end of the one before may not be known yet.
  mutating func granted(_ grant: Grant) {
    open = (grant, open?.isSuspended ?? false)
  }

  /// Frames can be sent from now on.
  ///
  /// - Parameter hasNewSize: whether the size is another than that of the stream before.
  /// - Returns: the reason for the message of a start, nil when none is due; and whether the pipeline has to play on.
  mutating func start(hasNewSize: Bool = false) -> (reason: String?, requestsPlaying: Bool) {
    let reason = isStarted ? nil : startReason(hasNewSize: hasNewSize)
    last = .start
    open?.isSuspended = false
    return (reason, hasRequestedPause.take())
  }

  private func startReason(hasNewSize: Bool) -> String {
    switch last {
    case .nothing: "first-start"
    case .loss: "reconnected"
    // A start without frames leaves the size as it was.
    case .end(.resized), .end(.outOfRange): hasNewSize ? "resized" : "restarted"
    case .end(.moved), .end(.transportLost): "moved"
    case .end, .start: open?.isSuspended == true ? "resumed" : "restarted"
    }
  }

  /// - Returns: whether to report it to the application.
  mutating func suspend(_ reason: SuspensionReason) -> Bool {
    // A pause that the sink itself has requested is announced by its reason.
    guard open?.isSuspended == false, reason != .paused || !hasRequestedPause else { return false }
    open?.isSuspended = true
    return true
  }

  /// The service has ended.
  ///
  /// - Returns: whether it was reported to the application.
  mutating func stop(_ reason: StreamStopReason) -> Bool {
    let wasReported = last == .start || open?.isSuspended == true
    open = nil
    if last != .nothing, last != .loss { last = .end(reason) }
    return wasReported
  }

  /// The application should pause.
  ///
  /// - Returns: whether to ask it now.
  mutating func notePauseRequest() -> Bool {
    defer { hasRequestedPause = true }
    return !hasRequestedPause
  }

  /// - Returns: whether to ask the application to play on.
  mutating func requestPlaying() -> Bool { hasRequestedPause.take() }

  /// - Returns: whether a stream is lost with the connection.
  mutating func connectionLost() -> Bool {
    if hasStreamed { last = .loss }
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
