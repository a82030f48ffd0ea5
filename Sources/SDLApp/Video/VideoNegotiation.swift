/// The decisions behind a video stream: which size is streamed, when the head unit is asked for video, what becomes of a
/// frame, and what the application hears of all that.
///
/// Sans-I/O, like ``AppSession``: inputs are methods that take the time, and ``takeOutputs(at:)`` returns what follows. The
/// caller asks upstream where an input says so, and gives the answer back with another.
///
/// It is driven by levels: whatever has happened in between, what is requested of the head unit depends only on what holds
/// now.
public struct VideoNegotiation: NegotiationState {
  /// What the user asked for.
  public struct Settings: Equatable, Sendable {
    public var suspendPolicy = SuspendPolicy.auto
    public var resizePolicy = ResizePolicy.renegotiate
    /// How H.264 may be carried, in order of preference; nil leaves it to the head unit.
    public var transports: [VideoTransport]?
    public var encoder = EncoderPreferences()

    /// The defaults of the element.
    public init() {}
  }

  /// What follows from an input, in order.
  public enum Output: Equatable, Sendable {
    /// What to request of the head unit from now on; nil for no video.
    case request(VideoStartRequest?)
    /// How the app stands to its user from now on; behind the request, which depends on it.
    case appState(AppState)
    /// Which of the head unit's displays the app can stream to, for the head unit to know.
    case supportedDisplays([VideoDisplay])
    /// The application is to hear of this.
    case notify(VideoNotification)
    /// Call ``takeOutputs(at:)`` at this time; an earlier call asks for it again.
    case setTimer(at: Duration)
  }

  /// What the head unit can show.
  enum Displays: Equatable, Sendable {
    /// It has not said.
    case unknown
    case chosen(VideoChoice)
    /// Its acknowledgement has named another size than was requested, which holds until it speaks of sizes again.
    case overridden(VideoDisplay, VideoChoice)
  }

  /// Pictures of upstream.
  struct Input: Equatable, Sendable {
    var size: VideoSize
    var isRaw: Bool
  }

  /// Whether upstream has to change.
  enum Upstream: Equatable, Sendable {
    case settled
    /// The choice has changed, and upstream has not been asked yet.
    case toBeAsked
    /// It was asked to change. The service may start in the expected size before its first frame comes; so many frames of
    /// the old size may come before they are taken for the answer.
    case asked(expected: VideoSize?, outdatedFrames: Int)

    var expectedSize: VideoSize? { if case .asked(let size, _) = self { size } else { nil } }
    var outdatedFrames: Int { if case .asked(_, let count) = self { count } else { 0 } }
  }

  /// The right to send video.
  enum Service: Equatable, Sendable {
    case none
    case granted(VideoGrant, at: Duration, isSuspended: Bool)
  }

  /// Updates of the size that come within this time end in one restart of the service.
  public static let settlingTime = Duration.milliseconds(100)

  public internal(set) var settings: Settings
  var phase = StreamPhase.running
  var isFlushing = false
  var playback = StreamPlayback.prerolling
  var isEnded = false

  var hmiStatus: HMIStatus?
  var appState: AppState
  /// The app has been resigning since it was in the foreground last.
  var wantsNotice = false
  /// The head unit's own words, for one that lists no sizes.
  var capability: VideoStreamingCapability?

  /// What the head unit lists, whether or not the app supports it; nil while it has not said.
  var listedDisplays: [VideoDisplay]?
  var displays = Displays.unknown
  /// The choice since a resize that is not followed before the service ends.
  var laterChoice: VideoChoice?
  /// The head unit of the present connection has said what it takes.
  var areDisplaysCurrent = false
  /// How often upstream's ranges were asked, and which of those times the present choice is from.
  var questionCount: UInt64 = 0
  var choiceNumber: UInt64 = 0
  /// The same count when the connection was lost last.
  var questionCountAtLoss: UInt64 = 0
  /// What the application heard last of why no display is supported.
  var reportedRejection: String?

  var input: Input?
  /// Also while only the frames will tell the input's size.
  public internal(set) var isInputRaw = false
  var upstream = Upstream.settled
  /// A resize that upstream of encoded input may yet follow.
  var encodedResize: EncodedResize?
  var mismatch: SizeMismatch?

  /// What may be requested, since the head unit spoke last.
  var ladder = VideoStartLadder(sizes: [], transports: [])
  /// With which the ladder began.
  var ladderTransports: [VideoTransport] = []
  /// What was refused so far does not count any more.
  var isLadderOutdated = false
  var service = Service.none
  /// A frame has been sent in the service that is there, or was last.
  var hasServiceRun = false
  var sessionState = StreamState.stopped
  var resize = VideoResize()
  /// Those whose stream the application does not know of yet.
  var pendingResizes: [VideoResize.Completed] = []
  /// No service is requested before this, because the head unit may go on resizing.
  var settlesAt: Duration?

  var hasStreamed = false
  var wasLost = false
  var lastStop: StreamStopReason?
  var announcement = StreamAnnouncement.none
  var hasRequestedPause = false

  /// What follows from `outputs` on, and what was requested last.
  var outputs: [Output] = []
  private(set) var requested: VideoStartRequest?

  /// What holds for the next frame; computed with each input, so that a frame costs nothing.
  public private(set) var permission: Permission?

  /// The right to send pictures of the input now, and what to encode them for.
  public struct Permission: Equatable, Sendable {
    public var grant: VideoGrant
    public var targets: EncoderTargets
    /// Frames per second that user or head unit want of H.264 input; nil if neither says.
    public var frameRateLimit: Fraction?
  }

  /// A stream that has not begun, of an app that stands to its user as `appState` says.
  public init(settings: Settings, appState: AppState = .foreground) {
    self.settings = settings
    self.appState = appState
    wantsNotice = appState == .resigning
  }

  /// What to do now, after any number of inputs.
  public mutating func takeOutputs(at now: Duration) -> [Output] {
    if let settlesAt, settlesAt <= now { self.settlesAt = nil }
    let mayBeUsed = !prefersAnotherSize && upstream.outdatedFrames == 0 && !supportsNone
    permission =
      mayBeUsed
      ? usableGrant.map { Permission(grant: $0, targets: encoderTargets, frameRateLimit: frameRateLimit) } : nil
    let request = request
    if request != requested {
      requested = request
      outputs.insert(.request(request), at: 0)
    }
    endEncodedResize(now: now)
    // Each time, because a timer that is shared may have fired early for somebody else.
    if let settlesAt { outputs.append(.setTimer(at: settlesAt)) }
    defer { outputs = [] }
    return outputs
  }

  mutating func notify(_ notification: VideoNotification) {
    outputs.append(.notify(notification))
  }

  mutating func notify(_ notification: StreamNotification) {
    notify(.stream(notification))
  }
}
