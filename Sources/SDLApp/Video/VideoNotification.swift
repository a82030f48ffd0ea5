extension VideoNegotiation {
  /// What follows from an input, in order.
  public enum Output: Equatable, Sendable {
    /// What to request of the head unit from now on; nil for no video.
    case request(VideoStartRequest?)
    /// How the app stands to its user from now on; after the request, which depends on it.
    case appState(AppState)
    /// Which of the head unit's displays the app can stream to, for the head unit to know.
    case supportedDisplays([VideoDisplay])
    /// The application is to hear of this.
    case notify(VideoNotification)
    /// Call ``takeOutputs(at:)`` at this time; an earlier call asks for it again.
    case setTimer(at: Duration)
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

/// Why a resize is not followed; the field `reason` of `sdl-resize-ignored`.
public enum ResizeIgnoredReason: String, Sendable {
  /// `resize-policy=keep`.
  case policy = "resize-policy"
  /// Upstream sends no other size.
  case upstream
}
