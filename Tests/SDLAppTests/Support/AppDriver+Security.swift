import SDLApp
import SDLHeadUnit
import TestSupport

/// Drivers whose app asks for encrypted video, and what their head unit sends of TLS.
extension AppDriver {
  /// In FULL; StartService of encrypted video is not answered yet.
  static func encrypting(
    _ policy: EncryptionPolicy, beginsHandshake: Bool = false,
    makeSecureChannel: SecureChannelFactory? = { FakeChannel(isServer: true) }
  ) -> AppDriver {
    var configuration = AppDriver.configuration
    configuration.beginsHandshake = beginsHandshake
    configuration.encryption = .authenticateAndEncrypt
    configuration.encryptionPolicy = policy
    let driver = AppDriver(configuration, makeSecureChannel: makeSecureChannel)
    driver.connect()
    driver.acknowledgeSession()
    driver.acceptRegistration()
    driver.answerCapability()
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.status(.full, .streamable)
    return driver
  }

  /// The session of an app that encrypts what it can has begun; it is not registered yet.
  static func registeringWithTLS() -> AppDriver {
    var configuration = AppDriver.configuration
    configuration.encryption = .authenticateAndEncrypt
    let driver = AppDriver(configuration, makeSecureChannel: { FakeChannel(isServer: true) })
    driver.connect()
    driver.acknowledgeSession()
    return driver
  }

  /// The same after the registration; GetSystemCapability is not answered yet.
  static func registeredWithTLS() -> AppDriver {
    let driver = registeringWithTLS()
    driver.acceptRegistration()
    return driver
  }

  func receive(_ query: SecurityQuery) {
    receiveSecurity(query.bytes)
  }

  /// Anything in place of a query.
  func receiveSecurity(_ payload: [UInt8], messageID: UInt32 = 500) {
    receive(
      Frame(
        header: FrameHeader(
          version: 5, frameType: .single, service: .control, frameInfo: 0, sessionID: AppDriver.sessionID,
          dataSize: UInt32(payload.count), messageID: messageID),
        payload: payload))
  }

  var sentQueries: [SecurityQuery] {
    frames.filter { $0.header.service == .control && $0.header.frameType == .single }
      .compactMap { SecurityQuery(payload: $0.payload) }
  }
}

extension JoinedSessions {
  /// Connected, with ends of TLS that only look like it.
  ///
  /// - Parameter serial: of the app's certificate, as the head unit sees it.
  static func encrypting(
    _ encryption: MediaEncryption, _ policy: EncryptionPolicy, _ security: HeadUnitSecurity,
    handshake: HeadUnitBehaviour.Handshake, version: ProtocolVersion = ProtocolVersion(5, 4, 0),
    serial: String? = AppDriver.configuration.appID, seed: UInt64,
    _ change: (inout HeadUnitConfiguration) -> Void = { _ in }
  ) -> JoinedSessions {
    let headUnit = configuration {
      $0.security = security
      $0.behaviour.handshake = handshake
      $0.maximumProtocolVersion = version
      change(&$0)
    }
    var app = AppDriver.configuration
    app.encryption = encryption
    app.encryptionPolicy = policy
    let sessions = JoinedSessions(
      headUnit, app: app, seed: seed, server: { FakeChannel(isServer: true) },
      client: { FakeChannel(isServer: false, serialNumber: serial) })
    sessions.connect()
    return sessions
  }
}
