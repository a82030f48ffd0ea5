import SDLApp
import Testing

/// Head units without a video capability get the size of their screen, or less on some old ones.
@Suite struct LegacyScreenTests {
  private static func registered(_ make: String?, _ width: Int, _ height: Int) -> AppDriver {
    let driver = AppDriver.registering()
    driver.acceptRegistration {
      $0.rpcVersion = RPCVersion(4, 4)
      $0.make = make
      $0.screenResolution = VideoSize(width, height)
    }
    return driver
  }

  private static func registered(_ row: Row) -> AppDriver { registered(row.make, row.screen.width, row.screen.height) }

  struct Row: Sendable {
    var make: String?
    var screen: VideoSize
    var stream: VideoSize
  }

  @Test(arguments: [
    Row(make: "Ford", screen: VideoSize(1280, 768), stream: VideoSize(960, 576)),
    Row(make: "Ford Motor Company", screen: VideoSize(1280, 768), stream: VideoSize(960, 576)),
    Row(make: "Lincoln", screen: VideoSize(1000, 500), stream: VideoSize(750, 374)),
    Row(make: "Ford", screen: VideoSize(480, 801), stream: VideoSize(360, 600)),
    Row(make: "Ford", screen: VideoSize(800, 480), stream: VideoSize(800, 480)),
    Row(make: "Toyota", screen: VideoSize(1280, 768), stream: VideoSize(1280, 768)),
    Row(make: nil, screen: VideoSize(1280, 768), stream: VideoSize(1280, 768)),
  ])
  func size(_ row: Row) {
    let driver = Self.registered(row)
    #expect(driver.take().last == "• no capability, display \(row.stream)")
    #expect(VideoDisplay.displays(of: nil, screen: row.stream).map(\.streamSize) == [row.stream])
  }

  /// Touches come in pixels of the screen, whatever is streamed.
  @Test(arguments: [("Ford", "(480.0, 288.0)"), ("Toyota", "(640.0, 384.0)")])
  func touches(make: String, position: String) {
    let driver = Self.registered(make, 1280, 768)
    driver.setVideoRequest(VideoStartRequest(size: make == "Ford" ? VideoSize(960, 576) : VideoSize(1280, 768)))
    driver.status(.full, .streamable)
    driver.acknowledgeVideo()
    _ = driver.take()
    driver.touch(640, 384)
    #expect(driver.take() == ["• touch down 0 \(position), frame"])
  }

  /// A capability replaces the rule, also one that comes later; its scale is 1 if it has none.
  @Test func capabilityThatComesAfterAll() {
    let driver = Self.registered("Ford", 1280, 768)
    var update = VideoStreamingCapability()
    update.preferredFPS = 10
    driver.updateCapability(update)
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(1280, 768)))
    driver.status(.full, .streamable)
    driver.acknowledgeVideo()
    driver.touch(640, 384)
    #expect(driver.take().last == "• touch down 0 (640.0, 384.0), frame")
  }
}
