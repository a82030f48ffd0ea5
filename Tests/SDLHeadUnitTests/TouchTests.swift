import SDLHeadUnit
import SDLMessages
import Testing

/// Fingers on the screen are the business of the app that has it.
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

  @Test func isNotSentBeforeTheRegistration() {
    var app = TestApp()
    app.startSession()
    app.forget()
    app.run { $0.touch(Self.event, now: $1) }
    #expect(app.answers == [] && app.events == [])
  }

  /// Head units run for longer than the specification's time stamps count.
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
