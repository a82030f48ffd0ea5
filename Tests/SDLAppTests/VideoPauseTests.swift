import SDLApp
import Testing

/// The pauses between attempts to start video: only a driver who leaves and comes back ends them early.
@Suite struct VideoPauseTests {
  private static let start = "→ StartService video 800×480 RAW H264"
  private static let other = VideoStartRequest(size: VideoSize(400, 380))

  private static func starts(_ lines: [String]) -> Int { lines.count { $0.hasPrefix("→ StartService video") } }

  /// Lets the head unit refuse or ignore every start, while the app does something ten times in the first 0.1 s of each
  /// pause of 2 s, 4 s, ….
  private static func pauses(_ driver: AppDriver, _ fail: () -> Void, _ act: (AppDriver) -> Void) -> [Int] {
    [2, 4, 8, 16, 30].map { pause in
      fail()
      _ = driver.take()
      for _ in 0..<10 {
        driver.wait(milliseconds: 10)
        act(driver)
      }
      driver.wait(.seconds(pause) - .milliseconds(101))
      #expect(starts(driver.take()) == 0, "within the pause of \(pause) s")
      driver.wait(milliseconds: 1)
      return starts(driver.take())
    }
  }

  enum Attempt: CaseIterable {
    case appState
    case requestAgain
    case otherRequest
    case capability
  }

  private static func act(_ attempt: Attempt) -> (AppDriver) -> Void {
    { driver in
      switch attempt {
      case .appState:
        driver.setAppState(.background)
        driver.setAppState(.foreground)
      case .requestAgain:
        driver.setVideoRequest(nil)
        driver.setVideoRequest(AppDriver.videoRequest)
      case .otherRequest:
        driver.setVideoRequest(other)
        driver.setVideoRequest(AppDriver.videoRequest)
      case .capability: driver.updateCapability(AppDriver.capability)
      }
    }
  }

  @Test(arguments: Attempt.allCases) func refusalsWithoutParameters(attempt: Attempt) {
    let driver = AppDriver.starting()
    #expect(Self.pauses(driver, { driver.refuseVideo() }, Self.act(attempt)) == [1, 1, 1, 1, 1])
  }

  @Test(arguments: Attempt.allCases) func unansweredStarts(attempt: Attempt) {
    let driver = AppDriver.starting()
    let fail = {
      driver.wait(.seconds(driver.now < .seconds(5) ? 5 : 12))
      driver.control(.endServiceNAK, .video)
    }
    #expect(Self.pauses(driver, fail, Self.act(attempt)) == [1, 1, 1, 1, 1])
  }

  @Test(arguments: Attempt.allCases) func streamsThatEndAtOnce(attempt: Attempt) {
    let driver = AppDriver.starting()
    let fail = {
      driver.acknowledgeVideo()
      driver.control(.endService, .video)
    }
    #expect(Self.pauses(driver, fail, Self.act(attempt)) == [1, 1, 1, 1, 1])
  }

  /// Eight refusals in a row are final, so they take more than two minutes.
  @Test func flipsOfTheAppStateDoNotUseUpTheRefusals() {
    let driver = AppDriver.starting()
    driver.refuseVideo()
    for _ in 0..<8 {
      driver.setAppState(.background)
      driver.wait(milliseconds: 200)
      driver.setAppState(.foreground)
      driver.refuseVideo()
    }
    #expect(driver.take() == ["• start of 800×480 failed [], again after 2.0 seconds"])
  }

  /// The app takes its request back and makes it again a hundred times a second, and the head unit refuses at once.
  @Test(arguments: [[], ["width"], ["videoProtocol"]]) func hundredRequestsASecond(rejected: [String]) {
    let driver = AppDriver.starting()
    var count = 1
    driver.refuseVideo(rejected)
    _ = driver.take()
    for _ in 0..<100 {
      driver.wait(milliseconds: 10)
      driver.setVideoRequest(nil)
      driver.setVideoRequest(AppDriver.videoRequest)
      let new = Self.starts(driver.take())
      count += new
      if new > 0 { driver.refuseVideo(rejected) }
    }
    #expect(count == 1)
    driver.wait(.seconds(1))
    #expect(Self.starts(driver.take()) == 1)
  }

