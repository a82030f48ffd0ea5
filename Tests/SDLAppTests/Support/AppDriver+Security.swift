import SDLApp

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
