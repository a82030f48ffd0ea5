import Testing

@testable import SDLApp

/// The head unit takes other sizes than before, in whatever state the stream is.
@Suite struct VideoNegotiationResizeTests {
  private static let first = VideoSize(320, 240)
  private static let second = VideoSize(480, 320)
  private static let third = VideoSize(160, 120)

  @Test func renegotiate() {
    let driver = NegotiationDriver.streaming([Self.first])
    driver.wait(.seconds(1))
    driver.announce([Self.second])
    #expect(driver.take() == ["request nothing", "reconfigure"])
    driver.runSession()
    #expect(driver.frame() == "dropped wrongSize")
    #expect(driver.take() == ["stopped resized"])
    driver.renegotiate()
    #expect(driver.frame() == "dropped notStreaming")
    driver.wait(.milliseconds(99))
    #expect(driver.take() == [])
    driver.wait(.milliseconds(1))
    #expect(driver.take() == ["request RAW 480×320"])
    driver.runSession()
    #expect(driver.frame() == "sent")
    #expect(driver.take() == ["started 480×320 resized", "resized 320×240 to 480×320"])
    #expect(driver.starts == ["RAW 320×240", "RAW 480×320"])
  }

  /// It is told with the start that follows the pause, and not again with the next one.
  @Test func whilePaused() {
    let driver = NegotiationDriver.streaming([Self.first])
    driver.change { $0.paused() }
    driver.announce([Self.second])
    driver.runSession()
    driver.renegotiate()
    driver.wait(.milliseconds(100))
    driver.runSession()
    #expect(driver.frame() == "sent")
    #expect(!driver.take().contains { $0.hasPrefix("resized") })
    driver.change { $0.played() }
    #expect(driver.take().suffix(2) == ["started 480×320 resized", "resized 320×240 to 480×320"])
    driver.setAppState(.background)
    driver.runSession()
    driver.setAppState(.foreground)
    driver.runSession()
    #expect(driver.take() == ["suspended app-state", "started 480×320 resumed"])
  }

