import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@Suite struct HMIStatusTests {
  @Test func limitedAndStreamableChangesNothing() {
    var app = TestApp.streaming()
    app.video(Stream.keyFrame)
    app.set(.limited, .streamable)
    app.wait(.milliseconds(900))
    app.video(Stream.picture)
    #expect(app.controls == [])
    #expect(app.events.last == .videoData(Stream.picture))
  }

  @Test(arguments: [
    (HMILevel.background, VideoStreamingState.notStreamable), (.full, .notStreamable), (.limited, .notStreamable),
  ])
  func silentAppKeepsItsService(level: HMILevel, state: VideoStreamingState) {
    var app = TestApp.streaming()
    app.video(Stream.keyFrame)
    app.set(level, state)
    app.wait(.seconds(4))
    #expect(app.controls == [])
    app.set(.full, .streamable)
    app.video(Stream.keyFrame)
    #expect(app.events.last == .videoData(Stream.keyFrame))
    #expect(app.violations == [])
  }

  @Test func appThatKeepsSendingLosesServiceAndRegistration() {
    var app = TestApp.streaming()
    app.video(Stream.keyFrame)
    app.set(.background, .notStreamable)
    app.forget()
    app.wait(.milliseconds(990))
    app.video(Stream.picture)
    // Dropped, but not yet a violation.
    #expect(app.answers == [] && app.events == [])
    app.wait(.milliseconds(20))
    app.video(Stream.picture)
    #expect(app.controls == ["video endService"])
    #expect(
      app.events == [
        .violation(.videoWhileForbidden(for: .milliseconds(1010))), .videoStopped(reason: .streamingForbidden),
      ])
    app.wait(.milliseconds(1000))
    app.video(Stream.picture)
    #expect(!app.events.contains(.appUnregistered(reason: .headUnit(.protocolViolation))))
    app.wait(.milliseconds(1))
    app.video(Stream.picture)
    #expect(app.violations.last == .dataAfterEndService(.video, after: .milliseconds(1001)))
    #expect(app.events.last == .appUnregistered(reason: .headUnit(.protocolViolation)))
    // The session goes on without an app.
    #expect(app.controls == ["video endService"] && !app.isClosed)
  }

  @Test func graceIsNotProlongedByFurtherStatuses() {
    var app = TestApp.streaming()
    app.set(.limited, .notStreamable)
    app.wait(.milliseconds(600))
    app.set(.background, .notStreamable)
    app.wait(.milliseconds(500))
    app.video(Stream.keyFrame)
    #expect(app.violations == [.videoWhileForbidden(for: .milliseconds(1100))])
  }

  @Test func returnWithinTheGraceIsForgotten() {
    var app = TestApp.streaming()
    app.set(.limited, .notStreamable)
    app.wait(.milliseconds(600))
    app.set(.full, .streamable)
    app.wait(.seconds(2))
    app.video(Stream.keyFrame)
    #expect(app.events.last == .videoData(Stream.keyFrame))
    #expect(app.controls == [])
  }

  @Test func noneEndsTheServiceAtOnce() {
    var app = TestApp.streaming()
    app.set(.none, .notStreamable)
    #expect(app.controls == ["video endService"])
    #expect(app.events.last == .videoStopped(reason: .hmiLevelNone))
    app.send(.endServiceACK, .video)
    app.set(.full, .streamable)
    app.startVideo(.standard)
    #expect(app.controls.last == "video startServiceACK")
  }

  @Test func otherWindowsDoNotMatter() {
    var app = TestApp.streaming()
    app.run {
      $0.setHMIStatus(HMIStatus(level: HMILevel.none, videoStreamingState: .notStreamable, windowID: 1), now: $1)
    }
    app.video(Stream.keyFrame)
    #expect(app.controls == [])
    #expect(app.events.last == .videoData(Stream.keyFrame))
  }

  @Test func driverBeforeActivationWins() {
    var app = TestApp.registered()
    app.set(.background, .notStreamable)
    app.wait(.seconds(1))
    #expect(app.levels == [.background])
  }

  @Test func nothingIsSentWithoutAnApp() {
    var app = TestApp()
    app.set(.full, .streamable)
    app.run { $0.endService(.video, now: $1) }
    app.run { $0.unregisterApp(.ignitionOff, now: $1) }
    #expect(app.answers == [] && app.events == [] && !app.isClosed)
  }

  @Test func pauseIsReportedOnceAndNeedsAKeyFrame() {
    var app = TestApp.streaming()
    app.video(Stream.keyFrame)
    app.wait(.milliseconds(999))
    app.video(Stream.picture)
    app.forget()
    app.wait(.seconds(10))
    #expect(app.events == [.videoDataStopped(after: .seconds(1))])
    app.video(Stream.keyFrame)
    #expect(app.violations == [])
    app.wait(.seconds(2))
    app.video(Stream.picture)
    #expect(app.violations == [.stream(.firstNALUnit(type: 1)), .stream(.pictureBeforeKeyFrame)])
  }

  /// The app on the phone goes to the background and back.
  @Test func phoneInBackground() {
    var app = TestApp.streaming()
    app.video(Stream.keyFrame)
    app.notify(.onHMIStatus, HMIStatus(level: .background, videoStreamingState: .streamable).json)
    for _ in 0..<30 {
      app.wait(.milliseconds(66))
      app.video(Stream.picture)
    }
    app.forget()
    app.wait(.seconds(30))
    app.notify(.onHMIStatus, HMIStatus(level: .full, videoStreamingState: .streamable).json)
    app.video(Stream.keyFrame)
    #expect(app.answers == [])
    #expect(
      app.events == [
        .videoDataStopped(after: .seconds(1)),
        .appHMIStatus(HMIStatus(level: .full, videoStreamingState: .streamable)), .videoData(Stream.keyFrame),
      ])
  }
}
