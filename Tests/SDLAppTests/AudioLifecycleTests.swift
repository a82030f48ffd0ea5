import Testing

@testable import SDLApp

/// The audio service against a head unit that the test plays frame by frame.
@Suite struct AudioLifecycleTests {
  private static let start = "→ StartService audio"
  private static let started = "• audio started 16000 Hz, 16 bit epoch 1"

  /// Registered in NONE, and asks for sound alone.
  private static func ready(_ change: (inout AppSession.Configuration) -> Void = { _ in }) -> AppDriver {
    var configuration = AppDriver.configuration
    change(&configuration)
    let driver = AppDriver.ready(request: nil, configuration)
    driver.setAudioRequest(AudioStartRequest())
    return driver
  }

  /// StartService is not answered yet.
  private static func starting() -> AppDriver {
    let driver = ready()
    driver.status(.full, .streamable, audio: .audible)
    #expect(driver.take().last == start)
    return driver
  }

  private static func streaming() -> AppDriver {
    let driver = starting()
    driver.acknowledgeAudio()
    #expect(driver.take() == [started])
    return driver
  }

  struct Row: Sendable {
    var level: HMILevel
    var audio: AudioStreamingState
    /// What becomes of no service, and of one that runs, in an app of navigation and in a media app.
    var starts: (Bool, media: Bool)
    var keeps: (StreamState, media: StreamState)
  }

  private static let rows = [
    Row(level: .full, audio: .audible, starts: (true, true), keeps: (.streaming, .streaming)),
    Row(level: .full, audio: .attenuated, starts: (true, true), keeps: (.streaming, .streaming)),
    Row(level: .full, audio: .notAudible, starts: (false, false), keeps: (.suspended, .suspended)),
    Row(level: .limited, audio: .audible, starts: (true, true), keeps: (.streaming, .streaming)),
    Row(level: .limited, audio: .attenuated, starts: (true, true), keeps: (.streaming, .streaming)),
    Row(level: .limited, audio: .notAudible, starts: (false, false), keeps: (.suspended, .suspended)),
    Row(level: .background, audio: .audible, starts: (false, true), keeps: (.stopping, .streaming)),
    Row(level: .background, audio: .attenuated, starts: (false, true), keeps: (.stopping, .streaming)),
    Row(level: .background, audio: .notAudible, starts: (false, false), keeps: (.stopping, .suspended)),
    Row(level: .none, audio: .audible, starts: (false, false), keeps: (.stopping, .stopping)),
    Row(level: .none, audio: .attenuated, starts: (false, false), keeps: (.stopping, .stopping)),
    Row(level: .none, audio: .notAudible, starts: (false, false), keeps: (.stopping, .stopping)),
  ]

  /// Neither the state of the video nor that of the app counts.
  @Test(arguments: rows.indices, [false, true]) func levels(index: Int, isMedia: Bool) {
    let row = Self.rows[index]
    for state in VideoStreamingState.allCases {
      for appState in AppState.allCases {
        let driver = Self.ready { $0.isMediaApplication = isMedia }
        driver.setAppState(appState)
        driver.status(row.level, state, audio: row.audio)
        #expect((driver.take().last == Self.start) == (isMedia ? row.starts.media : row.starts.0), "\(row)")

        let running = Self.ready { $0.isMediaApplication = isMedia }
        running.setAppState(appState)
        running.status(.full, state, audio: .audible)
        running.acknowledgeAudio()
        running.status(row.level, state, audio: row.audio)
        #expect(running.session.status.audio.state == (isMedia ? row.keeps.media : row.keeps.0), "\(row)")
      }
    }
  }

  /// The head unit has announced 8 bit at 44 kHz, and takes small frames.
  @Test func announcedFormat() {
    let format = PCMFormat(samplingRate: .hertz44000, sampleSize: .bits8)
    let driver = AppDriver.registering()
    driver.acceptRegistration { $0.pcmFormat = format }
    driver.setAudioRequest(AudioStartRequest())
    driver.status(.full, .streamable, audio: .audible)
    driver.acknowledgeAudio(mtu: 1012)
    let expected = AudioGrant(
      media: MediaGrant(service: .audio, epoch: 1, sessionID: 1, version: 5, maximumPayload: 1000), format: format,
      isFormatAssumed: false)
    #expect(driver.session.status.audio.grant == expected)
    #expect(driver.headUnit?.announcedPCMFormat == format)
  }

