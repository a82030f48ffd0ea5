@_exported import SDLMessages
@_exported import SDLWire

/// The app's side of one connection to a head unit: version negotiation, registration, HMI status, capabilities, and
/// the services of video and audio.
///
/// Sans-I/O: every input is a method that takes the time and returns what to do. The caller owns the socket, calls
/// ``advance(to:)`` when ``nextDeadline`` has come, sends video only while ``videoGrant`` is there, and
/// sound only while ``audioGrant`` is there and not suspended.
public struct AppSession: Sendable {
  /// What the caller must do, in order.
  public enum Action: Equatable, Sendable {
    /// Whole frames for the transport; never dropped, sent before any further frame of video or audio.
    case send([UInt8])
    /// As ``send(_:)``, encrypted by ``AppSession/secureChannel`` when it is written.
    case sendProtected(ProtectedMessage)
    /// As ``send(_:)``, on the secondary transport.
    case sendOnSecondary([UInt8])
    /// Connect to this address for a secondary transport, and report what comes of it with the number of the attempt: first
    /// ``AppSession/secondaryConnected(attempt:now:)``, then, or instead of it,
    /// ``AppSession/secondaryClosed(attempt:reason:now:)``.
    case openSecondary(TransportAddress, attempt: UInt32)
    /// Close the secondary transport, or give up the attempt.
    case closeSecondary
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
    case videoStopped(StreamStopReason)
    /// `retryAfter` is nil when nothing is tried again by itself.
    case videoStartFailed(VideoStartFailure, request: VideoStartRequest, retryAfter: Duration?)
    case audioStarted(AudioGrant)
    /// The app is not audible any more: the service and the grant are kept, but no sound may be sent.
    case audioSuspended
    /// The app may send sound again, with the same grant.
    case audioResumed
    case audioStopped(StreamStopReason)
    /// `retryAfter` is nil when nothing is tried again by itself.
    case audioStartFailed(AudioStartFailure, retryAfter: Duration?)
    case driverDistraction(OnDriverDistraction)
    /// The touches of one message of the head unit, in pixels of the stream.
    case touch([TouchAction])
    /// The secondary transport has come further, or has ended.
    case secondaryTransportChanged(SecondaryTransportStatus)
    /// Video is asked for and the driver would see it, but no transport may carry it; nil when that is over.
    case videoWaits(TransportWait?)
    /// The same for sound.
    case audioWaits(TransportWait?)
    /// Something about the transports that the user should know; a text that can follow a colon.
    case transportProblem(String)
    /// The fingers that are down are to be forgotten, because the stream is suspended, stops, or is shown elsewhere.
    case touchInterrupted
    /// The head unit refuses touchable rectangles although it asked for them. Once for each code, up to 32.
    case hapticRectanglesRefused(resultCode: String, info: String?)
    /// A TLS handshake with the head unit is complete.
    case secured(SecureChannelSummary)
    /// Encrypted video was asked for, but the video that starts now is not; why, in a form that can follow a colon. Only with
    /// ``EncryptionPolicy/prefer``.
    case videoInClear(String)
    /// RPCs are encrypted from now on, as the head unit's policy asks.
    case rpcProtected
    /// They are not although it asks for that, and it may refuse some; why, in a form that can follow a colon.
    case rpcInClear(String)
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
    /// The app registers as a media app as well. SDL Core gives no sound to projection apps that are none.
    public var isMediaApplication = false
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
    /// For the answer to a StartService of video or audio; after an unanswered one, at least 12 s.
    public var videoStartTimeout: Duration = .seconds(5)
    /// The longest pause before video or audio is tried again.
    public var longestVideoRetry: Duration = .seconds(30)
    /// When the app comes back to the foreground, the video service is ended and started anew instead of being used on.
    public var restartsOnForeground = false
    /// Between the permission to stream and StartService, for head units without a video capability: early ones, such as
    /// SYNC 3.0, stay black otherwise (sdl_ios waits as long).
    public var legacyStartDelay: Duration = .milliseconds(250)
    /// Whether video is to be encrypted, which takes a ``SecureChannelFactory``.
    public var encryption = VideoEncryption.none
    public var encryptionPolicy = EncryptionPolicy.require
    /// Whether the app is the TLS client, for head units that are configured as servers.
    public var beginsHandshake = false
    /// For the answer to a StartService of video that takes a TLS handshake.
    public var handshakeTimeout: Duration = .seconds(30)
    /// For the end of a TLS handshake that has begun.
    public var unfinishedHandshakeTimeout: Duration = .seconds(5)
    /// What the session's connection runs over, which bounds the size of frames.
    public var primaryTransport = TransportClass.tcpWiFi
    /// Whether services may use a secondary transport that the head unit offers.
    public var usesSecondaryTransport = true
    /// Whether a secondary transport may be on this machine, because the head unit is.
    public var acceptsLoopback = true
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
    /// Services on the secondary transport. What ends the registration on the other one must not overtake their end.
    case endingServices
    case unregistering
    case endingSession
  }

