import SDLApp

/// What an application may hear of its stream after what it has heard before.
struct NotificationOrder {
  private enum State {
    case stopped
    case started
    case suspended
  }

  private var state = State.stopped
  private(set) var isPauseRequested = false

  /// The first stream has begun, and the connection was lost after it.
  private var hasStreamed = false
  private var isLost = false

  mutating func connectionLost() { isLost = hasStreamed }

  /// Whether a start is the first one, or the first on another connection.
  private mutating func reasonFault(_ reason: String) -> String? {
    defer { (hasStreamed, isLost) = (true, false) }
    let isRight = (reason == "first-start") == !hasStreamed && (reason == "reconnected") == isLost
    return isRight || state == .started ? nil : "started, \(reason)"
  }

  var isStarted: Bool { state == .started }
  /// The application has not heard of its end.
  var isAnnounced: Bool { state != .stopped }

  /// What is wrong with a notification; nil for nothing.
  mutating func take(_ notification: VideoNotification) -> String? {
    switch notification {
    case .started(_, let reason): return reasonFault("\(reason)") ?? enter(.started)
    case .stopped: return state == .stopped ? "stopped twice" : enter(.stopped)
    case .resized: return state == .started ? nil : "resized while nothing is streamed"
    case .stream(let notification): return take(notification)
    case .resizeIgnored, .problem: return nil
    }
  }

  mutating func take(_ notification: AudioNotification) -> String? {
    switch notification {
    case .started(_, let reason): reasonFault("\(reason)") ?? enter(.started)
    case .stopped: state == .stopped ? "sound stopped twice" : enter(.stopped)
    case .stream(let notification): take(notification)
    case .problem: nil
    }
  }

  private mutating func take(_ notification: StreamNotification) -> String? {
    switch notification {
    case .suspended: return enter(.suspended)
    case .requestPause: return pause(true)
    case .requestPlaying: return pause(false)
    case .suspendedTimeBegan, .waiting: return nil
    }
  }

  private mutating func enter(_ next: State) -> String? {
    defer { state = next }
    return state == next && next != .stopped ? "\(next) twice" : nil
  }

  private mutating func pause(_ isRequested: Bool) -> String? {
    defer { isPauseRequested = isRequested }
    return isPauseRequested == isRequested ? "asked to \(isRequested ? "pause" : "play") twice" : nil
  }
}
