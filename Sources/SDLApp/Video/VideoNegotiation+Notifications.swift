/// What the application hears of the stream: each change once, and in their order.
extension VideoNegotiation {
  mutating func announceStart() {
    // What opens or resumes during a pause is announced when something may be sent. A pipeline that was asked to pause is
    // asked to play on, even if the suspension was over before it heard of it.
    guard let grant, !isSuspendedBySession, appState.isInForeground, playback != .paused || hasRequestedPause else {
      return
    }
    let reason = announcement == .started ? nil : startReason
    hasStreamed = true
    wasLost = false
    lastStop = nil
    announcement = .started
    if let reason { notify(.started(grant, reason: reason)) }
    for resize in pendingResizes { notify(.resized(resize)) }
    pendingResizes = []
    if hasRequestedPause { notify(.requestPlaying) }
    hasRequestedPause = false
  }

  /// Frames are not sent from now on because of the app's state; the notice, if there was one, is out.
  public mutating func suspensionCompleted() {
    announceSuspension(.appState)
  }

  mutating func announceSuspension(_ reason: SuspensionReason) {
    // A pause that the sink itself has asked for is announced by what it was for.
    guard grant != nil, announcement != .suspended, reason != .paused || !hasRequestedPause else { return }
    announcement = .suspended
    notify(.suspended(reason: reason.rawValue))
  }

  mutating func announceStop(_ reason: StreamStopReason) {
    if announcement != .none { notify(.stopped(reason)) }
    announcement = .none
    lastStop = reason
    if reason == .hmiStatus || reason == .headUnit { notify(.suspensionBegan) }
  }

  /// A pipeline that was asked to pause has to play again, if upstream must change before anything can start.
  mutating func requestPlayingIfNeeded() {
    guard hasRequestedPause, !isSuspended, hmiStatus != nil, grant == nil, isRunning, nextRequest == nil,
      shouldAskUpstream
    else { return }
    hasRequestedPause = false
    notify(.requestPlaying)
  }

  /// Why a stream starts that the application is about to hear of.
  private var startReason: String {
    if !hasStreamed { return "first-start" }
    if wasLost { return "reconnected" }
    // One that came to nothing leaves the size as it was.
    if lastStop == .resized || lastStop == .outOfRange {
      return resize.size == grant?.size ? "restarted" : "resized"
    }
    if lastStop == .moved || lastStop == .transportLost { return "moved" }
    return announcement == .suspended ? "resumed" : "restarted"
  }
}

/// Something that the application is to hear of.
public enum VideoNotification: Equatable, Sendable {
  case started(VideoGrant, reason: String)
  /// What video and sound have in common.
  case stream(StreamNotification)
  case stopped(StreamStopReason)
  case resized(VideoResize.Completed)
  /// The head unit would like another size than the stream keeps.
  case resizeIgnored(kept: VideoSize, offered: VideoSize, ResizeIgnoredReason)
  /// A warning.
  case problem(VideoProblem)
}
