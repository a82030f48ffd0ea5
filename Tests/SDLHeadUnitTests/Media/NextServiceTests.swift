import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// A service after another one of the same app: nothing of the former is left.
@Suite struct NextServiceTests {
  private func start(_ service: ServiceType, on transport: TransportRole = .primary, of app: inout TestApp) {
    let payload = service == .video ? VideoServiceParameters.standard.bytes(version: 5) : []
    app.send(.startService, service, on: transport, payload: payload)
  }

  /// It is said once for each service.
  @Test(arguments: [ServiceType.video, .audio]) func dataOnTheWrongTransport(service: ServiceType) {
    var app = TestApp.withSecondary()
    for round in 1...2 {
      start(service, of: &app)
      for _ in 0..<2 { app.send(data: [1, 2, 3, 4], service, on: .secondary) }
      app.send(.endService, service)
      #expect(app.violations.count == round, "\(app.violations)")
    }
  }

  /// Each fault is reported again, a unit that was not complete is forgotten, and the app may catch up again.
  @Test func videoIsCheckedAnew() {
    var app = TestApp.streaming()
    for round in 1...2 {
      app.forget()
      app.video([9] + Stream.units(Stream.sps480x320, Stream.pps, Stream.idr))
      for _ in 0..<300 { app.video(Stream.picture) }
      #expect(app.violations.count == 2, "round \(round): \(app.violations)")
      #expect(app.violations.contains(.stream(.notByteStream(firstByte: 9))))
      app.video(Stream.startCode + Stream.sps480x320.prefix(3))
      app.send(.endService, .video)
      app.wait(.seconds(2))
      app.startVideo(.standard)
    }
  }

  /// The sound of the former service is not played any more.
  @Test func soundIsCheckedAnew() {
    let halfASecond = [UInt8](repeating: 7, count: 16_000)
    var app = TestApp.active()
    for _ in 1...2 {
      start(.audio, of: &app)
      app.forget()
      for _ in 0..<2 { app.send(data: halfASecond, .audio) }
      #expect(app.violations == [])
      app.send(data: halfASecond, .audio)
      #expect(app.violations == [.audio(.fasterThanRealTime(by: .milliseconds(1500)))])
      app.send(.endService, .audio)
    }
  }

  /// No time that was to end a pause of the former video is left.
  @Test(arguments: ["the app ends it", "the head unit ends it", "the app loses its level", "twice"])
  func noPauseOfAVideoThatHasNotBegun(end: String) {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.isStrict = false
    var app = TestApp.streaming(configuration)
    app.video(Stream.keyFrame)
    app.wait(.milliseconds(500))
    switch end {
    case "the app ends it": app.send(.endService, .video)
    case "the head unit ends it": app.run { $0.endService(.video, now: $1) }
    case "the app loses its level":
      app.set(.none, .notStreamable)
      app.set(.full, .streamable)
    default:
      app.startVideo(.standard)
      app.send(.endService, .video)
      app.set(.full, .streamable)
    }
    app.startVideo(.standard)
    #expect(app.controls.last == "video startServiceACK")
    app.wait(.seconds(10))
    #expect(!app.events.contains { if case .videoDataStopped = $0 { true } else { false } })
  }

  /// The head unit ends each service twice when the app unregisters, and the second acknowledgement may be late.
  @Test(arguments: [ServiceType.video, .audio]) func lateAcknowledgementOfTheSecondEnd(service: ServiceType) {
    var app = TestApp.active()
    start(service, of: &app)
    app.request(.unregisterAppInterface)
    app.send(.endServiceACK, service)
    app.register()
    app.wait(.milliseconds(100))
    start(service, of: &app)
    app.send(.endServiceACK, service)
    app.forget()
    let data = service == .video ? Stream.keyFrame : [1, 2, 3, 4]
    app.send(data: data, service)
    #expect(app.events == [service == .video ? .videoData(data) : .audioData(data)])
  }

  /// Of ends that cross, none is left to be acknowledged.
  @Test func acknowledgementAfterEndsThatCrossed() {
    var app = TestApp.streaming()
    app.run { $0.endService(.video, now: $1) }
    app.send(.endService, .video)
    app.startVideo(.standard)
    app.forget()
    app.send(.endServiceACK, .video)
    #expect(app.events == [.videoStopped(reason: .endedByApp)])
  }

  // MARK: Answers to starts

  /// The time counts from the request on, however often it is changed.
  @Test func delayThatIsChangedWhileTheAppWaits() {
    var app = TestApp.active()
    app.change(.videoStartDelay(.seconds(10)))
    app.startVideo(.standard)
    app.wait(.seconds(1))
    app.change(.videoStartDelay(.seconds(3)))
    app.wait(.milliseconds(1999))
    #expect(app.answers == [])
    app.wait(.milliseconds(1))
    #expect(app.controls == ["video startServiceACK"])
  }

