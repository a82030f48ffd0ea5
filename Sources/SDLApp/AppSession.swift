@_exported import SDLMessages
@_exported import SDLWire

/// The app's side of one connection to a head unit: version negotiation, registration, HMI status, capabilities and
/// the video service.
///
/// Sans-I/O: every input is a method that takes the time and returns what to do. The caller owns the socket, calls
/// ``advance(to:)`` when ``nextDeadline`` has come, and sends video only while ``videoGrant`` is there.
public struct AppSession: Sendable {
  /// What the caller must do, in order.
  public enum Action: Equatable, Sendable {
    /// Whole frames for the transport; never dropped, sent before any further video frame.
    case send([UInt8])
    case report(Event)
    /// Close the transport once everything has been written; the session is over.
    case close
  }

  /// Something that the app learns.
  public enum Event: Equatable, Sendable {
    /// The session has begun; the app is not registered yet.
    case sessionStarted(ProtocolVersion)
    case registered(HeadUnitInfo)
    /// The status of the main window has changed, or was repeated.
    case hmiStatus(HMIStatus)
    /// What video the head unit takes, at first and whenever it changes. `fallbackSize` is for head units that announce
    /// no size: that of the screen or, on an old screen that enlarges pictures, that of the pictures.
    case videoCapability(VideoStreamingCapability?, fallbackSize: VideoSize?)
    case videoStarted(VideoGrant)
    /// The app has left the foreground: the service and the grant are kept, but only a notice may still be sent.
    case videoSuspended
    /// The app may send on, with the same grant.
    case videoResumed
    case videoStopped(VideoStopReason)
    /// `retryAfter` is nil when nothing is tried again by itself.
    case videoStartFailed(VideoStartFailure, request: VideoStartRequest, retryAfter: Duration?)
    case driverDistraction(OnDriverDistraction)
    /// The touches of one message of the head unit, in pixels of the stream.
    case touch([TouchAction])
    /// The fingers that are down are to be forgotten, because the stream is suspended, stops, or is shown elsewhere.
    case touchInterrupted
    /// The head unit refuses touchable rectangles although it asked for them. Once for each code, up to 32.
    case hapticRectanglesRefused(resultCode: String, info: String?)
    /// Something unexpected without consequences, for the log.
    case diagnostic(String)
    /// The session has ended without the app having asked for it. At most once.
    case failed(AppSessionFailure)
  }

  /// Who the app is, and how long it waits.
  public struct Configuration: Equatable, Sendable {
    /// At most 100 characters.
    public var appName: String
    /// At most 100 characters.
    public var appID: String
    public var appType: AppHMIType
    /// A language tag such as EN-US.
    public var language: String
    /// For the answer to the first request; head units whose HMI is still starting take long.
    public var sessionTimeout: Duration = .seconds(10)
    /// For the answer to any RPC; SDL Core waits 11 s for its HMI.
    public var requestTimeout: Duration = .seconds(12)
    /// For all steps of ``AppSession/finish(now:)`` together, from the answer to RegisterAppInterface on.
    public var finishTimeout: Duration = .seconds(1)
    /// Between heartbeats of the app; nil sends none. Head units send theirs only after the first of the app.
    public var heartbeatInterval: Duration?
    /// For the answer to a StartService of video; after an unanswered one, at least 12 s.
    public var videoStartTimeout: Duration = .seconds(5)
    /// The longest pause before video is tried again.
    public var longestVideoRetry: Duration = .seconds(30)
    /// When the app comes back to the foreground, the video service is ended and started anew instead of being used on.
    public var restartsOnForeground = false
    /// Between the permission to stream and StartService, for head units without a video capability: early ones, such as
    /// SYNC 3.0, stay black otherwise (sdl_ios waits as long).
    public var legacyStartDelay: Duration = .milliseconds(250)
    /// Highest protocol version to ask for.
    public var maximumProtocolVersion = ProtocolVersion(5, 4, 1)
    /// Highest RPC version to ask for.
    public var maximumRPCVersion = RPCVersion(8, 0, 0)

