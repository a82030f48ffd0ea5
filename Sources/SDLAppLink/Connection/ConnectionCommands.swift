import SDLApp
import SDLMessages

extension AppConnection {
  /// What other threads ask of the connection thread.
  struct Commands: Sendable {
    var video = ServiceCommand(VideoParameters())
    var audio = ServiceCommand(AudioParameters())
    var notifications = ServiceCommand(Set<FunctionID>())
    var application = ApplicationQueue()
    /// When to report ``ConnectionEvent/timerFired``.
    var timer: Duration?
    var stop: Stop?
  }

  /// What is asked of one service, or of the session.
  struct ServiceCommand<Parameters: Sendable>: Sendable {
    private(set) var parameters: Parameters
    /// The session does not know `parameters` yet.
    private var isNew = false

    init(_ parameters: Parameters) {
      self.parameters = parameters
    }

    mutating func change(_ body: (inout Parameters) -> Void) {
      body(&parameters)
      isNew = true
    }

    /// A session begins that knows nothing yet.
    mutating func renew() {
      isNew = true
    }

    /// What has changed since the last call; nil for nothing.
    mutating func take() -> Parameters? {
      guard isNew else { return nil }
      isNew = false
      return parameters
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
    var wantsButtons = false
  }

  /// The end as asked for.
  struct Stop: Sendable {
    var deadline: Duration
    /// How much of the time may be spent on video that is still queued.
    var drainTimeout: Duration
  }
}
