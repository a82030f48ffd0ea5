import SDLApp
import SDLMessages

extension AppConnection {
  /// Requests of other threads to the connection thread.
  struct Commands: Sendable {
    var video = ServiceCommand(VideoParameters())
    var audio = ServiceCommand(AudioParameters())
    var notifications = ServiceCommand(Set<FunctionID>())
    var application = ApplicationQueue()
    /// When to report ``ConnectionEvent/timerFired``.
    var timer: Duration?
    var stop: Stop?
  }

  /// Requests for one service, or for the session.
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

    /// The parameters, if they have changed since the last call; else nil.
    mutating func take() -> Parameters? {
      guard isNew else { return nil }
      isNew = false
      return parameters
    }
  }

  /// The app's request for sound.
  struct AudioParameters: Equatable, Sendable {
    var request: AudioStartRequest?
  }

  /// The app's request for video, and its parameters for the head unit.
  struct VideoParameters: Equatable, Sendable {
    var request: VideoStartRequest?
    var supportedDisplays: [VideoDisplay] = []
    var appState = AppState.foreground
    /// The touchable rectangles; nil when the app has never set them.
    var hapticRectangles: HapticRectangleList?
    var wantsButtons = false
  }

  struct Stop: Sendable {
    var deadline: Duration
    /// How much of the time may be spent on video that is still queued.
    var drainTimeout: Duration
  }
}