    /// Creates a configuration with the usual times and versions.
    public init(appName: String, appID: String, appType: AppHMIType, language: String) {
      self.appName = appName
      self.appID = appID
      self.appType = appType
      self.language = language
    }
  }

  enum Phase: Equatable {
    case idle
    case startingSession(deadline: Duration)
    case registering
    case registered
    /// The head unit ended the session; the reason may still be on its way.
    case endedByHeadUnit(deadline: Duration)
    case finishing(Finish, deadline: Duration)
    case over
  }

  /// Steps of ``finish(now:)``.
  enum Finish: Equatable {
    /// SDL Core registers an app whose session ends before the answer all the same, and refuses it from then on as
    /// registered already, until it is started anew.
    case awaitingRegistration
    case unregistering
    case endingSession
  }

  enum CapabilityState: Equatable {
    case unknown
    /// Head units that refuse the request in HMI level NONE are asked again in another.
    case requested(inNone: Bool)
    /// Refused in HMI level NONE; asked again in another.
    case deferred
    case known(VideoStreamingCapability)
    case unavailable
  }

  let configuration: Configuration
  var now: Duration = .zero
  var phase = Phase.idle
  var actions: [Action] = []

  var version: UInt8 = 1
  var sessionID: UInt8 = 0
  var hashID: Int32?
  var sessionMTU: Int64?
  var headUnit: HeadUnitInfo?
  var assembler = MessageAssembler(maximumMessageSize: 4 << 20)
  var garbageTimes: [Duration] = []
  var hasReceivedFrame = false
  var heartbeat = Heartbeat()

  var requests = PendingRequests()
  var registration: RegisterAppInterfaceResponse?
  var hmiStatus: HMIStatus?
  var capability = CapabilityState.unknown
  /// Updates that came before the answer to GetSystemCapability, and are newer than it.
  var earlyCapabilityUpdate: VideoStreamingCapability?

  /// The display in use as an update has changed it, while the pictures still have the size of before.
  var changedDisplay: DisplayInUse?

  /// The stream that the app asks for; nil for none.
  var videoRequest: VideoStartRequest?
  /// Those of the head unit's displays that the app can stream to.
  var supportedDisplays: [VideoDisplay] = []
  var hasAnnouncedDisplays = false
  var appState = AppState.foreground
  var stream = VideoStream()
  /// The epoch of the last ``VideoGrant``.
  public internal(set) var epoch: UInt32
  var lastMessageID: UInt32 = 0

  /// The place of the pictures of the present service, or of the last one, on the display.
  var videoGeometry: VideoGeometry?
  var touches = TouchTracker()
  var haptics = HapticDelivery()
  /// Result codes that were reported to the app, at most ``maximumHapticRefusals``.
  var hapticRefusals: Set<String> = []

  /// The right to send video; nil while no byte may go out.
  public internal(set) var videoGrant: VideoGrant?

  /// How far the video service has come.
  public var videoState: VideoStreamState { stream.summary }

  /// Between the last heartbeat that was answered and its answer.
  public var roundTrip: Duration? { heartbeat.roundTrip }

  /// Creates a session before its connection.
  /// - Parameter lastEpoch: that of the session before, from which this one counts on: frames made for an earlier session
  ///   are then never sent in this one.
  public init(configuration: Configuration, lastEpoch: UInt32 = 0) {
    self.configuration = configuration
    epoch = lastEpoch
    stream.timeouts.start = configuration.videoStartTimeout
    stream.timeouts.startAfterUnanswered = max(
      configuration.videoStartTimeout, stream.timeouts.startAfterUnanswered)
    stream.history.limits.longestPause = configuration.longestVideoRetry
    stream.restartsAfterPause = configuration.restartsOnForeground
  }

  /// When ``advance(to:)`` has to be called next; nil when only the head unit or the app can go on.
  public var nextDeadline: Duration? {
    let phaseDeadline: Duration?
    switch phase {
    case .idle, .over: return nil
    case .startingSession(let deadline), .endedByHeadUnit(let deadline), .finishing(_, let deadline):
      phaseDeadline = deadline
    case .registering, .registered: phaseDeadline = heartbeat.nextDeadline
    }
    return phaseDeadline.earlier(requests.nextDeadline).earlier(stream.nextDeadline).earlier(haptics.nextDeadline)
  }

