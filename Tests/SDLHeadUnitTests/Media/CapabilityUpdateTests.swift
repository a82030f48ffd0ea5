import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// Updates of the capability that come before the app subscribes to them.
@Suite struct CapabilityUpdateTests {
  private static func update(_ change: (inout VideoStreamingCapability) -> Void) -> VideoStreamingCapability {
    var update = VideoStreamingCapability()
    change(&update)
    return update
  }

  private func updates(of app: TestApp) -> [SystemCapability] {
    app.rpcs.filter { $0.function == .onSystemCapabilityUpdated }.map { SystemCapability(json: $0.parameters) }
      .filter { $0.type == .videoStreaming }
  }

  private func ask(_ app: inout TestApp, subscribe: Bool?) {
    app.request(.getSystemCapability, GetSystemCapability(type: .videoStreaming, subscribe: subscribe).json)
  }

  @Test func areSentWithTheSubscription() {
    var app = TestApp.registered()
    let size = Self.update { $0.preferredResolution = VideoSize(640, 360) }
    let rate = Self.update { $0.preferredFPS = 10 }
    app.run { $0.updateCapability(size, now: $1) }
    app.run { $0.updateCapability(rate, now: $1) }
    #expect(app.answers == [] && app.events == [.capabilityUpdateDeferred, .capabilityUpdateDeferred])
    // The response holds the configured capability, as with SDL Core.
    ask(&app, subscribe: nil)
    #expect(SystemCapability(json: app.rpcs[0].parameters).videoStreaming?.preferredFPS == 30)
    #expect(updates(of: app) == [])
    ask(&app, subscribe: true)
    #expect(app.rpcs.map(\.type) == [.response, .response, .notification])
    #expect(updates(of: app) == [SystemCapability(type: .videoStreaming, videoStreaming: size.updated(by: rate))])
    // Only once.
    app.forget()
    ask(&app, subscribe: true)
    #expect(updates(of: app) == [])
  }

  /// Of the size in use, as iOS libraries see it, or of the capability's own size.
  @Test func scaleOfASizeFromTheList() {
    let configuration = HeadUnitPreset.listedInCore.configuration
    func start(_ width: Int32, _ height: Int32, of app: inout TestApp) -> Bool {
      app.startVideo(VideoServiceParameters(width: width, height: height))
      defer { app.forget() }
      return app.controls == ["video startServiceACK"]
    }
    for (width, height, isAccepted) in [(160, 100, true), (400, 190, true), (106, 66, false), (240, 160, false)] {
      var app = TestApp.active(configuration)
      ask(&app, subscribe: true)
      app.forget()
      #expect(start(320, 200, of: &app))
      app.run { $0.updateCapability(Self.update { $0.scale = 2 }, now: $1) }
      app.send(.endService, .video)
      app.forget()
      #expect(start(Int32(width), Int32(height), of: &app) == isAccepted, "\(width)×\(height)")
      if width == 160 {
        // The next update is about the same display.
        app.run { $0.updateCapability(Self.update { $0.scale = 4 }, now: $1) }
        app.send(.endService, .video)
        app.forget()
        #expect(start(80, 50, of: &app))
      }
    }
  }

  /// Without a stream, or behind an update with a size, nothing is known of the size that was in use.
  @Test(arguments: ["the stream has ended", "a size was told"]) func scaleOfASizeThatIsNotInUse(cause: String) {
    var app = TestApp.active(HeadUnitPreset.listedInCore.configuration)
    ask(&app, subscribe: true)
    app.startVideo(VideoServiceParameters(width: 320, height: 200))
    if cause == "the stream has ended" { app.send(.endService, .video) }
    app.run { $0.updateCapability(Self.update { $0.scale = 2 }, now: $1) }
    if cause == "a size was told" {
      app.run { $0.updateCapability(Self.update { $0.preferredResolution = VideoSize(640, 360) }, now: $1) }
      app.send(.endService, .video)
    }
    app.forget()
    app.startVideo(VideoServiceParameters(width: 160, height: 100))
    #expect(app.controls == ["video startServiceNAK"])
  }