  enum CapabilityState: Equatable {
    case unknown
    /// Head units that refuse the request in HMI level NONE are asked again in another.
    case requested(inNone: Bool)
    /// Refused in HMI level NONE; asked again in another.
    case deferred
    /// Refused in clear; asked again once RPCs are encrypted.
    case needsProtection
    case known(VideoStreamingCapability)
    case unavailable
  }

  public let configuration: Configuration
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
  var budget = InputBudget()
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
  /// The sound that the app asks for; nil for none.
  var audioRequest: AudioStartRequest?
  var audioStream = AudioStream()
  /// The head unit has refused sound for good.
  var isAudioRefused = false
  /// The epoch of the last ``VideoGrant`` or ``AudioGrant``.
  public internal(set) var epoch: UInt32
  var lastMessageID: UInt32 = 0

  /// The place of the pictures of the present service, or of the last one, on the display.
  var videoGeometry: VideoGeometry?
  var security: Security
  var touches = TouchTracker()
  var haptics = HapticDelivery()
  /// Result codes that were reported to the app, at most ``maximumHapticRefusals``.
  var hapticRefusals: Set<String> = []

  var transports: Transports

  /// The right to send video; nil while no byte may go out.
  public internal(set) var videoGrant: VideoGrant?

  /// The right to send sound; nil while there is no audio service.
  public internal(set) var audioGrant: AudioGrant?

  /// How far the video service has come.
  public var videoState: StreamState { stream.summary }

  /// How far the audio service has come.
  public var audioState: StreamState { audioStream.summary }

  /// Between the last heartbeat that was answered and its answer.
  public var roundTrip: Duration? { heartbeat.roundTrip }

  /// Creates a session before its connection.
  /// - Parameters:
  ///   - lastEpoch: that of the session before, from which this one counts on: frames made for an earlier session are
  ///     then never sent in this one.
  ///   - makeSecureChannel: makes this end of TLS, of which the head unit is the client; nil refuses handshakes.
  public init(
    configuration: Configuration, lastEpoch: UInt32 = 0, makeSecureChannel: SecureChannelFactory? = nil
  ) {
    self.configuration = configuration
    epoch = lastEpoch
    security = Security(makeChannel: makeSecureChannel)
    transports = Transports(
      secondary: SecondaryTransport(
        isEnabled: configuration.usesSecondaryTransport, acceptsLoopback: configuration.acceptsLoopback))
    stream.timeouts.start = configuration.videoStartTimeout
    stream.timeouts.startAfterUnanswered = max(
      configuration.videoStartTimeout, stream.timeouts.startAfterUnanswered)
    audioStream.timeouts = stream.timeouts
    if asksForEncryption {
      stream.timeouts.start = max(stream.timeouts.start, configuration.handshakeTimeout)
      stream.timeouts.startAfterUnanswered = max(
        stream.timeouts.startAfterUnanswered, configuration.handshakeTimeout)
    }
    stream.history.limits.longestPause = configuration.longestVideoRetry
    audioStream.history.limits.longestPause = configuration.longestVideoRetry
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
    return phaseDeadline.earlier(requests.nextDeadline).earlier(stream.nextDeadline)
      .earlier(audioStream.nextDeadline).earlier(haptics.nextDeadline).earlier(rpcProtectionDeadline)
      .earlier(transports.secondary.nextDeadline(isWanted: isSecondaryWanted, now: now))
      .earlier(transports.videoAvoidance.nextDeadline(now: now))
      .earlier(transports.audioAvoidance.nextDeadline(now: now))
      .earlier(transports.videoWait.nextDeadline).earlier(transports.audioWait.nextDeadline)
      .earlier(security.handshakeBegin).earlier(handshakeDeadline)
  }

  /// When the head unit may be listened to again, because it has sent more than one should; nil for now.
  public func inputPause(now: Duration) -> Duration? { budget.pause(now: now) }

  /// The id for the next message that is no media (see ``MediaMessageIDs``); head units refuse 0.
  mutating func nextMessageID() -> UInt32 {
    lastMessageID = lastMessageID >= MediaMessageIDs.audio.range.lowerBound - 1 ? 1 : lastMessageID + 1
    return lastMessageID
  }
}
