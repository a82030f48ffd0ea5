import Testing

@testable import SDLApp

/// Which transport carries which service, in a session whose head unit is the test.
@Suite struct SecondaryServiceTests {
  private static let open = "⇒ open 192.0.2.1:54321"
  private static let register = "⇒ RegisterSecondaryTransport control"
  private static let start = "StartService video 800×480 RAW H264"

  /// SDL-0141 with `videoServiceTransports` [2]: no video on the primary transport, ever.
  @Test func sequenceChart() {
    let driver = AppDriver.offered(video: [2])
    #expect(driver.session.secondaryTransport.state == .waiting)
    driver.status(.full, .streamable)
    #expect(
      driver.take() == [
        "• status FULL STREAMABLE", Self.open, "• secondary connecting 192.0.2.1:54321",
      ])
    driver.connectSecondary()
    #expect(driver.secondaryFrames.map(\.bytes) == [[0x50, 0, 7, 1, 0, 0, 0, 0, 0, 0, 0, 1]])
    #expect(driver.take() == [Self.register, "• secondary registering 192.0.2.1:54321"])
    driver.control(.registerSecondaryTransportACK, .control, messageID: 2, on: .secondary)
    #expect(driver.take() == ["⇒ \(Self.start)", "• secondary registered 192.0.2.1:54321"])
    driver.acknowledgeVideo(on: .secondary)
    #expect(driver.take() == ["• started 800×480 epoch 1"])
    #expect(driver.session.status.video.grant?.role == .secondary)
    driver.finish()
    // One connection could overtake the other.
    #expect(driver.take() == ["• stopped app", "⇒ EndService video"])
    driver.control(.endServiceACK, .video, on: .secondary)
    #expect(driver.take() == ["→ UnregisterAppInterface request"])
    driver.respond(.unregisterAppInterface, RPCResult(success: true, resultCode: .success).json)
    driver.control(.endServiceACK, .rpc)
    #expect(driver.take().suffix(2) == ["⇒ close", "■"])
  }

  /// The end goes on when the services' end is not answered, or their transport is lost.
  @Test(arguments: [false, true]) func endWithoutAnAnswer(isLost: Bool) {
    let driver = AppDriver.streamingOnSecondary()
    driver.finish()
    #expect(driver.take() == ["• stopped app", "⇒ EndService video"])
    if isLost { driver.loseSecondary() } else { driver.wait(.milliseconds(500)) }
    #expect(driver.take().contains("→ UnregisterAppInterface request"))
    driver.wait(.seconds(1))
    #expect(driver.isClosed)
  }

  /// It may have been lost while the HMI status that says why the head unit ended the service was on its way.
  @Test func lossBehindAnEnd() {
    let driver = AppDriver.streamingOnSecondary()
    driver.control(.endService, .video, on: .secondary)
    #expect(driver.take() == ["⇒ EndServiceACK video"])
    driver.loseSecondary()
    #expect(driver.take().filter { $0.contains("stopped") } == ["• stopped head-unit"])
  }

  /// What ran on the former connection may still run for the head unit, even if the next one is refused at once.
  @Test func nextConnectionIsRefused() {
    let driver = AppDriver.streamingOnSecondary()
    driver.updateTransport("192.0.2.9", 5)
    driver.loseSecondary(reason: "connection refused")
    driver.wait(.milliseconds(190))
    #expect(!driver.take().contains("→ \(Self.start)"))
    driver.wait(.milliseconds(10))
    #expect(driver.take() == ["→ \(Self.start)"])
  }

  struct Row: Sendable {
    var list: [Int32]?
    /// Where video runs without a secondary transport, once one is there, and after its loss; nil for nowhere.
    var before: TransportRole?
    var with: TransportRole?
    var wait: TransportWait?
  }

  private static let rows = [
    Row(list: [1], before: .primary, with: .primary), Row(list: nil, before: .primary, with: .primary),
    Row(list: [2], before: nil, with: .secondary, wait: .secondaryTransport),
    Row(list: [2, 1], before: .primary, with: .secondary), Row(list: [1, 2], before: .primary, with: .primary),
    Row(list: [7, 2, 2, 1], before: .primary, with: .secondary),
    Row(list: [], before: nil, with: nil, wait: .noTransport),
  ]

  /// The sound's list has a secondary transport in it, so that there is one in every row.
  @Test(arguments: rows.indices) func lists(index: Int) {
    let row = Self.rows[index]
    let driver = AppDriver.offered(video: row.list, audio: [2])
    driver.status(.full, .streamable)
    driver.loseSecondary()
    driver.wait(.milliseconds(500))
    #expect(driver.session.status.video.state == (row.before == nil ? .stopped : .starting))
    #expect(driver.session.status.video.wait == row.wait)
    if row.before == .primary {
      driver.acknowledgeVideo()
      #expect(driver.session.status.video.grant?.role == .primary)
    }
    driver.wait(.seconds(1))
    driver.connectSecondary()
    driver.control(.registerSecondaryTransportACK, .control, on: .secondary)
    if row.before == .primary, row.with == .secondary {
      #expect(driver.session.status.video.grant == nil)
      driver.control(.endServiceACK, .video)
    }
    if row.with == .secondary { driver.acknowledgeVideo(on: .secondary) }
    #expect(driver.session.status.video.grant?.role == row.with)
    #expect(driver.session.status.video.wait == (row.with == nil ? row.wait : nil))
    driver.loseSecondary()
    if row.with == .secondary, row.before == .primary { driver.acknowledgeVideo() }
    driver.wait(.milliseconds(500))
    #expect(driver.session.status.video.grant?.role == row.before)
    #expect(driver.session.status.video.wait == row.wait)
  }

  /// EndService here, its answer, StartService there.
  @Test func moveOfARunningStream() {
    let driver = AppDriver.offered()
    driver.updateTransport(nil, nil)
    driver.status(.full, .streamable)
    driver.acknowledgeVideo()
    #expect(driver.session.status.video.grant?.role == .primary)
    _ = driver.take()
    driver.updateTransport("192.0.2.1", 54321)
    driver.connectSecondary()
    _ = driver.take()
    driver.control(.registerSecondaryTransportACK, .control, on: .secondary)
    #expect(
      driver.take() == ["• stopped moved", "→ EndService video", "• secondary registered 192.0.2.1:54321"])
    #expect(driver.session.status.video.grant == nil)
    driver.control(.endServiceACK, .video)
    #expect(driver.take() == ["⇒ \(Self.start)"])
    driver.acknowledgeVideo(on: .secondary)
    #expect(driver.take() == ["• started 800×480 epoch 2"])
    #expect(driver.session.status.video.grant?.role == .secondary)
  }

  /// The next start must not arrive before the end, which goes another way: it waits longer for the answer than on the
  /// same one.
  @Test func moveWithoutAnAnswer() {
    let driver = AppDriver.offered()
    driver.status(.full, .streamable)
    driver.wait(.seconds(1))
    driver.acknowledgeVideo()
    driver.connectSecondary()
    driver.control(.registerSecondaryTransportACK, .control, on: .secondary)
    #expect(driver.take().contains("• stopped moved"))
    driver.wait(.milliseconds(4999))
    #expect(driver.take() == [])
    driver.wait(.milliseconds(1))
    #expect(driver.take() == ["⇒ \(Self.start)"])
  }

  /// The start on the primary transport is not answered yet when the better one comes.
  @Test func moveOfAStart() {
    let driver = AppDriver.offered()
    driver.status(.full, .streamable)
    driver.wait(.seconds(1))
    #expect(driver.take().contains("→ \(Self.start)"))
    driver.connectSecondary()
    driver.control(.registerSecondaryTransportACK, .control, on: .secondary)
    _ = driver.take()
    driver.acknowledgeVideo()
    #expect(driver.take() == ["→ EndService video"])
    driver.control(.endServiceACK, .video)
    #expect(driver.take() == ["⇒ \(Self.start)"])
  }

  /// A service that is kept for an app in the background moves when the app is back.
  @Test func heldServiceMovesLater() {
    let driver = AppDriver.offered()
    driver.status(.full, .streamable)
    driver.wait(.seconds(1))
    driver.acknowledgeVideo()
    driver.setAppState(.background)
    driver.connectSecondary()
    driver.control(.registerSecondaryTransportACK, .control, on: .secondary)
    #expect(driver.session.status.video.grant?.role == .primary)
    _ = driver.take()
    driver.setAppState(.foreground)
    #expect(driver.take() == ["• stopped moved", "→ EndService video"])
  }

  /// Services wait a moment for the first secondary transport rather than start on the primary one and move at once.
  @Test func firstStartWaitsAMoment() {
    let driver = AppDriver.offered()
    driver.status(.full, .streamable)
    #expect(driver.take().allSatisfy { !$0.contains("StartService") })
    driver.wait(.milliseconds(999))
    #expect(driver.take() == [])
    driver.wait(.milliseconds(1))
    #expect(driver.take() == ["→ \(Self.start)"])
  }

  @Test func firstStartDoesNotWaitForAFailure() {
    let driver = AppDriver.offered()
    driver.status(.full, .streamable)
    _ = driver.take()
    driver.loseSecondary(reason: "connection refused")
    #expect(
      driver.take() == ["⇒ close", "→ \(Self.start)", "• secondary waiting 192.0.2.1:54321: connection refused"])
  }

  @Test func lossFallsBackAtOnce() {
    let driver = AppDriver.streamingOnSecondary()
    let time = driver.now
    driver.loseSecondary(reason: "reset")
    #expect(
      driver.take() == [
        "⇒ close", "• stopped transport-lost", "→ \(Self.start)", "• secondary waiting 192.0.2.1:54321: reset",
      ])
    driver.acknowledgeVideo()
    #expect(driver.isStreaming)
    #expect(driver.now == time)
    // And back.
    driver.wait(.seconds(1))
    #expect(driver.take().first == "• started 800×480 epoch 2")
    driver.connectSecondary()
    driver.control(.registerSecondaryTransportACK, .control, on: .secondary)
    #expect(driver.take().contains("• stopped moved"))
  }

  /// The end of one connection must not be overtaken by the start on the other.
  @Test func withdrawalFallsBackAfterAMoment() {
    let driver = AppDriver.streamingOnSecondary()
    driver.updateTransport(nil, nil)
    #expect(
      driver.take() == [
        "⇒ close", "• stopped transport-lost", "• secondary waiting 192.0.2.1:54321: the head unit has withdrawn it",
      ])
    driver.wait(.milliseconds(199))
    #expect(driver.take() == [])
    driver.wait(.milliseconds(1))
    #expect(driver.take() == ["→ \(Self.start)"])
  }

  @Test func lossWithoutFallbackWaits() {
    let driver = AppDriver.streamingOnSecondary(video: [2])
    driver.loseSecondary()
    #expect(
      driver.take() == [
        "⇒ close", "• stopped transport-lost", "• secondary waiting 192.0.2.1:54321: cut",
      ])
    driver.wait(.milliseconds(500))
    #expect(driver.take() == ["• video waits: secondary-transport"])
    driver.wait(.milliseconds(500))
    #expect(driver.take() == [Self.open, "• secondary connecting 192.0.2.1:54321: cut"])
    driver.connectSecondary()
    driver.control(.registerSecondaryTransportACK, .control, on: .secondary)
    #expect(driver.take().contains("⇒ \(Self.start)"))
    #expect(driver.session.status.video.wait == nil)
    // The former loss is no reason any more.
    let status = driver.session.secondaryTransport
    #expect(status.reason == nil && status.counters.attempts == 2 && status.counters.registrations == 2)
  }

  /// Both connections end together: there is nothing to wait for but the connection itself.
  @Test func lossOfBoth() {
    let driver = AppDriver.streamingOnSecondary(video: [2])
    driver.loseSecondary()
    driver.wait(.milliseconds(499))
    driver.lose()
    #expect(!driver.take().contains { $0.hasPrefix("• video waits") })
  }

  /// The driver, not the network, is what is missing.
  @Test func noWaitIsReportedWhileTheDriverDoesNotLook() {
    let driver = AppDriver.offered(video: [2])
    driver.updateTransport(nil, nil)
    #expect(driver.take() == [])
    driver.status(.full, .streamable)
    driver.wait(.milliseconds(500))
    #expect(driver.take() == ["• status FULL STREAMABLE", "• video waits: secondary-transport"])
    driver.status(.none, .notStreamable)
    #expect(driver.take() == ["• status NONE NOT_STREAMABLE", "• video waits: no more"])
  }

  @Test func unusedByTheApp() {
    var configuration = AppDriver.configuration
    configuration.usesSecondaryTransport = false
    for (list, wait) in [([2, 1], nil), ([2], TransportWait.secondaryTransportUnused)] as [([Int32], TransportWait?)] {
      let driver = AppDriver.offered(video: list, configuration)
      driver.status(.full, .streamable)
      driver.wait(.milliseconds(500))
      #expect(driver.secondaryAttempt == nil)
      #expect(driver.session.status.video.wait == wait)
      #expect(driver.session.secondaryTransport.state == .none)
    }
  }

  // MARK: Answers

  @Test func refusedRegistration() {
    let driver = AppDriver.offered()
    driver.status(.full, .streamable)
    driver.connectSecondary()
    _ = driver.take()
    let rejection = ServiceRejection(reason: "unknown session")
    // Its session is not ours.
    driver.receiveOnSecondary(
      .control(
        .registerSecondaryTransportNAK, service: .control, version: 5, sessionID: 9, messageID: 2,
        payload: rejection.bytes(version: 5)))
    #expect(
      driver.take() == [
        "⇒ close", "→ \(Self.start)",
        "• secondary waiting 192.0.2.1:54321: the head unit refused it: unknown session",
      ])
  }

  @Test func unansweredRegistration() {
    let driver = AppDriver.offered(video: [2])
    driver.status(.full, .streamable)
    driver.connectSecondary()
    _ = driver.take()
    driver.wait(.seconds(10))
    #expect(driver.take().contains("⇒ close"))
  }

  @Test func answersOnTheWrongTransport() {
    let driver = AppDriver.registeredSecondary()
    _ = driver.take()
    driver.acknowledgeVideo()
    #expect(driver.take() == ["• diagnostic", "→ EndService video"])
    #expect(driver.session.status.video.grant == nil)
    driver.refuseVideo()
    driver.control(.endServiceACK, .video)
    #expect(driver.take() == ["• diagnostic", "• diagnostic"])
    driver.acknowledgeVideo(on: .secondary)
    #expect(driver.isStreaming)
  }

  @Test func endByTheHeadUnitOnTheSecondary() {
    let driver = AppDriver.streamingOnSecondary()
    driver.control(.endService, .video, on: .secondary)
    driver.wait(.milliseconds(100))
    #expect(driver.take() == ["⇒ EndServiceACK video", "• stopped head-unit"])
  }

  @Test func heartbeatOnTheSecondary() {
    let driver = AppDriver.streamingOnSecondary()
    driver.control(.heartbeat, .control, messageID: 7, on: .secondary)
    #expect(driver.take() == ["⇒ HeartbeatACK control"])
  }

  @Test func garbageOnTheSecondary() {
    let driver = AppDriver.streamingOnSecondary()
    driver.receiveGarbageOnSecondary([1, 2, 3])
    #expect(driver.take().prefix(2) == ["⇒ close", "• stopped transport-lost"])
  }

  /// RPCs belong to the primary transport.
  @Test func otherFramesOnTheSecondary() {
    let driver = AppDriver.streamingOnSecondary()
    driver.control(.endService, .rpc, on: .secondary)
    driver.control(.startServiceACK, .rpc, on: .secondary)
    driver.control(.transportEventUpdate, .control, on: .secondary)
    #expect(driver.take() == ["• diagnostic", "• diagnostic", "• diagnostic"])
    #expect(driver.isStreaming)
  }

  @Test func lossOfThePrimaryEndsAll() {
    let driver = AppDriver.streamingOnSecondary()
    driver.lose()
    #expect(driver.take() == ["• stopped connection-lost", "• failed", "⇒ close", "■"])
    driver.connectSecondary()
    driver.loseSecondary()
    driver.acknowledgeVideo(on: .secondary)
    #expect(driver.take() == [])
  }

  // MARK: Sound and size

  @Test func soundHasAListOfItsOwn() {
    let driver = AppDriver.registeredSecondary(video: [1], audio: [2])
    driver.acknowledgeVideo()
    driver.setAudioRequest(AudioStartRequest())
    #expect(driver.take().last == "⇒ StartService audio")
    driver.control(.startServiceACK, .audio, on: .secondary)
    #expect(driver.session.status.audio.grant?.role == .secondary)
    #expect(driver.session.status.video.grant?.role == .primary)
    _ = driver.take()
    driver.loseSecondary()
    #expect(driver.take().prefix(2) == ["⇒ close", "• audio stopped transport-lost"])
    #expect(driver.isStreaming)
    driver.wait(.milliseconds(500))
    #expect(driver.session.status.audio.wait == .secondaryTransport)
  }

  /// Over Bluetooth frames are small and the bitrate is bounded, but not on the secondary transport.
  @Test func transportsHaveTheirOwnLimits() {
    var configuration = AppDriver.configuration
    configuration.primaryTransport = .bluetooth
    let driver = AppDriver.offered(configuration)
    driver.status(.full, .streamable)
    driver.wait(.seconds(1))
    driver.acknowledgeVideo()
    #expect(driver.session.status.video.grant?.maximumPayload == 8192)
    #expect(driver.session.status.video.grant?.transportClass == .bluetooth)
    driver.connectSecondary()
    driver.control(.registerSecondaryTransportACK, .control, on: .secondary)
    driver.control(.endServiceACK, .video)
    driver.acknowledgeVideo(on: .secondary)
    #expect(driver.session.status.video.grant?.maximumPayload == 131_060)
    #expect(driver.session.status.video.grant?.transportClass == .tcpWiFi)
  }
}
