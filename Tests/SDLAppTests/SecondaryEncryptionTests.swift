import TestSupport
import Testing

@testable import SDLApp

/// Encrypted video and sound on a secondary transport, in a session whose head unit is the test.
@Suite struct SecondaryEncryptionTests {
  private static var encrypting: AppSession.Configuration {
    var configuration = AppDriver.configuration
    configuration.encryption = .authenticateAndEncrypt
    return configuration
  }

  /// The handshake runs on the primary transport, also for a start on the secondary one.
  private func encrypted(
    _ service: ServiceType = .video, video: [Int32] = [2, 1], audio: [Int32] = [1]
  ) -> AppDriver {
    let driver = AppDriver.registeredSecondary(
      video: video, audio: audio, request: service == .video ? AppDriver.videoRequest : nil, Self.encrypting,
      makeSecureChannel: { FakeChannel(isServer: true) })
    if service == .audio { driver.setAudioRequest(AudioStartRequest()) }
    let client = FakeChannel(isServer: false)
    for query in SecurityQuery.handshake(
      client.begin().output, type: SecurityQuery.request, sequenceNumber: 1, limit: 1000)
    {
      driver.sendQuery(query)
    }
    driver.sendQuery(
      SecurityQuery.handshake(
        [22, 3, 3, 0, 1, 3], type: SecurityQuery.request, sequenceNumber: 2, limit: 1000)[0])
    acknowledge(service, on: (service == .video ? video : audio).first == 2 ? .secondary : .primary, driver)
    return driver
  }

  private func acknowledge(_ service: ServiceType, on role: TransportRole, _ driver: AppDriver) {
    var acknowledgement = Frame.control(
      .startServiceACK, service: service, version: 5, sessionID: AppDriver.sessionID)
    acknowledgement.header.isEncrypted = true
    role == .secondary ? driver.receiveOnSecondary(acknowledgement) : driver.receive(acknowledgement)
  }

  /// The head unit's policy requires it.
  private func encryptRPCs(_ driver: AppDriver) {
    driver.notify(.onPermissionsChange, ["requireEncryption": .bool(true)])
    acknowledge(.rpc, on: .primary, driver)
  }

  @Test func encryptedVideoOnTheSecondary() {
    let driver = encrypted()
    let lines = driver.take()
    #expect(lines.contains("⇒ StartService video 800×480 RAW H264 encrypted"))
    #expect(lines.filter { $0 == "→ single control" }.count == 2)
    #expect(driver.session.status.video.grant?.isEncrypted == true)
    #expect(driver.session.status.video.grant?.role == .secondary)
  }

  /// Records were lost on the way, without which no later one can be decrypted: only a new session helps.
  @Test func lossOfEncryptedVideo() {
    let driver = encrypted()
    _ = driver.take()
    driver.loseSecondary()
    #expect(driver.take() == ["⇒ close", "• stopped transport-lost", "• failed", "■"])
    #expect(driver.failure == .encryptedTransportLost)
    #expect(driver.failure?.canHeal == true)
  }

  /// The end of a service that is confirmed says that all of its records have arrived.
  @Test(arguments: [true, false]) func lossAfterTheEnd(isConfirmed: Bool) {
    let driver = encrypted()
    driver.setVideoRequest(nil)
    if isConfirmed { driver.control(.endServiceACK, .video, on: .secondary) }
    driver.wait(.seconds(2))
    #expect(driver.session.status.video.state == .stopped)
    driver.loseSecondary()
    #expect(driver.failure == (isConfirmed ? nil : .encryptedTransportLost))
  }

  /// A head unit that ends the service itself, as SDL Core does when the driver leaves, confirms nothing more; the app's
  /// acknowledgement follows all records.
  @Test(arguments: [(1000, true), (19_999, true), (20_000, false), (30_000, false)])
  func lossAfterTheHeadUnitsEnd(milliseconds: Int, isSoon: Bool) {
    let driver = encrypted()
    driver.control(.endService, .video, on: .secondary)
    driver.status(.background, .notStreamable)
    driver.wait(milliseconds: milliseconds)
    #expect(driver.session.status.video.state == .stopped)
    driver.loseSecondary()
    #expect(driver.failure == (isSoon ? .encryptedTransportLost : nil))
  }

