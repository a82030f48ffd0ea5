import SDLApp

extension AppConnection {
  /// What other threads ask of the connection thread.
  struct Commands: Sendable {
    var video = ServiceCommand(VideoParameters())
    var audio = ServiceCommand(AudioParameters())
    /// When to report ``ConnectionEvent/timerFired``.
    var timer: Duration?
    var stop: Stop?
  }

  /// What is asked of one service.
  struct ServiceCommand<Parameters: Sendable>: Sendable {
    private(set) var parameters: Parameters
    /// The session does not know `parameters` yet.
    private var isNew = false
    /// The service has to end before `parameters` hold.
    private var isResetPending = false

    init(_ parameters: Parameters) {
      self.parameters = parameters
    }

    mutating func change(_ body: (inout Parameters) -> Void) {
      body(&parameters)
      isNew = true
    }

    /// The present service is over; the next one has these parameters.
    mutating func reset(_ parameters: Parameters) {
      self.parameters = parameters
      isNew = true
      isResetPending = true
    }

    /// A session begins that knows nothing yet.
    mutating func renew() {
      isNew = true
      isResetPending = false
    }

    /// What has changed since the last call; nil for nothing.
    mutating func take() -> (parameters: Parameters, isReset: Bool)? {
      guard isNew else { return nil }
      defer { (isNew, isResetPending) = (false, false) }
      return (parameters, isResetPending)
    }
  }

  /// What the app wants to sound.
  struct AudioParameters: Equatable, Sendable {
    var request: AudioStartRequest?
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
