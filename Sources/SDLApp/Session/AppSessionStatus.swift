extension AppSession {
  /// The state of a session at a moment; events report the changes.
  public struct Status: Equatable, Sendable {
    /// Nil until the app is registered.
    public internal(set) var headUnit: HeadUnitInfo?
    /// The status of the main window; nil until the head unit has sent one.
    public internal(set) var hmi: HMIStatus?
    /// The permissions of the head unit's policy; nil until it has sent them.
    public internal(set) var permissions: AppPermissions?
    /// Nil until it is known.
    public internal(set) var video: VideoCapability?
    /// The right to send video, which exists until the head unit has confirmed the end of the service.
    public internal(set) var videoGrant: VideoGrant?
    /// The same for sound.
    public internal(set) var audioGrant: AudioGrant?
    /// Suspended while the app is not in the foreground: service and grant are kept, but only a notice may be sent.
    public internal(set) var videoState = StreamState.stopped
    /// Suspended while the app is not audible: service and grant are kept, but no sound may be sent.
    public internal(set) var audioState = StreamState.stopped
    /// The end of the last video service.
    public internal(set) var videoEnd: ServiceEnd?
    /// The same for sound.
    public internal(set) var audioEnd: ServiceEnd?
    /// Why requested video that the driver would see does not start.
    public internal(set) var videoWait: TransportWait?
    /// The same for sound.
    public internal(set) var audioWait: TransportWait?
    /// Counters alone do not change it.
    public internal(set) var secondary = SecondaryTransportStatus()
    /// The result of the TLS handshake.
    public internal(set) var encryption: SecureChannelSummary?
    public internal(set) var isRPCEncrypted = false
    /// From the last answered heartbeat to its answer.
    public internal(set) var roundTrip: Duration?

    public init() {}
  }

  public struct ServiceEnd: Equatable, Sendable {
    /// The epoch of its grant.
    public var epoch: UInt32
    public var reason: StreamStopReason
  }

  public struct VideoCapability: Equatable, Sendable {
    /// Nil for a head unit that announces none.
    public var capability: VideoStreamingCapability?
    /// For head units that announce no size: that of the screen or, on an old screen that enlarges pictures, that of
    /// the pictures.
    public var fallbackSize: VideoSize?

    public init(capability: VideoStreamingCapability?, fallbackSize: VideoSize?) {
      self.capability = capability
      self.fallbackSize = fallbackSize
    }
  }
}