  /// Two requests in turn, each made before the refusal of the other arrives.
  @Test(arguments: [[], ["width"]]) func requestsInTurn(rejected: [String]) {
    let driver = AppDriver.starting()
    var count = 0
    for round in 0..<100 {
      driver.wait(milliseconds: 10)
      driver.setVideoRequest(round.isMultiple(of: 2) ? Self.other : AppDriver.videoRequest)
      driver.refuseVideo(rejected)
      count += Self.starts(driver.take())
    }
    // Another size may be asked for at once when the head unit has refused this one.
    #expect(count == (rejected.isEmpty ? 0 : 1))
  }

  /// So many different sizes are refused that they are not distinguished any more.
  @Test func endlessSizes() {
    let driver = AppDriver.starting()
    var count = 0
    for index in 0..<5000 {
      driver.refuseVideo(["width"])
      driver.setVideoRequest(VideoStartRequest(size: VideoSize(1000 + 2 * index, 480)))
      driver.wait(milliseconds: 250)
      count += Self.starts(driver.take())
    }
    #expect((200...1000).contains(count), "\(count)")
    driver.refuseVideo(["width"])
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.wait(.seconds(30))
    #expect(Self.starts(driver.take()) == 1)
  }

  @Test func driverWhoLeavesEndsThePause() {
    for hasRequest in [true, false] {
      let driver = AppDriver.starting()
      driver.refuseVideo()
      driver.setVideoRequest(hasRequest ? AppDriver.videoRequest : nil)
      driver.status(.none, .notStreamable)
      driver.setVideoRequest(AppDriver.videoRequest)
      #expect(Self.starts(driver.take()) == 0)
      driver.status(.full, .streamable)
      #expect(driver.take().last == Self.start)
      driver.refuseVideo()
      #expect(driver.take() == ["• start of 800×480 failed [], again after 2.0 seconds"])
    }
  }

  /// There is no deadline while the app requests nothing, or is in the background.
  @Test func noDeadlineWithoutDemand() {
    let driver = AppDriver.starting()
    driver.refuseVideo()
    #expect(driver.session.nextDeadline == .seconds(2))
    driver.setAppState(.background)
    #expect(driver.session.nextDeadline == nil)
    driver.setAppState(.foreground)
    #expect(driver.session.nextDeadline == .seconds(2))
    driver.setVideoRequest(nil)
    #expect(driver.session.nextDeadline == nil)
    driver.wait(.seconds(3))
    _ = driver.take()
    driver.setVideoRequest(AppDriver.videoRequest)
    #expect(driver.take() == [Self.start])
  }

  @Test func refusalsAreForgottenOnceAStreamHasRun() {
    let driver = AppDriver.ready(request: VideoStartRequest(size: VideoSize(800, 480), streamingProtocol: .rtp))
    driver.status(.full, .streamable)
    driver.refuseVideo(["videoProtocol"])
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.wait(milliseconds: 250)
    _ = driver.take()
    driver.acknowledgeVideo()
    driver.wait(.seconds(1))
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(800, 480), streamingProtocol: .rtp))
    driver.control(.endServiceACK, .video)
    #expect(
      driver.take() == [
        "• started 800×480 epoch 1", "• stopped resized", "→ EndService video",
        "→ StartService video 800×480 RTP H264",
      ])
  }

  /// A refused request is not made again by itself, also after the app was in the background.
  @Test func finalRefusalStands() {
    let driver = AppDriver.starting()
    driver.refuseVideo(["width"])
    _ = driver.take()
    driver.setAppState(.background)
    driver.setAppState(.foreground)
    driver.wait(.seconds(100))
    #expect(driver.take().isEmpty)
    #expect(driver.session.nextDeadline == nil)
  }
}
