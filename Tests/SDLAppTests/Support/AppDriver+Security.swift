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
  static func registeringWithTLS(
    _ policy: EncryptionPolicy = .require, media: MediaEncryption = .authenticateAndEncrypt,
    rpcs: RPCEncryption = .prefer
  ) -> AppDriver {
    var configuration = AppDriver.configuration
    configuration.encryption = media
    configuration.encryptionPolicy = policy
    configuration.rpcEncryption = rpcs
    let driver = AppDriver(configuration, makeSecureChannel: { FakeChannel(isServer: true) })
    driver.connect()
    driver.acknowledgeSession()
    return driver
  }

  /// The same after the registration; GetSystemCapability is not answered yet.
  static func registeredWithTLS(
    _ policy: EncryptionPolicy = .require, media: MediaEncryption = .authenticateAndEncrypt,
    rpcs: RPCEncryption = .prefer
  ) -> AppDriver {
    let driver = registeringWithTLS(policy, media: media, rpcs: rpcs)
    driver.acceptRegistration()
    return driver
  }

  /// Both messages of a handshake of the head unit, as ``FakeChannel`` counts them.
  func shakeHands() {
    for number: UInt8 in [1, 3] { receiveHandshake(number) }
  }

  /// One of them.
  func receiveHandshake(_ number: UInt8) {
    let query = SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: [22, 3, 3, 0, 1, number]).bytes
    receiveSecurity(query, messageID: UInt32(number) + 400)
  }

  func acknowledgeEncrypted(_ service: ServiceType) {
    var acknowledgement = Frame.control(.startServiceACK, service: service, version: 5, sessionID: Self.sessionID)
    acknowledgement.header.isEncrypted = true
    receive(acknowledgement)
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
    rpcs: RPCEncryption = .prefer, handshake: HeadUnitBehaviour.Handshake,
    version: ProtocolVersion = ProtocolVersion(5, 4, 0),
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
    app.rpcEncryption = rpcs
    let sessions = JoinedSessions(
      headUnit, app: app, seed: seed, server: { FakeChannel(isServer: true) },
      client: { FakeChannel(isServer: false, serialNumber: serial) })
    sessions.connect()
    return sessions
  }
}
