import Testing

@testable import SDLApp
import TestSupport

/// Random sequences of everything that can happen. ``AppInvariants`` checks every step, these tests check the outcome.
@Suite struct LifecyclePropertyTests {
  private static let sizes = [VideoSize(800, 480), VideoSize(400, 380), VideoSize(532, 252)]

  /// A faulty head unit: answers late, twice or without a request, and ends services at random.
  private static func disturb(_ driver: AppDriver, _ random: inout SeededGenerator) {
    switch Int.random(in: 0..<30, using: &random) {
    case 0, 1, 2:
      driver.status(
        HMILevel.allCases.randomElement(using: &random) ?? .none,
        Bool.random(using: &random) ? .streamable : .notStreamable,
        window: Int.random(in: 0..<8, using: &random) == 0 ? 1 : nil,
        audio: AudioStreamingState.allCases.randomElement(using: &random) ?? .audible)
    case 3, 4: driver.acknowledgeVideo()
    case 5: driver.acknowledgeVideo(VideoServiceParameters(width: 640, height: 360))
    case 6: driver.refuseVideo()
    case 7: driver.refuseVideo(["width"])
    case 8: driver.control(.endService, .video)
    case 9, 10: driver.control(Bool.random(using: &random) ? .endServiceACK : .endServiceNAK, .video)
    case 11: driver.setVideoRequest(sizes.randomElement(using: &random).map { VideoStartRequest(size: $0) })
    case 12: driver.setVideoRequest(nil)
    case 18:
      driver.setVideoRequest(
        VideoStartRequest(
          size: sizes[0], streamingProtocol: VideoStreamingProtocol.allCases.randomElement(using: &random) ?? .raw,
          isBare: Bool.random(using: &random)))
    case 19:
      driver.acknowledgeVideo(
        VideoServiceParameters(videoProtocol: ["RAW", "RTP", "RTSP"].randomElement(using: &random)))
    case 13:
      var update = VideoStreamingCapability()
      update.maxBitrate = Int.random(in: 1...3, using: &random)
      update.hapticSpatialDataSupported = Bool.random(using: &random)
      driver.updateCapability(update)
    case 14: driver.control(.heartbeat, .control)
    case 22, 23: touch(driver, &random)
    case 20:
      let rectangles = (0..<Int.random(in: 0...2, using: &random)).map { id in
        HapticRectangle(id: id, x: .random(in: -9...900, using: &random), y: 0, width: 100, height: 100)
      }
      driver.setHapticRectangles(HapticRectangleList(rectangles))
    case 21 where driver.hasAsked(.sendHapticData):
      let code = [ResultCode.success, .disallowed, .invalidData].randomElement(using: &random) ?? .success
      driver.respond(.sendHapticData, RPCResult(success: code == .success, resultCode: code).json)
    case 24: driver.acknowledgeAudio()
    case 25: driver.control(.startServiceNAK, .audio)
    case 26: driver.control(.endService, .audio)
    case 27: driver.control(Bool.random(using: &random) ? .endServiceACK : .endServiceNAK, .audio)
    case 28: driver.setAudioRequest(Bool.random(using: &random) ? AudioStartRequest() : nil)
    case 15, 16: driver.setAppState(AppState.allCases.randomElement(using: &random) ?? .foreground)
    default: driver.wait(.milliseconds(Int.random(in: 1...6000, using: &random)))
    }
    // Long enough for deadlines to pass before answers, short enough for answers to cross.
    if Int.random(in: 0..<4, using: &random) == 0 {
      driver.wait(.milliseconds(Int.random(in: 0...1200, using: &random)))
    }
  }

