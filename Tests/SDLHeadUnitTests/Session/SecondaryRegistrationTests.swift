import SDLHeadUnit
import SDLMessages
import SDLWire
import TestSupport
import Testing

/// RegisterSecondaryTransport: when it is taken, and the end of either transport.
@Suite struct SecondaryRegistrationTests {
  /// The bytes of the acknowledgement, and of the refusal of an unknown session.
  @Test func bytes() {
    var app = TestApp.withSecondary()
    app.run { $0.secondaryTransportLost(now: $1) }
    app.forget()
    #expect(app.registerSecondary() == .accepted)
    #expect(app.secondaryFrames.map(\.bytes) == [[0x50, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 2]])
    #expect(app.events == [.secondaryTransportRegistered] && app.controls == [])
    let header = FrameHeader(
      version: 5, frameType: .control, service: .control, frameInfo: 7, sessionID: 9, dataSize: 0, messageID: 1)
    let refusal = HeadUnitSession.refusal(of: header, .unknownSession)
    #expect(refusal.prefix(12) == [0x50, 0, 9, 9, 0, 0, 0, 65, 0, 0, 0, 2])
    #expect(
      ServiceRejection(payload: Array(refusal.dropFirst(12))).reason
        == "RegisterSecondaryTransport session ID not found")
  }

  /// A state of the session, and what becomes of a registration in it.
  enum Situation: CaseIterable {
    case noTransport, beforeSession, beforeRegistration, active, registered, lost, notOffered, elsewhere, withdrawn
    case oldProtocol, offeredAgain, refusing, silent, sessionEnded, unregistered, connectedAgain

    var expected: HeadUnitSession.SecondaryRefusal? {
      switch self {
      case .noTransport, .beforeSession, .sessionEnded, .unregistered, .connectedAgain: .unknownSession
      case .registered: .registeredAlready
      case .notOffered, .elsewhere, .withdrawn, .oldProtocol: .notOffered
      case .refusing: .scripted
      case .beforeRegistration, .active, .lost, .offeredAgain, .silent: nil
      }
    }

    func app() -> TestApp {
      var configuration = HeadUnitPreset.standard.configuration
      configuration.behaviour.secondaryTransport = self == .notOffered ? .off : .served
      var app = TestApp(configuration)
      app.serve(TransportEventUpdate(address: "127.0.0.1", port: 5678))
      switch self {
      case .noTransport: app.run { $0.transportLost(now: $1) }
      case .beforeSession: break
      case .oldProtocol: app.startSession(ProtocolVersion(5, 0))
      default: app.startSession()
      }
      switch self {
      case .noTransport, .beforeSession, .beforeRegistration, .oldProtocol: return app
      default: app.register()
      }
      app.wait(.milliseconds(100))
      switch self {
      case .registered: app.registerSecondary()
      case .lost:
        app.registerSecondary()
        app.run { $0.secondaryTransportLost(now: $1) }
      case .elsewhere: app.change(.secondaryTransport(.elsewhere(TransportEventUpdate(address: "::1", port: 1))))
      case .withdrawn: app.change(.secondaryTransport(.off))
      case .offeredAgain:
        app.change(.secondaryTransport(.off))
        app.change(.secondaryTransport(.served))
      case .refusing: app.change(.secondaryRegistration(.reject))
      case .silent: app.change(.secondaryRegistration(.silence))
      case .sessionEnded:
        app.send(.endService, .rpc, payload: EndServiceRequest(hashID: 1 << 16 | 1).bytes(version: 5))
      case .unregistered: app.run { $0.unregisterApp(.appUnauthorized, now: $1) }
      case .connectedAgain:
        app.run { $0.transportLost(now: $1) }
        app.run { $0.transportConnected(now: $1) }
      case .noTransport, .beforeSession, .beforeRegistration, .oldProtocol, .active, .notOffered: break
      }
      return app
    }
  }

  @Test(arguments: Situation.allCases) func registration(_ situation: Situation) {
    var app = situation.app()
    app.forget()
    let registration = app.registerSecondary()
    if let reason = situation.expected {
      guard case .refused(let bytes) = registration else {
        Issue.record("not refused: \(registration)")
        return
      }
      #expect(bytes.prefix(4) == [0x50, 0, 9, 1])
      #expect(ServiceRejection(payload: Array(bytes.dropFirst(12))).reason == reason.rawValue)
      #expect(app.events == (reason == .unknownSession ? [] : [.secondaryTransportRefused(reason)]))
      #expect(app.secondaryControls == [])
    } else if situation == .silent {
      #expect(registration == .unanswered && app.events == [] && app.secondaryControls == [])
    } else {
      #expect(registration == .accepted && app.events == [.secondaryTransportRegistered])
      #expect(app.secondaryControls == ["control registerSecondaryTransportACK"])
    }
    #expect(app.isClosed == (situation == .unregistered))
  }

  @Test func acknowledgedAndClosed() {
    var app = Situation.active.app()
    app.change(.secondaryRegistration(.acknowledgeAndClose))
    app.forget()
    #expect(app.registerSecondary() == .accepted)
    #expect(app.secondaryControls == ["control registerSecondaryTransportACK"] && app.isSecondaryClosed)
    #expect(app.events == [.secondaryTransportRegistered, .secondaryTransportLost])
    app.forget()
    app.startVideo(.standard, on: .secondary)
    #expect(app.events == [] && app.secondaryControls == [])
    app.change(.secondaryRegistration(.acknowledge))
    #expect(app.registerSecondary() == .accepted)
  }

  /// What ends the session or its first transport closes the second one; what does not, does not.
  @Test(
    arguments: [
      ("transport", true), ("end-service", true), ("unregister", true), ("heartbeat", true), ("garbage", true),
      ("app-unregisters", false), ("language", false), ("level", false),
    ])
  func primaryEnds(cause: String, closes: Bool) {
    var app = TestApp.withSecondary()
    app.startVideo(.standard, on: .secondary)
    app.forget()
    switch cause {
    case "transport": app.run { $0.transportLost(now: $1) }
    case "end-service":
      app.send(.endService, .rpc, payload: EndServiceRequest(hashID: 1 << 16 | 1).bytes(version: 5))
    case "unregister": app.run { $0.unregisterApp(.appUnauthorized, now: $1) }
    case "heartbeat":
      app.send(.heartbeat, .control)
      app.wait(.seconds(20))
    case "garbage":
      for _ in 0..<20 { app.send(bytes: [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], on: .secondary) }
      // Who sends that need not be the app.
      #expect(!app.isClosed)
    case "app-unregisters": app.request(.unregisterAppInterface)
    case "language": app.run { $0.unregisterApp(.languageChange, now: $1) }
    default: app.set(.none, .notStreamable)
    }
    #expect(app.isSecondaryClosed == closes)
    #expect(app.events.contains(.secondaryTransportLost) == closes)
    #expect(app.events.count { if case .videoStopped = $0 { true } else { false } } == 1)
    // Late frames of a connection that is being closed.
    if closes {
      app.forget()
      app.video(Stream.keyFrame, on: .secondary)
      #expect(app.events == [] && app.secondaryControls == [])
    }
  }

  /// On the secondary transport itself, over and over, from a sender that need not be the app.
  @Test func floodOfRegistrations() {
    var app = TestApp.withSecondary()
    for _ in 0..<2000 { app.send(.registerSecondaryTransport, .control, on: .secondary, messageID: 1) }
    #expect(app.violations == [.tooManyFrames(limit: 1000, within: .seconds(1))])
    #expect(app.isSecondaryClosed && !app.isClosed)
    #expect(app.secondaryControls.count <= 1001)
    #expect(app.secondaryControls.allSatisfy { $0 == "control registerSecondaryTransportNAK" })
    #expect(app.session.summary != nil)
  }

  /// The frames of the secondary transport don't count against the app on the primary one.
  @Test func trafficBelowTheLimit() {
    var app = TestApp.withSecondary()
    for _ in 0..<900 {
      app.send(.heartbeat, .control)
      app.send(.heartbeat, .control, on: .secondary)
    }
    #expect(app.violations == [] && !app.isClosed && !app.isSecondaryClosed)
  }

  /// Another sender on the secondary transport ends no service of the primary one, and causes no answer to the app.
  @Test func anotherSender() {
    var app = TestApp.withSecondary()
    app.startVideo(.standard)
    app.forget()
    app.send(.endServiceACK, .video, on: .secondary)
    app.send(.endService, .video, on: .secondary)
    let request = RPCMessage(type: .request, function: .listFiles, correlationID: 7, parameters: [:])
    let frame = Fragmentation(
      service: .rpc, version: 5, sessionID: 9, messageID: 3, payloadSize: request.payload.count,
      maximumPayload: 131_060)
    app.send(bytes: frame.frames(of: request.payload), on: .secondary)
    #expect(app.session.summary?.isStreaming == true && app.answers == [])
    #expect(app.secondaryControls == ["video endServiceNAK"])
  }

  /// What would end the app's registration, or cost it its level, from the app itself.
  @Test(arguments: ["data", "video start", "audio start", "end of a start", "heartbeat"])
  func costsTheAppNothing(sent: String) {
    var app = TestApp.withSecondary(audio: [.primary]) { $0.behaviour.videoStartDelay = .milliseconds(500) }
    app.startVideo(.standard)
    if sent != "end of a start" { app.wait(.milliseconds(500)) }
    app.forget()
    switch sent {
    case "data": app.send(data: [1, 2], .audio, on: .secondary)
    case "video start": app.startVideo(.standard, on: .secondary)
    // Sound is not allowed there.
    case "audio start": app.send(.startService, .audio, on: .secondary)
    case "end of a start":
      app.send(.endService, .video, on: .secondary)
      app.wait(.milliseconds(500))
    default:
      app.send(.heartbeat, .control, on: .secondary)
      app.wait(.seconds(30))
    }
    #expect(app.session.summary?.isStreaming == true && app.session.summary?.level == .full)
    #expect(app.rpcs == [] && !app.isClosed)
    #expect(app.isSecondaryClosed == (sent == "data"))
  }

  @Test func floodFromOtherConnections() {
    var app = TestApp.withSecondary()
    for _ in 0..<2000 { app.registerSecondary() }
    #expect(app.events.allSatisfy { $0 == .secondaryTransportRefused(.registeredAlready) })
    #expect(!app.isClosed && app.controls == [] && app.secondaryControls == [])
    app.startVideo(.standard, on: .secondary)
    #expect(app.secondaryControls == ["video startServiceACK"])
  }
}
