import SDLApp

extension AppConnection {
  /// What other threads ask of the connection thread.
  struct Commands: Sendable {
    var video = VideoParameters()
    /// The session does not know `video` yet.
    var isVideoNew = false
    /// The service has to end before `video` holds.
    var isVideoResetPending = false
    /// When to report ``ConnectionEvent/timerFired``.
    var timer: Duration?
    var stop: Stop?
  }

  /// What the app wants to stream, and what the head unit has to know of it.
  struct VideoParameters: Equatable, Sendable {
    var request: VideoStartRequest?
    var supportedDisplays: [VideoDisplay] = []
    var appState = AppState.foreground
    /// What can be touched; nil when the app has never set it.
    var hapticRectangles: HapticRectangleList?
  }

  /// The end as asked for.
  struct Stop: Sendable {
    var deadline: Duration
    /// How much of the time may be spent on video that is still queued.
    var drainTimeout: Duration
  }
}

extension AppConnection.VideoParameters {
  /// Those of a stream that does not exist yet, after one of `former`.
  init(after former: Self) {
    self.init()
    // The head unit keeps the list that it has, and the next stream's pictures are others.
    if former.hapticRectangles != nil { hapticRectangles = HapticRectangleList([]) }
  }
}
