import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing
import TestSupport

@Suite struct DriverTests {
  private func status(
    _ level: HMILevel, _ audio: AudioStreamingState, _ video: VideoStreamingState
  ) -> HMIStatus {
    HMIStatus(level: level, audioStreamingState: audio, videoStreamingState: video)
  }

  private func statuses(of app: TestApp) -> [HMIStatus] {
    app.rpcs.filter { $0.function == .onHMIStatus }.map { HMIStatus(json: $0.parameters) }
  }

  @Test(arguments: [
    (HMIEvent.phoneCall, HMILevel.full, VideoStreamingState.streamable),
    (.emergency, .full, .notStreamable),
    (.embeddedNavigation, .background, .notStreamable),
  ])
  func eventAndItsEnd(event: HMIEvent, level: HMILevel, video: VideoStreamingState) {
    var app = TestApp.streaming()
    app.run { $0.apply(.event(event, isActive: true), now: $1) }
    app.run { $0.apply(.event(event, isActive: true), now: $1) }
    app.run { $0.apply(.event(event, isActive: false), now: $1) }
    #expect(statuses(of: app) == [status(level, .notAudible, video), status(.full, .audible, .streamable)])
    // The service stays open.
    #expect(app.controls == [])
  }

  @Test func eventsAddUp() {
    var app = TestApp.streaming()
    app.run { $0.apply(.event(.embeddedNavigation, isActive: true), now: $1) }
    app.run { $0.apply(.event(.phoneCall, isActive: true), now: $1) }
    app.run { $0.apply(.event(.embeddedNavigation, isActive: false), now: $1) }
    app.run { $0.apply(.event(.phoneCall, isActive: false), now: $1) }
    #expect(
      statuses(of: app) == [
        status(.background, .notAudible, .notStreamable), status(.full, .notAudible, .streamable),
        status(.full, .audible, .streamable),
      ])
  }

  /// The driver's choice during an event takes effect at the end of the event.
  @Test func choiceDuringAnEvent() {
    var app = TestApp.active()
    app.run { $0.apply(.event(.embeddedNavigation, isActive: true), now: $1) }
    app.set(.limited, .streamable)
    app.run { $0.apply(.event(.embeddedNavigation, isActive: false), now: $1) }
    #expect(app.levels == [.background, .background, .limited])
  }

  @Test(arguments: [
    (["PROJECTION"], false, HMILevel.background), (["PROJECTION"], true, .limited), (["DEFAULT"], false, .full),
  ])
  func embeddedNavigationAndOtherApps(types: [String], isMedia: Bool, level: HMILevel) {
    var app = TestApp()
    app.startSession()
    app.register {
      $0["appHMIType"] = .array(types.map(JSONValue.string))
      $0["isMediaApplication"] = .bool(isMedia)
    }
    app.wait(.seconds(1))
    app.run { $0.apply(.event(.embeddedNavigation, isActive: true), now: $1) }
    #expect(app.levels.last == level)
  }

  @Test func eventBeforeTheRegistration() {
    var app = TestApp()
    app.run { $0.apply(.event(.emergency, isActive: true), now: $1) }
    app.startSession()
    app.register()
    app.wait(.seconds(1))
    #expect(
      statuses(of: app) == [status(.none, .notAudible, .notStreamable), status(.full, .notAudible, .notStreamable)])
  }

  @Test func activation() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.activation = nil
    var app = TestApp.registered(configuration)
    app.wait(.seconds(10))
    app.run { $0.activateApp(now: $1) }
    #expect(statuses(of: app) == [status(.full, .audible, .streamable)])
  }

  /// What the driver hears of apps that are opened from now on, also of those that connect later.
  @Test(arguments: AudioStreamingState.allCases)
  func activationStatus(audio: AudioStreamingState) {
    let opened = HMIStatus(level: .limited, audioStreamingState: audio, videoStreamingState: .notStreamable)
    var conditions = HeadUnitConditions()
    conditions.apply(.activationStatus(opened))
    var app = TestApp()
    for change in conditions.changes { app.run { $0.apply(change, now: $1) } }
    app.startSession()
    app.register()
    app.wait(.seconds(1))
    #expect(statuses(of: app) == [status(.none, .notAudible, .notStreamable), opened])
  }

  @Test func driverDistractionToTheByte() {
    var app = TestApp.active()
    let distraction = OnDriverDistraction(
      isDistractionLimited: true, lockScreenDismissalEnabled: true, lockScreenDismissalWarning: "Swipe")
    let json = #"{"lockScreenDismissalEnabled":true,"lockScreenDismissalWarning":"Swipe","state":"DD_ON"}"#
    #expect(json.utf8.count == 0x58)
    let frame = joined(
      [0x51, 0x07, 0x00, 0x01, 0x00, 0x00, 0x00, 0x64, 0x00, 0x00, 0x00, 0x06],
      [0x20, 0x00, 0x80, 0x07, 0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x58], Array(json.utf8))
    #expect(app.session.notify(.onDriverDistraction, distraction.json, now: app.now) == [.send(frame)])
  }

  @Test func resizeSendsSizeAndScaleAlone() {
    var app = TestApp.subscribed()
    app.run { $0.resize(to: VideoSize(400, 380), scale: 1.25, now: $1) }
    app.run { $0.resize(to: VideoSize(480, 320), scale: nil, now: $1) }
    let updates = app.rpcs.filter { $0.function == .onSystemCapabilityUpdated }
    var first = VideoStreamingCapability()
    first.preferredResolution = VideoSize(400, 380)
    first.scale = 1.25
    var second = VideoStreamingCapability()
    second.preferredResolution = VideoSize(480, 320)
    #expect(
      updates.map { SystemCapability(json: $0.parameters) }
        == [first, second].map {
          SystemCapability(type: .videoStreaming, videoStreaming: $0)
        })
  }

  /// The preset has additional sizes, which are not accepted after the resize.
  @Test(arguments: [
    (800, 380, nil, false), (320, 200, nil, false), (400, 300, nil, true), (200, 150, nil, false),
    (200, 150, 2.0, true), (400, 300, 2.0, false),
  ])
  func onlyTheNewSizeIsTaken(width: Int32, height: Int32, scale: Double?, isTaken: Bool) {
    var app = TestApp.subscribed(HeadUnitPreset.core.configuration)
    app.run { $0.resize(to: VideoSize(400, 300), scale: scale, now: $1) }
    app.startVideo(VideoServiceParameters(width: width, height: height))
    #expect(app.rejection?.rejectedParameters == (isTaken ? nil : ["height", "width"]))
    #expect(app.controls == [isTaken ? "video startServiceACK" : "video startServiceNAK"])
  }

  @Test func resizeIsForgottenWithTheTransport() {
    var app = TestApp.subscribed()
    app.run { $0.resize(to: VideoSize(400, 300), scale: nil, now: $1) }
    app.run { $0.transportLost(now: $1) }
    app.run { $0.transportConnected(now: $1) }
    app.startSession()
    app.register()
    app.wait(.seconds(1))
    app.startVideo(.standard)
    #expect(app.controls.last == "video startServiceACK")
  }

  @Test func refusesOnce() {
    var app = TestApp.active()
    app.session.answerNextVideoStart(.reject(["videoProtocol"]))
    app.startVideo(.standard)
    #expect(app.rejection == ServiceRejection(rejectedParameters: ["videoProtocol"]))
    #expect(app.levels == [HMILevel.none])
    app.run { $0.activateApp(now: $1) }
    app.startVideo(.standard)
    #expect(app.controls == ["video startServiceNAK", "video startServiceACK"])
  }

  @Test func silence() {
    var app = TestApp.active()
    app.run { $0.apply(.videoSilence(true), now: $1) }
    app.startVideo(.standard)
    #expect(app.answers == [] && app.events == [.videoStartRequested(.standard)])
    app.run { $0.apply(.videoSilence(false), now: $1) }
    app.startVideo(.standard)
    app.forget()
    app.run { $0.apply(.videoSilence(true), now: $1) }
    app.send(.endService, .video)
    #expect(app.answers == [])
    #expect(app.events == [.videoStopped(reason: .endedByApp)])
  }

  @Test func newSessionsGetTheConditions() {
    var conditions = HeadUnitConditions()
    conditions.apply(.event(.phoneCall, isActive: true))
    conditions.apply(.event(.emergency, isActive: true))
    conditions.apply(.event(.phoneCall, isActive: false))
    conditions.apply(.videoSilence(true))
    #expect(conditions.changes == [.event(.emergency, isActive: true), .videoSilence(true)])
    conditions.apply(.videoSilence(false))
    #expect(conditions.changes == [.event(.emergency, isActive: true)])
  }

  /// The last word on each RPC, and on each group.
  @Test func newSessionsGetThePolicies() {
    let changes: [PolicyTable.Change] = [
      .permit(.show, []), .group("A", isGranted: true), .permit(.show, [.full]), .permit(.alert, []),
      .group("A", isGranted: false), .group("B", isGranted: true),
    ]
    var conditions = HeadUnitConditions()
    for change in changes { conditions.apply(.policy(change)) }
    #expect(conditions.changes.count == 4)
    for change in changes[2...] { #expect(conditions.changes.contains(.policy(change)), "\(change)") }
  }

  @Test func nothingIsSentWithoutAnApp() {
    var app = TestApp()
    app.run { $0.activateApp(now: $1) }
    app.run { $0.apply(.event(.phoneCall, isActive: true), now: $1) }
    app.run { $0.notify(.onDriverDistraction, OnDriverDistraction(isDistractionLimited: true).json, now: $1) }
    app.run { $0.resize(to: VideoSize(400, 300), scale: nil, now: $1) }
    // The size waits for the app.
    #expect(app.answers == [] && app.events == [.capabilityUpdateDeferred] && app.session.summary == nil)
  }
}

extension TestApp {
  /// Active, and subscribed to capability updates.
  fileprivate static func subscribed(
    _ configuration: HeadUnitConfiguration = HeadUnitPreset.standard.configuration
  ) -> TestApp {
    var app = TestApp.active(configuration)
    app.request(.getSystemCapability, GetSystemCapability(type: .videoStreaming, subscribe: true).json)
    app.forget()
    return app
  }
}
