import Testing

@testable import SDLApp

/// `resize-policy`: what of a resize is kept back, or an error.
@Suite struct VideoNegotiationResizePolicyTests {
  private static let first = VideoSize(320, 240)
  private static let second = VideoSize(480, 320)
  private static let third = VideoSize(160, 120)

  @Test func keep() {
    let driver = NegotiationDriver.playing([]) { $0.resizePolicy = .keep }
    var first = VideoDisplay(size: Self.first)
    first.maximumBitrate = 500
    driver.announce([first])
    driver.input(Self.first)
    driver.runSession()
    #expect(driver.frame() == "sent")
    _ = driver.take()
    var second = VideoDisplay(size: Self.second, frameRate: 5)
    second.maximumBitrate = 300
    driver.announce([second])
    driver.follow()
    #expect(driver.take() == ["kept 320×240, not 480×320: resize-policy"] && driver.frame() == "sent")
    // At the rates that the head unit wants now.
    let targets = driver.negotiation.permission?.targets
    #expect(targets?.frameRate == Fraction(5, 1) && targets?.bitrate == 200)
    // The next service has the new size.
    driver.show(.background)
    driver.follow()
    driver.show(.full)
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts == ["RAW 320×240", "RAW 480×320"])
    #expect(driver.take().last == "resized 320×240 to 480×320")
  }

  /// What the head unit takes back, and one that takes both sizes.
  @Test(arguments: [[[second], [first]], [[second, first]]]) func keepReturnsToItsSize(updates: [[VideoSize]]) {
    let driver = NegotiationDriver.streaming([Self.first]) { $0.resizePolicy = .keep }
    for update in updates { driver.announce(update) }
    #expect(driver.take() == ["kept 320×240, not 480×320: resize-policy"])
    driver.show(.background)
    driver.runSession()
    driver.show(.full)
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts == ["RAW 320×240", "RAW 320×240"])
  }

  /// The stream is kept although its size is of a list that the head unit has replaced, and whose successor it refused.
  @Test func keepsAFallback() {
    let driver = NegotiationDriver.streaming([Self.first]) { $0.resizePolicy = .keep }
    driver.announce([Self.second], fallbacks: [Self.first])
    driver.show(.background)
    driver.runSession()
    driver.refusals = [["height"]]
    driver.show(.full)
    for _ in 0..<3 {
      driver.runSession()
      guard driver.frame() != "sent" else { break }
      driver.renegotiate()
      driver.wait(.milliseconds(200))
    }
    #expect(
      driver.starts.suffix(2) == ["RAW 480×320", "RAW 320×240"] && driver.frame() == "sent",
      "\(driver.starts) \(driver.take())")
    _ = driver.take()
    driver.announce([Self.third])
    driver.follow()
    #expect(driver.take() == ["kept 320×240, not 160×120: resize-policy"] && driver.frame() == "sent")
  }

  /// What a former head unit said about its size is not taken for what the next one says.
  @Test(arguments: [first, second, third], [true, false])
  func keepEndsWithTheConnection(size: VideoSize, isEndTold: Bool) {
    let driver = NegotiationDriver.streaming([Self.first]) { $0.resizePolicy = .keep }
    driver.announce([Self.second])
    #expect(driver.frame() == "sent")
    driver.loseConnection(isEndTold: isEndTold)
    driver.announce([size])
    driver.show()
    driver.follow()
    driver.runSession()
    #expect(driver.frame() == "sent" && driver.starts.last == "RAW \(size.width)×\(size.height)")
  }

  enum Away: CaseIterable { case nothing, driver, app, paused }

  @Test(arguments: Away.allCases) func error(away: Away) {
    let driver = NegotiationDriver.streaming([Self.first]) { $0.resizePolicy = .error }
    driver.announce([Self.first, Self.third])
    switch away {
    case .nothing: break
    case .driver: driver.show(.background)
    case .app: driver.setAppState(.background)
    case .paused: driver.change { $0.paused() }
    }
    driver.runSession()
    #expect(driver.error == nil)
    driver.announce([Self.second])
    #expect(driver.error == .resizeForbidden(from: Self.first, to: Self.second))
  }

  /// The stream is kept although the app's ranges accept no display any more.
  @Test func keptStreamFollowsTheFrameRate() {
    let driver = NegotiationDriver.streaming([Self.first]) { $0.resizePolicy = .keep }
    driver.rejection = { _ in "too small" }
    driver.choose(.ranges)
    #expect(driver.frame() == "sent")
    driver.announce([VideoDisplay(size: Self.first, frameRate: 10)])
    #expect(driver.frame() == "sent" && driver.negotiation.permission?.targets.frameRate == Fraction(10, 1))
  }

  /// Once it has ended, no other can follow, and the application is told why.
  @Test func nothingIsSupportedAfterTheKeptStream() {
    let driver = NegotiationDriver.streaming([Self.first]) { $0.resizePolicy = .keep }
    driver.rejection = { _ in "too small" }
    driver.choose(.ranges)
    #expect(driver.frame() == "sent" && !driver.take().contains("warning"))
    driver.show(.background)
    driver.runSession()
    #expect(driver.take().contains("warning"))
  }

  /// New caps or ranges ask for the head unit's new displays before the head unit's own question is answered.
  @Test(arguments: [true, false]) func errorAfterAnOvertakenQuestion(isOvertaken: Bool) throws {
    let driver = NegotiationDriver.streaming([Self.first]) { $0.resizePolicy = .error }
    let former = try #require(driver.change { $0.beginChoice(.ranges) })
    let own = try #require(driver.change { $0.beginChoice(.headUnit([VideoDisplay(size: Self.second)])) })
    let later = try #require(driver.change { $0.beginChoice(.ranges) })
    driver.answer(former)
    #expect(driver.error == nil)
    for question in isOvertaken ? [later, own] : [own, later] { driver.answer(question) }
    #expect(driver.error == .resizeForbidden(from: Self.first, to: Self.second))
  }

  /// The app's own ranges may change the size whatever the policy.
  @Test func rangesAreNoError() {
    let driver = NegotiationDriver.streaming([Self.first, Self.second]) { $0.resizePolicy = .error }
    driver.rejection = { $0.size == Self.first ? "too small" : nil }
    driver.choose(.ranges)
    driver.follow()
    #expect(driver.frame() == "sent" && driver.error == nil && driver.starts.last == "RAW 480×320")
  }
}
