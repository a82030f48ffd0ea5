import SDLApp
import Testing

/// The video service against a head unit that is played by hand, also where a real one would not go wrong.
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

  @Test func nothingStartsWithoutAWish() {
    let driver = AppDriver.ready(wish: nil)
    driver.status(.full, .streamable)
    #expect(driver.take() == ["• status FULL STREAMABLE"])
    driver.setWish(AppDriver.wish)
    #expect(driver.take() == [Self.start])
    driver.setWish(nil)
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

  /// L-a: the level goes while the answer is on its way.
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

  /// L-b: the level returns before the end was acknowledged.
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

  /// L-c: a new size is not asked for while the level forbids it.
  @Test func resizeWhileLeaving() {
    let driver = AppDriver.streaming()
    driver.status(.limited, .notStreamable)
    driver.setWish(VideoWish(size: VideoSize(400, 380)))
    driver.control(.endServiceACK, .video)
    driver.wait(.seconds(5))
    #expect(driver.take().last == "→ EndService video")
    driver.status(.limited, .streamable)
    #expect(driver.take().last == "→ StartService video 400×380 RAW H264")
  }

  @Test func resizeWhileStarting() {
    let driver = AppDriver.starting()
    driver.setWish(VideoWish(size: VideoSize(400, 380)))
    #expect(driver.take().isEmpty)
    driver.acknowledgeVideo()
    #expect(driver.take() == ["→ EndService video"])
    driver.control(.endServiceACK, .video)
    #expect(driver.take() == ["→ StartService video 400×380 RAW H264"])
    driver.acknowledgeVideo()
    #expect(driver.take() == ["• started 400×380 epoch 1"])
  }

  /// L-d, L15: 5 s for the start, then an end, then pauses of 2 s, 4 s, … up to 30 s.
  @Test func startUnanswered() {
    let driver = AppDriver.starting()
    driver.wait(.milliseconds(4999))
    #expect(driver.take().isEmpty)
    for pause in [2.0, 4, 8, 16, 30, 30] {
      driver.wait(.milliseconds(1))
      #expect(
        driver.take() == ["• start of 800×480 failed [], again after \(pause) seconds", "→ EndService video"])
      driver.control(.endServiceNAK, .video)
      driver.wait(.seconds(pause) - .milliseconds(1))
      #expect(driver.take().isEmpty)
      driver.wait(.milliseconds(1))
      #expect(driver.take() == [Self.start])
      driver.wait(.milliseconds(4999))
    }
    driver.acknowledgeVideo()
    #expect(driver.isStreaming)
  }

  /// L16: 1 s for the end.
  @Test func endUnanswered() {
    let driver = AppDriver.streaming()
    driver.setWish(VideoWish(size: VideoSize(400, 380)))
    #expect(driver.take() == ["• stopped resized", "→ EndService video"])
    driver.wait(.milliseconds(999))
    #expect(driver.take().isEmpty)
    driver.wait(.milliseconds(1))
    #expect(driver.take() == ["→ StartService video 400×380 RAW H264"])
    // The late answer to the end means nothing for the new start.
    driver.control(.endServiceACK, .video)
    driver.acknowledgeVideo()
    #expect(driver.take() == ["• started 400×380 epoch 2"])
  }

  @Test func lateAcknowledgement() {
    let driver = AppDriver.starting()
    driver.wait(.seconds(5))
    driver.control(.endServiceNAK, .video)
    _ = driver.take()
    driver.acknowledgeVideo()
    #expect(driver.take() == ["→ EndService video"])
    #expect(!driver.isStreaming)
    driver.control(.endServiceACK, .video)
    driver.wait(.seconds(2))
    #expect(driver.take() == [Self.start])
  }

  @Test func acknowledgementsOfNothing() {
    let driver = AppDriver.streaming()
    let grant = driver.session.videoGrant
    driver.acknowledgeVideo(VideoServiceParameters(width: 320, height: 200))
    driver.refuseVideo()
    driver.control(.endServiceACK, .video)
    #expect(driver.take().isEmpty)
    #expect(driver.session.videoGrant == grant)
  }

  /// L-e, L18: a NAK that names nothing is tried again, with growing pauses; leaving cancels.
  @Test func refusedWithoutParameters() {
    let driver = AppDriver.starting()
    for pause in [2.0, 4, 8] {
      driver.refuseVideo(reason: "busy")
      #expect(driver.take() == ["• start of 800×480 failed [], again after \(pause) seconds"])
      driver.wait(.seconds(pause) - .milliseconds(1))
      #expect(driver.take().isEmpty)
      driver.wait(.milliseconds(1))
      #expect(driver.take() == [Self.start])
    }
    driver.refuseVideo()
    driver.status(.background, .notStreamable)
    _ = driver.take()
    driver.wait(.seconds(100))
    #expect(driver.take().isEmpty)
    #expect(driver.session.nextDeadline == nil)
    driver.status(.full, .streamable)
    #expect(driver.take().last == Self.start)
    driver.refuseVideo()
    #expect(driver.take() == ["• start of 800×480 failed [], again after 2.0 seconds"])
  }

  @Test func refusedWithParameters() {
    let driver = AppDriver.starting()
    driver.refuseVideo(["width", "height"])
    #expect(driver.take() == ["• start of 800×480 failed [width,height], never again"])
    driver.wait(.seconds(100))
    #expect(driver.take().isEmpty)
    driver.setWish(VideoWish(size: VideoSize(400, 380)))
    #expect(driver.take() == ["→ StartService video 400×380 RAW H264"])
    // Wished once more, it is asked for once more: conditions may have changed.
    driver.refuseVideo()
    driver.setWish(AppDriver.wish)
    _ = driver.take()
    driver.wait(.seconds(2))
    #expect(driver.take() == [Self.start])
    driver.refuseVideo(["height"])
    driver.status(.none, .notStreamable)
    driver.status(.full, .streamable)
    #expect(driver.take().last == Self.start)
  }

  /// The failure names what was refused, not what is wished by now.
  @Test func refusedAfterTheWishChanged() {
    let driver = AppDriver.starting()
    driver.setWish(VideoWish(size: VideoSize(400, 380)))
    driver.refuseVideo(["width"])
    #expect(
      driver.take() == [
        "• start of 800×480 failed [width], never again", "→ StartService video 400×380 RAW H264",
      ])
  }

  /// L-f: acknowledged, stopped at once, tried again.
  @Test func endedByHeadUnit() {
    let driver = AppDriver.streaming()
    driver.control(.endService, .video)
    #expect(driver.take() == ["→ EndServiceACK video", "• stopped head-unit"])
    driver.control(.endService, .video)
    #expect(driver.take() == ["→ EndServiceACK video"])
    driver.wait(.seconds(2))
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
    driver.setWish(AppDriver.wish)
    driver.updateCapability(AppDriver.capability)
    var faster = VideoStreamingCapability()
    faster.preferredFPS = 60
    driver.updateCapability(faster)
    #expect(driver.take() == ["• capability 800×480"])
    #expect(driver.isStreaming)
  }

  struct Answer: Sendable {
    var width: Int32?
    var height: Int32?
    var accepted: VideoSize
    var diagnostics = 0
  }

  /// S9, S10 and other odd answers.
  @Test(arguments: [
    Answer(width: 800, height: 480, accepted: VideoSize(800, 480)),
    Answer(width: nil, height: nil, accepted: VideoSize(800, 480)),
    Answer(width: 0, height: 0, accepted: VideoSize(800, 480)),
    Answer(width: 640, height: nil, accepted: VideoSize(800, 480), diagnostics: 1),
    Answer(width: -1, height: 480, accepted: VideoSize(800, 480)),
    Answer(width: .max, height: .max, accepted: VideoSize(800, 480)),
    Answer(width: 640, height: 360, accepted: VideoSize(640, 360)),
  ])
  func acceptedSize(_ answer: Answer) {
    let driver = AppDriver.starting()
    driver.acknowledgeVideo(VideoServiceParameters(width: answer.width, height: answer.height))
    #expect(driver.session.videoGrant?.size == answer.accepted)
    #expect(driver.diagnostics.count == answer.diagnostics)
    _ = driver.take()
    // The app follows the head unit: that is no new size.
    driver.setWish(VideoWish(size: answer.accepted))
    #expect(driver.take().isEmpty)
  }

  @Test func flapping() {
    let driver = AppDriver.ready()
    for step in 0..<500 {
      let isOn = step % 2 == 0
      driver.status(isOn ? .full : .background, isOn ? .streamable : .notStreamable)
      // The head unit takes its time, so that answers meet other states than they were asked in.
      for frame in driver.frames where step % 3 == 0 && frame.header.service == .video {
        if frame.header.controlFrame == .startService { driver.acknowledgeVideo() }
        if frame.header.controlFrame == .endService { driver.control(.endServiceACK, .video) }
      }
      _ = driver.take()
      driver.wait(milliseconds: 10)
    }
    driver.status(.full, .streamable)
    for _ in 0..<10 {
      for frame in driver.frames where frame.header.service == .video {
        if frame.header.controlFrame == .startService { driver.acknowledgeVideo() }
        if frame.header.controlFrame == .endService { driver.control(.endServiceACK, .video) }
      }
      _ = driver.take()
      driver.wait(.seconds(2))
    }
    #expect(driver.isStreaming)
  }

  /// L23, L27 are whole ends: see SessionEndTests. Here: the app stops and goes on within a session.
  @Test func appStopsAndGoesOn() {
    let driver = AppDriver.streaming()
    driver.setWish(nil)
    #expect(driver.take() == ["• stopped app", "→ EndService video"])
    driver.control(.endServiceACK, .video)
    driver.setWish(AppDriver.wish)
    driver.acknowledgeVideo()
    #expect(driver.take() == [Self.start, "• started 800×480 epoch 2"])
  }
}
