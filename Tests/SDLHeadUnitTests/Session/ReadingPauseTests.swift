import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// The head unit itself does not read for a while: that is no fault of the app.
@Suite struct ReadingPauseTests {
  private func pauseReading(_ app: inout TestApp, for time: Duration) {
    app.run { $0.setReading(false, now: $1) }
    app.wait(time)
    app.run { $0.setReading(true, now: $1) }
  }

  /// The app sends `rate` pictures a second all the time; of those that pile up, `drained` a second arrive.
  private func stream(_ app: inout TestApp, rate: Int, pausing pause: Int, drained: Int) {
    app.video(Stream.keyFrame)
    func send(_ count: Int, perSecond: Int) {
      for _ in 0..<count {
        app.wait(.milliseconds(1000) / perSecond)
        app.video(Stream.picture)
      }
    }
    send(8 * rate, perSecond: rate)
    pauseReading(&app, for: .seconds(pause))
    // The rest of the rate that they arrive at is used up by what the app goes on sending.
    send(pause * rate * drained / (drained - rate), perSecond: drained)
    send(12 * rate, perSecond: rate)
  }

  @Test(arguments: [(1, 3000), (2, 3000), (2, 60), (2, 34), (15, 3000), (15, 45)])
  func pilesOfASteadyAppAreNotItsRate(pause: Int, drained: Int) {
    var app = TestApp.streaming()
    stream(&app, rate: 30, pausing: pause, drained: drained)
    #expect(app.violations == [])
  }

  @Test func severalPausesInARow() {
    var app = TestApp.streaming()
    app.video(Stream.keyFrame)
    for _ in 0..<10 {
      pauseReading(&app, for: .seconds(2))
      for _ in 0..<60 { app.video(Stream.picture) }
      for _ in 0..<30 {
        app.wait(.milliseconds(1000) / 30)
        app.video(Stream.picture)
      }
    }
    #expect(app.violations == [])
  }

  @Test func tooManyPicturesAreStillSeen() {
    var app = TestApp.streaming()
    stream(&app, rate: 60, pausing: 2, drained: 3000)
    let rates = app.violations.filter { if case .stream(.frameRate) = $0 { true } else { false } }
    #expect(rates.count >= 3)
    // Also when the app is only too quick after the pause.
    app = TestApp.streaming()
    app.video(Stream.keyFrame)
    pauseReading(&app, for: .seconds(2))
    for _ in 0..<(10 * 60) {
      app.wait(.milliseconds(1000) / 60)
      app.video(Stream.picture)
    }
    #expect(!app.violations.isEmpty)
  }

