import SDLApp
import Testing

/// Drivers with a head unit that offers a secondary transport.
extension AppDriver {
  static let secondaryAddress = "192.0.2.1:54321"

  /// Registered in NONE with a known capability; the head unit offers TCP, at ``secondaryAddress``.
  static func offered(
    video: [Int32]? = [2, 1], audio: [Int32]? = [1], kinds: [String]? = ["TCP_WIFI"],
    request: VideoStartRequest? = AppDriver.videoRequest,
    _ configuration: AppSession.Configuration = AppDriver.configuration, makeSecureChannel: SecureChannelFactory? = nil
  ) -> AppDriver {
    let driver = AppDriver(configuration, makeSecureChannel: makeSecureChannel)
    driver.connect()
    driver.acknowledgeSession { answer in
      answer.secondaryTransports = kinds
      answer.videoServiceTransports = video
      answer.audioServiceTransports = audio
    }
    driver.updateTransport("192.0.2.1", 54321)
    driver.acceptRegistration()
    driver.answerCapability()
    driver.status(.none, .notStreamable)
    driver.setVideoRequest(request)
    _ = driver.take()
    return driver
  }

  /// Its app is open, and the secondary transport is registered; nothing is answered on it.
  static func registeredSecondary(
    video: [Int32]? = [2, 1], audio: [Int32]? = [1], request: VideoStartRequest? = AppDriver.videoRequest,
    _ configuration: AppSession.Configuration = AppDriver.configuration, makeSecureChannel: SecureChannelFactory? = nil
  ) -> AppDriver {
    let driver = offered(
      video: video, audio: audio, request: request, configuration, makeSecureChannel: makeSecureChannel)
    driver.status(.full, .streamable, audio: .audible)
    driver.connectSecondary()
    driver.control(.registerSecondaryTransportACK, .control, messageID: 2, on: .secondary)
    return driver
  }

  /// Video runs on the secondary transport.
  static func streamingOnSecondary(video: [Int32]? = [2, 1], audio: [Int32]? = [1]) -> AppDriver {
    let driver = registeredSecondary(video: video, audio: audio)
    driver.acknowledgeVideo(on: .secondary)
    #expect(driver.session.status.video.grant?.role == .secondary)
    _ = driver.take()
    return driver
  }

  func acknowledgeVideo(on role: TransportRole) {
    control(.startServiceACK, .video, payload: VideoServiceParameters().bytes(version: version), on: role)
  }
}

extension AppDriver {
  /// A message of the TLS handshake, always on the primary transport.
  func sendQuery(_ query: SecurityQuery) {
    let bytes = query.bytes
    let fragmentation = Fragmentation(
      service: .control, version: version, sessionID: Self.sessionID, messageID: 99, payloadSize: bytes.count,
      maximumPayload: 1000)
    var decoder = FrameDecoder()
    decoder.append(fragmentation.frames(of: bytes))
    while case .frame(let frame)? = decoder.next() { receive(frame) }
  }
}
