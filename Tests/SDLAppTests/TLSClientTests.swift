import SDLApp
import SDLHeadUnit
import SDLWire
import TestSupport
import Testing

/// An app that is the TLS client, for head units that are configured as servers. The channel only looks like TLS.
@Suite struct TLSClientTests {
  private func driver(_ policy: EncryptionPolicy = .require) -> AppDriver {
    let driver = AppDriver.encrypting(policy, beginsHandshake: true) { FakeChannel(isServer: false) }
    _ = driver.take()
    return driver
  }

  private func handshake(_ bytes: [UInt8]) -> SecurityQuery {
    SecurityQuery(type: SecurityQuery.request, queryID: 1, sequenceNumber: 1, binary: bytes)
  }

  /// The app and our own head unit as server, registered.
  private func joined(_ handshake: HeadUnitBehaviour.Handshake = .regular, seed: UInt64) -> JoinedSessions {
    var app = AppDriver.configuration
    app.encryption = .authenticateAndEncrypt
    app.beginsHandshake = true
    let headUnit = JoinedSessions.configuration {
      $0.security = .require
      $0.beginsHandshake = false
      $0.behaviour.handshake = handshake
    }
    let sessions = JoinedSessions(
      headUnit, app: app, seed: seed, server: { FakeChannel(isServer: false) },
      client: { FakeChannel(isServer: true, serialNumber: AppDriver.configuration.appID) })
    sessions.connect()
    sessions.wait(.milliseconds(200))
    return sessions
  }