  /// Before the registration as for a script that acts when the app connects.
  @Test(arguments: [true, false], [true, false]) func waitForTheSubscription(isResize: Bool, isRegistered: Bool) {
    let size = VideoSize(640, 360)
    let expected = Self.update { ($0.preferredResolution, $0.scale) = (size, 2) }
    var app = isRegistered ? TestApp.registered() : TestApp()
    app.run { session, now in
      isResize
        ? session.resize(to: size, scale: 2, now: now) : session.updateCapability(expected, now: now)
    }
    #expect(app.events == [.capabilityUpdateDeferred])
    if !isRegistered {
      app.startSession()
      app.register()
    }
    #expect(updates(of: app) == [])
    ask(&app, subscribe: true)
    #expect(updates(of: app) == [SystemCapability(type: .videoStreaming, videoStreaming: expected)])
  }

  /// A size is accepted only after the app has received it.
  @Test func countOnceTheyAreSent() {
    let small = VideoServiceParameters(width: 640, height: 360)
    var app = TestApp.active()
    app.session.answerNextVideoStart(.regular)
    app.run { $0.updateCapability(Self.update { $0.preferredResolution = VideoSize(640, 360) }, now: $1) }
    app.startVideo(small)
    #expect(app.rejection?.rejectedParameters == ["height", "width"])
    app.run { $0.activateApp(now: $1) }
    ask(&app, subscribe: true)
    app.forget()
    app.startVideo(small)
    #expect(app.controls == ["video startServiceACK"])
  }

  /// As for an app that connects before the user sets the size of the screen.
  @Test func offerIsThatOfTheNextRegistration() {
    func offered(to app: inout TestApp, _ size: VideoSize) -> Bool {
      ask(&app, subscribe: nil)
      let capability = app.rpcs.last.flatMap { SystemCapability(json: $0.parameters).videoStreaming }
      app.forget()
      return capability?.preferredResolution == size
    }
    let (first, second) = (VideoSize(640, 360), VideoSize(320, 200))
    var capability = HeadUnitPreset.standard.configuration.videoCapability
    var app = TestApp()
    app.startSession()
    capability?.preferredResolution = first
    app.session.offer(capability, screen: first)
    app.forget()
    app.register()
    #expect(app.rpcs.first.map { RegisterAppInterfaceResponse(json: $0.parameters).screenResolution } == first)
    #expect(offered(to: &app, first))
    capability?.preferredResolution = second
    app.session.offer(capability, screen: second)
    #expect(offered(to: &app, first))
    app.request(.unregisterAppInterface)
    app.register()
    #expect(offered(to: &app, second))
  }

  /// An app without a subscription can't know it.
  @Test func aResizeThatTheAppHasNotHeardOfForbidsNothing() {
    let former = VideoServiceParameters(width: 800, height: 480)
    var app = TestApp.active()
    app.run { $0.resize(to: VideoSize(400, 240), scale: 1, now: $1) }
    app.startVideo(former)
    #expect(app.controls == ["video startServiceACK"])
    app.send(.endService, .video)
    ask(&app, subscribe: true)
    app.forget()
    app.startVideo(former)
    #expect(app.rejection?.rejectedParameters == ["height", "width"])
  }

  @Test func anUpdateAfterAResizeChangesTheWindow() {
    var app = TestApp.active()
    ask(&app, subscribe: true)
    app.run { $0.resize(to: VideoSize(400, 240), scale: 1, now: $1) }
    app.run { $0.updateCapability(Self.update { $0.scale = 2 }, now: $1) }
    app.forget()
    app.startVideo(VideoServiceParameters(width: 200, height: 120))
    #expect(app.controls == ["video startServiceACK"])
  }

  /// Also those that no app has heard of.
  @Test func areForgottenWithTheTransport() {
    var app = TestApp()
    app.run { $0.updateCapability(Self.update { $0.preferredFPS = 10 }, now: $1) }
    app.run { $0.transportLost(now: $1) }
    app.run { $0.transportConnected(now: $1) }
    app.startSession()
    app.register()
    ask(&app, subscribe: true)
    #expect(updates(of: app) == [])
  }

  @Test func areForgottenWithTheRegistration() {
    var app = TestApp.registered()
    app.run { $0.updateCapability(Self.update { $0.preferredFPS = 10 }, now: $1) }
    app.request(.unregisterAppInterface)
    app.register()
    ask(&app, subscribe: true)
    #expect(updates(of: app) == [])
  }
}