  @Test func durationAndLostFrames() {
    let driver = NegotiationDriver.streaming([Self.first])
    driver.announce([Self.second])
    driver.runSession()
    _ = driver.frames(3)
    driver.wait(.milliseconds(400))
    driver.renegotiate()
    driver.runSession()
    #expect(driver.frame() == "sent")
    #expect(
      driver.resizes == [
        .init(former: Self.first, present: Self.second, duration: .milliseconds(400), lostFrames: 3)
      ])
  }

  struct Burst: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var updates: [VideoSize]
    /// Between two updates.
    var pause: Duration
    var starts: [String]
    var messages: [String]
  }

  static let bursts = [
    Burst(
      testDescription: "two within 100 ms", updates: [second, third], pause: .milliseconds(90),
      starts: ["RAW 160×120"],
      messages: ["stopped resized", "started 160×120 resized", "resized 320×240 to 160×120"]),
    Burst(
      testDescription: "ten at once", updates: Array(repeating: [second, third], count: 5).flatMap(\.self),
      pause: .zero, starts: ["RAW 160×120"],
      messages: ["stopped resized", "started 160×120 resized", "resized 320×240 to 160×120"]),
    Burst(
      testDescription: "there and back", updates: [second, first], pause: .milliseconds(50), starts: ["RAW 320×240"],
      messages: ["stopped resized", "started 320×240 restarted"]),
    Burst(
      testDescription: "two beyond 100 ms", updates: [second, third], pause: .milliseconds(110),
      starts: ["RAW 480×320", "RAW 160×120"],
      messages: [
        "stopped resized", "started 480×320 resized", "resized 320×240 to 480×320", "stopped resized",
        "started 160×120 resized", "resized 480×320 to 160×120",
      ]),
  ]

  @Test(arguments: bursts, [true, false]) func severalUpdates(_ burst: Burst, isRaw: Bool) {
    let driver = NegotiationDriver.streaming([Self.first], isRaw: isRaw)
    for update in burst.updates {
      driver.announce([update])
      driver.runSession()
      driver.renegotiate()
      driver.runSession()
      driver.wait(burst.pause)
      driver.runSession()
      _ = driver.frame()
    }
    driver.follow()
    #expect(driver.frame() == "sent" && driver.error == nil)
    #expect(Array(driver.starts.dropFirst()) == burst.starts)
    #expect(driver.take().filter { !$0.hasPrefix("request") && $0 != "reconfigure" } == burst.messages)
  }

  /// The timer of the connection may fire early for somebody else.
  @Test func settlingTimeIsAskedForUntilItIsOver() {
    let driver = NegotiationDriver.streaming([Self.first])
    driver.announce([Self.second])
    let end = driver.now + VideoNegotiation.settlingTime
    #expect(driver.negotiation.takeOutputs(at: driver.now) == [.setTimer(at: end)])
    #expect(driver.negotiation.takeOutputs(at: end - .milliseconds(1)) == [.setTimer(at: end)])
    #expect(driver.negotiation.takeOutputs(at: end).contains(.request(VideoStartRequest(size: Self.second))))
    #expect(driver.negotiation.takeOutputs(at: end).isEmpty)
  }

  /// Updates that leave the size as it is, and what the stream takes of them.
  @Test func sameSize() {
    let driver = NegotiationDriver.streaming([Self.first])
    driver.announce([VideoDisplay(size: Self.first, frameRate: 5)])
    #expect(driver.frame() == "sent" && driver.take() == [])
    #expect(driver.negotiation.permission?.targets.frameRate == Fraction(5, 1))
    driver.announce([Self.first, Self.second])
    #expect(driver.frame() == "sent" && driver.take() == [] && driver.starts.count == 1)
  }

  @Test func beforeTheFirstStream() {
    for policy in ResizePolicy.allCases {
      let driver = NegotiationDriver.playing([Self.first]) { $0.resizePolicy = policy }
      driver.announce([Self.second])
      driver.follow()
      #expect(driver.frame() == "sent" && driver.starts == ["RAW 480×320"] && driver.error == nil)
      #expect(driver.take().filter { $0.hasPrefix("resized") || $0.hasPrefix("kept") } == [])
    }
  }

  @Test(arguments: ResizePolicy.allCases) func sizeThatTheHeadUnitStillTakes(policy: ResizePolicy) {
    let driver = NegotiationDriver.playing([]) { $0.resizePolicy = policy }
    driver.upstreamSizes = [Self.first]
    driver.announce([Self.second, Self.first])
    driver.input(Self.first)
    driver.runSession()
    _ = driver.frame()
    driver.runSession()
    #expect(driver.frame() == "sent")
    _ = driver.take()
    driver.announce([Self.third, Self.first])
    driver.follow()
    #expect(driver.frame() == "sent" && driver.starts.count == 1)
    // With `keep` upstream is not even asked.
    #expect(driver.take() == (policy == .keep ? [] : ["kept 320×240, not 160×120: upstream"]))
  }

  /// The service of an app that is away is kept, and begins anew when the app is back.
  @Test(arguments: ResizePolicy.allCases.filter { $0 != .error }) func whileTheAppIsAway(policy: ResizePolicy) {
    let driver = NegotiationDriver.streaming([Self.first]) { $0.resizePolicy = policy }
    driver.setAppState(.background)
    driver.runSession()
    driver.announce([Self.second])
    driver.follow()
    driver.wait(.seconds(10))
    #expect(driver.frame() == "dropped suspended" || policy == .renegotiate)
    #expect(driver.starts.count == 1 && driver.running != nil)
    driver.setAppState(.foreground)
    driver.follow()
    #expect(driver.frame() == "sent")
    #expect(driver.starts.dropFirst() == (policy == .keep ? [] : ["RAW 480×320"]))
  }

  @Test(arguments: [true, false]) func driverLeavesAtTheSameTime(isResizeFirst: Bool) {
    let driver = NegotiationDriver.streaming([Self.first])
    if isResizeFirst { driver.announce([Self.second]) }
    driver.show(.background)
    if !isResizeFirst { driver.announce([Self.second]) }
    driver.follow()
    driver.wait(.seconds(1))
    #expect(driver.starts.count == 1 && driver.take().contains("stopped hmi-status"))
    #expect(driver.frame() == "dropped suspended")
    driver.show(.full)
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts.last == "RAW 480×320")
  }

  @Test func connectionLostWhileResizing() {
    let driver = NegotiationDriver.streaming([Self.first])
    driver.announce([Self.second])
    driver.loseConnection()
    driver.wait(.seconds(1))
    #expect(driver.request == nil)
    // The head unit forgets its resize with the connection.
    driver.announce([Self.first])
    driver.show()
    driver.follow()
    #expect(driver.frame() == "sent" && driver.starts == ["RAW 320×240", "RAW 320×240"])
  }

  @Test func rangesThatRejectTheNewSize() {
    let driver = NegotiationDriver.streaming([Self.first])
    driver.rejection = { $0.size == Self.second ? "ratio 1.5 is above landscape::max-aspect-ratio 1.4" : nil }
    driver.announce([Self.second])
    driver.runSession()
    #expect(driver.take() == ["request nothing", "warning", "stopped out-of-range"])
    #expect(driver.frame() == "dropped wrongSize")
    driver.announce([Self.first])
    driver.follow()
    #expect(driver.frame() == "sent" && driver.starts.count == 2 && driver.error == nil)
  }
}