  @Test func assumedFormat() {
    let driver = Self.streaming()
    #expect(driver.session.status.audio.grant?.format == PCMFormat(samplingRate: .hertz16000, sampleSize: .bits16))
    #expect(driver.session.status.audio.grant?.isFormatAssumed == true)
    #expect(driver.session.status.audio.grant?.maximumPayload == 131_060)
  }

  @Test func phoneCall() {
    let driver = Self.streaming()
    driver.status(.full, .streamable, audio: .notAudible)
    driver.status(.limited, .streamable, audio: .notAudible)
    #expect(driver.take() == ["• status FULL STREAMABLE", "• audio suspended", "• status LIMITED STREAMABLE"])
    driver.status(.full, .streamable, audio: .attenuated)
    #expect(driver.take() == ["• status FULL STREAMABLE", "• audio resumed"])
    #expect(driver.session.status.audio.grant?.epoch == 1)
  }

  @Test func phoneCallWhileStarting() {
    let driver = Self.starting()
    driver.status(.full, .streamable, audio: .notAudible)
    driver.acknowledgeAudio()
    #expect(driver.take() == ["• status FULL STREAMABLE", Self.started, "• audio suspended"])
  }

  @Test func theAppEndsIt() {
    let driver = Self.streaming()
    driver.setAudioRequest(nil)
    #expect(driver.take() == ["• audio stopped app", "→ EndService audio"])
    driver.setAudioRequest(AudioStartRequest())
    #expect(driver.take().isEmpty)
    driver.control(.endServiceNAK, .audio)
    #expect(driver.take() == [Self.start])
    driver.acknowledgeAudio()
    #expect(driver.take() == ["• audio started 16000 Hz, 16 bit epoch 2"])
  }

