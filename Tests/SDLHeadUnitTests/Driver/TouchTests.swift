import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// OnTouchEvent goes to the app on the screen.
@Suite struct TouchTests {
  private static let event = OnTouchEvent(
    kind: .begin, fingers: [.init(id: 0, samples: [.init(x: 1, y: 2), .init(x: 3, y: 4, time: 77)])])

  @Test func isSentAtFull() throws {
    var app = TestApp.active()
    app.run { $0.touch(Self.event, now: $1) }
    let message = try #require(app.rpcs.first)
    #expect(message.type == .notification && message.function == .onTouchEvent)
    var expected = Self.event
    let (seconds, attoseconds) = app.now.components
    expected.fingers[0].samples[0].time = Int(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    #expect(OnTouchEvent(json: message.parameters) == expected)
    #expect(app.events == [.touchSent(expected)])
  }

  @Test(arguments: [HMILevel.limited, .background, .none]) func isNotSentInOtherLevels(level: HMILevel) {
    var app = TestApp.active()
    app.set(level, .notStreamable)
    app.forget()
    app.run { $0.touch(Self.event, now: $1) }
    #expect(app.answers == [] && app.events == [])
  }

  /// SDL Core's own policies grant touches to no app. That is reported once for each finger.
  @Test func isWithheldByPolicies() {
    var app = TestApp.active(HeadUnitPreset.core.configuration)
    for kind in [.begin, .move, .end] as [OnTouchEvent.Kind] {
      app.run { $0.touch(OnTouchEvent(kind: kind, fingers: Self.event.fingers), now: $1) }
    }
    #expect(app.answers == [] && app.events == [.touchWithheld])
    app.set(.limited, .streamable)
    app.forget()
    app.run { $0.touch(Self.event, now: $1) }
    #expect(app.events == [])
  }

  /// As SDL Core: the end of a touch is lost if the app has left FULL before it, and the next one begins anew.
  @Test func fingerThatIsLiftedWhileTheAppIsLimited() {
    var app = TestApp.active()
    func touch(_ kind: OnTouchEvent.Kind, finger: Int) {
      let event = OnTouchEvent(kind: kind, fingers: [.init(id: finger, samples: [.init(x: 1, y: 2, time: 3)])])
      app.run { $0.touch(event, now: $1) }
    }
    touch(.begin, finger: 0)
    app.set(.limited, .streamable)
    touch(.move, finger: 0)
    touch(.end, finger: 0)
    app.set(.full, .streamable)
    touch(.begin, finger: 0)
    touch(.end, finger: 0)
    let kinds = app.rpcs.filter { $0.function == .onTouchEvent }.map { OnTouchEvent(json: $0.parameters).kind }
    #expect(kinds == [.begin, .begin, .end])
  }

  @Test func isNotSentBeforeTheRegistration() {
    var app = TestApp()
    app.startSession()
    app.forget()
    app.run { $0.touch(Self.event, now: $1) }
    #expect(app.answers == [] && app.events == [])
  }

  @Test(arguments: [Int.min, -1, 0, 1, .max]) func displayOfAnySize(side: Int) {
    let event = Self.windowTouch(40, 30).onDisplay(VideoSize(side, side), picture: VideoSize(80, 60))
    let last = OnTouchEvent.coordinates.upperBound - 1
    #expect(event.fingers[0].samples.map(\.x) == [side == .max ? last : 0])
  }

  private static func windowTouch(_ x: Double, _ y: Double) -> PictureTouch {
    PictureTouch(kind: .begin, fingers: [.init(id: 3, samples: [.init(x: x, y: y, time: .milliseconds(5))])])
  }

  /// Sizes of streams, and the position of their point (100, 50) on the display.
  @Test(
    arguments: [
      (320, 212, OnTouchEvent.Sample(x: 150, y: 75, time: 5)), (400, 240, OnTouchEvent.Sample(x: 200, y: 100, time: 5)),
      (480, 320, OnTouchEvent.Sample(x: 100, y: 50, time: 5)),
    ])
  func picturesFillTheDisplayThatTheyAreFor(width: Int32, height: Int32, sample: OnTouchEvent.Sample) {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.videoCapability?.preferredResolution = VideoSize(480, 318)
    configuration.videoCapability?.scale = 1.5
    let further = [(2.0, 800, 480), (1, 480, 320)]
    configuration.videoCapability?.additionalCapabilities = further.map { scale, width, height in
      var capability = VideoStreamingCapability()
      capability.preferredResolution = VideoSize(width, height)
      capability.scale = scale
      return capability
    }
    var app = TestApp.streaming(configuration, start: VideoServiceParameters(width: width, height: height))
    let picture = VideoSize(Int(width), Int(height))
    app.run { $0.touch(Self.windowTouch(100, 50), picture: picture, now: $1) }
    #expect(
      app.events == [.touchSent(OnTouchEvent(kind: .begin, fingers: [.init(id: 3, samples: [sample])]))])
  }

  @Test func picturesThatNeverWereAreNotTouched() {
    var app = TestApp.active()
    app.run { $0.touch(Self.windowTouch(1, 1), picture: VideoSize(320, 240), now: $1) }
    #expect(app.answers == [] && app.events == [])
  }

  /// Time stamps wrap at the end of the range in the RPC specification.
  @Test func timeStampsStayInTheirRange() throws {
    var app = TestApp.active()
    for day in [0, 10, 23, 24, 100, 10_000] {
      app.forget()
      app.run { session, _ in session.touch(Self.event, now: .seconds(day * 86_400)) }
      let message = try #require(app.rpcs.first)
      let time = try #require(OnTouchEvent(json: message.parameters).fingers.first?.samples.first?.time)
      #expect(OnTouchEvent.times.contains(time))
    }
  }
}
