import SDLMessages
import SDLWire

/// The head unit's side of one SDL session, without any input or output of its own.
///
/// It is fed with decoded frames, the time, and what the driver does; it returns what to send and what to report. It
/// refuses what SDL Core 8.2 refuses and checks the video stream. One app, one session: there is no second transport,
/// no audio and no encryption (an encrypted start is acknowledged in clear, as by a SDL Core without certificates).
public struct HeadUnitSession: Sendable {
  /// As given.
  public let configuration: HeadUnitConfiguration
  /// The id in the header of every frame of the session.
  public let sessionID: UInt8

  /// As configured, with the changes since then.
  var behaviour: HeadUnitBehaviour
  let hashID: Int32
  var link = Link.disconnected
  var rpcService: RPCService?
  var app: RegisteredApp?
  var video = VideoService.closed(endedAt: nil)
  /// What the app knows: the configured capability with the updates that were sent to it.
  var capability: VideoStreamingCapability?
  var checker = VideoStreamChecker()
  /// What the last stream fills, in pixels of the display; nil before the first.
  var shownOn: ImageResolution?
  var heartbeat: Heartbeat?
  /// Messages forwarded, as ServiceDataACK counts them.
  var acknowledgedVideoMessages: UInt32 = 0
  /// The only size that is accepted since the last resize, with its scale.
  var window: VideoStreamingCapability?
  var hmiEvents: Set<HMIEvent> = []
  /// How many scripted answers to StartService(video) are used up.
  var usedVideoStarts = 0
  /// Answers to the next starts of video; they come before the script.
  var nextVideoAnswers: [HeadUnitBehaviour.VideoStartAnswer] = []
  /// A StartService(video) whose answer is due later.
  var pendingVideoStart: (request: VideoServiceParameters, time: Duration)?
  /// Whether the last start got no answer, so that an app may well end what it does not know to have started.
  var isVideoStartLost = false
  /// When the video service was acknowledged last.
  var videoStartTime = Duration.zero
  var isSilentOnVideo = false
  var isScreenTaken = false
  /// What an app gets that is opened.
  var opening = (level: HMILevel.full, streamingState: VideoStreamingState.streamable)
  /// Whether the app would have been opened by itself, had the screen been free.
  var isActivationWithheld = false
  var assembler = Self.makeAssembler()
  var malformedFrames = CoreLimits.malformedFrames
  var frames = CoreLimits.frames
  var requests = CoreLimits.requests
  var requestsInNone = CoreLimits.requestsInNone
  var timers = TimerTable()
  var actions: [Action] = []

  /// A session that waits for its transport.
  /// - Parameters:
  ///   - sessionID: 1…255, unique among the sessions of a head unit.
  ///   - connectionID: unique among its transports; part of the hash that ends the session.
  public init(configuration: HeadUnitConfiguration, sessionID: UInt8 = 1, connectionID: UInt16 = 1) {
    self.configuration = configuration
    self.sessionID = sessionID
    behaviour = configuration.behaviour
    hashID = Int32(sessionID) << 16 | Int32(connectionID)
    capability = configuration.videoCapability
  }

  /// Counters over all video services since the session was created.
  public var statistics: VideoStreamStatistics { checker.statistics }

  /// When ``advance(to:)`` is due; nil when nothing is pending.
  public var nextDeadline: Duration? { timers.next }

  /// The transport is up. What was before is forgotten, except the statistics, the place in the script and what the head
  /// unit is occupied with.
  public mutating func transportConnected(now: Duration) -> [Action] {
    if link != .disconnected { loseTransport(now: now) }
    link = .connected
    forgetUpdates()
    assembler = Self.makeAssembler()
    malformedFrames = CoreLimits.malformedFrames
    frames = CoreLimits.frames
    requests = CoreLimits.requests
    requestsInNone = CoreLimits.requestsInNone
    return takeActions()
  }

  /// The next frame, or garbage, from the transport.
  public mutating func receive(_ item: FrameDecoder.Item, now: Duration) -> [Action] {
    guard link == .connected else { return [] }
    switch item {
    case .garbage(let reason, _): noteMalformed(.malformedBytes(reason), now: now)
    case .frame(let frame): receive(frame, now: now)
    }
    return takeActions()
  }

  /// Does what is due at `now`.
  public mutating func advance(to now: Duration) -> [Action] {
    while let purpose = timers.takeDue(at: now) {
      fire(purpose, now: now)
    }
    return takeActions()
  }

  /// The transport is gone, by either side.
  public mutating func transportLost(now: Duration) -> [Action] {
    loseTransport(now: now)
    return takeActions()
  }

  /// The driver, or another app, changes how prominent the app is. Ignored unless an app is registered.
  public mutating func setHMIStatus(_ status: HMIStatus, now: Duration) -> [Action] {
    apply(status, now: now)
    return takeActions()
  }

  /// The head unit ends the video service. Ignored unless it is open.
  public mutating func endVideoService(now: Duration) -> [Action] {
    sendEndVideoService(reason: .endedByHeadUnit, now: now)
    return takeActions()
  }

  /// The HMI changes what it can show, for example because the driver splits the screen. Absent members are unchanged.
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

  /// Fewer partial messages than the default, because each may hold megabytes.
  private static func makeAssembler() -> MessageAssembler {
    MessageAssembler(maximumPartialMessages: 4)
  }

  mutating func takeActions() -> [Action] {
    defer { actions = [] }
    return actions
  }
}
