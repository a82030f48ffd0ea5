import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// Changes of the behaviour while a head unit runs.
@Suite struct BehaviourChangeTests {
  @Test func everyChangeCounts() {
    let changes: [HeadUnitBehaviour.Change] = [
      .rpcStart(.reject), .registration(.silence), .videoStart(.echo),
      .serviceEnd(.silence), .videoStartDelay(.zero), .dropsToNoneAfterRefusal(false), .heartbeat(.silence),
      .player(.absent), .videoDataTimeout(nil), .secondaryTransport(.served),
      .secondaryTransportDelay(.zero), .secondaryRegistration(.reject), .audioTransports([]), .videoTransports([]),
    ]
    for change in changes {
      var behaviour = HeadUnitBehaviour()
      behaviour.apply(change)
      #expect(behaviour != HeadUnitBehaviour(), "\(change)")
    }
  }

  @Test func answersInTurn() {
    var app = TestApp.active()
    app.change(.dropsToNoneAfterRefusal(false))
    app.session.answerNextVideoStart(.reject(["videoCodec"]))
    app.session.answerNextVideoStart(.reject([], reason: "no"))
    app.change(.videoStart(.acknowledge(VideoServiceParameters(width: 2, height: 4, videoProtocol: "RTP"))))
    app.startVideo(.standard)
    #expect(app.rejection == ServiceRejection(rejectedParameters: ["videoCodec"]))
    app.startVideo(.standard)
    #expect(app.rejection == ServiceRejection(reason: "no"))
    app.startVideo(.standard)
    #expect(
      app.payload(.startServiceACK, .video).map(VideoServiceParameters.init(payload:))
        == VideoServiceParameters(width: 2, height: 4, videoProtocol: "RTP", mtu: 131_072))
  }

  /// SDL Core accepts any size.
  @Test func echo() {
    var app = TestApp.active()
    app.change(.videoStart(.echo))
    app.startVideo(VideoServiceParameters(width: 7, height: 7, videoProtocol: "RTSP", videoCodec: "VP9"))
    #expect(app.controls == ["video startServiceACK"])
  }

  /// An app without an answer may end the service that was never started.
  @Test func lostStart() {
    var app = TestApp.active()
    app.session.answerNextVideoStart(.silence)
    app.startVideo(.standard)
    app.send(.endService, .video)
    #expect(app.controls == ["video endServiceNAK"] && app.violations == [])
    app.startVideo(.standard)
    app.send(.endService, .video)
    app.send(.endService, .video)
    #expect(app.violations == [.endOfServiceNotRunning(.video)])
  }

  @Test func lateAnswer() {
    var app = TestApp.active()
    app.change(.videoStartDelay(.seconds(2)))
    app.change(.dropsToNoneAfterRefusal(false))
    app.startVideo(.standard)
    #expect(app.answers == [] && app.events == [.videoStartRequested(.standard)])
    // A second start is refused while the first is pending.
    app.startVideo(.standard)
    #expect(app.controls == ["video startServiceNAK"] && app.violations == [.startWhileActive(.video)])
    app.forget()
    app.wait(.milliseconds(1999))
    #expect(app.answers == [])
    app.wait(.milliseconds(1))
    #expect(app.controls == ["video startServiceACK"])
    app.video(Stream.keyFrame)
    #expect(app.violations == [])
  }

  /// The driver leaves the app before the answer is due.
  @Test func lateAnswerToAnAppThatIsGone() {
    var app = TestApp.active()
    app.change(.videoStartDelay(.seconds(2)))
    app.startVideo(.standard)
    app.set(.none, .notStreamable)
    #expect(app.controls == ["video startServiceNAK"])
    app.forget()
    app.wait(.seconds(2))
    #expect(app.controls == [])
    app.set(.full, .streamable)
    app.startVideo(.standard)
    app.forget()
    app.send(.endService, .video)
    #expect(app.controls == ["video endServiceACK"] && app.events == [])
    app.wait(.seconds(5))
    #expect(app.controls.count == 1)
  }

  /// With a delay of zero the answer can still be changed when the request is reported.
  @Test func answerThatIsDecidedAfterTheRequest() {
    var app = TestApp.active()
    app.change(.videoStartDelay(.zero))
    app.startVideo(.standard)
    #expect(app.answers == [] && app.session.nextDeadline == app.now)
    app.session.answerNextVideoStart(.reject(["height"]))
    app.wait(.zero)
    #expect(app.rejection == ServiceRejection(rejectedParameters: ["height"]))
  }

  @Test func delayThatIsDecidedAfterTheRequest() {
    var app = TestApp.active()
    app.change(.videoStartDelay(.zero))
    app.startVideo(.standard)
    app.change(.videoStartDelay(.seconds(3)))
    app.wait(.milliseconds(2999))
    #expect(app.answers == [])
    app.wait(.milliseconds(1))
    #expect(app.controls == ["video startServiceACK"])
  }

  @Test func playerThatComesLate() {
    var app = TestApp.active()
    app.change(.player(.connects(after: .milliseconds(500))))
    app.startVideo(.standard)
    app.forget()
    app.video(Stream.keyFrame)
    app.wait(.milliseconds(499))
    app.video(Stream.picture)
    #expect(app.events == [.videoMissed, .videoMissed])
    app.wait(.milliseconds(1))
    app.video(Stream.picture)
    #expect(app.events.last == .videoData(Stream.picture))
    // Each service has a player of its own.
    app.send(.endService, .video)
    app.startVideo(.standard)
    app.video(Stream.keyFrame)
    #expect(app.events.last == .videoMissed)
    app.wait(.milliseconds(500))
    app.video(Stream.picture)
    #expect(app.events.last == .videoData(Stream.picture))
    app.change(.player(.absent))
    app.video(Stream.picture)
    #expect(app.events.last == .videoMissed)
    app.change(.player(.connects(after: .zero)))
    app.video(Stream.picture)
    #expect(app.events.last == .videoData(Stream.picture))
    #expect(app.session.statistics.pictures == 7 && app.violations == [])
  }

  @Test func dataTimeout() {
    var app = TestApp.streaming()
    app.change(.videoDataTimeout(.seconds(3)))
    app.video(Stream.keyFrame)
    app.wait(.milliseconds(2999))
    app.forget()
    app.wait(.milliseconds(1))
    #expect(app.events == [.videoDataStopped(after: .seconds(3))])
    app.video(Stream.keyFrame)
    app.change(.videoDataTimeout(nil))
    app.forget()
    app.wait(.seconds(60))
    app.video(Stream.picture)
    #expect(app.events == [.videoData(Stream.picture)])
  }

  @Test func heartbeats() {
    var app = TestApp.registered()
    app.change(.heartbeat(.pings(every: .seconds(2))))
    app.wait(.seconds(2))
    #expect(app.controls == ["control heartbeat"])
    app.send(.heartbeatACK, .control)
    app.change(.heartbeat(.silence))
    app.forget()
    app.wait(.seconds(60))
    app.send(.heartbeat, .control)
    #expect(app.answers == [] && !app.isClosed)
  }
}
