import SDLMessages
import SDLWire

/// The head unit's side of one SDL session, without any input or output of its own.
///
/// Its inputs are decoded frames, the time, and the driver's actions; it returns what to send and what to report. It
/// refuses what SDL Core 8.2 refuses and checks video and sound. One app, one session: a transport with several apps has
/// as many of these, and its owner gives each frame to the session that it names. A session may have a second transport
/// (``registerSecondaryTransport(_:now:)``).
public struct HeadUnitSession: Sendable {
  /// The configuration at the start; ``behaviour`` and ``capability`` may have changed since.
  public let configuration: HeadUnitConfiguration
  /// The id in the header of every frame of the session.
  public let sessionID: UInt8

  /// The configured behaviour with later changes.
  var behaviour: HeadUnitBehaviour
  let hashID: Int32
  var link = Link.disconnected
  var rpcService: RPCService?
  var app: RegisteredApp?
  var video = MediaService.closed(endedAt: nil)
  var audio = MediaService.closed(endedAt: nil)
  /// The configured capability with the updates that were sent to the app.
  var capability: VideoStreamingCapability?
  /// Where the owner takes second connections of this session.
  var servedTransport: TransportEventUpdate?
  /// Whether RegisterSecondaryTransport was acknowledged, and the connection is still there.
  var hasSecondaryTransport = false
  /// Of the service that runs, or else of the last one.
  var videoTransport = TransportRole.primary
  var audioTransport = TransportRole.primary
  /// The services of which data on the wrong transport was reported.
  var wrongTransportReports: Set<ServiceType> = []
  var checker = VideoStreamChecker()
  var audioChecker = AudioStreamChecker()
  /// Size of the display that the last stream fills, for touches; nil before the first stream.
  var displaySize: ImageResolution?
  var heartbeat: Heartbeat?
  /// Video messages, as ServiceDataACK counts them.
  var acknowledgedVideoMessages: UInt32 = 0
  /// The only size that is accepted since the last resize, with its scale.
  var window: VideoStreamingCapability?
  var hmiEvents: Set<HMIEvent> = []
  /// How many of ``HeadUnitBehaviour/videoStarts`` have been used.
  var usedVideoStarts = 0
  var security: Security
  /// Answers to the next starts of video; they precede ``HeadUnitBehaviour/videoStarts``.
  var nextVideoAnswers: [HeadUnitBehaviour.VideoStartAnswer] = []
  /// A StartService(video) whose answer is due later.
  var pendingVideoStart: (request: VideoServiceParameters, time: Duration)?
  /// Whether the last start of audio got no answer.
  var isAudioStartLost = false
  /// Whether the last start got no answer. An app may then end a service that was never started.
  var isVideoStartLost = false
  /// When the video service was acknowledged last.
  var videoStartTime = Duration.zero
  var isSilentOnVideo = false
  /// Nil while the head unit reads what the app sends.
  var notReadingSince: Duration?
  /// All former times without reading together.
  var timeWithoutReading = Duration.zero
  var isScreenTaken = false
  var overlaysOfOthers = HeadUnitScreen.Overlays(until: [:])
  /// The apps in other sessions of the same phone.
  var otherApps: [AppIdentity] = []
  /// The apps whose former connection has broken.
  var savedApps: [SavedApp] = []
  /// How many hashes the app was told (OnHashChange).
  var hashCount: UInt32 = 0
  /// Of an app that is opened, as far as it may stream and be heard.
  var activationStatus = HMIStatus(
    level: .full, audioStreamingState: .audible, videoStreamingState: .streamable)
  /// Whether the app is to be opened as soon as the screen is free.
  var isActivationDeferred = false
  var assembler = Self.makeAssembler()
  var malformedFrames = CoreLimits.malformedFrames
  var frames = CoreLimits.frames
  var requests = CoreLimits.requests
  /// What the response to the present request warns of, if the request is carried out.
  var requestWarning: String?
  /// Of the reports of violations, of which an app can cause one with every frame.
  var violations = RateLimit(limit: 100, window: .seconds(1))
  var isLeavingOutViolations = false
  var timers = TimerTable()
  var actions: [Action] = []