  @Test func bitsThatPileUp() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.videoCapability?.maxBitrate = 100
    var app = TestApp.streaming(configuration)
    app.video(Stream.keyFrame)
    // 100 kbit/s are 1250 bytes in 100 ms.
    let picture = Stream.picture + [UInt8](repeating: 0xAB, count: 1250 - Stream.picture.count)
    pauseReading(&app, for: .seconds(2))
    for _ in 0..<20 { app.video(picture) }
    for _ in 0..<100 {
      app.wait(.milliseconds(100))
      app.video(picture)
    }
    #expect(app.violations == [])
  }

  @Test func noPauseOfTheVideo() {
    var app = TestApp.streaming()
    app.video(Stream.keyFrame)
    app.wait(.milliseconds(500))
    app.forget()
    pauseReading(&app, for: .seconds(10))
    #expect(app.events == [])
    app.video(Stream.picture)
    #expect(app.events == [.videoData(Stream.picture)])
    // One of the app's own, which begins when it is read again.
    app.wait(.milliseconds(999))
    #expect(app.events.count == 1)
    app.wait(.milliseconds(1))
    #expect(app.events.last == .videoDataStopped(after: .seconds(1)))
    pauseReading(&app, for: .seconds(10))
    app.video(Stream.picture)
    #expect(app.violations == [.stream(.firstNALUnit(type: 1)), .stream(.pictureBeforeKeyFrame)])
  }

  @Test func videoThatWasOnItsWayIsNotForbidden() {
    var app = TestApp.streaming()
    app.video(Stream.keyFrame)
    app.run { $0.setReading(false, now: $1) }
    app.set(.background, .notStreamable)
    app.wait(.seconds(5))
    app.run { $0.setReading(true, now: $1) }
    app.video(Stream.picture)
    app.wait(.milliseconds(900))
    app.video(Stream.picture)
    #expect(app.violations == [])
    app.wait(.milliseconds(200))
    app.video(Stream.picture)
    #expect(app.violations == [.videoWhileForbidden(for: .milliseconds(1100))])
  }

  /// The same for sound.
  @Test func soundThatWasOnItsWay() {
    let sound = [UInt8](repeating: 7, count: 100)
    var app = TestApp.active()
    app.send(.startService, .audio)
    app.run { $0.setReading(false, now: $1) }
    app.run { $0.setAudioStreaming(.notAudible, now: $1) }
    app.wait(.seconds(5))
    app.run { $0.setReading(true, now: $1) }
    app.send(data: sound, .audio)
    app.wait(.milliseconds(900))
    app.send(data: sound, .audio)
    #expect(app.violations == [])
    app.wait(.milliseconds(200))
    app.send(data: sound, .audio)
    #expect(app.violations == [.audioWhileForbidden(for: .milliseconds(1100))])
    // That has ended it.
    pauseReading(&app, for: .seconds(20))
    app.send(data: sound, .audio)
    #expect(app.violations.count == 1)
    app.wait(.seconds(1))
    #expect(app.violations.last == .endServiceNotAcknowledged(.audio, after: .seconds(1)))
  }

  /// What the app has to say, and what it only waits for.
  @Test func startsMeanwhile() {
    var app = TestApp.secured(.require)
    app.startEncrypted()
    pauseReading(&app, for: .seconds(60))
    app.wait(.seconds(9))
    app.shakeHands()
    #expect(app.controls == ["video startServiceACK"] && app.headers.last?.isEncrypted == true)

    var waiting = TestApp.active()
    waiting.change(.videoStartDelay(.seconds(1)))
    waiting.startVideo(.standard)
    pauseReading(&waiting, for: .seconds(1))
    #expect(waiting.controls == ["video startServiceACK"])
  }

  /// There may be two reasons, one after the other.
  @Test func pauseThatIsToldTwice() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.heartbeat = .pings(every: .seconds(2))
    var app = TestApp.active(configuration)
    app.wait(.seconds(3))
    for _ in 0..<2 {
      app.run { $0.setReading(false, now: $1) }
      app.wait(.seconds(10))
    }
    app.run { $0.setReading(true, now: $1) }
    app.wait(.milliseconds(800))
    #expect(app.violations == [] && !app.isClosed)
  }

  @Test func videoThatWasOnItsWayBeforeTheEnd() {
    var app = TestApp.streaming()
    app.video(Stream.keyFrame)
    app.run { $0.endService(.video, now: $1) }
    pauseReading(&app, for: .seconds(20))
    app.video(Stream.picture)
    #expect(app.violations == [])
    app.wait(.seconds(1))
    #expect(app.violations == [.endServiceNotAcknowledged(.video, after: .seconds(1))])
  }

  @Test func answerToAHeartbeatThatIsNotRead() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.heartbeat = .pings(every: .seconds(2))
    var app = TestApp.active(configuration)
    app.wait(.seconds(3))
    #expect(app.controls == ["control heartbeat"])
    pauseReading(&app, for: .seconds(60))
    #expect(app.controls.count == 1 && app.violations == [])
    app.send(.heartbeatACK, .control)
    app.wait(.seconds(2))
    #expect(app.controls.count == 2 && app.violations == [])
    app.wait(.seconds(2))
    #expect(app.violations == [.heartbeatUnanswered(after: .seconds(2))])
  }

  /// Pauses add up.
  @Test(arguments: [[15], [12, 3]]) func messageOfWhichTheRestIsNotRead(pauses: [Int]) {
    var app = TestApp.streaming()
    let message = Fragmentation(
      service: .video, version: 5, sessionID: 1, messageID: 9, payloadSize: Stream.keyFrame.count, maximumPayload: 16)
    let frames = message.frames(of: Stream.keyFrame)
    // The announcement, and the first part.
    let half = 20 + 12 + 16
    app.send(bytes: Array(frames[..<half]))
    for pause in pauses { pauseReading(&app, for: .seconds(pause)) }
    app.send(bytes: Array(frames[half...]))
    #expect(app.events == [.videoData(Stream.keyFrame)])
  }

  /// The driver, and what the head unit does by itself, go on.
  @Test func otherTimesGoOn() {
    var app = TestApp.registered()
    app.run { $0.setReading(false, now: $1) }
    app.wait(.seconds(1))
    #expect(app.levels == [.full])
    app.run { $0.transportLost(now: $1) }
    app.run { $0.transportConnected(now: $1) }
    app.startSession()
    app.register()
    #expect(app.events.contains { if case .appRegistered = $0 { true } else { false } })
  }
}
