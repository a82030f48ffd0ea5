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
    /// How much of the time may be spent on media that is still queued.
    var drainTimeout: Duration
  }
}

/// The unanswered requests of the application: bounded, and accepted only while the app is registered, so that each
/// gets an answer.
struct ApplicationQueue: Sendable {
  private static let capacity = 100
  /// In bytes.
  private static let byteCapacity = 16 << 20

  /// The connection thread has not taken them yet.
  private var waiting: [ApplicationRequest] = []
  /// The sizes of unanswered requests, in bytes.
  private var sizes: [Int32: Int] = [:]
  private var byteCount = 0
  private var lastID = ApplicationRequest.ids.upperBound
  private var isOpen = false

  /// Adds a request, and returns its correlation id.
  mutating func add(
    _ function: FunctionID, _ parameters: JSONObject, bulk: [UInt8]
  ) throws(ApplicationRequest.Refusal) -> Int32 {
    guard isOpen else { throw .notRegistered }
    var id = lastID
    repeat {
      id = id == ApplicationRequest.ids.upperBound ? ApplicationRequest.ids.lowerBound : id + 1
    } while sizes[id] != nil
    let request = ApplicationRequest(id: id, function, parameters, bulk: bulk)
    guard request.bytesOnTheWay <= ApplicationRequest.maximumBytesOnTheWay else { throw .tooLarge(request.byteCount) }
    guard sizes.count < Self.capacity, byteCount + request.byteCount <= Self.byteCapacity else { throw .full }
    lastID = id
    sizes[id] = request.byteCount
    byteCount += request.byteCount
    waiting.append(request)
    return id
  }

  /// Takes the requests that were added since the last call.
  mutating func take() -> [ApplicationRequest] {
    defer { waiting = [] }
    return waiting
  }

  mutating func answered(_ id: Int32) {
    byteCount -= sizes.removeValue(forKey: id) ?? 0
  }

  /// The app is registered.
  mutating func open() {
    isOpen = true
  }

  /// The connection has ended; returns the requests that were not taken and need an answer.
  mutating func close() -> [ApplicationRequest] {
    isOpen = false
    let requests = take()
    for request in requests { answered(request.id) }
    return requests
  }
}
