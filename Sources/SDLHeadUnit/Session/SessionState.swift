import SDLMessages
import SDLWire

extension HeadUnitSession {
  /// The transport underneath.
  enum Link: Equatable, Sendable {
    case disconnected
    case connected
    /// `close` was asked for; what still arrives is ignored.
    case closing
  }

  /// An acknowledged RPC service, which is what makes a session.
  struct RPCService: Sendable {
    /// Version of the frame headers.
    var headerVersion: UInt8
    /// Before protocol 5 the app picks the version, and its RegisterAppInterface shows it.
    var isVersionSettled: Bool
    /// As negotiated in the payload; below 5 just the header version.
    var protocolVersion: ProtocolVersion
    let hashID: Int32
    /// Whether the acknowledgement listed one.
    var offersSecondaryTransport = false
    /// Where the services may run, in the order of preference that the acknowledgement lists.
    var audioTransports = [TransportRole.primary]
    var videoTransports = [TransportRole.primary]
    /// SDL Core counts from 0.
    var nextMessageID: UInt32 = 0
  }

  /// A registered app.
  struct RegisteredApp: Sendable {
    /// ChangeRegistration may change the names.
    var identity: AppIdentity
    let types: [AppHMIType]
    let isMedia: Bool
    let rpcVersion: RPCVersion
    /// As sent to the app.
    var status: HMIStatus
    /// The driver's choice, before events restrict it.
    var chosenStatus: HMIStatus
    /// Whether it has got the answer to GetSystemCapability(VIDEO_STREAMING), or an update.
    var knowsVideoCapability = false
    var isSubscribedToVideoCapability = false
    /// Updates of the capability, merged, that are sent once it has subscribed.
    var deferredUpdate: VideoStreamingCapability?
    /// Of menu and buttons, as the app was told; nil before it has any.
    var hash: String?
    var files = AppFiles()
    var menu = AppMenu()
    /// Names of hard buttons; never more than there are.
    var subscribedButtons: Set<String> = []
    /// The soft buttons of the screen, by the request that defined them last.
    var softButtons: [FunctionID: [SoftButton]] = [:]
    var interactions: [AppInteraction.Layer: AppInteraction] = [:]
    var prompts = SpokenPrompts()
    var recording: MicrophoneRecording?

    init(_ request: RegisterAppInterface, spokenNames: [String], rpcVersion: RPCVersion, status: HMIStatus) {
      identity = AppIdentity(request, spokenNames: spokenNames)
      types = request.appTypes
      isMedia = request.isMediaApplication
      self.rpcVersion = rpcVersion
      self.status = status
      chosenStatus = status
    }

    var role: AppSummary.Role {
      types.contains(.navigation) ? .navigation : types.contains(.projection) ? .projection : .other
    }

    var mayStream: Bool { role != .other }
  }

  /// A service that carries media, as SDL Core lists it.
  enum MediaService: Sendable {
    /// With the time at which it ended, if it ever ran.
    case closed(endedAt: Duration?)
    /// StartService came before the registration: never answered, yet SDL Core keeps the entry.
    case unanswered
    case open(StreamingPermission)
    /// The head unit's own EndService waits for the app's answer.
    case ending(since: Duration)
  }

  /// Whether SDL Core lets an open service stream.
  enum StreamingPermission: Sendable {
    case allowed
    /// The HMI status forbids the media since then, but the app may not know yet.
    case grace(since: Duration)
    case forbidden(since: Duration)
  }

  /// Heartbeats sent by the head unit.
  struct Heartbeat: Sendable {
    var period: Duration
    /// Whether traffic of the app puts off the next ping.
    var isPutOffByTraffic: Bool
    var isAnswerPending = false
  }
}

/// Numbers of SDL Core 8.2 (smartDeviceLink.ini as shipped, where not said otherwise).
enum CoreLimits {
  /// MalformedFrequencyCount, MalformedFrequencyTime.
  static let malformedFrames = RateLimit(limit: 10, window: .milliseconds(1000))
  /// FrequencyCount, FrequencyTime; the data of audio and video is exempt. (SDL Core exempts their control frames as
  /// well, so that an app can have it answer starts as fast as they come.)
  static let frames = RateLimit(limit: 1000, window: .milliseconds(1000))
  /// AppRequestsTimeScale…
  static let requests = RateLimit(limit: 1000, window: .seconds(10))
  /// HeartBeatTimeout.
  static let heartbeat = Duration.milliseconds(7000)
  /// StopStreamingTimeout.
  static let stopStreaming = Duration.milliseconds(1000)
  /// VideoDataStoppedTimeout.
  static let videoDataStopped = Duration.milliseconds(1000)
  /// From the registration to the policy update (observed on SDL Core).
  static let policyUpdate = Duration.seconds(2)
  /// For a TLS handshake. SDL Core has no limit (70 s were seen); an app that stalls must not keep its place.
  static let handshake = Duration.seconds(10)
  /// TLS handshakes of one session.
  static let handshakes = RateLimit(limit: 10, window: .seconds(10))
  /// After this time SDL Core no longer expects EndServiceACK: data is a violation then. The service it keeps without limit.
  static let endServiceACK = stopStreaming
}
