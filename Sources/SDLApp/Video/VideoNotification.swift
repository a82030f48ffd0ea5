extension VideoNegotiation {
  /// The outputs of an input, in order.
  public enum Output: Equatable, Sendable {
    /// The video to request of the head unit from now on; nil for none.
    case request(VideoStartRequest?)
    /// The app's state from now on; after the request, which depends on it.
    case appState(AppState)
    /// Tell the head unit which of its displays the app can stream to.
    case supportedDisplays([VideoDisplay])
    case notify(VideoNotification)
    /// Call ``takeOutputs(at:)`` at this time; an earlier call asks for it again.
    case setTimer(at: Duration)
  }
}

public enum VideoNotification: Equatable, Sendable {
  case started(VideoGrant, reason: String)
  /// A notification that video and sound share.
  case stream(StreamNotification)
  case stopped(StreamStopReason)
  case resized(VideoResize.Completed)
  /// The head unit would like another size than the stream keeps.
  case resizeIgnored(kept: VideoSize, offered: VideoSize, ResizeIgnoredReason)
  case problem(VideoProblem)
}

/// Why a resize is not followed; the field `reason` of `sdl-resize-ignored`.
public enum ResizeIgnoredReason: String, Sendable {
  /// `resize-policy=keep`.
  case policy = "resize-policy"
  /// Upstream sends no other size.
  case upstream
}
