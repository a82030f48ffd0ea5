import SDLMessages

/// What is streamed of an app's sound, and when: brings together what driver, head unit, app and pipeline do.
///
/// A value with inputs (methods) and outputs, as ``VideoNegotiation`` is for video. There is less to decide, because the head
/// unit alone chooses the format.
public struct AudioNegotiation: NegotiationState {
  /// What the user has set.
  public struct Settings: Equatable, Sendable {
    public var suspendPolicy = SuspendPolicy.auto
    /// The app registers as a media app, whose sound is heard in the background as well.
    public var isMedia = false

    public init() {}
  }

  /// What the caller has to do.
  public enum Output: Equatable, Sendable {
    case request(AudioStartRequest?)
    /// Call ``advance(now:)`` then.
    case setTimer(at: Duration)
    case notify(AudioNotification)
  }

  enum Service: Equatable, Sendable {
    case none
    case granted(AudioGrant, isSuspended: Bool)
  }

  /// Sound of a live source is held up for as long at most while its service starts.
  static let longestLiveHold = Duration.seconds(2)

  public internal(set) var settings: Settings
  public var activity: SoundActivity
  var phase = StreamPhase.running
  var isFlushing = false
  var playback = StreamPlayback.prerolling
  var isEnded = false
  var hmiStatus: HMIStatus?
  /// Of what upstream sends; nil before the first caps.
  public internal(set) var input: PCMFormat?
  var service = Service.none
  var sessionState = StreamState.stopped
  /// Sound of a live source has been waiting since then for a service that starts with it.
  var heldSince: Duration?

  /// The head unit takes no sound, and is not asked again as long as the app has video.
  var isRefused = false
  var hasStreamed = false
  var wasLost = false
  /// The last service has ended only with its transport.
  var wasMoved = false
  var announcement = StreamAnnouncement.none
  var hasRequestedPause = false

  var outputs: [Output] = []
  private var requested: AudioStartRequest?
  private var hasTimer = false

  /// The right to send; computed with each input.
  public private(set) var permission: AudioGrant?

  /// A stream that has not begun.
  public init(settings: Settings, activity: SoundActivity = SoundActivity()) {
    self.settings = settings
    self.activity = activity
  }

  /// What to do now, after any number of inputs.
  public mutating func takeOutputs(at now: Duration) -> [Output] {
    activity.elapse(now: now)
    if !activity.isServiceWanted { heldSince = nil }
    permission = isSuspendedBySession || phase == .stopping || phase == .failed ? nil : grant
    let request = self.request
    if request != requested {
      requested = request
      outputs.insert(.request(request), at: 0)
    }
    // Each time, because a timer that is shared may have fired early for somebody else.
    if let deadline = activity.deadline { outputs.append(.setTimer(at: deadline)) }
    hasTimer = activity.deadline != nil
    defer { outputs = [] }
    return outputs
  }

  /// Samples that may be sent cost no outputs, unless they are the first behind which a silence counts.
  public var hasUrgentOutputs: Bool { !hasTimer && activity.deadline != nil }

  mutating func notify(_ notification: AudioNotification) {
    outputs.append(.notify(notification))
  }

  mutating func notify(_ notification: StreamNotification) {
    notify(.stream(notification))
  }
}

/// What holds now, and what is requested because of it.
extension AudioNegotiation {
  var grant: AudioGrant? { if case .granted(let grant, _) = service { grant } else { nil } }

  public var hasGrant: Bool { grant != nil }

  var isSuspendedBySession: Bool { if case .granted(_, true) = service { true } else { false } }

  /// The driver does not hear the app.
  public var isSuspendedByDriver: Bool {
    hmiStatus.map { !$0.allowsAudio(isMedia: settings.isMedia) || !$0.isAudible } ?? false
  }

  var suspendPolicy: SuspendPolicy { settings.suspendPolicy }

  var isSuspended: Bool { isSuspendedBySession || isSuspendedByDriver }

  var request: AudioStartRequest? {
    guard playback != .prerolling, !isEnded, input != nil, phase != .stopping, activity.isServiceWanted else {
      return nil
    }
    return AudioStartRequest()
  }
}
