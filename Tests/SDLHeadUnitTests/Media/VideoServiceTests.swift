import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@Suite struct VideoServiceTests {
  @Test func acknowledgementEchoesTheRequest() throws {
    var app = TestApp.active()
    app.startVideo(.standard)
    var expected = VideoServiceParameters.standard
    expected.mtu = 131_072
    #expect(try VideoServiceParameters(payload: #require(app.payload(.startServiceACK, .video))) == expected)
    #expect(app.events == [.videoStartRequested(.standard), .videoStarted(expected, on: .primary)])
    app.video(Stream.keyFrame)
    app.video(Stream.picture)
    #expect(app.events.dropFirst(2) == [.videoData(Stream.keyFrame), .videoData(Stream.picture)])
    #expect(app.session.statistics.messages == 2)
    #expect(app.session.statistics.keyFrames == 1)
    #expect(app.session.statistics.pictures == 2)
    #expect(app.session.statistics.bytes == UInt64(Stream.keyFrame.count + Stream.picture.count))
  }

  @Test func absentKeysStayAbsent() throws {
    var app = TestApp.active()
    app.startVideo(VideoServiceParameters())
    let payload = try #require(app.payload(.startServiceACK, .video))
    #expect(VideoServiceParameters(payload: payload) == VideoServiceParameters(mtu: 131_072))
    app.video(Stream.keyFrame)
    #expect(app.violations == [])
  }

  @Test func wronglyTypedSizeCountsAsAbsent() throws {
    var app = TestApp.active()
    let payload = BSONDocument([("height", .int64(1)), ("width", .int64(1)), ("videoCodec", .int32(4))]).bytes
    app.send(.startService, .video, payload: payload)
    let answer = try #require(app.payload(.startServiceACK, .video))
    #expect(VideoServiceParameters(payload: answer) == VideoServiceParameters(mtu: 131_072))
  }

  @Test func largeMessagesAreReassembled() {
    var app = TestApp.streaming()
    let picture = Stream.keyFrame + [UInt8](repeating: 0xAB, count: 300_000)
    app.video(picture)
    #expect(app.events == [.videoData(picture)])
  }

  @Test func beforeRegistrationThereIsNoAnswer() {
    var app = TestApp()
    app.startSession()
    app.startVideo(.standard)
    #expect(app.controls == ["rpc startServiceACK"])
    #expect(app.violations == [.startBeforeRegistration(.video)])
    app.register()
    app.wait(.seconds(1))
    // The service is still listed, so it must be ended before another start.
    app.startVideo(.standard)
    #expect(app.controls.last == "video startServiceNAK")
    app.send(.endService, .video)
    app.set(.full, .streamable)
    app.startVideo(.standard)
    #expect(app.controls.suffix(2) == ["video endServiceACK", "video startServiceACK"])
  }

  @Test(arguments: [
    (HMILevel.none, VideoStreamingState.streamable), (.background, .streamable), (.full, .notStreamable),
    (.limited, .notStreamable),
  ])
  func refusedWhereVideoIsNotAllowed(level: HMILevel, state: VideoStreamingState) {
    var app = TestApp.active()
    app.set(level, state)
    app.forget()
    app.startVideo(.standard)
    #expect(
      app.rejection == ServiceRejection(reason: "The service is disallowed with the current HMI level"))
    #expect(app.levels == (level == .none ? [] : [HMILevel.none]))
  }

  @Test func limitedIsEnough() {
    var app = TestApp.active()
    app.set(.limited, .streamable)
    app.startVideo(.standard)
    #expect(app.controls == ["video startServiceACK"])
  }

  @Test(arguments: [("DEFAULT", false), ("MEDIA", false), ("NAVIGATION", true), ("PROJECTION", true)])
  func onlyNavigationAndProjection(type: String, isAllowed: Bool) {
    var app = TestApp()
    app.startSession()
    app.register { $0["appHMIType"] = .array([.string(type)]) }
    app.set(.full, .streamable)
    app.startVideo(.standard)
    #expect(app.controls.last == (isAllowed ? "video startServiceACK" : "video startServiceNAK"))
  }

  @Test func reasonTextNeedsProtocol53() {
    var app = TestApp()
    app.startSession(ProtocolVersion(5, 2))
    app.register()
    app.wait(.milliseconds(10))
    app.startVideo(.standard)
    #expect(app.payload(.startServiceNAK, .video) == [5, 0, 0, 0, 0])
  }

  @Test(arguments: [
    ("RAW", "H265", ["videoCodec"]), ("RAW", "h264", ["videoCodec"]), ("RTP", "H264", ["videoProtocol"]),
    ("UDP", "H264", ["videoProtocol"]), ("UDP", "MPEG", ["videoProtocol", "videoCodec"]),
  ])
  func unsupportedFormats(videoProtocol: String, codec: String, rejected: [String]) {
    var app = TestApp.active()
    var request = VideoServiceParameters.standard
    request.videoProtocol = videoProtocol
    request.videoCodec = codec
    app.startVideo(request)
    #expect(app.rejection?.rejectedParameters == rejected)
    #expect(app.levels == [HMILevel.none])
    #expect(app.events.contains(.videoRefused(app.rejection ?? ServiceRejection())))
  }

  @Test(
    arguments: [
      (HeadUnitPreset.standard, 800, 480, true), (.standard, 480, 800, false), (.standard, 0, 0, false),
      (.standard, -800, -480, false), (.standard, 798, 480, false), (.core, 800, 380, true), (.core, 480, 320, true),
      (.core, 400, 380, true), (.core, 400, 190, true), (.core, 532, 252, true), (.core, 533, 253, true),
      (.core, 480, 380, false), (.genericHMI, 640, 400, true), (.genericHMI, 480, 300, true),
      (.genericHMI, Int32.max, Int32.min, false),
    ] as [(HeadUnitPreset, Int32, Int32, Bool)])
  func sizes(preset: HeadUnitPreset, width: Int32, height: Int32, isOffered: Bool) {
    var app = TestApp.active(preset.configuration)
    app.startVideo(VideoServiceParameters(width: width, height: height))
    #expect(app.controls == [isOffered ? "video startServiceACK" : "video startServiceNAK"])
    if !isOffered { #expect(app.rejection?.rejectedParameters == ["height", "width"]) }
  }

  @Test func lenientHeadUnitsTakeAnySize() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.refusesUnknownSizes = false
    var app = TestApp.active(configuration)
    app.startVideo(VideoServiceParameters(width: 30_000, height: 1))
    #expect(app.controls == ["video startServiceACK"])
  }

  @Test func secondStartIsRefusedAndCostsTheLevel() {
    var app = TestApp.streaming()
    app.startVideo(.standard)
    #expect(app.controls == ["video startServiceNAK"])
    #expect(app.levels == [HMILevel.none])
    #expect(app.violations == [.startWhileActive(.video)])
    app.wait(.milliseconds(1500))
    app.video(Stream.keyFrame)
    #expect(app.events.last == .appUnregistered(reason: .headUnit(.protocolViolation)))
    #expect(!app.isClosed)
  }

  @Test func scriptIsUsedInTurnAndTheLastAnswerRepeats() {
    var configuration = HeadUnitPreset.core.configuration
    configuration.behaviour.dropsToNoneAfterRefusal = false
    configuration.behaviour.videoStarts = [
      .reject(["videoProtocol"]), .reject(["width"], reason: "too wide"), .silence,
      .acknowledge(VideoServiceParameters(width: 480, height: 320)),
    ]
    var app = TestApp.active(configuration)
    let request = VideoServiceParameters(width: 800, height: 380, videoProtocol: "RAW", videoCodec: "H264")
    app.startVideo(request)
    #expect(app.rejection == ServiceRejection(rejectedParameters: ["videoProtocol"]))
    app.startVideo(request)
    #expect(app.rejection == ServiceRejection(rejectedParameters: ["width"], reason: "too wide"))
    app.forget()
    app.startVideo(request)
    #expect(app.answers == [] && app.events == [.videoStartRequested(request)])
    for _ in 0..<2 {
      app.startVideo(request)
      #expect(
        app.events.last == .videoStarted(VideoServiceParameters(width: 480, height: 320, mtu: 131_072), on: .primary))
      app.video(Stream.units(Stream.sps480x320, Stream.pps, Stream.idr))
      #expect(app.violations == [])
      app.send(.endService, .video)
    }
  }

  @Test func sizeZeroInTheAnswerMeansTheRequestedOne() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.videoStarts = [.acknowledge(VideoServiceParameters(width: 0, height: 0))]
    var app = TestApp.streaming(configuration)
    app.video(Stream.keyFrame)
    #expect(app.violations == [])
  }

  @Test func legacyHeadUnit() {
    var app = TestApp(HeadUnitPreset.legacy.configuration)
    app.startSession()
    app.version = 4
    let id = app.register()
    let capability = app.request(.getSystemCapability, ["systemCapabilityType": .string("VIDEO_STREAMING")])
    #expect(app.result(id)?.success == true)
    #expect(app.result(capability)?.resultCode == "UNSUPPORTED_REQUEST")
    app.wait(.seconds(1))
    app.startVideo(.standard)
    #expect(app.payload(.startServiceACK, .video) == [])
    app.video(Stream.keyFrame)
    app.video(Stream.picture)
    #expect(app.payload(.serviceDataACK, .video) == [0, 0, 0, 2])
    app.send(.endService, .video)
    #expect(app.controls.last == "video endServiceACK")
    app.send(.endService, .rpc, payload: [0, 1, 0])
    app.send(.endService, .rpc, payload: [0, 1, 0, 1])
    #expect(app.controls.suffix(2) == ["rpc endServiceNAK", "rpc endServiceACK"])
    #expect(app.violations == [.hashID(expected: 0x0001_0001, got: nil)])
  }

  @Test func dataAcknowledgementsOnProtocol5AreOnlyScripted() {
    var regular = TestApp.streaming()
    regular.video(Stream.keyFrame)
    #expect(regular.answers == [])
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.serviceDataAcknowledgement = .always
    var scripted = TestApp.streaming(configuration)
    scripted.video(Stream.keyFrame)
    #expect(scripted.controls == ["video serviceDataACK"])
  }

  @Test func otherServicesAreRefused() {
    var app = TestApp.active()
    app.send(.startService, .hybrid)
    app.send(.endService, .hybrid)
    #expect(app.controls == ["hybrid startServiceNAK", "hybrid endServiceNAK"])
    #expect(app.levels == [])
    app.send(.registerSecondaryTransport, .control, messageID: 1)
    #expect(app.controls.last == "control registerSecondaryTransportNAK")
  }

  /// A script may set a hundred answers in advance.
  @Test func answersInAdvanceAreBounded() {
    var app = TestApp.active()
    app.run { $0.change(.dropsToNoneAfterRefusal(false), now: $1) }
    for _ in 0..<101 { app.session.answerNextVideoStart(.reject(["width"])) }
    for _ in 0..<101 { app.startVideo(.standard) }
    #expect(app.controls == Array(repeating: "video startServiceNAK", count: 100) + ["video startServiceACK"])
  }
}
