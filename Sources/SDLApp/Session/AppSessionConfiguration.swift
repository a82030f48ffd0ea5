extension AppSession {
  /// The app's identity and its time-outs.
  package struct Configuration: Equatable, Sendable {
    /// At most 100 characters.
    package var appName: String
    /// At most 100 characters.
    package var appID: String
    package var appType: AppHMIType
    /// The app registers as a media app as well. SDL Core gives no sound to projection apps that are not media apps.
    package var isMediaApplication = false
    /// A language tag such as EN-US.
    package var language: String
    /// The app's names by language, for head units in another one than ``language``.
    package var names: [String: String] = [:]
    /// The app's name for speech output; nil for the written name.
    package var spokenName: String?
    /// Other names by which the driver can call the app; at most 100, of 40 characters each.
    package var synonyms: [String] = []
    package var icon: AppIcon?
    /// For the answer to the first request; head units whose HMI is still starting take long.
    package var sessionTimeout: Duration = .seconds(10)
    /// For the answer to any RPC; SDL Core waits 11 s for its HMI.
    package var requestTimeout: Duration = .seconds(12)
    /// For all steps of ``AppSession/finish(now:)`` together, from the answer to RegisterAppInterface on.
    package var finishTimeout: Duration = .seconds(1)
    /// The silence after which the app sends a heartbeat, and the time for its answer; nil sends none. Only a head unit
    /// that has answered one is lost without an answer. SDL Core sends its own after the first of the app.
    package var heartbeatInterval: Duration?
    /// For the answer to a StartService of video or audio; after an unanswered one, at least 12 s.
    package var videoStartTimeout: Duration = .seconds(5)
    /// The longest pause before video or audio is tried again.
    package var longestVideoRetry: Duration = .seconds(30)
    /// When the app comes back to the foreground, the video service is ended and started again instead of being kept.
    package var restartsOnForeground = false
    /// Between the permission to stream and StartService, for head units without a video capability: early ones, such
    /// as SYNC 3.0, otherwise stay black (sdl_ios has the same delay).
    package var legacyStartDelay: Duration = .milliseconds(250)
    /// Whether video and sound are encrypted, which needs a ``SecureChannelFactory``.
    package var encryption = MediaEncryption.none
    package var encryptionPolicy = EncryptionPolicy.require
    /// Whether RPCs are encrypted, which needs a ``SecureChannelFactory`` as well.
    package var rpcEncryption = RPCEncryption.prefer
    /// Whether the app is the TLS client, for head units that are configured as servers.
    package var beginsHandshake = false
    /// For the answer to a StartService of video or sound that needs a TLS handshake.
    package var handshakeTimeout: Duration = .seconds(30)
    /// For the end of a TLS handshake that has begun.
    package var unfinishedHandshakeTimeout: Duration = .seconds(5)
    /// The class of the session's transport, which bounds the size of frames.
    package var primaryTransport = TransportClass.tcpWiFi
    /// Whether services may use a secondary transport that the head unit offers.
    package var usesSecondaryTransport = true
    /// Whether a secondary transport may be on this machine, because the head unit is.
    package var acceptsLoopback = true
    /// Whether each message is noted, for a log.
    package var reportsMessages = false
    package var maximumProtocolVersion = ProtocolVersion(5, 4, 1)
    package var maximumRPCVersion = RPCVersion(8, 0, 0)

    /// Creates a configuration with the usual times and versions.
    package init(appName: String, appID: String, appType: AppHMIType, language: String) {
      self.appName = appName
      self.appID = appID
      self.appType = appType
      self.language = language
    }
  }
}
