import Testing

@testable import SDLApp

/// Upstream stays in a size that the head unit still takes, but does not prefer any more.
@Suite struct VideoNegotiationIgnoredResizeTests {
  private static let first = VideoSize(320, 240)
  private static let second = VideoSize(480, 320)
  private static let third = VideoSize(640, 360)

  private func streaming(isRaw: Bool) -> NegotiationDriver {
    let driver = NegotiationDriver.streaming([Self.first, Self.second], isRaw: isRaw)
    driver.wait(.seconds(1))
    return driver
  }

  @Test func rawUpstreamStays() {
    let driver = streaming(isRaw: true)
    driver.upstreamSizes = [Self.first]
    driver.announce([Self.second, Self.first])
    #expect(driver.take() == ["kept 320×240, not 480×320: upstream"])
    #expect(driver.frames(3) == ["sent", "sent", "sent"] && driver.take() == [])
    // Once for each size.
    driver.announce([Self.second, Self.first])
    #expect(driver.take() == [])
    driver.announce([Self.third, Self.first])
    #expect(driver.take() == ["kept 320×240, not 640×360: upstream"])
  }

  /// It has said that it can change, and does not.
  @Test func rawUpstreamGoesOn() {
    let driver = streaming(isRaw: true)
    driver.announce([Self.second, Self.first])
    driver.runSession()
    _ = driver.frames(3)
    #expect(driver.take().contains("kept 320×240, not 480×320: upstream"))
  }

  /// The encoder is asked, and the stream goes on meanwhile.
  @Test func encoderStays() {
    let driver = streaming(isRaw: false)
    driver.announce([Self.second, Self.first])
    #expect(driver.take() == ["reconfigure"])
    driver.wait(.milliseconds(1999))
    #expect(driver.frame() == "sent" && driver.take() == [])
    driver.wait(.milliseconds(1))
    #expect(driver.frame() == "sent" && driver.take() == ["kept 320×240, not 480×320: upstream"])
    driver.wait(.seconds(60))
    #expect(driver.take() == [] && driver.starts == ["RAW 320×240"])
  }

  @Test func encoderFollows() {
    let driver = streaming(isRaw: false)
    driver.announce([Self.second, Self.first])
    driver.wait(.seconds(1))
    driver.renegotiate()
    driver.runSession()
    #expect(driver.frame() == "sent")
    driver.wait(.seconds(60))
    #expect(driver.take().suffix(2) == ["started 480×320 resized", "resized 320×240 to 480×320"])
    #expect(driver.starts == ["RAW 320×240", "RAW 480×320"])
  }

  /// The head unit takes it back, the connection breaks or the pipeline stops: there is nothing to tell.
  @Test(arguments: ["back", "loss", "stop", "keep"]) func nothingToTell(cause: String) {
    let driver = streaming(isRaw: false)
    if cause == "keep" {
      var settings = VideoNegotiation.Settings()
      settings.resizePolicy = .keep
      driver.change { $0.settings = settings }
    }
    driver.announce([Self.second, Self.first])
    #expect(driver.take() == (cause == "keep" ? [] : ["reconfigure"]))
    switch cause {
    case "back": driver.announce([Self.first, Self.second])
    case "loss": driver.loseConnection()
    case "stop": driver.change { $0.stop() }
    default: break
    }
    driver.wait(.seconds(60))
    #expect(!driver.take().contains { $0.hasPrefix("kept") })
  }

  /// What it prefers from the beginning is no resize.
  @Test func secondChoiceFromTheBeginning() {
    let driver = NegotiationDriver.playing([Self.second, Self.first], isRaw: false)
    driver.input(Self.first, isRaw: false)
    driver.runSession()
    #expect(driver.frame() == "sent")
    _ = driver.take()
    driver.wait(.seconds(60))
    #expect(driver.take() == [])
  }
}
