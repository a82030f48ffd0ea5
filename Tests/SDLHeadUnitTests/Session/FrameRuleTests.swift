import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@Suite struct FrameRuleTests {
  private func heartbeat(_ frame: ControlFrame, id: UInt32 = 0) -> [UInt8] {
    Frame.control(frame, service: .control, version: 5, sessionID: 1, messageID: id).bytes
  }

  @Test func messageIDZeroIsRefused() {
    var app = TestApp.streaming()
    let frame = Fragmentation(
      service: .video, version: 5, sessionID: 1, messageID: 0, payloadSize: 4, maximumPayload: 100)
    app.send(bytes: frame.frames(of: [0, 0, 0, 1]))
    #expect(app.events == [.violation(.messageIDZero(.video))])
    #expect(app.session.statistics.messages == 0)
  }

  @Test func payloadOverTheLimitVanishes() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.maximumPayload = 1500
    var app = TestApp.streaming(configuration)
    app.send(data: [UInt8](repeating: 0xFF, count: 1501), .video)
    #expect(app.events == [.violation(.malformedBytes(.oversized(1501, limit: 1500)))])
    // Also if the decoder accepts it.
    app.forget()
    let header = FrameHeader(
      version: 5, frameType: .single, service: .video, frameInfo: 0, sessionID: 1, dataSize: 1501, messageID: 7)
    app.send(Frame(header: header, payload: [UInt8](repeating: 0, count: 1501)))
    #expect(app.events == [.violation(.malformedBytes(.oversized(1501, limit: 1500)))])
    #expect(app.answers == [] && !app.isClosed)
    app.video(Stream.keyFrame)
    #expect(app.events.last == .videoData(Stream.keyFrame))
  }

  /// Only for other frames the information counts.
  @Test func singleFramesMaySayAnything() {
    var app = TestApp.streaming()
    let header = FrameHeader(
      version: 5, frameType: .single, service: .video, frameInfo: 7, sessionID: 1,
      dataSize: UInt32(Stream.keyFrame.count), messageID: 7)
    app.send(bytes: Frame(header: header, payload: Stream.keyFrame).bytes)
    #expect(app.events == [.videoData(Stream.keyFrame)])
  }

  @Test func brokenSequenceDropsOnlyItself() {
    var app = TestApp.streaming()
    let message = Fragmentation(
      service: .video, version: 5, sessionID: 1, messageID: 50, payloadSize: 30, maximumPayload: 10)
    for (index, fragment) in message.enumerated() where index != 1 {
      let payload =
        switch fragment.content {
        case .announcement: [0, 0, 0, 30, 0, 0, 0, 3] as [UInt8]
        case .payload(let range): [UInt8](repeating: 1, count: range.count)
        }
      app.send(Frame(header: fragment.header, payload: payload))
    }
    #expect(
      app.violations == [
        .brokenMessage(.video, .outOfSequence(expected: 1, got: 2)), .brokenMessage(.video, .notAnnounced),
      ])
    app.video(Stream.keyFrame)
    #expect(app.events.last == .videoData(Stream.keyFrame))
  }

  @Test func hugeAnnouncementsAreRefused() {
    var app = TestApp.streaming()
    let header = FrameHeader(
      version: 5, frameType: .first, service: .video, frameInfo: 0, sessionID: 1, dataSize: 8, messageID: 9)
    app.send(Frame(header: header, payload: [255, 255, 255, 255, 0, 0, 0, 1]))
    #expect(app.violations == [.brokenMessage(.video, .oversized(.max))])
  }

  @Test func encryptedDataIsRefusedAndAnEncryptedStartAnsweredInClear() {
    var app = TestApp.active()
    var start = Frame.control(.startService, service: .video, version: 5, sessionID: 1)
    start.header.isEncrypted = true
    app.send(start)
    #expect(app.controls == ["video startServiceACK"])
    #expect(app.headers.map(\.isEncrypted) == [false])
    let header = FrameHeader(
      version: 5, isEncrypted: true, frameType: .single, service: .video, frameInfo: 0, sessionID: 1, dataSize: 1,
      messageID: 9)
    app.send(Frame(header: header, payload: [0]))
    #expect(app.violations == [.encryptedFrame(.video)])
  }

  @Test func garbageIsToleratedTenTimesASecond() {
    var app = TestApp.active()
    for _ in 0..<10 { app.send(bytes: [0xFF] + heartbeat(.heartbeatACK)) }
    #expect(!app.isClosed && app.violations.count == 10)
    app.wait(.milliseconds(1000))
    for _ in 0..<10 { app.send(bytes: [0xFF] + heartbeat(.heartbeatACK)) }
    #expect(!app.isClosed)
    app.send(bytes: [0xFF] + heartbeat(.heartbeatACK))
    #expect(app.isClosed)
    #expect(app.events.last == .appUnregistered(reason: .malformedFrames))
    #expect(app.violations.last == .tooManyMalformedFrames(limit: 10, within: .seconds(1)))
    app.forget()
    app.startVideo(.standard)
    #expect(app.answers == [] && app.events == [])
  }

  @Test func floodEndsTheRegistration() {
    var app = TestApp.active()
    app.wait(.seconds(1))
    for _ in 0..<1000 { app.send(.heartbeatACK, .control) }
    #expect(app.events == [])
    app.send(.heartbeatACK, .control)
    #expect(app.violations == [.tooManyFrames(limit: 1000, within: .seconds(1))])
    #expect(app.events.last == .appUnregistered(reason: .headUnit(.tooManyRequests)))
    #expect(!app.isClosed && !app.isStarted)
  }

  @Test func videoIsExemptFromTheFloodGuard() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.videoCapability?.preferredFPS = nil
    var app = TestApp.streaming(configuration)
    app.video(Stream.keyFrame)
    for _ in 0..<3000 { app.video(Stream.picture) }
    #expect(app.violations == [] && !app.isClosed)
    #expect(app.session.statistics.messages == 3001)
  }

  @Test func answersOfHeadUnitsAreUnexpected() {
    var app = TestApp.active()
    app.send(.startServiceACK, .video)
    app.send(.transportEventUpdate, .control)
    #expect(
      app.violations == [
        .unexpectedControlFrame(.startServiceACK, .video), .unexpectedControlFrame(.transportEventUpdate, .control),
      ])
    // Unrequested TLS bytes.
    app.forget()
    app.send(data: SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: [1]).bytes, .control)
    #expect(app.answers == [] && app.events == [])
  }

  @Test func heartbeatIsAnsweredAndThenMonitored() {
    var app = TestApp.active()
    app.wait(.seconds(60))
    #expect(app.answers == [])
    app.send(.heartbeat, .control, messageID: 77)
    #expect(app.headers.map(\.messageID) == [77])
    #expect(app.controls == ["control heartbeatACK"])
    app.wait(.milliseconds(6999))
    #expect(app.controls.count == 1)
    app.wait(.milliseconds(1))
    #expect(app.controls.last == "control heartbeat")
    app.send(.heartbeatACK, .control)
    app.wait(.seconds(5))
    app.notify(.onHMIStatus, [:])
    app.wait(.seconds(7))
    #expect(app.controls.filter { $0 == "control heartbeat" }.count == 2)
    app.forget()
    app.wait(.seconds(7))
    #expect(app.controls == ["rpc endService"])
    #expect(
      app.events == [
        .violation(.heartbeatUnanswered(after: .seconds(7))), .appUnregistered(reason: .heartbeatTimeout),
      ])
    #expect(app.isClosed && app.session.nextDeadline == nil)
  }

  @Test func scriptedHeartbeat() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.heartbeat = .pings(every: .seconds(2))
    var app = TestApp.registered(configuration)
    for _ in 0..<5 {
      app.wait(.seconds(2))
      app.send(.heartbeatACK, .control)
    }
    #expect(app.controls == [String](repeating: "control heartbeat", count: 5))
    app.wait(.seconds(4))
    #expect(app.isClosed)

    configuration.behaviour.heartbeat = .pings(every: .zero)
    var fast = TestApp.registered(configuration)
    fast.wait(.milliseconds(100))
    #expect(fast.controls == ["control heartbeat"])

    configuration.behaviour.heartbeat = .silence
    var silent = TestApp.registered(configuration)
    silent.send(.heartbeat, .control)
    silent.wait(.seconds(30))
    #expect(silent.controls == [])
  }

  /// Traffic of the app answers them, but puts off only those that are like SDL Core's.
  @Test func scriptedHeartbeatsOfAnAppThatSends() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.heartbeat = .pings(every: .seconds(2))
    var app = TestApp.registered(configuration)
    for count in 1...3 {
      app.wait(.milliseconds(1500))
      app.notify(.onHMIStatus, [:])
      app.wait(.milliseconds(499))
      #expect(app.controls == [String](repeating: "control heartbeat", count: count - 1))
      app.wait(.milliseconds(1))
      #expect(app.controls == [String](repeating: "control heartbeat", count: count))
    }
    #expect(!app.isClosed)
  }

  private func beginAnotherSession(_ app: inout TestApp, overAnotherTransport isOverAnother: Bool) {
    if isOverAnother {
      app.run { $0.transportLost(now: $1) }
      app.run { $0.transportConnected(now: $1) }
    } else {
      app.send(.endService, .rpc, payload: EndServiceRequest(hashID: 1 << 16 | 1).bytes(version: 5))
    }
    app.startSession()
    app.register()
    app.forget()
  }

  /// One that was not answered belongs to its session.
  @Test(arguments: [true, false]) func scriptedHeartbeatOfTheNextSession(isOverAnotherTransport: Bool) {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.heartbeat = .pings(every: .seconds(2))
    var app = TestApp.registered(configuration)
    app.wait(.seconds(3))
    #expect(app.controls == ["control heartbeat"])
    beginAnotherSession(&app, overAnotherTransport: isOverAnotherTransport)
    app.wait(.seconds(2))
    #expect(app.controls == ["control heartbeat"] && !app.isClosed)
    app.wait(.seconds(2))
    #expect(app.isClosed)
  }

  /// The head unit's own ones begin with the app's, in each session.
  @Test(arguments: [true, false]) func heartbeatOfTheNextSession(isOverAnotherTransport: Bool) {
    var app = TestApp.active()
    app.send(.heartbeat, .control)
    beginAnotherSession(&app, overAnotherTransport: isOverAnotherTransport)
    app.wait(.seconds(60))
    #expect(app.controls == [] && !app.isClosed)
    app.send(.heartbeat, .control)
    app.wait(.seconds(7))
    #expect(app.controls == ["control heartbeatACK", "control heartbeat"])
  }

  /// It is registered apps that are watched.
  @Test func scriptedHeartbeatBeforeTheRegistration() {
    var app = TestApp()
    app.startSession()
    app.change(.heartbeat(.pings(every: .seconds(2))))
    app.wait(.seconds(10))
    #expect(app.controls == ["rpc startServiceACK"])
    app.register()
    app.wait(.seconds(2))
    #expect(app.controls.last == "control heartbeat")
  }
}
