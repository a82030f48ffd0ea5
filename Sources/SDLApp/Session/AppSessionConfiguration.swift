extension AppSession {
  /// The app's identity and its time-outs.
  public struct Configuration: Equatable, Sendable {
    /// At most 100 characters.
    public var appName: String
    /// At most 100 characters.
    public var appID: String
    public var appType: AppHMIType
    /// The app registers as a media app as well. SDL Core gives no sound to projection apps that are not media apps.
    public var isMediaApplication = false
    /// A language tag such as EN-US.
    public var language: String
    /// The app's names by language, for head units in another one than ``language``.
    public var names: [String: String] = [:]
    /// The app's name for speech output; nil for the written name.
    public var spokenName: String?
    /// Other names by which the driver can call the app; at most 100, of 40 characters each.
    public var synonyms: [String] = []
    public var icon: AppIcon?
    /// For the answer to the first request; head units whose HMI is still starting take long.
    public var sessionTimeout: Duration = .seconds(10)
    /// For the answer to any RPC; SDL Core waits 11 s for its HMI.
    public var requestTimeout: Duration = .seconds(12)
    /// For all steps of ``AppSession/finish(now:)`` together, from the answer to RegisterAppInterface on.
    public var finishTimeout: Duration = .seconds(1)
    /// The silence after which the app sends a heartbeat, and the time for its answer; nil sends none. Only a head unit
    /// that has answered one is lost without an answer. SDL Core sends its own after the first of the app.
    public var heartbeatInterval: Duration?
    /// For the answer to a StartService of video or audio; after an unanswered one, at least 12 s.
    public var videoStartTimeout: Duration = .seconds(5)
    /// The longest pause before video or audio is tried again.
    public var longestVideoRetry: Duration = .seconds(30)
    /// When the app comes back to the foreground, the video service is ended and started again instead of being kept.
    public var restartsOnForeground = false
    /// Between the permission to stream and StartService, for head units without a video capability: early ones, such
    /// as SYNC 3.0, otherwise stay black (sdl_ios has the same delay).
    public var legacyStartDelay: Duration = .milliseconds(250)
    /// Whether video and sound are encrypted, which needs a ``SecureChannelFactory``.
    public var encryption = MediaEncryption.none
    public var encryptionPolicy = EncryptionPolicy.require
    /// Whether RPCs are encrypted, which needs a ``SecureChannelFactory`` as well.
    public var rpcEncryption = RPCEncryption.prefer
    /// Whether the app is the TLS client, for head units that are configured as servers.
    public var beginsHandshake = false
    /// For the answer to a StartService of video or sound that needs a TLS handshake.
    public var handshakeTimeout: Duration = .seconds(30)
    /// For the end of a TLS handshake that has begun.
    public var unfinishedHandshakeTimeout: Duration = .seconds(5)
    /// The class of the session's transport, which bounds the size of frames.
    public var primaryTransport = TransportClass.tcpWiFi
    /// Whether services may use a secondary transport that the head unit offers.
    public var usesSecondaryTransport = true
    /// Whether a secondary transport may be on this machine, because the head unit is.
    public var acceptsLoopback = true
    public var maximumProtocolVersion = ProtocolVersion(5, 4, 1)
    public var maximumRPCVersion = RPCVersion(8, 0, 0)

    /// Creates a configuration with the usual times and versions.
    public init(appName: String, appID: String, appType: AppHMIType, language: String) {
      self.appName = appName
      self.appID = appID
      self.appType = appType
      self.language = language
    }
  }
}
