import SDLApp
import Testing

/// The video service against a head unit that the test plays frame by frame, also with faults that no real one has.
@Suite struct VideoLifecycleTests {
  private static let start = "→ StartService video 800×480 RAW H264"

  @Test func startsInFullOrLimitedOnly() {
    for (level, state, starts) in [
      (HMILevel.full, VideoStreamingState.streamable, true), (.limited, .streamable, true),
      (.full, .notStreamable, false), (.limited, .notStreamable, false), (.background, .streamable, false),
      (.none, .streamable, false), (.full, nil, true),
    ] as [(HMILevel, VideoStreamingState?, Bool)] {
      let driver = AppDriver.ready()
      driver.status(level, state)
      let last = driver.take().last
      #expect((last == Self.start) == starts, "\(level) \(state.map { "\($0)" } ?? "without state")")
    }
  }

  @Test func nothingStartsWithoutARequest() {
    let driver = AppDriver.ready(request: nil)
    driver.status(.full, .streamable)
    #expect(driver.take() == ["• status FULL STREAMABLE"])
    driver.setVideoRequest(AppDriver.videoRequest)
    #expect(driver.take() == [Self.start])
    driver.setVideoRequest(nil)
    #expect(driver.take().isEmpty)
    driver.acknowledgeVideo()
    #expect(driver.take() == ["→ EndService video"])
    #expect(!driver.isStreaming)
  }