  /// Creates a session that waits for its transport.
  /// - Parameters:
  ///   - sessionID: 1…255, unique among the sessions of a head unit.
  ///   - connectionID: unique among its transports; part of the hash that ends the session.
  ///   - makeSecureChannel: makes this end of TLS, the client; nil leaves an encrypted start in clear.
  public init(
    configuration: HeadUnitConfiguration, sessionID: UInt8 = 1, connectionID: UInt16 = 1,
    makeSecureChannel: SecureChannelFactory? = nil
  ) {
    self.configuration = configuration
    security = Security(makeChannel: makeSecureChannel)
    self.sessionID = sessionID
    behaviour = configuration.behaviour
    hashID = Int32(sessionID) << 16 | Int32(connectionID)
    capability = configuration.videoCapability
  }

  /// Counters over all video services since the session was created.
  public var statistics: VideoStreamStatistics { checker.statistics }

  /// The same for audio.
  public var audioStatistics: AudioStreamStatistics { audioChecker.statistics }

  /// When ``advance(to:)`` is due; nil when nothing is pending.
  public var nextDeadline: Duration? { timers.next }

  /// The transport is up. The session starts anew, except for the statistics, the behaviour, the active events, and
  /// what has been counted for the limits: otherwise an app could exceed them again and again.
  public mutating func transportConnected(now: Duration) -> [Action] {
    if link != .disconnected { loseTransport(now: now) }
    link = .connected
    forgetUpdates()
    assembler = Self.makeAssembler()
    resetSecurity()
    return takeActions()
  }

  /// The next frame, or garbage, from a transport. Nothing comes from the secondary one before it is registered.
  public mutating func receive(
    _ item: FrameDecoder.Item, on transport: TransportRole = .primary, now: Duration
  ) -> [Action] {
    guard link == .connected, transport == .primary || hasSecondaryTransport else { return [] }
    switch item {
    case .garbage(let reason, _): noteMalformed(.malformedBytes(reason), on: transport, now: now)
    case .frame(let frame): receive(frame, on: transport, now: now)
    }
    limitViolations(now: now)
    return takeActions()
  }

  /// Carries out what is due at `now`.
  public mutating func advance(to now: Duration) -> [Action] {
    while let purpose = timers.takeDue(at: now) {
      fire(purpose, now: now)
    }
    return takeActions()
  }

  /// The primary transport is gone, by either side; with it goes the secondary one.
  public mutating func transportLost(now: Duration) -> [Action] {
    loseTransport(now: now)
    return takeActions()
  }

  /// The driver, or another app, changes how prominent the app is. Ignored unless an app is registered.
  public mutating func setHMIStatus(_ status: HMIStatus, now: Duration) -> [Action] {
    apply(status, now: now)
    return takeActions()
  }

  /// The head unit ends the video service. Ignored unless the service is open.
  public mutating func endVideoService(now: Duration) -> [Action] {
    sendEndService(.video, reason: .endedByHeadUnit, now: now)
    return takeActions()
  }

  /// The head unit ends the audio service. Ignored unless the service is open.
  public mutating func endAudioService(now: Duration) -> [Action] {
    sendEndService(.audio, reason: .endedByHeadUnit, now: now)
    return takeActions()
  }

  /// The video capability changes, for example because the driver splits the screen. Absent members are unchanged.
  ///
  /// Sent only to an app that has subscribed, and to others once they subscribe; GetSystemCapability keeps returning the
  /// old value, as SDL Core's does.
  public mutating func updateCapability(_ update: VideoStreamingCapability, now: Duration) -> [Action] {
    sendCapabilityUpdate(update, now: now)
    return takeActions()
  }

  /// The head unit ends the registration. Ignored unless an app is registered.
  public mutating func unregisterApp(_ reason: UnregisteredReason, now: Duration) -> [Action] {
    unregister(reason, now: now)
    return takeActions()
  }

  mutating func takeActions() -> [Action] {
    defer { actions = [] }
    return actions
  }
}
