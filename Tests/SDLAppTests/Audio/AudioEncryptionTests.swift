import SDLApp
import SDLHeadUnit
import TestSupport
import Testing

/// Encrypted sound, alone and beside video, with a channel that only looks like TLS.
@Suite struct AudioEncryptionTests {
  private static let samples: [UInt8] = (0..<640).map { UInt8(truncatingIfNeeded: $0) }
  private static let picture: [UInt8] = [0, 0, 0, 1, 0x67, 0x42]

  /// Both are registered, and nothing is asked for; the app is in FULL after 100 ms.
  private func sessions(
    _ policy: EncryptionPolicy = .require, _ security: HeadUnitSecurity = .accept,
    handshake: HeadUnitBehaviour.Handshake = .regular, encryption: MediaEncryption = .authenticateAndEncrypt,
    seed: UInt64 = 1
  ) -> JoinedSessions {
    let sessions = JoinedSessions.encrypting(encryption, policy, security, handshake: handshake, seed: seed) {
      $0.behaviour.dropsToNoneAfterRefusal = false
    }
    sessions.wait(.milliseconds(50))
    _ = sessions.take()
    return sessions
  }

  @Test(arguments: JoinedSessions.seeds) func soundAlone(seed: UInt64) {
    let sessions = sessions(.require, .require, seed: seed)
    sessions.setAudioRequest(AudioStartRequest())
    sessions.wait(.milliseconds(100))
    #expect(
      sessions.take() == [
        "← OnHMIStatus FULL STREAMABLE", "• status FULL STREAMABLE", "→ StartService audio encrypted",
        "← single control", "→ single control", "← single control", "→ single control", "• secured XOR",
        "← StartServiceACK audio encrypted", "• audio started 16000 Hz, 16 bit epoch 1",
      ])
    let grant = sessions.app.status.audio.grant
    #expect(grant?.isEncrypted == true && grant?.maximumPayload == SecurePayload.recordLimit)
    #expect(sessions.sendAudio(Self.samples) && sessions.heard == [Self.samples])
    #expect(sessions.violations == [])
  }

  /// The start of sound follows the answer to that of video; one handshake and one count of records serve both.
  @Test func besideVideo() {
    let sessions = sessions(.require, .require)
    sessions.setVideoRequest(AppDriver.videoRequest)
    sessions.setAudioRequest(AudioStartRequest())
    sessions.wait(.milliseconds(100))
    let lines = sessions.take()
    #expect(lines.filter { $0 == "• secured XOR" }.count == 1)
    let starts = lines.filter { $0.contains("StartService") }
    #expect(
      starts == [
        "→ StartService video 800×480 RAW H264 encrypted", "← StartServiceACK video encrypted",
        "→ StartService audio encrypted", "← StartServiceACK audio encrypted",
      ])
    for _ in 0..<3 {
      #expect(sessions.sendVideo(Self.picture) && sessions.sendAudio(Self.samples))
    }
    #expect(sessions.received.count == 3 && sessions.heard.count == 3)
    // Video is started again while sound runs.
    sessions.setVideoRequest(nil)
    sessions.setVideoRequest(AppDriver.videoRequest)
    sessions.wait(.milliseconds(100))
    #expect(sessions.sendAudio(Self.samples) && sessions.sendVideo(Self.picture))
    #expect(sessions.heard.count == 4 && sessions.received.count == 4)
  }

  /// An answer in clear is an error that names the cause, or with `prefer` a warning and sound in clear.
  @Test func answersInClear() {
    for (security, handshake, text) in [
      (HeadUnitSecurity.refuse, HeadUnitBehaviour.Handshake.regular, "without a TLS handshake"),
      (.accept, .clear, "although the TLS handshake was completed"), (.accept, .expired, "has expired"),
    ] {
      let required = sessions(.require, security, handshake: handshake)
      required.setAudioRequest(AudioStartRequest())
      required.wait(.milliseconds(100))
      if case .notEncrypted(.audio, let reason) = required.failure {
        #expect(reason.contains(text), "\(reason)")
      } else {
        Issue.record("\(handshake): \(String(describing: required.failure))")
      }
      #expect(required.take().contains("→ EndService audio"))
      let preferred = sessions(.prefer, security, handshake: handshake)
      preferred.setAudioRequest(AudioStartRequest())
      preferred.wait(.milliseconds(100))
      #expect(preferred.failure == nil && preferred.app.status.audio.grant?.isEncrypted == false)
      #expect(preferred.take().contains("• sound in clear"))
      #expect(preferred.sendAudio(Self.samples) && preferred.heard == [Self.samples])
    }
    #expect("\(AppSessionFailure.notEncrypted(.audio, reason: "x"))".contains("does not encrypt the sound: x"))
  }

  /// Each service has an answer of its own: what was refused encrypted is asked for in clear the next time.
  @Test func refusedSoundIsGivenUpAlone() {
    let sessions = sessions(.prefer)
    sessions.headUnitDoes { $0.change(.audioStart(.reject), now: $1) }
    sessions.setVideoRequest(AppDriver.videoRequest)
    sessions.setAudioRequest(AudioStartRequest())
    sessions.wait(.milliseconds(100))
    _ = sessions.take()
    sessions.headUnitDoes { $0.change(.audioStart(.acknowledge), now: $1) }
    sessions.wait(.seconds(2))
    #expect(sessions.take().contains("→ StartService audio"))
    #expect(sessions.app.status.audio.grant?.isEncrypted == false)
    #expect(sessions.app.status.video.grant?.isEncrypted == true)
  }

  /// Registered, and asks for both; sound starts first, because video may not be shown yet.
  @Test func startsFollowOneAnother() {
    let driver = AppDriver.encrypting(.require)
    driver.status(.full, .notStreamable, audio: .audible)
    driver.control(.startServiceNAK, .video)
    driver.setAudioRequest(AudioStartRequest())
    _ = driver.take()
    driver.wait(.seconds(3))
    driver.status(.full, .streamable, audio: .audible)
    driver.wait(.seconds(3))
    let lines = driver.take().filter { $0.hasPrefix("→ StartService") }
    #expect(!lines.contains { $0.contains("video") }, "\(lines)")
    driver.control(.startServiceNAK, .audio)
    #expect(driver.take().contains("→ StartService video 800×480 RAW H264 encrypted"))
  }

  /// An acknowledgement that is encrypted without a handshake can't be read.
  @Test func encryptedAnswerWithoutHandshake() {
    let driver = AppDriver.registeredWithTLS()
    driver.answerCapability()
    driver.setAudioRequest(AudioStartRequest())
    driver.status(.full, .streamable, audio: .audible)
    _ = driver.take()
    var frame = Frame.control(
      .startServiceACK, service: .audio, version: 5, sessionID: AppDriver.sessionID, payload: [1, 2, 3])
    frame.header.isEncrypted = true
    driver.receive(frame)
    #expect(driver.take().contains("→ EndService audio"))
    #expect(driver.session.status.audio.grant == nil && driver.failure == nil)
  }

  /// TLS numbers the records of both services together, and nothing keeps those of two connections in order.
  @Test func oneTransportForBoth() {
    var configuration = AppDriver.configuration
    configuration.encryption = .authenticateAndEncrypt
    let driver = AppDriver.registeredSecondary(
      video: [2, 1], audio: [1], configuration, makeSecureChannel: { FakeChannel(isServer: true) })
    #expect(driver.take().contains("⇒ StartService video 800×480 RAW H264 encrypted"))
    driver.control(.startServiceNAK, .video, on: .secondary)
    driver.setAudioRequest(AudioStartRequest())
    #expect(driver.take().last == "→ StartService audio encrypted")
    driver.control(.startServiceNAK, .audio)
    driver.wait(.seconds(2))
    #expect(driver.take().contains("→ StartService video 800×480 RAW H264 encrypted"))
  }
}
