import Testing

@testable import SDLApp

/// What is requested of the head unit, as driver, app, pipeline and connection come and go.
@Suite struct VideoNegotiationServiceTests {
  private static let size = VideoSize(320, 240)
  private static let other = VideoSize(480, 320)

  /// The request depends on what holds, not on what the driver does: the session waits for the driver.
  @Test func requestsThatTheDriverDoesNotChange() {
    let driver = NegotiationDriver.streaming([Self.size])
    for level in HMILevel.allCases {
      driver.show(level)
      driver.show(level, isStreamable: false)
    }
    driver.setAppState(.background)
    driver.setAppState(.foreground)
    driver.publish { $0.hmi = nil }
    #expect(driver.request == VideoStartRequest(size: Self.size) && driver.take() == [])
  }

  @Test func endOfStream() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.change { $0.streamEnded() }
    #expect(driver.take() == ["request nothing"] && !driver.negotiation.hasServiceEnded)
    driver.runSession()
    #expect(driver.take() == ["stopped app"] && driver.negotiation.hasServiceEnded)
    // Another stream, or a seek.
    driver.change { $0.streamBegan() }
    driver.runSession()
    #expect(driver.take() == ["request RAW 320×240", "started 320×240 restarted"])
  }

  /// As in the first PAUSED, the picture is to be seen.
  @Test func pausedSeekAfterTheEnd() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.change { $0.streamEnded() }
    driver.runSession()
    driver.change { $0.paused() }
    driver.change { $0.streamBegan() }
    driver.runSession()
    #expect(driver.take().last == "started 320×240 restarted" && driver.frame() == "sent")
  }

  /// Whatever came in between, the last status counts: for a stream that is attached late, and where several changes
  /// come as one.
  @Test func statusesInOne() {
    func grant(_ epoch: UInt32) -> VideoGrant {
      VideoGrant(
        media: MediaGrant(service: .video, epoch: epoch, sessionID: 1, version: 5, maximumPayload: 1000),
        size: Self.size)
    }
    let former = NegotiationDriver.streaming([Self.size])
    let driver = NegotiationDriver()
    driver.input(Self.size)
    driver.change { $0.played() }
    driver.session = former.session
    driver.publish { $0.video.wait = nil }
    #expect(driver.take() == ["started 320×240 first-start", "request RAW 320×240"] && driver.frame() == "sent")
    // Suspended, resumed, ended and started again.
    driver.publish {
      $0.video.end = AppSession.ServiceEnd(epoch: 1, reason: .headUnit)
      $0.video.grant = grant(2)
    }
    #expect(driver.take() == ["stopped head-unit", "suspension", "started 320×240 restarted"])
    #expect(driver.frame() == "sent" && driver.queuedEpoch == 2)
    driver.publish { $0.video.grant = grant(2) }
    #expect(driver.take() == [])
  }

  /// The application hears once why there is no video, and nothing of an end that it hears of anyway.
  @Test func waitForATransport() {
    let driver = NegotiationDriver.playing([Self.size])
    _ = driver.take()
    driver.publish { $0.video.wait = .secondaryTransport }
    driver.publish { $0.video.wait = nil }
    #expect(driver.take() == ["waiting secondary-transport"])
    #expect(driver.error == nil)
    driver.change { $0.streamEnded() }
    driver.publish { $0.video.wait = .noTransport }
    #expect(driver.take() == ["request nothing"])
  }

  /// Bluetooth bounds the bitrate, whatever the user or the head unit would like.
  @Test func bitrateOfTheTransport() {
    let driver = NegotiationDriver.streaming([Self.size])
    var settings = VideoNegotiation.Settings()
    settings.encoder.bitrate = 3000
    driver.change { $0.settings = settings }
    #expect(driver.negotiation.permission?.targets.bitrate == 3000)
    driver.stop(.moved)
    driver.transportClass = .bluetooth
    driver.runSession()
    #expect(driver.negotiation.permission?.targets.bitrate == 800)
    #expect(driver.negotiation.permission?.targets.ceiling == 800)
  }

  @Test(arguments: [true, false]) func endWhileSuspended(byDriver: Bool) {
    let driver = NegotiationDriver.streaming([Self.size])
    if byDriver { driver.show(.background) } else { driver.setAppState(.background) }
    driver.runSession()
    driver.change { $0.streamEnded() }
    driver.runSession()
    #expect(driver.take().last == (byDriver ? "request nothing" : "stopped app"))
    // There is nothing left to resume.
    driver.setAppState(.foreground)
    driver.show(.full)
    driver.runSession()
    #expect(driver.take() == [] && driver.starts.count == 1)
  }

  @Test func flushBeginsANewStream() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.change { $0.streamEnded() }
    driver.change { $0.flushed() }
    #expect(driver.take() == ["request nothing", "request RAW 320×240"])
    driver.runSession()
    #expect(driver.frame() == "sent")
  }

  /// What was refused is no reason to bother an upstream that has ended.
  @Test func endAfterARefusal() {
    let driver = NegotiationDriver.playing([Self.other, Self.size])
    driver.refusals = [["width"]]
    driver.runSession()
    _ = driver.frame()
    driver.renegotiate()
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts == ["RAW 480×320", "RAW 320×240"])
    driver.change { $0.streamEnded() }
    _ = driver.take()
    driver.runSession()
    #expect(driver.take() == ["stopped app"])
  }

  @Test func reconnection() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.loseConnection()
    #expect(driver.take() == ["stopped connection-lost", "request nothing", "suspension"])
    #expect(driver.negotiation.streamState == .stopped)
    // Status and frames come before the head unit has said what it takes.
    driver.show()
    #expect(driver.frame() == "dropped notStreaming" && driver.request == nil)
    driver.announce([Self.size])
    driver.runSession()
    #expect(driver.take() == ["request RAW 320×240", "started 320×240 reconnected"])
    #expect(driver.frame() == "sent")
  }

  @Test func reconnectionToAnotherHeadUnit() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.loseConnection()
    driver.announce([Self.other], over: [.rtp])
    driver.show()
    driver.renegotiate()
    driver.runSession()
    #expect(driver.frame() == "sent")
    #expect(
      driver.take() == [
        "stopped connection-lost", "request nothing", "suspension", "request RTP 480×320", "reconfigure",
        "started 480×320 reconnected", "resized 320×240 to 480×320",
      ])
  }

  /// An override is that of one connection.
  @Test func reconnectionForgetsTheOverride() {
    let driver = NegotiationDriver.playing([Self.size])
    driver.overridingSize = Self.other
    driver.runSession()
    driver.loseConnection()
    driver.overridingSize = nil
    #expect(driver.negotiation.acceptedDisplays?.map(\.streamSize) == [Self.size])
    driver.announce([Self.size])
    driver.show()
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts == ["RAW 320×240", "RAW 320×240"])
  }

  /// What was to follow the kept service is not known of the next head unit.
  @Test func reconnectionForgetsTheLaterChoice() {
    let driver = NegotiationDriver.streaming([Self.size]) { $0.resizePolicy = .keep }
    driver.announce([Self.other])
    // Whether or not the session ends the service first.
    driver.running = nil
    driver.loseConnection()
    #expect(driver.negotiation.acceptedDisplays?.map(\.streamSize) == [Self.size])
    #expect(driver.take().contains("stopped connection-lost"))
  }

  @Test func resumptionOfTheService() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.setAppState(.resigning)
    #expect(driver.frame() == "dropped suspended" && driver.negotiation.grantWithTime != nil)
    driver.runSession()
    driver.setAppState(.regaining)
    // Not before the session has resumed it.
    #expect(driver.frame() == "dropped suspended")
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts.count == 1)
  }

  /// A service that opens while the app has left already is announced when the app is back.
  @Test func startWhileTheAppIsAway() {
    let driver = NegotiationDriver.playing([Self.size])
    driver.setAppState(.background)
    driver.grant(VideoStartRequest(size: Self.size))
    #expect(driver.frame() == "dropped suspended")
    driver.publish { $0.video.state = .suspended }
    driver.setAppState(.foreground)
    #expect(!driver.take().contains { $0.hasPrefix("started") })
    driver.publish { $0.video.state = .streaming }
    #expect(driver.take() == ["started 320×240 first-start"] && driver.frame() == "sent")
  }

  @Test func supportedDisplaysAreThoseThatUpstreamCanSend() {
    let driver = NegotiationDriver.playing([])
    driver.upstreamSizes = [Self.other]
    driver.announce([Self.size, Self.other], fallbacks: [VideoSize(160, 120)])
    #expect(driver.supported.last?.map(\.size) == [Self.other])
    #expect(driver.negotiation.knownDisplays?.count == 3)
  }

  /// The state of the app is passed on after the request, which depends on it: a service of a former size is not
  /// resumed.
  @Test func requestBeforeTheAppState() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.setAppState(.background)
    driver.runSession()
    driver.announce([Self.other])
    driver.wait(.seconds(1))
    driver.negotiation.appStateChanged(.foreground)
    #expect(
      driver.negotiation.takeOutputs(at: driver.now) == [
        .request(VideoStartRequest(size: Self.other)), .appState(.foreground),
      ])
  }

  /// Manual changes of driver and app, of which the last counts.
  @Test func manyChangesEndInTheLast() {
    let driver = NegotiationDriver.streaming([Self.size])
    for round in 0..<200 {
      driver.setAppState(AppState.allCases[round % 4])
      if round % 3 == 0 { driver.show(round % 2 == 0 ? .background : .full) }
      if round % 5 == 0 { driver.runSession() }
      _ = driver.frame()
      driver.wait(.milliseconds(10))
    }
    driver.show(.full)
    driver.setAppState(.foreground)
    driver.runSession()
    #expect(driver.frame() == "sent")
    let messages = driver.take().filter { $0.hasPrefix("st") || $0.hasPrefix("suspended") }
    #expect(zip(messages, messages.dropFirst()).allSatisfy { $0.0.prefix(5) != $0.1.prefix(5) }, "\(messages)")
  }
}
