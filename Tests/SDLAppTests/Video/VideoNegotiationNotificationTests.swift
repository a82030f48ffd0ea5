import Testing

@testable import SDLApp

/// What the application hears of the stream, and in which order.
@Suite struct VideoNegotiationNotificationTests {
  private static let size = VideoSize(320, 240)
  private static let other = VideoSize(480, 320)

  @Test func pauseAndPlay() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.change { $0.paused() }
    #expect(driver.take() == ["suspended paused"] && driver.negotiation.streamState == .suspended)
    // The service is kept.
    driver.runSession()
    #expect(driver.request != nil && driver.starts.count == 1)
    driver.change { $0.paused() }
    driver.change { $0.played() }
    #expect(driver.take() == ["started 320×240 resumed"] && driver.negotiation.streamState == .streaming)
  }

  /// A pipeline that prerolls has nothing to suspend, and requests nothing.
  @Test func preroll() {
    let driver = NegotiationDriver()
    driver.announce([Self.size])
    driver.show()
    driver.input(Self.size)
    driver.change { $0.paused() }
    #expect(driver.take() == [])
    driver.change { $0.played() }
    driver.runSession()
    #expect(driver.take() == ["request RAW 320×240", "started 320×240 first-start"])
  }

  /// What opens during a pause is announced when something may be sent.
  @Test func startDuringAPause() {
    let driver = NegotiationDriver.playing([Self.size])
    driver.change { $0.paused() }
    driver.runSession()
    #expect(driver.take() == ["request RAW 320×240"])
    driver.change { $0.played() }
    #expect(driver.take() == ["started 320×240 first-start"])
  }

  @Test func pauseWhileTheAppIsAway() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.setAppState(.background)
    driver.runSession()
    driver.change { $0.paused() }
    driver.setAppState(.foreground)
    driver.runSession()
    #expect(driver.take() == ["suspended app-state"])
    driver.change { $0.played() }
    #expect(driver.take() == ["started 320×240 resumed"])
  }

  /// An application that plays and pauses as it is asked to.
  @Test(arguments: [true, false]) func requestPauseAndPlay(byDriver: Bool) {
    let driver = NegotiationDriver.streaming([Self.size])
    for _ in 0..<3 {
      if byDriver { driver.show(.background) } else { driver.setAppState(.background) }
      driver.runSession()
      let ended = byDriver ? ["stopped hmi-status", "suspension"] : ["suspended app-state"]
      #expect(driver.take() == ended)
      #expect(driver.frame(.synchronized) == "waits" && driver.take() == ["pause"])
      driver.change { $0.paused() }
      #expect(driver.take() == [])
      if byDriver { driver.show(.full) } else { driver.setAppState(.foreground) }
      driver.runSession()
      #expect(driver.take() == ["started 320×240 \(byDriver ? "restarted" : "resumed")", "play"])
      driver.change { $0.played() }
      #expect(driver.take() == [] && driver.frame(.synchronized) == "sent")
    }
  }

  /// The app is back before the application has paused: both requests come, in order.
  @Test func requestsComeInPairs() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.setAppState(.background)
    driver.runSession()
    _ = driver.frame(.synchronized)
    driver.setAppState(.foreground)
    driver.runSession()
    driver.change { $0.paused() }
    driver.change { $0.played() }
    let requests = driver.take().filter { $0 == "pause" || $0 == "play" }
    #expect(requests == ["pause", "play"])
  }

  /// No service comes any more, for which an application that pauses late would wait.
  @Test func theEndTakesARequestBack() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.show(.background)
    driver.runSession()
    #expect(driver.frame(.synchronized) == "waits")
    _ = driver.take()
    driver.change { $0.streamEnded() }
    driver.change { $0.paused() }
    #expect(driver.take() == ["request nothing", "play"])
    driver.change { $0.streamEnded() }
    #expect(driver.take() == [])
  }

  /// Upstream has to change before anything can start: then a pipeline that was asked to pause is asked to play before.
  /// Raw video is requested in the size to come, so that the service comes first.
  @Test(arguments: [true, false]) func resizeDuringARequestedPause(isRaw: Bool) {
    let driver = NegotiationDriver.streaming([Self.size], isRaw: isRaw)
    // Encoders answer with what they send now.
    if !isRaw { driver.upstreamSizes = [Self.size] }
    driver.show(.background)
    driver.runSession()
    _ = driver.frame(.synchronized)
    driver.change { $0.paused() }
    driver.announce([Self.other])
    #expect(!driver.take().contains("play"))
    driver.wait(.seconds(1))
    _ = driver.take()
    driver.show(.full)
    #expect(driver.take() == (isRaw ? [] : ["play"]))
    driver.runSession()
    #expect(driver.take() == (isRaw ? ["started 480×320 restarted", "play"] : []))
    driver.change { $0.played() }
    driver.upstreamSizes = nil
    driver.renegotiate()
    driver.runSession()
    #expect(driver.frame(.synchronized) == "sent" && driver.starts == ["RAW 320×240", "RAW 480×320"])
  }

  /// Upstream is asked first, and answers with a size that can be requested at once.
  @Test func upstreamIsAskedBeforeThePipeline() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.setAppState(.background)
    driver.runSession()
    _ = driver.frame(.synchronized)
    driver.change { $0.paused() }
    driver.setAppState(.foreground)
    driver.stop(.headUnit)
    _ = driver.take()
    driver.announce([Self.other])
    #expect(!driver.take().contains("play"))
    driver.wait(.seconds(1))
    driver.runSession()
    #expect(driver.take() == ["request RAW 480×320", "started 480×320 restarted", "play"])
  }

  struct Start: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var reason: String
    var interrupt: @Sendable (NegotiationDriver) -> Void
  }

  static let starts = [
    Start(testDescription: "the driver leaves", reason: "restarted") { driver in
      driver.show(.background)
      driver.runSession()
      driver.show(.full)
    },
    Start(testDescription: "the head unit ends the service", reason: "restarted") { $0.stop(.headUnit) },
    Start(testDescription: "restart-on-foreground", reason: "restarted") { $0.stop(.restarted) },
    Start(testDescription: "the app leaves", reason: "resumed") { driver in
      driver.setAppState(.resigning)
      driver.runSession()
      driver.setAppState(.regaining)
    },
    Start(testDescription: "the pipeline pauses", reason: "resumed") { driver in
      driver.change { $0.paused() }
      driver.change { $0.played() }
    },
    Start(testDescription: "another size", reason: "resized") { driver in
      driver.announce([Self.other])
      driver.runSession()
      driver.renegotiate()
    },
    Start(testDescription: "another size and back", reason: "restarted") { driver in
      driver.announce([Self.other])
      driver.runSession()
      driver.announce([Self.size])
    },
    Start(testDescription: "no display, and then another", reason: "resized") { driver in
      driver.rejection = { $0.size == Self.size ? "no" : nil }
      driver.choose(.ranges)
      driver.runSession()
      driver.announce([Self.other])
      driver.renegotiate()
    },
    Start(testDescription: "the connection is lost", reason: "reconnected") { driver in
      driver.loseConnection()
      driver.announce([Self.size])
      driver.show()
    },
    Start(testDescription: "the connection is lost, another size", reason: "reconnected") { driver in
      driver.loseConnection()
      driver.announce([Self.other])
      driver.show()
      driver.renegotiate()
    },
    Start(testDescription: "the end of the stream, and another", reason: "restarted") { driver in
      driver.change { $0.streamEnded() }
      driver.runSession()
      driver.change { $0.streamBegan() }
    },
  ]

  @Test(arguments: starts) func reasons(_ given: Start) {
    let driver = NegotiationDriver.streaming([Self.size])
    given.interrupt(driver)
    driver.wait(.seconds(1))
    driver.runSession()
    #expect(driver.frame() == "sent")
    let started = driver.take().filter { $0.hasPrefix("started") }
    let reasons = started.compactMap { $0.split(separator: " ").last }
    #expect(reasons == [given.reason[...]])
  }

  /// A notice that is still being sent is part of the stream.
  @Test func streamState() {
    let driver = NegotiationDriver.streaming([Self.size])
    driver.setAppState(.resigning)
    #expect(driver.negotiation.isNoticeWanted)
    driver.publish { $0.video.state = .suspended }
    #expect(driver.negotiation.streamState == .streaming && driver.take() == [])
    driver.change { $0.suspensionCompleted() }
    #expect(driver.negotiation.streamState == .suspended && driver.take() == ["suspended app-state"])
    driver.setAppState(.background)
    #expect(driver.negotiation.isNoticeWanted)
    driver.setAppState(.foreground)
    #expect(!driver.negotiation.isNoticeWanted)
    driver.publish { $0.video.state = .stopping }
    #expect(driver.negotiation.streamState == .stopping)
  }
}