  @Test func theHeadUnitEndsIt() {
    let driver = Self.streaming()
    driver.control(.endService, .audio)
    driver.control(.endService, .audio)
    #expect(driver.take() == ["→ EndServiceACK audio", "→ EndServiceACK audio"])
    #expect(driver.session.status.audio.grant == nil)
    driver.wait(.milliseconds(100))
    #expect(driver.take() == ["• audio stopped head-unit"])
    driver.wait(.milliseconds(1900))
    #expect(driver.take() == [Self.start])
    // A head unit that acknowledges audio and closes it at once.
    driver.acknowledgeAudio()
    driver.control(.endService, .audio)
    driver.wait(.milliseconds(100))
    #expect(
      driver.take().dropFirst() == [
        "→ EndServiceACK audio", "• audio stopped head-unit", "• start of audio failed, again after 4.0 seconds",
      ])
    driver.wait(.milliseconds(3899))
    #expect(driver.take().isEmpty)
    driver.wait(.milliseconds(1))
    #expect(driver.take() == [Self.start])
  }

  @Test func refusals() {
    let driver = Self.starting()
    for pause in [2, 4, 8, 16, 30, 30, 30] {
      driver.control(.startServiceNAK, .audio)
      #expect(driver.take() == ["• start of audio failed, again after \(Double(pause)) seconds"])
      driver.wait(.milliseconds(pause * 1000 - 1))
      #expect(driver.take().isEmpty)
      driver.wait(.milliseconds(1))
      #expect(driver.take() == [Self.start])
    }
    driver.control(.startServiceNAK, .audio)
    #expect(driver.take() == ["• start of audio failed, never again"])
    driver.wait(.seconds(100))
    #expect(driver.take().isEmpty)
    // Another request of the app is another attempt.
    driver.setAudioRequest(nil)
    driver.setAudioRequest(AudioStartRequest())
    #expect(driver.take() == [Self.start])
  }

  /// A head unit that takes only what is encrypted is not asked again by an app that does not encrypt: each
  /// refusal may cost it its level, and the driver the picture.
  @Test func refusedForGoodBesideVideo() {
    let driver = AppDriver.streaming()
    driver.setAudioRequest(AudioStartRequest())
    driver.status(.full, .streamable, audio: .audible)
    #expect(driver.take().last == Self.start)
    let rejection = ServiceRejection(reason: "Service type: 10 disallowed by settings. Allowed only in protected mode")
    driver.control(.startServiceNAK, .audio, payload: rejection.bytes(version: 5))
    #expect(driver.take() == ["• start of audio failed, never again"])
    driver.status(.none, .notStreamable)
    driver.status(.full, .streamable, audio: .audible)
    driver.acknowledgeVideo()
    driver.setAudioRequest(nil)
    driver.setAudioRequest(AudioStartRequest())
    driver.wait(.seconds(100))
    #expect(!driver.take().contains(Self.start))
    // Without video there is nothing to lose.
    driver.setVideoRequest(nil)
    #expect(driver.take().last == Self.start)
    // Sound that has started after all goes on beside video.
    driver.acknowledgeAudio()
    driver.setVideoRequest(AppDriver.videoRequest)
    #expect(driver.session.status.audio.state == .streaming)
  }

  /// Of the app's settings, for either service.
  private static func started(
    _ service: ServiceType, _ change: (inout AppSession.Configuration) -> Void
  ) -> AppDriver {
    var configuration = AppDriver.configuration
    change(&configuration)
    let driver = AppDriver.ready(request: service == .video ? AppDriver.videoRequest : nil, configuration)
    if service == .audio { driver.setAudioRequest(AudioStartRequest()) }
    driver.status(.full, .streamable, audio: .audible)
    #expect(driver.take().last?.hasPrefix("→ StartService \(service)") == true)
    return driver
  }

  @Test(arguments: [ServiceType.video, .audio]) func longestPause(service: ServiceType) {
    let driver = Self.started(service) { $0.longestVideoRetry = .seconds(3) }
    for pause in [2, 3, 3] {
      driver.control(.startServiceNAK, service)
      driver.wait(.seconds(pause) - .milliseconds(1))
      #expect(!driver.take().contains { $0.hasPrefix("→ StartService") })
      driver.wait(.milliseconds(1))
      #expect(driver.take().contains { $0.hasPrefix("→ StartService") })
    }
  }

  @Test(arguments: [ServiceType.video, .audio]) func timeForAnAnswer(service: ServiceType) {
    let driver = Self.started(service) { $0.videoStartTimeout = .seconds(7) }
    driver.wait(.milliseconds(6999))
    #expect(driver.take() == [])
    driver.wait(.milliseconds(1))
    #expect(driver.take().last == "→ EndService \(service)")
  }

  /// What is missing has a property.
  @Test func protectionInWords() {
    let reason = "Allowed only in protected mode"
    let sound = "\(AudioStartFailure.refused(rejectedParameters: [], reason: reason))"
    #expect(sound.hasSuffix("(see the property encryption)"), "\(sound)")
    let video = "\(VideoStartFailure.refused(rejectedParameters: [], reason: reason))"
    #expect(video.hasSuffix("(see the property encryption)"), "\(video)")
    let other = VideoStartFailure.refused(rejectedParameters: [], reason: "Allowed only in unprotected mode")
    #expect(!"\(other)".contains("encryption"))
  }

  @Test func unanswered() {
    let driver = Self.starting()
    driver.wait(.seconds(5))
    #expect(driver.take() == ["• start of audio failed, again after 2.0 seconds", "→ EndService audio"])
    driver.wait(.seconds(2))
    #expect(driver.take() == [Self.start])
    driver.wait(.milliseconds(11_999))
    #expect(driver.take().isEmpty)
    driver.wait(.milliseconds(1))
    #expect(driver.take().count == 2)
    // Too late: nobody uses the service that the head unit believes in now.
    driver.control(.endServiceACK, .audio)
    driver.acknowledgeAudio()
    #expect(driver.take() == ["→ EndService audio"])
  }

  @Test func leavesBeforeTheAnswer() {
    let driver = Self.starting()
    driver.status(.none, .notStreamable)
    driver.acknowledgeAudio()
    #expect(driver.take() == ["• status NONE NOT_STREAMABLE", "→ EndService audio"])
  }

  /// Both services of one app, each with a number of its own.
  @Test func besideVideo() {
    let driver = AppDriver.streaming()
    driver.setAudioRequest(AudioStartRequest())
    driver.status(.limited, .streamable, audio: .audible)
    driver.acknowledgeAudio()
    #expect(
      driver.take() == ["• status LIMITED STREAMABLE", Self.start, "• audio started 16000 Hz, 16 bit epoch 2"])
    driver.control(.startServiceNAK, .audio)
    driver.control(.endService, .audio)
    #expect(driver.session.status.video.state == .streaming)
    driver.setVideoRequest(nil)
    driver.control(.endServiceACK, .video)
    #expect(driver.session.status.audio.grant == nil && driver.session.status.video.grant == nil)
  }

  /// The refused start of video costs the level in which sound, which was waiting, starts. That says nothing about sound.
  @Test func refusedBecauseVideoWas() {
    let driver = AppDriver.ready()
    driver.setAudioRequest(AudioStartRequest())
    for _ in 1...3 {
      driver.status(.full, .streamable, audio: .audible)
      driver.refuseVideo([], reason: "no")
      #expect(driver.take().last == Self.start)
      driver.status(.none, .notStreamable)
      driver.control(.startServiceNAK, .audio)
      #expect(!driver.take().contains { $0.contains("start of audio failed") })
      driver.wait(.seconds(40))
    }
    driver.setVideoRequest(nil)
    _ = driver.take()
    driver.status(.full, .streamable, audio: .audible)
    #expect(driver.take().last == Self.start)
  }

  /// A refused start costs the level, unless the other service runs.
  @Test(arguments: [ControlFrame.startServiceACK, .startServiceNAK, .endService])
  func waitsForTheAnswerAboutVideo(answer: ControlFrame) {
    let driver = AppDriver.ready()
    driver.setAudioRequest(AudioStartRequest())
    driver.status(.full, .streamable, audio: .audible)
    #expect(driver.take().last == "→ StartService video 800×480 RAW H264")
    driver.wait(.seconds(4))
    #expect(driver.take().isEmpty)
    driver.control(answer, .video)
    #expect(driver.take().last == Self.start)
  }

  @Test func videoThatIsNotAnswered() {
    let driver = AppDriver.starting()
    driver.setAudioRequest(AudioStartRequest())
    driver.status(.full, .streamable, audio: .audible)
    driver.wait(.milliseconds(4999))
    #expect(!driver.take().contains(Self.start))
    driver.wait(.milliseconds(1))
    #expect(driver.take().last == Self.start)
  }

  /// The wait for the video's answer does not suspend sound that runs already.
  @Test func videoStartsBesideSound() {
    let driver = Self.streaming()
    driver.setVideoRequest(AppDriver.videoRequest)
    #expect(driver.take() == ["→ StartService video 800×480 RAW H264"])
    #expect(driver.session.status.audio.state == .streaming)
  }

  @Test func theSessionEnds() {
    let driver = Self.streaming()
    driver.finish()
    #expect(
      driver.take() == ["• audio stopped app", "→ EndService audio", "→ UnregisterAppInterface request"])
    let starting = Self.starting()
    starting.finish()
    starting.acknowledgeAudio()
    #expect(starting.take() == ["→ UnregisterAppInterface request"])
    let lost = Self.streaming()
    lost.lose()
    #expect(lost.take() == ["• audio stopped connection-lost", "• failed", "■"])
    let ended = Self.streaming()
    ended.control(.endService, .rpc)
    #expect(ended.take() == ["→ EndServiceACK rpc", "• audio stopped session-ended"])
  }

  @Test(arguments: [false, true]) func registersAsMediaApp(isMedia: Bool) throws {
    var configuration = AppDriver.configuration
    configuration.isMediaApplication = isMedia
    let driver = AppDriver(configuration)
    driver.connect()
    driver.acknowledgeSession()
    let frame = try #require(driver.frames.last)
    #expect(RegisterAppInterface(json: try RPCMessage(payload: frame.payload).parameters).isMediaApplication == isMedia)
  }

  @Test func textsForTheUser() {
    #expect(
      "\(AudioStartFailure.refused(rejectedParameters: [], reason: "no speaker"))"
        == "the head unit refused to start audio: no speaker")
    #expect("\(AudioStartFailure.unanswered)" == "the head unit did not answer the request to start audio")
  }
}
