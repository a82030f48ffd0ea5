extension AppSession {
  /// What holds in a session at a moment; events say how that came about.
  public struct Status: Equatable, Sendable {
    /// Nil until the app is registered.
    public internal(set) var headUnit: HeadUnitInfo?
    /// That of the main window; nil until the head unit has told one.
    public internal(set) var hmi: HMIStatus?
    /// What the head unit's policy allows; nil until it has told that.
    public internal(set) var permissions: AppPermissions?
    /// Nil until it is known.
    public internal(set) var video: VideoCapability?
    /// The right to send video, which outlives a request whose end the head unit has not confirmed yet.
    public internal(set) var videoGrant: VideoGrant?
    /// The same for sound.
    public internal(set) var audioGrant: AudioGrant?
    /// Suspended while the app is not in the foreground: service and grant are kept, but only a notice may be sent.
    public internal(set) var videoState = StreamState.stopped
    /// Suspended while the app is not audible: service and grant are kept, but no sound may be sent.
    public internal(set) var audioState = StreamState.stopped
    /// Of the last video service that has ended.
    public internal(set) var videoEnd: ServiceEnd?
    /// The same for sound.
    public internal(set) var audioEnd: ServiceEnd?
    /// Why video that is asked for, and that the driver would see, does not start.
    public internal(set) var videoWait: TransportWait?
    /// The same for sound.
    public internal(set) var audioWait: TransportWait?
    /// Counters alone do not change it.
    public internal(set) var secondary = SecondaryTransportStatus()
    /// What TLS was agreed on.
    public internal(set) var encryption: SecureChannelSummary?
    public internal(set) var isRPCEncrypted = false
    /// Between the last heartbeat that was answered and its answer.
    public internal(set) var roundTrip: Duration?

    /// That of no session.
    public init() {}
  }

  /// How a service has ended.
  public struct ServiceEnd: Equatable, Sendable {
    /// Of the grant that has ended with it.
    public var epoch: UInt32
    public var reason: StreamStopReason
  }

  /// What video the head unit takes.
  public struct VideoCapability: Equatable, Sendable {
    /// Nil for a head unit that announces none.
    public var capability: VideoStreamingCapability?
    /// For head units that announce no size: that of the screen or, on an old screen that enlarges pictures, that of
    /// the pictures.
    public var fallbackSize: VideoSize?

    /// Creates a capability.
    public init(capability: VideoStreamingCapability?, fallbackSize: VideoSize?) {
      self.capability = capability
      self.fallbackSize = fallbackSize
    }
  }
}
