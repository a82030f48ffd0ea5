import SDLApp
import Testing

/// The table of resizes as the session sees it: updates arrive, and the app requests what upstream can produce.
@Suite struct ResizeTableTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var update: @Sendable (inout VideoStreamingCapability) -> Void
    /// The sizes of the streams that the app then knows.
    var offers: [String]
    /// The size that upstream sends in answer; nil when it can't send any.
    var answer: VideoSize?
    var steps: [String]
    init(
      _ id: String, answer: VideoSize?, offers: [String], steps: [String],
      update: @escaping @Sendable (inout VideoStreamingCapability) -> Void
    ) {
      (testDescription, self.update, self.answer, self.offers, self.steps) = (id, update, answer, offers, steps)
    }
  }

  private static func restart(_ size: String) -> [String] {
    ["• stopped resized", "→ EndService video", "→ StartService video \(size) RAW H264", "• started \(size) epoch 2"]
  }

  /// Updates during a stream of 800×480.
  static let rows = [
    Row("another size", answer: VideoSize(480, 320), offers: ["480×320"], steps: restart("480×320")) {
      $0.preferredResolution = VideoSize(480, 320)
      $0.scale = 1
    },
    Row("the same again", answer: VideoSize(800, 480), offers: ["800×480"], steps: []) {
      $0 = AppDriver.capability
    },
    Row("the same size alone", answer: VideoSize(800, 480), offers: ["800×480"], steps: []) {
      $0.preferredResolution = VideoSize(800, 480)
    },
    Row("another frame rate", answer: VideoSize(800, 480), offers: ["800×480"], steps: []) {
      $0.preferredFPS = 10
    },
    Row("a size and a scale", answer: VideoSize(852, 378), offers: ["852×378"], steps: restart("852×378")) {
      $0.preferredResolution = VideoSize(1280, 569)
      $0.scale = 1.5
    },
    Row(
      "scale, size and additional ones alone", answer: VideoSize(320, 200), offers: ["320×200", "480×320"],
      steps: restart("320×200")
    ) { update in
      update.preferredResolution = VideoSize(400, 250)
      update.scale = 1.25
      var additional = VideoStreamingCapability()
      additional.preferredResolution = VideoSize(480, 320)
      update.additionalCapabilities = [additional]
    },
    Row(
      "upstream can't follow", answer: nil, offers: ["480×320"], steps: ["• stopped app", "→ EndService video"]
    ) {
      $0.preferredResolution = VideoSize(480, 320)
    },
  ]

  @Test(arguments: rows) func resize(_ row: Row) throws {
    let driver = AppDriver.streaming()
    var update = VideoStreamingCapability()
    row.update(&update)
    driver.updateCapability(update)
    // An update that changes nothing is not reported.
    #expect(driver.capabilities.count == (row.testDescription.hasPrefix("the same") ? 1 : 2))
    let capability = try #require(driver.capabilities.last ?? nil)
    #expect(VideoDisplay.displays(of: capability).compactMap(\.streamSize).map(\.description) == row.offers)
    // Members that the update leaves out are unchanged.
    #expect(capability.maxBitrate == 10_000)
    #expect(capability.preferredFPS == update.preferredFPS ?? 30)
    driver.setVideoRequest(row.answer.map { VideoStartRequest(size: $0) })
    driver.control(.endServiceACK, .video)
    if let answer = row.answer, answer != AppDriver.videoRequest.size { driver.acknowledgeVideo() }
    #expect(driver.take().filter { !$0.hasPrefix("• capability") } == row.steps)
  }

  /// A new size has to wait until the app is back, and then needs a new service.
  @Test func whileSuspended() {
    let driver = AppDriver.streaming()
    driver.setAppState(.background)
    _ = driver.take()
    var update = VideoStreamingCapability()
    update.preferredResolution = VideoSize(480, 320)
    driver.updateCapability(update)
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(480, 320)))
    driver.wait(.seconds(10))
    #expect(driver.take() == ["• capability 480×320"])
    driver.setAppState(.foreground)
    driver.control(.endServiceACK, .video)
    driver.acknowledgeVideo()
    #expect(driver.take() == Self.restart("480×320"))
  }

  /// Updates that come faster than the head unit answers: only the last is asked for.
  @Test(arguments: [2, 3, 10]) func latestWins(count: Int) {
    let driver = AppDriver.streaming()
    for index in 1...count { driver.setVideoRequest(VideoStartRequest(size: VideoSize(100 + 2 * index, 100))) }
    driver.control(.endServiceACK, .video)
    driver.acknowledgeVideo()
    #expect(driver.take() == Self.restart("\(100 + 2 * count)×100"))
  }

  @Test func backBeforeTheEndWasConfirmed() {
    let driver = AppDriver.streaming()
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(480, 320)))
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.control(.endServiceACK, .video)
    driver.acknowledgeVideo()
    #expect(driver.take() == Self.restart("800×480"))
  }
}