  private static func touch(_ driver: AppDriver, _ random: inout SeededGenerator) {
    let fingers = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      OnTouchEvent.Finger(
        id: Int.random(in: 0...3, using: &random),
        samples: (0..<Int.random(in: 0...3, using: &random)).map { time in
          OnTouchEvent.Sample(x: .random(in: 0...10_000, using: &random), y: 0, time: time)
        })
    }
    let kind = OnTouchEvent.Kind.allCases.randomElement(using: &random)
    driver.notify(.onTouchEvent, OnTouchEvent(kind: kind, fingers: fingers).json)
  }

  /// Plays a head unit without faults until the app streams. Sound comes first: beside video, sound that was refused
  /// for good is not asked for.
  private static func settle(_ driver: AppDriver) {
    _ = driver.take()
    driver.setVideoRequest(nil)
    driver.setAppState(.foreground)
    driver.status(.none, .notStreamable)
    driver.setAudioRequest(AudioStartRequest())
    driver.status(.full, .streamable, audio: .audible)
    answer(driver) { driver.session.status.audio.state == .streaming }
    driver.setVideoRequest(AppDriver.videoRequest)
    answer(driver) { driver.isStreaming && driver.session.status.audio.state == .streaming }
  }

  /// Answers until all is done, or ten rounds have passed.
  private static func answer(_ driver: AppDriver, until isDone: () -> Bool) {
    for _ in 0..<10 where !isDone() {
      for frame in driver.frames where [.audio, .video].contains(frame.header.service) {
        if frame.header.controlFrame == .startService { driver.control(.startServiceACK, frame.header.service) }
        if frame.header.controlFrame == .endService { driver.control(.endServiceACK, frame.header.service) }
      }
      _ = driver.take()
      driver.wait(.seconds(6))
    }
  }

  @Test(arguments: 1...40) func mediaRecoverFromEverything(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let driver = AppDriver.ready()
    for _ in 0..<400 { Self.disturb(driver, &random) }
    #expect(!driver.isClosed)
    Self.settle(driver)
    #expect(driver.isStreaming)
    #expect(driver.session.status.audio.state == .streaming)
  }

  /// The session ends at a random moment, in a random way; nothing happens afterwards.
  @Test(arguments: 1...200) func sessionsEndOnce(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var configuration = AppDriver.configuration
    configuration.heartbeatInterval = Bool.random(using: &random) ? .seconds(4) : nil
    let driver = AppDriver(configuration)
    let end = Int.random(in: 0..<60, using: &random)
    for step in 0..<120 {
      if step == 0 { driver.connect() }
      if step == 3, driver.failure == nil { driver.acknowledgeSession() }
      if step == 6, !driver.isClosed, driver.frames.count > 1 { driver.acceptRegistration() }
      if step == 9, driver.headUnit != nil, !driver.isClosed { driver.answerCapability() }
      if step == end {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: driver.finish()
        case 1: driver.lose()
        case 2: driver.control(.endService, .rpc)
        default: driver.notify(.onAppInterfaceUnregistered, OnAppInterfaceUnregistered(reason: .masterReset).json)
        }
      }
      Self.disturb(driver, &random)
    }
    driver.wait(.seconds(30))
    driver.finish()
    driver.wait(.seconds(1))
    #expect(driver.isClosed)
    #expect(driver.session.nextDeadline == nil)
  }

  /// A status every 10 ms for 5 s, with fast and slow answers of the head unit.
  @Test(arguments: 1...20) func flapping(pace: Int) {
    let driver = AppDriver.ready()
    var answers: [(due: Duration, control: ControlFrame)] = []
    func listen() {
      for frame in driver.frames where frame.header.service == .video {
        let due = driver.now + .milliseconds(pace * 7)
        if frame.header.controlFrame == .startService { answers.append((due, .startServiceACK)) }
        if frame.header.controlFrame == .endService { answers.append((due, .endServiceACK)) }
      }
      _ = driver.take()
      while let first = answers.first, first.due <= driver.now {
        answers.removeFirst()
        driver.control(first.control, .video)
      }
    }
    for step in 0..<500 {
      driver.status(step.isMultiple(of: 2) ? .full : .none, step.isMultiple(of: 2) ? .streamable : .notStreamable)
      listen()
      driver.wait(.milliseconds(10))
    }
    let endsInFull = pace.isMultiple(of: 2)
    driver.status(endsInFull ? .full : .none, endsInFull ? .streamable : .notStreamable)
    for _ in 0..<300 {
      listen()
      driver.wait(.milliseconds(10))
    }
    #expect(driver.isStreaming == endsInFull)
    #expect(answers.isEmpty)
    #expect(driver.session.nextDeadline == nil)
  }
}