  /// The id for the next message that is no video (see ``VideoMessageIDs``); head units refuse 0.
  mutating func nextMessageID() -> UInt32 {
    lastMessageID = lastMessageID >= VideoMessageIDs.first - 1 ? 1 : lastMessageID + 1
    return lastMessageID
  }
}

extension AppSession {
  /// The transport is up.
  public mutating func transportConnected(now: Duration) -> [Action] {
    perform(at: now) { $0.startSession() }
  }

  /// A frame, or garbage, from the head unit.
  public mutating func receive(_ item: FrameDecoder.Item, now: Duration) -> [Action] {
    perform(at: now) {
      switch item {
      case .frame(let frame): $0.receive(frame)
      case .garbage(_, let firstBytes): $0.receiveGarbage(firstBytes)
      }
    }
  }

  /// Time has passed.
  public mutating func advance(to now: Duration) -> [Action] {
    perform(at: now) { $0.handleDeadlines() }
  }

  /// The transport is gone.
  public mutating func transportLost(now: Duration) -> [Action] {
    perform(at: now) { session in
      // Head units close the connection after their EndService.
      if case .endedByHeadUnit = session.phase { return session.fail(.endedByHeadUnit) }
      session.fail(.connectionLost)
    }
  }

  /// Asks for a stream from now on, or for none if `request` is nil. Asking again for what failed does not shorten the
  /// pause before the next attempt.
  public mutating func setVideoRequest(_ request: VideoStartRequest?, now: Duration) -> [Action] {
    perform(at: now) { $0.videoRequest = request }
  }

  /// Sets which of the head unit's displays the app supports from now on. They are announced once, before the first start
  /// of video with any (OnAppCapabilityUpdated).
  public mutating func setSupportedDisplays(_ displays: [VideoDisplay], now: Duration) -> [Action] {
    perform(at: now) { $0.supportedDisplays = displays }
  }

  /// Sets whether the app is in the foreground of its own device.
  public mutating func setAppState(_ appState: AppState, now: Duration) -> [Action] {
    perform(at: now) { $0.appState = appState }
  }

  /// Ends video, registration and session, as far as they exist, each after the answer to the one before, within
  /// `finishTimeout`. While ``isRegistrationPending``, that begins only with its answer. No failure is reported any more.
  public mutating func finish(now: Duration) -> [Action] {
    perform(at: now) { $0.beginFinish() }
  }

  /// Whether RegisterAppInterface waits for its answer, before which the transport must not be closed if that can be
  /// helped.
  public var isRegistrationPending: Bool {
    switch phase {
    case .registering, .finishing(.awaitingRegistration, _): true
    default: false
    }
  }

  mutating func perform(at now: Duration, _ body: (inout AppSession) -> Void) -> [Action] {
    guard phase != .over else { return [] }
    self.now = now
    body(&self)
    reconcile()
    sendHapticRectangles()
    defer { actions = [] }
    return actions
  }

  private mutating func handleDeadlines() {
    switch phase {
    case .startingSession(let deadline) where deadline <= now:
      return fail(.unanswered(request: "StartService"))
    case .endedByHeadUnit(let deadline) where deadline <= now:
      return fail(.endedByHeadUnit)
    case .finishing(let step, let deadline) where deadline <= now && step != .awaitingRegistration:
      return end()
    default: break
    }
    for function in requests.takeExpired(now: now) { requestExpired(function) }
    advanceHeartbeat()
    guard phase != .over else { return }
    perform(stream.advance(now: now))
  }

  /// Ends the session with an error for the app, unless the app is ending it anyway.
  mutating func fail(_ failure: AppSessionFailure) {
    guard phase != .over else { return }
    if case .finishing = phase { return end() }
    stopVideo(failure == .connectionLost || failure == .heartbeatLost ? .connectionLost : .sessionEnded)
    actions.append(.report(.failed(failure)))
    end()
  }

  mutating func end() {
    guard phase != .over else { return }
    stopVideo(.sessionEnded)
    requests.removeAll()
    phase = .over
    actions.append(.close)
  }
}
