import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@Suite struct ServiceEndTests {
  private let hash = EndServiceRequest(hashID: 0x0001_0001)

  @Test func appEndsItsVideo() {
    var app = TestApp.streaming()
    app.video(Stream.keyFrame)
    app.send(.endService, .video)
    #expect(app.answers == [.control(.endServiceACK, .video, payload: [])])
    #expect(app.events.last == .videoStopped(reason: .endedByApp))
    #expect(app.session.nextDeadline == nil)
    app.send(.endService, .video)
    #expect(app.answers.last == .control(.endServiceNAK, .video, payload: [5, 0, 0, 0, 0]))
    #expect(app.violations == [.endOfServiceNotRunning(.video)])
  }

  /// SDL Core resets its counter with the service, so that message ids repeat.
  @Test func messageIDsRestartAfterAnEnd() {
    var app = TestApp.streaming()
    app.send(.endService, .video)
    app.startVideo(.standard)
    app.request(.getSystemCapability)
    #expect(app.headers.dropFirst().map(\.messageID) == [0, 1])
    #expect(app.headers.first.map { $0.messageID > 1 } == true)
  }

  /// The app has taken a late EndService for that of its next start: both sides agree again.
  @Test func acknowledgementWithoutAnEnd() {
    var app = TestApp.streaming()
    app.send(.endServiceACK, .video)
    #expect(app.events.last == .videoStopped(reason: .endedByApp) && app.violations == [])
    app.startVideo(.standard)
    #expect(app.controls == ["video startServiceACK"])
  }

  @Test func cleanEnd() {
    var app = TestApp.streaming()
    app.send(.endService, .video)
    app.request(.unregisterAppInterface)
    app.send(.endService, .rpc, payload: hash.bytes(version: 5))
    #expect(app.controls == ["video endServiceACK", "rpc endServiceACK"])
    #expect(app.violations == [])
    app.run { $0.transportLost(now: $1) }
    #expect(app.events.count == 2)
    #expect(!app.isClosed)
  }

  @Test(arguments: [nil, 0, 0x0002_0001] as [Int32?])
  func wrongHashIsRefusedAndTheSessionGoesOn(hashID: Int32?) throws {
    var app = TestApp.streaming()
    app.send(.endService, .rpc, payload: EndServiceRequest(hashID: hashID).bytes(version: 5))
    let refusal = ServiceRejection(payload: try #require(app.payload(.endServiceNAK, .rpc)))
    #expect(refusal.rejectedParameters == ["hashId"])
    #expect(app.violations == [.hashID(expected: 0x0001_0001, got: hashID)])
    app.video(Stream.keyFrame)
    #expect(app.events.last == .videoData(Stream.keyFrame))
  }

  /// As apps of SDL's Java and JavaScript libraries do it: NONE and FULL again, without an acknowledgement.
  @Test(arguments: [(true, 1), (true, 9), (false, 1), (false, 9)])
  func startWithoutAcknowledgement(isStrict: Bool, seconds: Int) {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.isStrict = isStrict
    var app = TestApp.streaming(configuration)
    app.set(.none, .notStreamable)
    app.wait(.seconds(seconds))
    app.set(.full, .streamable)
    app.startVideo(.standard)
    app.video(Stream.keyFrame)
    let silence = Violation.endServiceNotAcknowledged(.video, after: .seconds(1))
    if isStrict {
      #expect(app.controls.prefix(2) == ["video endService", "video startServiceNAK"])
      #expect(app.violations.contains(.startWhileActive(.video)))
    } else {
      #expect(app.controls == ["video endService", "video startServiceACK"])
      #expect(app.violations == [silence])
      #expect(app.events.last == .videoData(Stream.keyFrame))
    }
  }

  @Test func endOfTheSessionEndsEverything() {
    var app = TestApp.streaming()
    app.send(.endService, .rpc, payload: hash.bytes(version: 5))
    #expect(app.events == [.videoStopped(reason: .unregistered), .appUnregistered(reason: .sessionEndedByApp)])
    #expect(!app.isClosed && app.session.nextDeadline == nil)
  }

  @Test func scriptedAnswers() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.serviceEnd = .silence
    var silent = TestApp.streaming(configuration)
    silent.send(.endService, .video)
    silent.send(.endService, .rpc, payload: hash.bytes(version: 5))
    #expect(silent.answers == [])
    #expect(silent.events.last == .appUnregistered(reason: .sessionEndedByApp))

    configuration.behaviour.serviceEnd = .reject
    var refusing = TestApp.streaming(configuration)
    refusing.send(.endService, .video)
    refusing.startVideo(.standard)
    refusing.send(.endService, .rpc, payload: hash.bytes(version: 5))
    #expect(refusing.controls == ["video endServiceNAK", "video startServiceACK", "rpc endServiceNAK"])
  }

  @Test func headUnitEndsTheVideoAndTheAppRestarts() {
    var app = TestApp.streaming()
    app.run { $0.endService(.video, now: $1) }
    #expect(app.answers == [.control(.endService, .video, payload: [])])
    #expect(app.events == [.videoStopped(reason: .endedByHeadUnit)])
    app.video(Stream.picture)
    app.wait(.milliseconds(100))
    app.send(.endServiceACK, .video)
    #expect(app.session.nextDeadline == nil)
    app.startVideo(.standard)
    #expect(app.controls.last == "video startServiceACK")
    #expect(app.violations == [])
  }

  /// As when the car's language changes at the moment at which the app ends its video.
  @Test func anEndThatCrossesTheEndOfTheRegistration() {
    var app = TestApp.streaming()
    app.run { $0.unregisterApp(.languageChange, now: $1) }
    app.wait(.milliseconds(40))
    app.send(.endService, .video)
    #expect(app.controls.last == "video endServiceNAK" && app.violations == [])
    app.wait(.seconds(2))
    app.send(.endService, .video)
    #expect(app.violations == [.endOfServiceNotRunning(.video)])
  }

  @Test func withoutTheAppsAnswerTheServiceIsKept() {
    var app = TestApp.streaming()
    app.run { $0.endService(.video, now: $1) }
    app.wait(.seconds(1))
    #expect(app.violations == [.endServiceNotAcknowledged(.video, after: .seconds(1))])
    app.forget()
    app.startVideo(.standard)
    #expect(app.controls == ["video startServiceNAK"])
    #expect(app.levels == [HMILevel.none])
    app.set(.full, .streamable)
    app.send(.endService, .video)
    app.startVideo(.standard)
    #expect(app.controls.suffix(2) == ["video endServiceACK", "video startServiceACK"])
  }

  @Test func endServiceMayComeTwice() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.endsVideoServiceTwice = true
    var app = TestApp.streaming(configuration)
    app.run { $0.endService(.video, now: $1) }
    #expect(app.controls == ["video endService", "video endService"])
    app.send(.endServiceACK, .video)
    app.startVideo(.standard)
    app.send(.endServiceACK, .video)
    app.video(Stream.keyFrame)
    #expect(app.events.last == .videoData(Stream.keyFrame))
    #expect(app.violations == [])
  }

  @Test func crossingEndServices() {
    var app = TestApp.streaming()
    app.run { $0.endService(.video, now: $1) }
    app.send(.endService, .video)
    app.send(.endServiceACK, .video)
    #expect(app.controls == ["video endService", "video endServiceACK"])
    #expect(app.events == [.videoStopped(reason: .endedByHeadUnit)])
    #expect(app.session.nextDeadline == nil)
  }

  /// What is on its way when the head unit ends the registration, and with it the service, is no fault of the app.
  @Test(arguments: [(1000, 0), (1001, 1)])
  func dataAfterAnUnannouncedEnd(milliseconds: Int, violations: Int) {
    var app = TestApp.streaming()
    app.run { $0.unregisterApp(.languageChange, now: $1) }
    app.wait(.milliseconds(milliseconds))
    app.video(Stream.picture)
    #expect(app.violations.count == violations, "\(app.violations)")
  }

  /// Nothing is read for a while, in which the head unit ends the registration.
  @Test func endWhileNothingIsRead() {
    var app = TestApp.streaming()
    app.run { $0.setReading(false, now: $1) }
    app.wait(.seconds(10))
    app.run { $0.unregisterApp(.languageChange, now: $1) }
    app.wait(.seconds(15))
    app.run { $0.setReading(true, now: $1) }
    app.video(Stream.picture)
    #expect(app.violations == [])
  }

  @Test func dataAfterTheEnd() {
    var app = TestApp.streaming()
    app.send(.endService, .video)
    app.wait(.milliseconds(20))
    app.video(Stream.picture)
    #expect(app.violations == [.dataAfterEndService(.video, after: .milliseconds(20))])
    #expect(!app.isClosed)
    app.wait(.milliseconds(980))
    app.video(Stream.picture)
    #expect(app.rpcs.isEmpty)
    app.wait(.milliseconds(1))
    app.video(Stream.picture)
    #expect(app.violations.last == .dataAfterEndService(.video, after: .milliseconds(1001)))
    #expect(app.rpcs.last?.function == .onAppInterfaceUnregistered)
    #expect(app.rpcs.last?.parameters == ["reason": .string("PROTOCOL_VIOLATION")])
    // Connection and session stay.
    #expect(app.controls == ["video endServiceACK"] && !app.isClosed)
    let id = app.request(.listFiles)
    #expect(app.result(id)?.resultCode == "APPLICATION_NOT_REGISTERED")
    let registration = app.register()
    #expect(app.result(registration)?.success == true)
  }

  @Test(arguments: [ServiceType.video, .audio])
  func dataWithoutAService(service: ServiceType) {
    var app = TestApp.active()
    app.send(data: Stream.picture, service)
    #expect(app.violations == [.dataWithoutService(service)])
    #expect(app.events.last == .appUnregistered(reason: .headUnit(.protocolViolation)))
  }

  private static func askingItsSoftware() -> TestApp {
    var app = TestApp(HeadUnitPreset.standard.configuration, videoStartTime: .milliseconds(10))
    app.startSession()
    app.register()
    app.wait(.milliseconds(100))
    app.forget()
    return app
  }

  @Test func videoAfterTheAcknowledgement() {
    var app = Self.askingItsSoftware()
    app.startVideo(.standard)
    app.wait(.milliseconds(10))
    app.video(Stream.keyFrame)
    #expect(app.controls == ["video startServiceACK"] && app.violations == [])
    #expect(HeadUnitPreset.allCases.allSatisfy { $0.configuration.videoStartTime == .milliseconds(10) })
  }

  @Test func dataBeforeTheAcknowledgement() {
    var app = Self.askingItsSoftware()
    app.startVideo(.standard)
    #expect(app.answers == [])
    app.video(Stream.keyFrame)
    #expect(app.violations == [.dataBeforeAcknowledgement(.video)])
    #expect(app.events.last == .appUnregistered(reason: .headUnit(.protocolViolation)))
    #expect(app.controls == [] && !app.isClosed)
  }

  /// SDL Core does not ask the HMI about a start without parameters, so that the answer comes at once.
  @Test func startWithoutParameters() {
    var app = Self.askingItsSoftware()
    app.startVideo(VideoServiceParameters())
    app.video(Stream.keyFrame)
    #expect(app.controls == ["video startServiceACK"] && app.violations == [])
  }

  @Test func lenientHeadUnitsOnlyReport() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.isStrict = false
    var app = TestApp.active(configuration)
    app.video(Stream.picture)
    #expect(app.events == [.violation(.dataWithoutService(.video))])
    #expect(!app.isClosed)
  }

  /// The session ends before the app hears why if the car is off, and otherwise after that.
  @Test(
    arguments: [
      (.ignitionOff, "IGNITION_OFF", true), (.masterReset, "MASTER_RESET", true),
      (.factoryDefaults, "FACTORY_DEFAULTS", true), (.appUnauthorized, "APP_UNAUTHORIZED", false),
    ] as [(UnregisteredReason, String, Bool)])
  func endByTheHeadUnit(reason: UnregisteredReason, text: String, isSessionEndedFirst: Bool) {
    var app = TestApp.streaming()
    app.run { $0.unregisterApp(reason, now: $1) }
    #expect(app.controls == ["video endService", "rpc endService"])
    #expect((app.answers.last == .rpc(app.rpcs[0])) == isSessionEndedFirst && app.answers.count == 3)
    #expect(app.rpcs[0].parameters == ["reason": .string(text)])
    #expect(app.events == [.videoStopped(reason: .unregistered), .appUnregistered(reason: .headUnit(reason))])
    #expect(app.isClosed)
  }

  @Test func languageChangeKeepsTheSession() {
    var app = TestApp.streaming()
    app.run { $0.unregisterApp(.languageChange, now: $1) }
    #expect(!app.isClosed)
    let id = app.register()
    #expect(app.result(id)?.success == true)
  }

  @Test func lostTransport() {
    var app = TestApp.streaming()
    app.run { $0.transportLost(now: $1) }
    #expect(app.events == [.videoStopped(reason: .transportLost), .appUnregistered(reason: .transportLost)])
    #expect(app.answers == [] && !app.isClosed && app.session.nextDeadline == nil)
    app.video(Stream.picture)
    #expect(app.events.count == 2)
    app.forget()
    app.run { $0.transportConnected(now: $1) }
    app.startSession()
    app.register()
    app.wait(.seconds(1))
    app.startVideo(.standard)
    #expect(app.controls == ["rpc startServiceACK", "video startServiceACK"])
  }

  /// What was streamed over the former connection is of no concern to the next one.
  @Test func dataOverANewConnection() {
    var app = TestApp.streaming()
    app.run { $0.transportLost(now: $1) }
    app.run { $0.transportConnected(now: $1) }
    app.startSession()
    app.register()
    app.wait(.milliseconds(100))
    app.video(Stream.picture)
    #expect(app.violations == [.dataWithoutService(.video)])
  }
}
