import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// The offer of a secondary transport (SDL-0141).
@Suite struct SecondaryTransportTests {
  private static let place = TransportEventUpdate(address: "127.0.0.1", port: 5678)
  private static let elsewhere = TransportEventUpdate(address: "::1", port: 1)

  private func acknowledgement(_ app: TestApp) throws -> RPCServiceAcknowledgement {
    RPCServiceAcknowledgement(payload: try #require(app.payload(.startServiceACK, .rpc)), version: 5)
  }

  private func update(_ app: TestApp) -> TransportEventUpdate? {
    app.payload(.transportEventUpdate, .control).map(TransportEventUpdate.init(payload:))
  }

  @Test func none() throws {
    var app = TestApp()
    app.startSession()
    let acknowledgement = try acknowledgement(app)
    #expect(acknowledgement.secondaryTransports == [] && acknowledgement.videoServiceTransports == [1])
    app.change(.secondaryTransport(.elsewhere(Self.place)))
    #expect(app.payload(.transportEventUpdate, .control) == nil)
  }

  /// As over WebSocket, whatever the behaviour is then and later.
  @Test func neverOffered() throws {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.offersSecondaryTransport = false
    var app = TestApp(configuration)
    app.change(.secondaryTransport(.elsewhere(Self.place)))
    app.startSession()
    let acknowledgement = try acknowledgement(app)
    #expect(acknowledgement.secondaryTransports == [] && acknowledgement.videoServiceTransports == [1])
    app.change(.secondaryTransport(.elsewhere(Self.elsewhere)))
    #expect(app.controls == ["rpc startServiceACK"])
  }

  @Test func offered() throws {
    var app = TestApp()
    app.change(.secondaryTransport(.elsewhere(Self.place)))
    app.startSession()
    let acknowledgement = try acknowledgement(app)
    #expect(acknowledgement.secondaryTransports == ["TCP_WIFI"] && acknowledgement.videoServiceTransports == [1, 2])
    #expect(app.controls == ["rpc startServiceACK", "control transportEventUpdate"])
    #expect(update(app) == Self.place)
    app.change(.secondaryTransport(.off))
    #expect(update(app) == TransportEventUpdate(address: nil, port: nil))
  }

  @Test(arguments: [ProtocolVersion(5, 0, 0), nil]) func olderProtocols(version: ProtocolVersion?) {
    var app = TestApp()
    app.change(.secondaryTransport(.elsewhere(Self.place)))
    app.startSession(version)
    #expect(app.controls == ["rpc startServiceACK"])
  }

  @Test func servedAddressComesChangesAndGoes() {
    var app = TestApp()
    app.change(.secondaryTransport(.served))
    app.startSession()
    // Nothing listens yet.
    #expect(app.controls == ["rpc startServiceACK"])
    app.serve(Self.place)
    #expect(update(app) == Self.place)
    app.forget()
    app.serve(Self.place)
    #expect(app.controls == [])
    app.serve(Self.elsewhere)
    #expect(update(app) == Self.elsewhere)
    app.serve(nil)
    #expect(update(app) == TransportEventUpdate(address: nil, port: nil))
    app.change(.secondaryTransport(.off))
    app.forget()
    app.serve(Self.place)
    #expect(app.controls == [])
  }

  /// An app that starts another session on its connection hears of the address again, and may use it.
  @Test func offeredInEachSession() {
    var app = TestApp()
    app.change(.secondaryTransport(.served))
    app.serve(Self.place)
    for _ in 1...2 {
      app.forget()
      app.startSession()
      #expect(app.controls == ["rpc startServiceACK", "control transportEventUpdate"] && update(app) == Self.place)
      #expect(app.registerSecondary() == .accepted)
      app.send(.endService, .rpc, payload: EndServiceRequest(hashID: 1 << 16 | 1).bytes(version: 5))
    }
  }

  @Test func lateOffer() {
    var app = TestApp()
    app.change(.secondaryTransportDelay(.seconds(2)))
    app.change(.secondaryTransport(.elsewhere(Self.place)))
    app.startSession()
    app.wait(.milliseconds(1999))
    #expect(update(app) == nil)
    app.wait(.milliseconds(1))
    #expect(update(app) == Self.place)
    // Its end is told at once, and nothing follows.
    app.change(.secondaryTransport(.elsewhere(Self.elsewhere)))
    app.change(.secondaryTransport(.off))
    #expect(update(app) == TransportEventUpdate(address: nil, port: nil))
    app.forget()
    app.wait(.seconds(3))
    #expect(app.controls == [])
  }

  @Test(
    arguments: [
      (nil, [1, 2]), ([.primary], [1]), ([.secondary], [2]), ([.secondary, .primary], [2, 1]), ([], []),
    ] as [([TransportRole]?, [Int32])])
  func lists(configured: [TransportRole]?, listed: [Int32]) throws {
    for isOffered in [true, false] {
      var app = TestApp()
      app.change(.videoTransports(configured))
      app.change(.audioTransports(configured))
      app.change(.secondaryTransport(isOffered ? .served : .off))
      app.startSession()
      let acknowledgement = try acknowledgement(app)
      let expected = listed.filter { $0 == 1 || isOffered }
      #expect(acknowledgement.videoServiceTransports == expected)
      #expect(acknowledgement.audioServiceTransports == expected)
      // What the app was told holds until its next session.
      app.change(.videoTransports([.secondary]))
      app.register()
      app.wait(.milliseconds(100))
      app.startVideo(.standard)
      #expect(app.controls.contains("video startServiceACK") == expected.contains(1))
    }
  }

  /// RegisterSecondaryTransport where there is no session.
  @Test func registrationIsRefused() {
    var other = TestApp()
    other.send(.registerSecondaryTransport, .control, sessionID: 7, messageID: 1)
    #expect(other.controls == ["control registerSecondaryTransportNAK"])
    #expect(other.headers.map(\.sessionID) == [7] && other.headers.map(\.messageID) == [2])
  }
}

extension TestApp {
  mutating func change(_ change: HeadUnitBehaviour.Change) {
    run { $0.change(change, now: $1) }
  }

  mutating func serve(_ address: TransportEventUpdate?) {
    run { $0.setServedTransport(address, now: $1) }
  }

  /// RegisterSecondaryTransport on another connection.
  @discardableResult
  mutating func registerSecondary(
    sessionID: UInt8 = 1, isPeerKnown: Bool = true
  ) -> HeadUnitSession.SecondaryRegistration {
    let frame = Frame.control(
      .registerSecondaryTransport, service: .control, version: 5, sessionID: sessionID, messageID: 1)
    var registration = HeadUnitSession.SecondaryRegistration.unanswered
    run { session, now in
      let (answer, actions) = session.registerSecondaryTransport(frame, isPeerKnown: isPeerKnown, now: now)
      registration = answer
      return actions
    }
    return registration
  }

  /// An app that may stream, with a secondary transport.
  static func withSecondary(
    video: [TransportRole]? = nil, audio: [TransportRole]? = nil,
    _ change: (inout HeadUnitConfiguration) -> Void = { _ in }
  ) -> TestApp {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.secondaryTransport = .served
    configuration.behaviour.videoTransports = video
    configuration.behaviour.audioTransports = audio
    change(&configuration)
    var app = TestApp.active(configuration)
    app.serve(TransportEventUpdate(address: "127.0.0.1", port: 5678))
    app.registerSecondary()
    app.forget()
    return app
  }
}
