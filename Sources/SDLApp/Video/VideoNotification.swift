extension VideoNegotiation {
  /// The outputs of an input, in order.
  package enum Output: Equatable, Sendable {
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

package enum VideoNotification: Equatable, Sendable {
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
package enum ResizeIgnoredReason: String, Sendable {
  /// `resize-policy=keep`.
  case policy = "resize-policy"
  /// Upstream sends no other size.
  case upstream
}

extension VideoNegotiation {
  package struct Settings: Equatable, Sendable {
    package var suspendPolicy = SuspendPolicy.auto
    package var resizePolicy = ResizePolicy.renegotiate
    /// How H.264 may be carried, in order of preference; nil leaves it to the head unit.
    package var streamingProtocols: [VideoStreamingProtocol]?
    package var encoder = EncoderPreferences()
    /// No picture has more pixels than this one: they cost memory and computing time, and it is the head unit that asks
    /// for them.
    package var largestPicture = VideoSize(4096, 2304)

    package init() {}
  }
}