  /// The records of a service that runs may be under way, however long ago the head unit has ended the one before.
  @Test func lossOfTheServiceAfterTheHeadUnitsEnd() {
    let driver = encrypted()
    driver.control(.endService, .video, on: .secondary)
    driver.wait(.seconds(3))
    acknowledge(.video, on: .secondary, driver)
    #expect(driver.session.status.video.grant?.isEncrypted == true)
    driver.wait(.seconds(30))
    driver.loseSecondary()
    #expect(driver.failure == .encryptedTransportLost)
  }

  /// Nor does the next service have to stay on that transport.
  @Test func moveAfterTheHeadUnitsEnd() {
    let driver = encrypted()
    driver.control(.endService, .video, on: .secondary)
    driver.status(.limited, .notStreamable, audio: .audible)
    driver.setVideoRequest(nil)
    driver.wait(.seconds(30))
    _ = driver.take()
    driver.setAudioRequest(AudioStartRequest())
    #expect(driver.take().contains("→ StartService audio encrypted"))
    #expect(driver.failure == nil)
  }

  /// Records of the next service on the same transport come after those of the one before; its start does not say that
  /// they have arrived.
  @Test func lossAfterAnUnconfirmedEndAndTheNextStart() {
    let driver = encrypted()
    driver.setVideoRequest(nil)
    driver.wait(.seconds(2))
    driver.setVideoRequest(AppDriver.videoRequest)
    #expect(driver.session.status.video.state == .starting)
    driver.loseSecondary()
    #expect(driver.failure == .encryptedTransportLost)
  }

  /// The same for sound, and whatever the other transport could carry.
  @Test(arguments: [[2, 1], [2]] as [[Int32]]) func lossOfEncryptedSound(list: [Int32]) {
    let driver = encrypted(.audio, audio: list)
    #expect(driver.session.status.audio.grant?.isEncrypted == true)
    #expect(driver.session.status.audio.grant?.role == .secondary)
    _ = driver.take()
    driver.loseSecondary()
    #expect(driver.take() == ["⇒ close", "• audio stopped transport-lost", "• failed", "■"])
    #expect(driver.failure == .encryptedTransportLost)
  }

  /// No transport may carry both: sound gives way, also where nothing but the secondary one could carry video.
  @Test func disjointTransports() {
    let driver = encrypted(video: [2], audio: [1])
    driver.setAudioRequest(AudioStartRequest())
    driver.wait(WaitAnnouncement.settlingTime)
    #expect(driver.session.status.audio.wait == .noTransport)
    #expect(driver.session.status.video.grant?.isEncrypted == true)
    #expect(!driver.take().contains { $0.contains("StartService audio") })
    // Once there is no video any more, sound need not give way.
    driver.setVideoRequest(nil)
    driver.control(.endServiceACK, .video, on: .secondary)
    #expect(driver.session.status.audio.wait == nil)
    #expect(driver.take().contains("→ StartService audio encrypted"))
  }

  /// TLS numbers its records, and nothing keeps those of two connections in order.
  @Test(arguments: [[2, 1], [2]] as [[Int32]]) func encryptedRPCsKeepVideoOnThePrimary(list: [Int32]) {
    let driver = encrypted(video: list)
    _ = driver.take()
    encryptRPCs(driver)
    #expect(driver.session.status.isRPCEncrypted)
    #expect(driver.take().contains("• stopped moved") == list.contains(1))
  }

  /// Video that can't be beside them would wait for the end of sound that stays there.
  @Test(arguments: [[1], [2]] as [[Int32]]) func soundGivesWayBesideEncryptedRPCs(list: [Int32]) {
    let driver = encrypted(.audio, video: list == [1] ? [2] : [1], audio: list)
    encryptRPCs(driver)
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.control(.endServiceACK, .audio, on: list == [1] ? .primary : .secondary)
    driver.wait(WaitAnnouncement.settlingTime)
    #expect(driver.session.status.audio.wait == .noTransport)
    #expect(driver.session.status.video.state == .starting)
  }

  /// Nor may records on the primary overtake those that may still be on their way.
  @Test(arguments: [true, false]) func aMoveWaitsForTheEnd(isConfirmed: Bool) {
    let driver = encrypted()
    encryptRPCs(driver)
    #expect(driver.session.status.video.state == .stopping)
    _ = driver.take()
    if isConfirmed { driver.control(.endServiceACK, .video, on: .secondary) }
    driver.wait(.seconds(6))
    #expect(driver.failure == (isConfirmed ? nil : .encryptedTransportLost))
    #expect(driver.take().contains("→ StartService video 800×480 RAW H264 encrypted") == isConfirmed)
  }
}