  /// The sequence chart with our own head unit as server, and a second start, which needs no handshake.
  @Test(arguments: JoinedSessions.seeds) func encrypted(seed: UInt64) {
    let sessions = joined(seed: seed)
    _ = sessions.take()
    sessions.setVideoRequest(AppDriver.videoRequest)
    sessions.wait(.milliseconds(400))
    #expect(
      sessions.take() == [
        "→ StartService video 800×480 RAW H264 encrypted", "→ single control", "← single control", "→ single control",
        "← single control", "← StartServiceACK video encrypted", "• secured XOR", "• started 800×480 epoch 1",
      ])
    #expect(sessions.sendVideo([0, 0, 0, 1, 0x67, 0x42]) && sessions.received.count == 1)
    sessions.setVideoRequest(nil)
    sessions.wait(.milliseconds(10))
    _ = sessions.take()
    sessions.setVideoRequest(AppDriver.videoRequest)
    sessions.wait(.seconds(1))
    #expect(!sessions.take().contains { $0.contains("single control") })
    #expect(sessions.app.status.video.grant?.isEncrypted == true)
  }

  /// SDL Core as a server was seen to answer error 5 to what comes at once.
  @Test func beginsAgainWhereTheHeadUnitIsNotReady() {
    let driver = driver()
    driver.wait(.milliseconds(299))
    #expect(driver.sentQueries.isEmpty)
    driver.wait(.milliseconds(1))
    #expect(driver.sentQueries.count == 1)
    for count in 2...4 {
      driver.receive(.error(.notProtected, "not yet"))
      driver.wait(.milliseconds(300))
      #expect(driver.sentQueries.count == count)
    }
    #expect(driver.failure == nil)
    // The last handshake is not answered: the wait for it ends, and the next start begins one of its own.
    driver.wait(.seconds(5))
    #expect(driver.take().contains { $0.hasPrefix("• start of 800×480 failed") })
    driver.wait(.milliseconds(900))
    #expect(driver.sentQueries.isEmpty)
    driver.wait(.seconds(2))
    #expect(driver.sentQueries.count == 1)
  }

  /// What a head unit says is bounded.
  @Test func longTextOfAnError() {
    let driver = driver()
    driver.wait(.milliseconds(300))
    driver.receive(.error(.invalidData, String(repeating: "x", count: 300)))
    let text = String(repeating: "x", count: 200)
    #expect(driver.diagnostics.last { $0.contains("TLS error") }?.hasSuffix(": \(text)") == true)
  }

  /// The start that comes once it is ready has a handshake as well.
  @Test func aHeadUnitThatIsNotReadyForMinutes() {
    let driver = driver()
    for _ in 0..<500 {
      driver.wait(.milliseconds(300))
      if !driver.sentQueries.isEmpty { driver.receive(.error(.notProtected, "not yet")) }
      _ = driver.take()
    }
    driver.wait(.seconds(60))
    #expect(driver.failure == nil || driver.failure == .handshakeLost)
    #expect(!driver.sentQueries.isEmpty)
  }

  /// A start that was refused in the middle of a handshake leaves none behind.
  @Test func refusedInTheMiddle() {
    let driver = driver()
    driver.wait(.milliseconds(300))
    #expect(driver.sentQueries.count == 1)
    driver.refuseVideo()
    driver.wait(.seconds(3))
    #expect(driver.sentQueries.count == 2)
  }

  /// SDL Core as a server was seen to acknowledge the service before the end of its handshake.
  @Test func acknowledgementOvertakesTheHandshake() throws {
    let driver = driver()
    let last = try handshakeUpToTheLastMessage(driver, FakeChannel(isServer: true))
    #expect(!driver.isStreaming && driver.failure == nil)
    driver.receive(handshake(last))
    #expect(driver.isStreaming)
    #expect(driver.session.status.video.grant?.isEncrypted == true)
  }

  /// The handshake of a head unit that acknowledges the service before its last message, which is returned.
  private func handshakeUpToTheLastMessage(_ driver: AppDriver, _ server: FakeChannel) throws -> [UInt8] {
    driver.wait(.milliseconds(300))
    let second = server.advance(try #require(driver.sentQueries.last).handshakeBytes).output
    driver.receive(handshake(second))
    let last = server.advance(try #require(driver.sentQueries.last).handshakeBytes).output
    try acknowledge(driver, server)
    return last
  }

  private func acknowledge(
    _ driver: AppDriver, _ server: FakeChannel, _ service: ServiceType = .video
  ) throws {
    var acknowledgement = Frame.control(
      .startServiceACK, service: service, version: 5, sessionID: AppDriver.sessionID,
      payload: try server.encrypt(VideoServiceParameters(width: 800, height: 480).bytes(version: 5)))
    acknowledgement.header.isEncrypted = true
    driver.receive(acknowledgement)
  }

  /// SDL Core as a server was seen to overwrite its last message with the acknowledgement, and to take the handshake
  /// for complete from then on: only a new connection helps.
  @Test func lastMessageIsLost() throws {
    let driver = driver()
    _ = try handshakeUpToTheLastMessage(driver, FakeChannel(isServer: true))
    _ = driver.take()
    driver.wait(.milliseconds(990))
    #expect(driver.take() == [] && driver.failure == nil)
    driver.wait(.milliseconds(10))
    #expect(driver.failure == .handshakeLost && driver.isClosed)
    #expect(driver.failure?.canHeal == true && "\(AppSessionFailure.handshakeLost)".contains("last message"))
  }

  /// After its acknowledgement the head unit has sent something else than its last message.
  @Test(arguments: [
    "bytes that are no TLS", "an error", "the answer that the service is not protected",
  ])
  func brokenOffAfterTheAcknowledgement(by kind: String) throws {
    for policy in EncryptionPolicy.allCases {
      let driver = driver(policy)
      _ = try handshakeUpToTheLastMessage(driver, FakeChannel(isServer: true))
      _ = driver.take()
      switch kind {
      case "an error": driver.receive(.error(.invalidData, "no"))
      case "bytes that are no TLS": driver.receive(handshake([0x17, 0x2A]))
      default: driver.receive(.error(.notProtected, "no"))
      }
      guard policy == .prefer else {
        #expect(driver.failure == .handshakeLost)
        continue
      }
      driver.control(.endServiceACK, .video)
      driver.wait(.seconds(2))
      #expect(driver.failure == nil && driver.take().last == "→ StartService video 800×480 RAW H264")
    }
  }

  /// The handshake was broken off before the acknowledgement, which the head unit sends encrypted all the same.
  @Test(arguments: [ServiceType.video, .audio, .rpc])
  func acknowledgementOfABrokenHandshake(_ service: ServiceType) throws {
    for policy in EncryptionPolicy.allCases {
      let driver = driver(policy)
      if service != .video {
        driver.setVideoRequest(nil)
        driver.refuseVideo()
      }
      if service == .audio { driver.setAudioRequest(AudioStartRequest()) }
      if service == .rpc { driver.notify(.onPermissionsChange, ["requireEncryption": .bool(true)]) }
      driver.status(.full, .streamable, audio: .audible)
      driver.wait(.milliseconds(300))
      driver.receive(handshake([0x17, 0x2A]))
      #expect(driver.failure == nil)
      _ = driver.take()
      try acknowledge(driver, FakeChannel(isServer: true), service)
      if policy == .require {
        #expect(driver.failure == .handshakeLost)
      } else {
        let lines = driver.take()
        #expect(driver.failure == nil)
        #expect(lines.contains { $0.contains(service == .rpc ? "• RPCs in clear" : "failed") }, "\(lines)")
      }
    }
  }

  /// The same with our own head unit, for the service that starts first.
  @Test(arguments: [HeadUnitBehaviour.Handshake.lostFinished, .garbledFinished], [ServiceType.audio, .video])
  func finishedIsNotSent(_ handshake: HeadUnitBehaviour.Handshake, first service: ServiceType) {
    for seed in JoinedSessions.seeds {
      let sessions = joined(handshake, seed: seed)
      if service == .audio { sessions.setAudioRequest(AudioStartRequest()) }
      if service == .video { sessions.setVideoRequest(AppDriver.videoRequest) }
      sessions.wait(.milliseconds(1800))
      let lines = sessions.take()
      #expect(lines.contains { $0.hasPrefix("← StartServiceACK \(service) encrypted") }, "\(lines)")
      #expect(lines.suffix(2) == ["• failed", "■"], "\(lines)")
    }
  }

  /// The same with two handshakes that stop in the middle.
  @Test func twoHandshakesStopInTheMiddle() {
    let driver = driver()
    driver.wait(.milliseconds(300))
    driver.wait(.seconds(5))
    driver.control(.endServiceACK, .video)
    driver.wait(.seconds(2))
    driver.wait(.milliseconds(300))
    #expect(driver.sentQueries.count == 2 && driver.failure == nil)
    driver.wait(.seconds(5))
    #expect(driver.failure == .handshakeLost)
  }

  /// Where video may go in clear, it does so with the next start.
  @Test func unfinishedHandshakeWherePreferred() throws {
    let driver = driver(.prefer)
    let server = FakeChannel(isServer: true)
    _ = try handshakeUpToTheLastMessage(driver, server)
    driver.wait(.seconds(1))
    driver.control(.endServiceACK, .video)
    _ = driver.take()
    driver.wait(.seconds(2))
    #expect(driver.take() == ["→ StartService video 800×480 RAW H264"])
    driver.acknowledgeVideo()
    #expect(driver.isStreaming)
  }

  /// Two clients can't agree: the head unit learns that, and the app's user learns which property decides.
  @Test func headUnitBeginsAsWell() {
    let driver = driver()
    driver.wait(.milliseconds(300))
    driver.receive(handshake([22, 3, 3, 0, 1, 1]))
    #expect(driver.diagnostics.contains { $0.contains("and so does this app") })
    #expect(driver.sentQueries.last?.error.code == .invalidData)
  }
}
