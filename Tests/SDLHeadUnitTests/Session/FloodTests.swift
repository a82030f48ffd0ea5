import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// Everything that an app can have reported, or answered, is limited.
@Suite struct FloodTests {
  /// Only their data is exempt from the limit of frames.
  @Test(arguments: [ServiceType.video, .audio]) func startsOfMedia(service: ServiceType) {
    var app = TestApp.active()
    app.wait(.seconds(1))
    for _ in 0..<3000 { app.send(.startService, service) }
    #expect(!app.isClosed && !app.isStarted)
    #expect(app.events.contains(.appUnregistered(reason: .headUnit(.tooManyRequests))))
    #expect(app.headers.count < 1010 && app.events.count < 3100)
  }

  /// A peer that floods without a session of its own, and asks for one, is not kept.
  @Test(arguments: [(UInt8(0), true), (7, false)]) func strangers(sessionID: UInt8, isClosed: Bool) {
    var app = TestApp()
    for _ in 0..<1500 { app.send(.endService, .hybrid, sessionID: sessionID) }
    #expect(app.isClosed == isClosed && app.headers.count == 1000 && app.events.count < 200)
  }

  @Test func violations() {
    var app = TestApp.streaming()
    func endOfNothing() { app.send(.endService, .audio) }
    for _ in 0..<500 { endOfNothing() }
    let first = Array(repeating: Violation.endOfServiceNotRunning(.audio), count: 100)
    #expect(app.violations == first + [.tooManyViolations(limit: 100, within: .seconds(1))])
    app.wait(.seconds(1))
    app.forget()
    endOfNothing()
    #expect(app.violations == [.endOfServiceNotRunning(.audio)])
    for _ in 0..<100 { endOfNothing() }
    #expect(app.violations.last == .tooManyViolations(limit: 100, within: .seconds(1)))
  }

  /// Nothing is sent in return for data beyond that, either.
  @Test func encryptedDataOfAServiceInClear() {
    var app = TestApp.streaming()
    for _ in 0..<3000 { app.send(TestApp.videoFrame([1], isEncrypted: true)) }
    #expect(app.events.count == 101 && app.headers.count == 100)
    #expect(!app.isClosed)
  }

  /// The limits are those of the connection, whatever sessions come and go on it.
  @Test func sessionThatIsStartedAnew() {
    var app = TestApp.active()
    app.wait(.seconds(1))
    for _ in 0..<1001 { app.send(.heartbeatACK, .control) }
    #expect(!app.isStarted)
    app.run { $0.transportConnected(now: $1) }
    app.forget()
    app.startSession()
    #expect(app.violations == [.tooManyFrames(limit: 1000, within: .seconds(1))])
    app.run { $0.transportConnected(now: $1) }
    app.wait(.seconds(1))
    app.forget()
    app.startSession()
    #expect(app.controls == ["rpc startServiceACK"])
  }
}