  @Test func levelsThatKeepTheStream() {
    let driver = AppDriver.streaming()
    driver.status(.limited, .streamable)
    driver.status(.full, .streamable)
    driver.status(.full)
    #expect(
      driver.take() == ["• status LIMITED STREAMABLE", "• status FULL STREAMABLE", "• status FULL STREAMABLE"])
    #expect(driver.isStreaming)
  }

  @Test(arguments: [
    (HMILevel.limited, VideoStreamingState.notStreamable), (.full, .notStreamable), (.background, .notStreamable),
    (.background, .streamable), (.none, .notStreamable),
  ])
  func levelsThatEndTheStream(level: HMILevel, state: VideoStreamingState) {
    let driver = AppDriver.streaming()
    driver.status(level, state)
    #expect(
      driver.take() == [
        "• status \(level.rawValue) \(state.rawValue)", "• stopped hmi-status", "→ EndService video",
      ])
    #expect(!driver.isStreaming)
  }

  /// The level changes to NONE before the answer arrives.
  @Test func leavesWhileStarting() {
    let driver = AppDriver.starting()
    driver.status(.none, .notStreamable)
    driver.acknowledgeVideo()
    #expect(driver.take() == ["• status NONE NOT_STREAMABLE", "→ EndService video"])
    driver.control(.endServiceACK, .video)
    driver.wait(.seconds(20))
    #expect(driver.take().isEmpty)
  }

  @Test func leavesAndReturnsWhileStarting() {
    let driver = AppDriver.starting()
    driver.status(.background, .notStreamable)
    driver.status(.full, .streamable)
    driver.acknowledgeVideo()
    #expect(driver.take().last == "• started 800×480 epoch 1")
  }

  /// The level returns before the end was acknowledged.
  @Test(arguments: [ControlFrame.endServiceACK, .endServiceNAK]) func returnsWhileEnding(answer: ControlFrame) {
    let driver = AppDriver.streaming()
    driver.status(.none, .notStreamable)
    driver.status(.full, .streamable)
    #expect(
      driver.take() == [
        "• status NONE NOT_STREAMABLE", "• stopped hmi-status", "→ EndService video", "• status FULL STREAMABLE",
      ])
    driver.control(answer, .video)
    #expect(driver.take() == [Self.start])
    driver.acknowledgeVideo()
    #expect(driver.take() == ["• started 800×480 epoch 2"])
  }

  /// A new size is not asked for while the level forbids it.
  @Test func resizeWhileLeaving() {
    let driver = AppDriver.streaming()
    driver.status(.limited, .notStreamable)
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(400, 380)))
    driver.control(.endServiceACK, .video)
    driver.wait(.seconds(5))
    #expect(driver.take().last == "→ EndService video")
    driver.status(.limited, .streamable)
    #expect(driver.take().last == "→ StartService video 400×380 RAW H264")
  }

  @Test func resizeWhileStarting() {
    let driver = AppDriver.starting()
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(400, 380)))
    #expect(driver.take().isEmpty)
    driver.acknowledgeVideo()
    #expect(driver.take() == ["→ EndService video"])
    driver.control(.endServiceACK, .video)
    #expect(driver.take() == ["→ StartService video 400×380 RAW H264"])
    driver.acknowledgeVideo()
    #expect(driver.take() == ["• started 400×380 epoch 1"])
  }

  /// The answer to EndService is waited for 1 s.
  @Test func endUnanswered() {
    let driver = AppDriver.streaming()
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(400, 380)))
    #expect(driver.take() == ["• stopped resized", "→ EndService video"])
    driver.wait(.milliseconds(999))
    #expect(driver.take().isEmpty)
    driver.wait(.milliseconds(1))
    #expect(driver.take() == ["→ StartService video 400×380 RAW H264"])
    // The late answer to the end does not affect the new start.
    driver.control(.endServiceACK, .video)
    driver.acknowledgeVideo()
    #expect(driver.take() == ["• started 400×380 epoch 2"])
  }

  @Test func acknowledgementsOfNothing() {
    let driver = AppDriver.streaming()
    let grant = driver.session.status.video.grant
    driver.acknowledgeVideo(VideoServiceParameters(width: 320, height: 200))
    driver.refuseVideo()
    driver.control(.endServiceACK, .video)
    #expect(driver.take().isEmpty)
    #expect(driver.session.status.video.grant == grant)
  }

  /// Acknowledged, stopped at once, tried again.
  @Test func endedByHeadUnit() {
    let driver = AppDriver.streaming()
    driver.control(.endService, .video)
    #expect(driver.take() == ["→ EndServiceACK video"])
    #expect(driver.session.status.video.grant == nil)
    driver.control(.endService, .video)
    #expect(driver.take() == ["→ EndServiceACK video"])
    driver.wait(.milliseconds(100))
    #expect(driver.take() == ["• stopped head-unit"])
    driver.wait(.milliseconds(1900))
    #expect(driver.take() == [Self.start])
    driver.control(.endService, .video)
    #expect(
      driver.take() == ["→ EndServiceACK video", "• start of 800×480 failed [], again after 4.0 seconds"])
    driver.status(.none, .notStreamable)
    driver.status(.limited, .streamable)
    #expect(driver.take().last == Self.start)
  }

  @Test func crossingEnds() {
    let driver = AppDriver.streaming()
    driver.status(.none, .notStreamable)
    driver.control(.endService, .video)
    driver.control(.endServiceNAK, .video)
    #expect(
      driver.take() == [
        "• status NONE NOT_STREAMABLE", "• stopped hmi-status", "→ EndService video", "→ EndServiceACK video",
      ])
    driver.status(.full, .streamable)
    #expect(driver.take().last == Self.start)
  }

  @Test func otherServicesEndToo() {
    let driver = AppDriver.streaming()
    driver.control(.endService, .audio)
    #expect(driver.take() == ["→ EndServiceACK audio"])
    #expect(driver.isStreaming)
  }

  /// L-g: what the app already streams is not started again.
  @Test func sameSizeAgain() {
    let driver = AppDriver.streaming()
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.updateCapability(AppDriver.capability)
    var faster = VideoStreamingCapability()
    faster.preferredFPS = 60
    driver.updateCapability(faster)
    #expect(driver.take() == ["• capability 800×480"])
    #expect(driver.isStreaming)
  }

  @Test func appStopsAndGoesOn() {
    let driver = AppDriver.streaming()
    driver.setVideoRequest(nil)
    #expect(driver.take() == ["• stopped app", "→ EndService video"])
    driver.control(.endServiceACK, .video)
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.acknowledgeVideo()
    #expect(driver.take() == [Self.start, "• started 800×480 epoch 2"])
  }
}