  /// Answers that were set in advance come first, and use none of the others.
  @Test func answersInAdvanceComeFirst() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.dropsToNoneAfterRefusal = false
    configuration.behaviour.videoStarts = [.reject(["a"]), .reject(["b"])]
    var app = TestApp.active(configuration)
    app.session.answerNextVideoStart(.reject(["c"]))
    let rejected = (0..<3).map { _ in
      app.startVideo(.standard)
      return app.rejection?.rejectedParameters
    }
    #expect(rejected == [["c"], ["a"], ["b"]])
  }

  /// When it comes, or when its answer is due. The app may end what was never started.
  @Test(arguments: [true, false]) func startThatIsLostInSilence(isSilentAtOnce: Bool) {
    var app = TestApp.active()
    func setSilence(_ isSilent: Bool) { app.run { $0.apply(.videoSilence(isSilent), now: $1) } }
    app.change(.videoStartDelay(.seconds(1)))
    if isSilentAtOnce { setSilence(true) }
    app.startVideo(.standard)
    setSilence(true)
    app.wait(.seconds(1))
    // Nor does it answer the end of what has not begun.
    app.send(.endService, .video)
    #expect(app.controls == [])
    setSilence(false)
    app.send(.endService, .video)
    #expect(app.controls == ["video endServiceNAK"] && app.violations == [])
    app.startVideo(.standard)
    app.wait(.seconds(1))
    for _ in 0..<2 { app.send(.endService, .video) }
    #expect(app.controls.suffix(3) == ["video startServiceACK", "video endServiceACK", "video endServiceNAK"])
    #expect(app.violations == [.endOfServiceNotRunning(.video)])
  }

  /// As the reverse in ``AudioServiceTests``.
  @Test func aRefusalOfVideoCostsNoLevelWhileSoundRuns() {
    var app = TestApp.active()
    start(.audio, of: &app)
    app.session.answerNextVideoStart(.reject(["width"]))
    app.startVideo(.standard)
    #expect(app.controls == ["audio startServiceACK", "video startServiceNAK"] && app.levels == [])
    app.send(.endService, .audio)
    app.session.answerNextVideoStart(.reject(["width"]))
    app.startVideo(.standard)
    #expect(app.levels == [HMILevel.none])
  }

  // MARK: Encryption

  /// A start that waits for its handshake is not answered when the answer to one before it would have been due.
  @Test(arguments: ["level", "end"]) func startThatWasWithdrawn(cause: String) {
    var app = TestApp.secured(.accept)
    app.change(.videoStartDelay(.seconds(2)))
    app.startVideo(.standard)
    if cause == "level" {
      app.set(.none, .notStreamable)
      app.set(.full, .streamable)
    } else {
      app.send(.endService, .video)
    }
    app.forget()
    app.startEncrypted()
    // Nor by another time for it.
    app.change(.videoStartDelay(.seconds(1)))
    app.wait(.seconds(3))
    #expect(app.controls == [])
    app.shakeHands()
    app.wait(.seconds(1))
    #expect(app.controls == ["video startServiceACK"] && app.headers.last?.isEncrypted == true)
  }

  /// The time for a handshake is over with it.
  @Test(arguments: [ServiceType.video, .audio]) func longAfterTheHandshake(service: ServiceType) {
    var app = TestApp.secured(.require)
    app.startEncrypted(service)
    app.shakeHands()
    app.wait(.seconds(60))
    app.forget()
    let data: [UInt8] = service == .video ? Stream.keyFrame : [1, 2, 3, 4]
    app.send(TestApp.frame(service, TestChannel.record(data), isEncrypted: true))
    #expect(app.events == [service == .video ? .videoData(data) : .audioData(data)])
  }

  /// Its frames are no violation, and encrypted ones are.
  @Test(arguments: [ServiceType.video, .audio]) func clearServiceAfterAnEncryptedOne(service: ServiceType) {
    var app = TestApp.secured(.accept)
    app.startEncrypted(service)
    app.shakeHands()
    app.send(.endService, service)
    start(service, of: &app)
    app.forget()
    let data: [UInt8] = service == .video ? Stream.keyFrame : [1, 2, 3, 4]
    app.send(TestApp.frame(service, data, isEncrypted: false))
    #expect(app.events == [service == .video ? .videoData(data) : .audioData(data)])
    app.send(TestApp.frame(service, TestChannel.record(data), isEncrypted: true))
    #expect(app.violations == [.encryptedFrame(service)])
  }
}
