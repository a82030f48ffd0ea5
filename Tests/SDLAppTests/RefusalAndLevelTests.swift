import Testing

@testable import SDLApp

/// SDL Core sets the app to HMI level NONE with each refusal of video, just before or behind it.
@Suite struct RefusalAndLevelTests {
  private static let start = "→ StartService video 800×480 RAW H264"
  private static let bare = VideoStartRequest(size: VideoSize(800, 480), isBare: true)

  private func show(_ driver: AppDriver) {
    driver.wait(.seconds(30))
    driver.status(.full, .streamable)
  }

  private func refuse(_ driver: AppDriver, _ rejected: [String] = [], isLevelFirst: Bool) {
    if isLevelFirst { driver.status(.none, .notStreamable) }
    driver.wait(milliseconds: 20)
    driver.refuseVideo(rejected, reason: "no")
    driver.wait(milliseconds: 20)
    if !isLevelFirst { driver.status(.none, .notStreamable) }
  }

  /// A head unit whose own software fails at the configuration of video, which a start without parameters avoids.
  @Test(arguments: [true, false]) func refusedWithoutParameters(isLevelFirst: Bool) {
    let driver = AppDriver.starting()
    for round in 1...3 {
      refuse(driver, isLevelFirst: isLevelFirst)
      let lines = driver.take().filter { $0.contains("failed") }
      let refusal = "• start of 800×480 failed [], again after 2.0 seconds"
      let end = "• start of 800×480 failed [], never again"
      #expect(lines == (round < 3 ? [refusal] : isLevelFirst ? [end] : [refusal, end]), "\(round)")
      // The app asks for what is left.
      if round == 3 { driver.setVideoRequest(Self.bare) }
      driver.wait(.seconds(100))
      #expect(driver.take().isEmpty)
      driver.status(.full, .streamable)
      #expect(driver.take().last == (round < 3 ? Self.start : "→ StartService video"), "\(round)")
    }
    driver.acknowledgeVideo()
    #expect(driver.isStreaming)
  }

  /// A start that is accepted ends the row.
  @Test func acceptedInBetween() {
    let driver = AppDriver.starting()
    for _ in 1...5 {
      refuse(driver, isLevelFirst: false)
      show(driver)
      driver.acknowledgeVideo()
      driver.wait(.seconds(30))
      driver.status(.none, .notStreamable)
      driver.control(.endServiceACK, .video)
      #expect(!driver.take().contains { $0.contains("never again") })
      show(driver)
    }
  }

  /// What was asked for next waits until the level is certain.
  @Test func nothingIsStartedBehindARefusal() {
    let driver = AppDriver.starting()
    driver.refuseVideo(["width"])
    driver.setVideoRequest(Self.bare)
    driver.wait(milliseconds: 249)
    driver.status(.none, .notStreamable)
    driver.wait(.seconds(100))
    #expect(!driver.take().contains { $0.contains("StartService") })
    driver.status(.full, .streamable)
    #expect(driver.take().last == "→ StartService video")
  }

  /// The next start is under way already when the level is lost: its refusal is not its own.
  @Test(arguments: [[], ["width"]]) func refusalBehindTheLevel(rejected: [String]) {
    let driver = AppDriver.starting()
    driver.refuseVideo(["width"])
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(400, 240)))
    driver.wait(.seconds(1))
    #expect(driver.take().last == "→ StartService video 400×240 RAW H264")
    driver.status(.none, .notStreamable)
    driver.refuseVideo(rejected)
    #expect(driver.take() == ["• status NONE NOT_STREAMABLE"])
    driver.status(.full, .streamable)
    #expect(driver.take().last == "→ StartService video 400×240 RAW H264")
  }

  /// Which is the head unit's own, whatever becomes of the level.
  @Test(arguments: [true, false]) func refusalThatNamesParameters(isLevelFirst: Bool) {
    let driver = AppDriver.starting()
    refuse(driver, ["height"], isLevelFirst: isLevelFirst)
    #expect(driver.take().filter { $0.contains("failed") } == ["• start of 800×480 failed [height], never again"])
  }

  struct Warning: Sendable {
    var rejected: [String]
    var retryAfter: Duration?
    var level: HMILevel
    var text: String
  }

  /// What a warning promises is what happens.
  @Test(arguments: [
    Warning(
      rejected: [], retryAfter: .seconds(4), level: .full,
      text: "Trying again in 4 s, or, if the app has left the screen by then, when the driver opens the app again."),
    Warning(
      rejected: [], retryAfter: .seconds(4), level: .none, text: "Trying again when the driver opens the app again."),
    Warning(rejected: ["width"], level: .full, text: "Trying another size: 400×240."),
    Warning(
      rejected: ["width"], level: .none, text: "Trying another size when the driver opens the app again: 400×240."),
    Warning(rejected: ["videoProtocol"], level: .full, text: "Trying H264 over RAW, 800×480."),
    Warning(
      rejected: ["videoProtocol"], level: .none,
      text: "Trying H264 over RAW, 800×480 when the driver opens the app again."),
  ])
  func warnings(_ row: Warning) throws {
    let driver = NegotiationDriver.playing([])
    driver.announce([VideoSize(800, 480), VideoSize(400, 240)], over: [.rtp, .raw])
    driver.input(VideoSize(800, 480))
    let request = try #require(driver.request)
    driver.show(row.level, isStreamable: row.level == .full)
    try driver.negotiation.startFailed(
      .refused(rejectedParameters: row.rejected, reason: nil), request, retryAfter: row.retryAfter)
    let texts = driver.negotiation.takeOutputs(at: driver.now).compactMap { output in
      if case .notify(.problem(let problem)) = output { "\(problem)" } else { nil }
    }
    #expect(texts.count == 1 && texts[0].hasSuffix(" " + row.text), "\(texts)")
  }
}
