/// What the application hears of the stream: each change once, and in their order.
extension AudioNegotiation {
  mutating func announceStart() {
    guard let grant, !isSuspendedBySession, playback != .paused || hasRequestedPause else { return }
    let reason = announcement == .started ? nil : startReason
    hasStreamed = true
    wasLost = false
    wasMoved = false
    announcement = .started
    if let reason { notify(.started(grant, reason: reason)) }
    if hasRequestedPause { notify(.requestPlaying) }
    hasRequestedPause = false
  }

  mutating func announceSuspension(_ reason: SuspensionReason) {
    // A pause that the sink itself has asked for is announced by what it was for.
    guard grant != nil, announcement == .started, reason != .paused || !hasRequestedPause else { return }
    announcement = .suspended
    notify(.suspended(reason: reason.rawValue))
  }

  /// Why a stream starts that the application is about to hear of.
  private var startReason: String {
    if !hasStreamed { return "first-start" }
    if wasLost { return "reconnected" }
    if wasMoved { return "moved" }
    return announcement == .suspended ? "resumed" : "restarted"
  }
}

/// Something that the application is to hear of.
public enum AudioNotification: Equatable, Sendable {
  case started(AudioGrant, reason: String)
  /// What video and sound have in common.
  case stream(StreamNotification)
  case stopped(AudioStopReason)
  /// A warning.
  case problem(AudioProblem)
}

/// Why an audio service has ended.
public enum AudioStopReason: Equatable, Sendable {
  case session(StreamStopReason)
  /// It had been silent for long enough.
  case idle

  /// As messages have it.
  public var name: String {
    switch self {
    case .session(let reason): reason.rawValue
    case .idle: "idle"
    }
  }
}
