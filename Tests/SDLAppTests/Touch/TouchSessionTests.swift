import SDLApp
import Testing

/// When the session reports touches, and when it interrupts them.
@Suite struct TouchSessionTests {
  private static func touch(_ driver: AppDriver, _ kind: OnTouchEvent.Kind, _ x: Int = 10, _ y: Int = 20) {
    let event = OnTouchEvent(kind: kind, fingers: [.init(id: 0, samples: [.init(x: x, y: y, time: 5)])])
    driver.notify(.onTouchEvent, event.json)
  }

  private static let down = "• touch down 0 (10.0, 20.0), frame"

  private static func touched() -> AppDriver {
    let driver = AppDriver.streaming()
    touch(driver, .begin)
    #expect(driver.take() == [down])
    return driver
  }

  @Test func whileStreaming() {
    let driver = Self.touched()
    Self.touch(driver, .move, 11, 21)
    Self.touch(driver, .end, 12, 22)
    #expect(driver.take() == ["• touch motion 0 (11.0, 21.0), frame", "• touch up 0 (12.0, 22.0), frame"])
  }

  @Test func notBeforeTheStream() {
    for driver in [AppDriver.ready(), AppDriver.starting()] {
      Self.touch(driver, .begin)
      #expect(driver.take() == [])
    }
  }

  @Test func suspension() {
    let driver = Self.touched()
    driver.setAppState(.background)
    #expect(driver.take() == ["• touch interrupted", "• suspended"])
    Self.touch(driver, .move)
    Self.touch(driver, .begin)
    #expect(driver.take() == [])
    driver.setAppState(.foreground)
    Self.touch(driver, .move)
    #expect(driver.take() == ["• resumed"])
    Self.touch(driver, .begin)
    #expect(driver.take() == [Self.down])
  }

  @Test func stop() {
    let driver = Self.touched()
    driver.setVideoRequest(nil)
    #expect(driver.take() == ["• touch interrupted", "• stopped app", "→ EndService video"])
  }

  @Test func driverLeaves() {
    let driver = Self.touched()
    driver.status(.background, .notStreamable)
    #expect(driver.take().contains("• touch interrupted"))
  }

  /// The head unit goes on showing the pictures, but sends no touches, and so not the end of this one.
  @Test func limited() {
    let driver = Self.touched()
    driver.status(.limited, .streamable)
    #expect(driver.take() == ["• touch interrupted", "• status LIMITED STREAMABLE"])
    Self.touch(driver, .end)
    driver.status(.full, .streamable)
    #expect(driver.take() == ["• status FULL STREAMABLE"])
    Self.touch(driver, .begin)
    Self.touch(driver, .end)
    #expect(driver.take() == [Self.down, "• touch up 0 (10.0, 20.0), frame"])
    #expect(driver.isStreaming)
  }

  /// Nothing of it was lost.
  @Test func fullAgain() {
    let driver = Self.touched()
    driver.status(.full, .streamable)
    Self.touch(driver, .end)
    #expect(driver.take() == ["• status FULL STREAMABLE", "• touch up 0 (10.0, 20.0), frame"])
  }

  /// Policies may allow touches in LIMITED.
  @Test func touchInLimited() {
    let driver = AppDriver.streaming()
    driver.status(.limited, .streamable)
    _ = driver.take()
    Self.touch(driver, .begin)
    driver.status(.full, .streamable)
    Self.touch(driver, .end)
    #expect(driver.take() == [Self.down, "• status FULL STREAMABLE", "• touch up 0 (10.0, 20.0), frame"])
  }

  @Test func endThatWasLost() {
    let driver = Self.touched()
    Self.touch(driver, .begin, 30, 40)
    #expect(driver.take() == ["• touch up 0 (10.0, 20.0), frame, down 0 (30.0, 40.0), frame"])
  }

  @Test func resize() {
    let driver = Self.touched()
    var update = VideoStreamingCapability()
    update.preferredResolution = VideoSize(600, 360)
    update.scale = 1.5
    driver.updateCapability(update)
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(400, 240)))
    let end = ["• touch interrupted", "• stopped resized", "→ EndService video"]
    #expect(driver.take() == ["• capability 600×360"] + end)
    driver.control(.endServiceACK, .video)
    driver.acknowledgeVideo()
    _ = driver.take()
    Self.touch(driver, .begin, 570, 60)
    #expect(driver.take() == ["• touch down 0 (380.0, 40.0), frame"])
  }

  /// The same pictures are shown larger.
  @Test func anotherScale() {
    let driver = Self.touched()
    var update = VideoStreamingCapability()
    update.preferredResolution = VideoSize(1600, 960)
    update.scale = 2
    driver.updateCapability(update)
    #expect(driver.take() == ["• touch interrupted", "• capability 1600×960"])
    Self.touch(driver, .begin, 100, 100)
    #expect(driver.take() == ["• touch down 0 (50.0, 50.0), frame"])
  }

  @Test func disconnection() {
    let driver = Self.touched()
    driver.lose()
    #expect(driver.take() == ["• touch interrupted", "• stopped connection-lost", "• failed", "■"])
  }

  @Test func unknownTypesAreIgnored() {
    let driver = AppDriver.streaming()
    driver.notify(.onTouchEvent, ["type": .string("HOVER"), "event": .array([.object(["id": .integer(0)])])])
    driver.notify(.onTouchEvent, [:])
    #expect(driver.take() == [])
  }
}
