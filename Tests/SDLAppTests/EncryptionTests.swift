import SDLApp
import SDLHeadUnit
import TestSupport
import Testing

/// Encrypted video, app and head unit joined, with a channel that only looks like TLS.
@Suite struct EncryptionTests {
  private static let appID = AppDriver.configuration.appID

  private func sessions(
    _ encryption: MediaEncryption = .authenticateAndEncrypt, _ policy: EncryptionPolicy = .require,
    _ security: HeadUnitSecurity = .accept, handshake: HeadUnitBehaviour.Handshake = .regular, serial: String? = appID,
    version: ProtocolVersion = ProtocolVersion(5, 4, 0), seed: UInt64 = 1
  ) -> JoinedSessions {
    let sessions = JoinedSessions.encrypting(
      encryption, policy, security, handshake: handshake, version: version, serial: serial, seed: seed)
    sessions.wait(.milliseconds(50))
    _ = sessions.take()
    sessions.setVideoRequest(AppDriver.videoRequest)
    sessions.wait(.milliseconds(100))
    return sessions
  }

  /// The sequence chart of an encrypted start, and video in one frame and in many.
  @Test(arguments: JoinedSessions.seeds) func encrypted(seed: UInt64) {
    let sessions = sessions(seed: seed)
    #expect(
      sessions.take() == [
        "← OnHMIStatus FULL STREAMABLE", "• status FULL STREAMABLE",
        "→ StartService video 800×480 RAW H264 encrypted", "← single control", "→ single control",
        "← single control", "→ single control", "• secured XOR", "← StartServiceACK video encrypted",
        "• started 800×480 epoch 1",
      ])
    #expect(sessions.app.status.video.grant?.isEncrypted == true)
    #expect(sessions.app.status.video.grant?.maximumPayload == SecurePayload.recordLimit)
    let small: [UInt8] = [0, 0, 0, 1, 0x67, 0x42]
    let large = small + (0..<100_000).map { UInt8(truncatingIfNeeded: $0 % 251 + 2) }
    #expect(sessions.sendVideo(small) && sessions.sendVideo(large))
    #expect(sessions.received == [small, large])
    #expect(sessions.violations.filter { if case .stream = $0 { false } else { true } }.isEmpty)
  }

  /// All services of a session share one handshake, so that a second start is acknowledged at once.
  @Test func secondStartWithoutHandshake() {
    let sessions = sessions()
    sessions.setVideoRequest(nil)
    sessions.wait(.milliseconds(10))
    _ = sessions.take()
    sessions.setVideoRequest(AppDriver.videoRequest)
    #expect(
      sessions.take() == [
        "→ StartService video 800×480 RAW H264 encrypted", "← StartServiceACK video encrypted",
        "• started 800×480 epoch 2",
      ])
    #expect(sessions.app.status.video.grant?.isEncrypted == true)
    #expect(sessions.sendVideo([0, 0, 0, 1, 0x67, 0x42]))
    #expect(sessions.received.count == 1)
  }

  /// Before protocol 5 the acknowledgement has no payload, and its E bit says everything.
  @Test func protocol4() {
    let sessions = sessions(version: ProtocolVersion(4))
    #expect(sessions.app.status.video.grant?.isEncrypted == true)
    #expect(sessions.sendVideo([0, 0, 0, 1, 0x67, 0x42]))
    #expect(sessions.received.count == 1)
  }

  @Test func noEncryptionAskedFor() {
    let sessions = sessions(MediaEncryption.none)
    #expect(sessions.app.status.video.grant?.isEncrypted == false)
    #expect(!sessions.take().contains { $0.contains("encrypted") || $0.contains("single control") })
  }

  /// Every reason for an answer in clear: an error that names it, or with `prefer` a warning and video in clear.
  @Test func answersInClear() throws {
    let cases: [(HeadUnitSecurity, HeadUnitBehaviour.Handshake, String?, String)] = [
      (.refuse, .regular, Self.appID, "without a TLS handshake"),
      (.accept, .clear, Self.appID, "although the TLS handshake was completed"),
      (.accept, .expired, Self.appID, "has expired"),
      (.accept, .wrongID, Self.appID, "another app"),
      (.accept, .unknownAuthority, Self.appID, "known authority"),
      (.accept, .garbage, Self.appID, "message 1 is not accepted"),
      (.accept, .regular, "somebody-else", "serialNumber"),
      (.accept, .regular, nil, "serialNumber"),
    ]
    for (security, handshake, serial, text) in cases {
      let required = sessions(.authenticateAndEncrypt, .require, security, handshake: handshake, serial: serial)
      guard case .notEncrypted(.video, let reason) = try #require(required.failure, "\(handshake)") else {
        Issue.record("\(handshake): \(String(describing: required.failure))")
        continue
      }
      #expect(reason.contains(text), "\(reason)")
      #expect(required.app.status.video.grant == nil)
      #expect(required.take().contains("→ EndService video"))
      let preferred = sessions(.authenticateAndEncrypt, .prefer, security, handshake: handshake, serial: serial)
      #expect(preferred.failure == nil)
      #expect(preferred.app.status.video.grant?.isEncrypted == false)
      #expect(preferred.take().contains("• in clear"))
      #expect(preferred.sendVideo([0, 0, 0, 1, 0x67, 0x42]))
      #expect(preferred.received.count == 1)
    }
  }

  /// The certificate of the head unit is not of an authority that this app knows: that is what the user reads, and not
  /// how the head unit puts the end of the handshake.
  @Test(arguments: [EncryptionPolicy.require, .prefer]) func headUnitIsNotTrusted(policy: EncryptionPolicy) {
    let driver = AppDriver.encrypting(policy) {
      FakeChannel(isServer: true, failsAt: 1, failureCode: .certificateInvalid)
    }
    driver.receive(SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: [22, 3, 3, 0, 1, 1]))
    #expect(driver.sentQueries.contains { $0.error.code == .invalidData })
    guard policy == .prefer else {
      #expect(driver.failure == .headUnitNotTrusted(reason: "message 1 is not accepted"))
      #expect(driver.failure?.canHeal == false && driver.isClosed)
      return
    }
    driver.receive(.error(.invalidData, "Initialization is not completed"))
    driver.acknowledgeVideo()
    #expect(driver.isStreaming && driver.failure == nil)
    #expect(driver.clearReasons == ["this app does not trust the head unit, as message 1 is not accepted"])
  }

  /// A handshake is enough for `authenticate`.
  @Test func authenticationOnly() {
    let clear = sessions(.authenticate, .require, .accept, handshake: .clear)
    #expect(clear.failure == nil)
    #expect(clear.app.status.video.grant?.isEncrypted == false)
    #expect(sessions(.authenticate).app.status.video.grant?.isEncrypted == true)
    #expect(sessions(.authenticate, .require, .refuse).failure != nil)
  }

  /// A head unit that protects its video service refuses what is in clear, and names a handshake that failed.
  @Test func protectionForced() {
    let clear = sessions(MediaEncryption.none, .require, .require)
    #expect(clear.app.status.video.grant == nil)
    #expect(clear.take().contains { $0.hasPrefix("← StartServiceNAK video") })
    let failing = sessions(.authenticateAndEncrypt, .require, .require, handshake: .expired)
    let lines = failing.take()
    #expect(failing.app.status.video.grant == nil && failing.failure == nil)
    #expect(lines.contains { $0.hasPrefix("← StartServiceNAK video") })
    #expect(lines.contains { $0.contains("start of 800×480 failed []") })
    #expect(sessions(.authenticateAndEncrypt, .require, .require).app.status.video.grant?.isEncrypted == true)
  }

  /// With `prefer`, what was refused encrypted is asked for in clear the next time.
  @Test func refusedEncryptionIsGivenUp() {
    let driver = AppDriver.encrypting(.prefer)
    #expect(driver.frames.last?.header.isEncrypted == true)
    driver.refuseVideo()
    _ = driver.take()
    driver.wait(.seconds(5))
    #expect(driver.take().contains("→ StartService video 800×480 RAW H264"))
    driver.acknowledgeVideo()
    #expect(driver.take().contains("• in clear"))
    #expect(driver.isStreaming)
  }

  /// The one that names parameters does not concern encryption.
  @Test func refusalOfTheSize() {
    let driver = AppDriver.encrypting(.prefer)
    driver.refuseVideo(["width"])
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(400, 240)))
    driver.wait(.seconds(5))
    #expect(driver.take().last { $0.hasPrefix("→") } == "→ StartService video 400×240 RAW H264 encrypted")
  }

  /// The head unit never begins a handshake: the wait is that of a handshake, not of a plain start, and ends. The next
  /// start is in clear if it may be, of this service alone.
  @Test(arguments: [ServiceType.video, .audio], EncryptionPolicy.allCases)
  func silence(service: ServiceType, policy: EncryptionPolicy) {
    let driver = AppDriver.encrypting(policy)
    if service == .audio {
      driver.setVideoRequest(nil)
      driver.refuseVideo()
      driver.setAudioRequest(AudioStartRequest())
      driver.status(.full, .streamable, audio: .audible)
    }
    let start = service == .audio ? "→ StartService audio" : "→ StartService video 800×480 RAW H264"
    #expect(driver.take().last { $0.hasPrefix("→") } == "\(start) encrypted")
    driver.wait(.seconds(29))
    #expect(driver.take() == [])
    driver.wait(.seconds(2))
    let failure = service == .audio ? "start of audio failed" : "start of 800×480 failed []"
    #expect(
      Array(driver.take().prefix(2)) == ["• \(failure), again after 2.0 seconds", "→ EndService \(service)"])
    #expect(driver.startFailures.last?.hasSuffix("and no TLS handshake was completed") == true)
    driver.control(.endServiceACK, service)
    driver.wait(.seconds(5))
    #expect(driver.take().last { $0.hasPrefix("→") } == (policy == .prefer ? start : "\(start) encrypted"))
  }

  /// What has gone wrong with an earlier start is no reason of the present one.
  @Test func reasonOfAnEarlierStart() {
    let driver = AppDriver.encrypting(.require) { FakeChannel(isServer: true, failsAt: 1) }
    driver.receive(SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: [22, 3, 3, 0, 1, 1]))
    driver.refuseVideo()
    #expect(driver.startFailures.last?.hasSuffix("TLS handshake: message 1 is not accepted") == true)
    driver.wait(.seconds(5))
    driver.acknowledgeVideo()
    #expect(driver.failure == .notEncrypted(.video, reason: "it answered in clear, without a TLS handshake"))
  }

  /// Two unfinished handshakes in a row end the session, not two with a complete one in between.
  @Test func unfinishedHandshakes() {
    let driver = AppDriver.encrypting(.require)
    let first = SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: [22, 3, 3, 0, 1, 1])
    driver.receive(first)
    driver.wait(.seconds(5))
    driver.control(.endServiceACK, .video)
    driver.wait(.seconds(3))
    driver.shakeHands()
    driver.acknowledgeEncrypted(.video)
    #expect(driver.isStreaming && driver.startFailures.count == 1)
    for count in 2...3 {
      driver.setVideoRequest(nil)
      driver.control(.endServiceACK, .video)
      driver.setVideoRequest(AppDriver.videoRequest)
      driver.wait(.seconds(5))
      driver.receive(first)
      driver.wait(.seconds(5))
      #expect(driver.failure == (count == 3 ? .handshakeLost : nil))
    }
  }

  /// An acknowledgement that is encrypted without a handshake can't be read.
  @Test(arguments: [(finishes: false, sent: "→ EndService video"), (true, "→ UnregisterAppInterface request")])
  func encryptedAnswerWithoutHandshake(finishes: Bool, sent: String) {
    let driver = AppDriver.encrypting(.require)
    _ = driver.take()
    if finishes { driver.finish() }
    var frame = Frame.control(
      .startServiceACK, service: .video, version: 5, sessionID: AppDriver.sessionID, payload: [1, 2, 3])
    frame.header.isEncrypted = true
    driver.receive(frame)
    #expect(!driver.isStreaming)
    #expect(driver.take().filter { $0.hasPrefix("→ End") || $0.hasPrefix("→ Unregister") } == [sent])
  }

  /// What the app is sent as a handshake may be anything, and as much of it as the head unit likes.
  @Test func hostileQueries() {
    let driver = AppDriver.encrypting(.require)
    _ = driver.take()
    var messageID: UInt32 = 500
    func send(_ payload: [UInt8]) {
      messageID += 1
      driver.receiveSecurity(payload, messageID: messageID)
    }
    for query in [
      SecurityQuery(type: 0, queryID: 1, sequenceNumber: 7, binary: []),
      SecurityQuery(type: 0, queryID: 99, sequenceNumber: 7, binary: [1]),
      SecurityQuery(type: 0x20, queryID: 2, sequenceNumber: 0, json: Array("{\"id\":\"x\"}".utf8)),
      SecurityQuery(type: 0x20, queryID: 2, sequenceNumber: 0, json: Array("nonsense".utf8), binary: [8]),
      SecurityQuery(
        type: 0x20, queryID: 2, sequenceNumber: 0,
        json: Array("{\"text\":\"\(String(repeating: "x", count: 100_000))\"}".utf8)),
    ] { send(query.bytes) }
    send([1, 2, 3])
    send(Array(SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, json: [1, 2, 3]).bytes.dropLast()))
    #expect(driver.failure == nil)
    #expect(driver.diagnostics.allSatisfy { $0.count < 400 })
    // Each gets an answer at most.
    for _ in 0..<500 { send(SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: [9, 9, 9]).bytes) }
    #expect(driver.frames.count < 600)
    #expect(driver.failure == nil)
  }

  /// Nothing is sent in clear because this end was given no TLS.
  @Test func withoutAChannel() {
    let driver = AppDriver.encrypting(.require, makeSecureChannel: nil)
    driver.acknowledgeVideo()
    #expect(driver.session.status.video.grant == nil)
    #expect(driver.failure != nil)
  }

  /// A head unit may begin a hundred handshakes in a session.
  @Test func handshakesAreBounded() {
    let driver = AppDriver.encrypting(.prefer)
    let query = SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: [22, 3, 3, 0, 1, 7]).bytes
    let answers = (1...102).map { number in
      _ = driver.take()
      driver.receiveSecurity(query, messageID: UInt32(400 + number))
      return driver.sentQueries.last?.error.text
    }
    #expect(answers.firstIndex(of: "too many handshakes") == 100)
    #expect(Set(answers).count == 2)
  }
}
