import SDLHeadUnit
import SDLMessages
import SDLWire
import TestSupport
import Testing

/// The loss of the secondary transport, and everything in any order.
@Suite struct SecondaryLossTests {
  /// Everything on the secondary transport ends with it, and nothing else.
  @Test(arguments: TransportRole.allCases, TransportRole.allCases)
  func lossOfTheSecondary(video: TransportRole, audio: TransportRole) {
    var app = TestApp.withSecondary()
    app.send(.startService, .audio, on: audio)
    app.startVideo(.standard, on: video)
    app.forget()
    app.run { $0.secondaryTransportLost(now: $1) }
    let stops = app.events.compactMap { event -> String? in
      switch event {
      case .videoStopped(reason: .transportLost): "video"
      case .audioStopped(reason: .transportLost, _): "audio"
      default: nil
      }
    }
    #expect(stops == (audio == .secondary ? ["audio"] : []) + (video == .secondary ? ["video"] : []))
    #expect(app.events.last == .secondaryTransportLost && app.controls == [] && app.secondaryControls == [])
    #expect(app.summary == "1 full" && !app.isClosed && !app.isSecondaryClosed)
    // Lost again, it changes nothing.
    app.forget()
    app.run { $0.secondaryTransportLost(now: $1) }
    #expect(app.events == [])
    // What has ended can start on the primary transport, and later on the secondary one.
    if video == .secondary {
      app.startVideo(.standard, on: .primary)
      app.video(Stream.keyFrame, on: .primary)
      #expect(app.controls == ["video startServiceACK"] && app.violations == [])
      app.send(.endService, .video)
    } else {
      app.video(Stream.keyFrame, on: .primary)
      #expect(app.violations == [])
      app.send(.endService, .video)
    }
    app.forget()
    app.registerSecondary()
    app.startVideo(.standard, on: .secondary)
    #expect(app.secondaryControls == ["control registerSecondaryTransportACK", "video startServiceACK"])
  }

  /// Also of a start that waits for its answer, and of a service whose end the app has not acknowledged.
  @Test func lossInBetween() {
    var app = TestApp.withSecondary()
    app.change(.videoStartDelay(.seconds(1)))
    app.startVideo(.standard, on: .secondary)
    app.run { $0.secondaryTransportLost(now: $1) }
    app.wait(.seconds(2))
    #expect(app.controls == [] && app.secondaryControls == [])
    app.change(.videoStartDelay(.zero))
    app.startVideo(.standard, on: .primary)
    app.wait(.zero)
    #expect(app.controls == ["video startServiceACK"] && app.violations == [])

    var ending = TestApp.withSecondary()
    ending.startVideo(.standard, on: .secondary)
    ending.run { $0.endService(.video, now: $1) }
    ending.run { $0.secondaryTransportLost(now: $1) }
    ending.startVideo(.standard, on: .primary)
    #expect(ending.controls == ["video startServiceACK"] && ending.violations == [])
  }

  /// An app that had its video there starts again, before its next registration.
  @Test func earlyStartAfterALoss() {
    var app = TestApp.withSecondary()
    app.startVideo(.standard, on: .secondary)
    app.run { $0.secondaryTransportLost(now: $1) }
    app.request(.unregisterAppInterface)
    app.forget()
    app.startVideo(.standard)
    app.video(Stream.keyFrame)
    #expect(app.violations == [.startBeforeRegistration(.video), .dataBeforeAcknowledgement(.video)])
  }

  /// All inputs of both transports in any order: no trap, what is sent on a secondary transport is only sent while
  /// there is one, and no service outlives its transport.
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func anyOrder(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var app = TestApp.withSecondary(video: [.secondary, .primary])
    app.readsRPCs = false
    var isRegistered = true
    var videoTransport: TransportRole?
    var moves = 0
    for _ in 0..<1500 {
      let transport = generator.pick(TransportRole.allCases)
      switch Int.random(in: 0..<14, using: &generator) {
      case 0: app.registerSecondary()
      case 1: app.run { $0.secondaryTransportLost(now: $1) }
      case 2...4: app.startVideo(.standard, on: transport)
      case 5...6: app.send(.endService, .video, on: transport)
      case 7: app.video(Stream.keyFrame, on: transport)
      case 8: app.send(.startService, .audio, on: transport)
      case 9: app.send(.endServiceACK, .video, on: transport)
      case 10: app.wait(.milliseconds(Int.random(in: 0...2000, using: &generator)))
      case 11:
        app.change(generator.pick([.secondaryTransport(.off), .secondaryTransport(.served), .videoStartDelay(.zero)]))
      case 12: app.set(generator.pick([.full, .none, .background]), .streamable)
      default: app.run { $0.endService(.video, now: $1) }
      }
      let wasRegistered = isRegistered
      for event in app.events {
        switch event {
        case .secondaryTransportRegistered: isRegistered = true
        case .secondaryTransportLost: isRegistered = false
        case .videoStarted(_, on: let transport):
          if videoTransport == nil, transport == .secondary { moves += 1 }
          videoTransport = transport
        case .videoStopped: videoTransport = nil
        default: break
        }
      }
      #expect(wasRegistered || isRegistered || app.secondaryControls.isEmpty)
      #expect(isRegistered || videoTransport != .secondary)
      app.forget()
      // After a violation the session stays, without an app.
      let isOver = app.isClosed || app.session.summary == nil
      guard isOver || app.levels.isEmpty && !app.session.isStarted else {
        app.set(.full, .streamable)
        app.forget()
        continue
      }
      app = TestApp.withSecondary(video: [.secondary, .primary])
      app.readsRPCs = false
      (isRegistered, videoTransport) = (true, nil)
    }
    #expect(moves > 10)
  }
}

extension TestApp {
  /// The session's id and the app's level.
  fileprivate var summary: String {
    session.summary.map { "\($0.id) \($0.level?.rawValue.lowercased() ?? "")" } ?? "none"
  }
}
