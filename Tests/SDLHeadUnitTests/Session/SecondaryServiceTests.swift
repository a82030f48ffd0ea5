import SDLHeadUnit
import SDLMessages
import SDLWire
import TestSupport
import Testing

/// Services on two transports.
@Suite struct SecondaryServiceTests {
  private func controls(_ app: TestApp, _ transport: TransportRole) -> [String] {
    transport == .primary ? app.controls : app.secondaryControls
  }

  private static let lists: [[TransportRole]] = [
    [.primary], [.secondary], [.primary, .secondary], [.secondary, .primary], [],
  ]

  /// Each list, each transport, each service: the answer comes where the request came.
  @Test(arguments: lists, [ServiceType.audio, .video])
  func starts(list: [TransportRole], service: ServiceType) {
    for transport in TransportRole.allCases {
      var app = TestApp.withSecondary(video: list, audio: list)
      app.send(
        .startService, service, on: transport,
        payload: service == .video ? VideoServiceParameters.standard.bytes(version: 5) : [])
      let isAllowed = list.contains(transport)
      #expect(controls(app, transport) == ["\(service) startService\(isAllowed ? "ACK" : "NAK")"])
      #expect(controls(app, transport == .primary ? .secondary : .primary) == [])
      // The HMI level stays.
      #expect(app.levels == [] && app.violations == [])
      let started = app.events.contains {
        switch $0 {
        case .videoStarted(_, on: transport), .audioStarted(_, on: transport): true
        default: false
        }
      }
      #expect(started == isAllowed)
      guard !isAllowed else { continue }
      let refusal = ServiceRejection(reason: "The service is not allowed on the \(transport) transport")
      #expect(app.events.last == (service == .video ? .videoRefused(refusal) : .audioRefused(refusal)))
    }
  }

  @Test func refusalsOfTheHeadUnitComeOnTheSameTransport() {
    var app = TestApp.withSecondary()
    app.session.answerNextVideoStart(.reject(["width"]))
    app.startVideo(.standard, on: .secondary)
    #expect(app.secondaryControls == ["video startServiceNAK"] && app.controls == [])
    app.set(.full, .streamable)
    app.change(.videoStartDelay(.seconds(1)))
    app.change(.dropsToNoneAfterRefusal(false))
    app.startVideo(.standard, on: .secondary)
    app.forget()
    // Another is refused on its own transport.
    app.startVideo(.standard, on: .secondary)
    #expect(app.secondaryControls == ["video startServiceNAK"] && app.violations == [.startWhileActive(.video)])
    app.wait(.seconds(1))
    #expect(app.secondaryControls == ["video startServiceNAK", "video startServiceACK"] && app.controls == [])
  }

  @Test(arguments: [ServiceType.audio, .video], TransportRole.allCases)
  func dataAndEnd(service: ServiceType, transport: TransportRole) {
    var app = TestApp.withSecondary()
    let other = transport == .primary ? TransportRole.secondary : .primary
    app.send(
      .startService, service, on: transport,
      payload: service == .video ? VideoServiceParameters.standard.bytes(version: 5) : [])
    app.forget()
    let data = service == .video ? Stream.keyFrame : [1, 2, 3, 4]
    app.send(data: data, service, on: transport)
    #expect(app.events.contains(service == .video ? .videoData(data) : .audioData(data)))
    #expect(app.violations == [])
    app.forget()
    // Elsewhere it is reported once, and not delivered.
    for _ in 0..<3 { app.send(data: data, service, on: other) }
    #expect(app.events == [.violation(.wrongTransport(service, expected: transport))])
    app.forget()
    app.send(.endService, service, on: other)
    #expect(app.events == [.violation(.wrongTransport(service, expected: transport))])
    #expect(controls(app, other) == ["\(service) endServiceNAK"])
    app.send(data: data, service, on: transport)
    #expect(app.events.contains(service == .video ? .videoData(data) : .audioData(data)))
    app.forget()
    app.send(.endService, service, on: transport)
    #expect(controls(app, transport) == ["\(service) endServiceACK"] && controls(app, other) == [])
    #expect(app.violations == [])
  }

  /// The head unit's own EndService goes where the service is.
  @Test(arguments: TransportRole.allCases) func endByHeadUnit(transport: TransportRole) {
    var app = TestApp.withSecondary()
    app.startVideo(.standard, on: transport)
    app.forget()
    app.run { $0.endService(.video, now: $1) }
    #expect(controls(app, transport) == ["video endService"])
    app.send(.endServiceACK, .video, on: transport)
    app.wait(.seconds(10))
    #expect(app.violations == [] && app.session.nextDeadline == nil)
  }

  @Test func moveOfARunningStream() {
    var app = TestApp.withSecondary(video: [.secondary, .primary])
    for (from, to) in [
      (TransportRole.primary, TransportRole.secondary), (.secondary, .primary), (.primary, .secondary),
    ] {
      if app.session.statistics.messages == 0 { app.startVideo(.standard, on: from) }
      app.video(Stream.keyFrame, on: from)
      app.forget()
      app.send(.endService, .video, on: from)
      app.startVideo(.standard, on: to)
      app.video(Stream.keyFrame, on: to)
      #expect(controls(app, from) == ["video endServiceACK"] && controls(app, to) == ["video startServiceACK"])
      #expect(app.violations == [] && app.levels == [])
      #expect(app.events.last == .videoData(Stream.keyFrame))
    }
    #expect(app.session.statistics.pictures == 6)
  }

  /// RPCs, and whatever else is not media, stay on the primary transport.
  @Test func othersOnTheSecondary() {
    var app = TestApp.withSecondary()
    app.send(
      data: RPCMessage(type: .request, function: .listFiles, correlationID: 9, parameters: [:]).payload, .rpc,
      on: .secondary)
    app.send(.startService, .hybrid, on: .secondary)
    app.send(data: [1, 2, 3], .control, on: .secondary)
    app.send(.endService, .rpc, on: .secondary, payload: EndServiceRequest(hashID: 1 << 16 | 1).bytes(version: 5))
    #expect(
      app.violations == [ServiceType.rpc, .hybrid, .control, .rpc].map { .wrongTransport($0, expected: .primary) })
    #expect(app.answers == [] && app.secondaryControls == [])
    app.send(.startService, .rpc, on: .secondary, version: 1, sessionID: 0)
    #expect(app.secondaryControls == ["rpc startServiceNAK"] && app.controls == [])
    app.forget()
    app.send(.heartbeat, .control, on: .secondary, messageID: 5)
    #expect(app.secondaryFrames.map(\.header.messageID) == [5] && app.secondaryControls == ["control heartbeatACK"])
    app.send(.endService, .video, on: .secondary, sessionID: 3)
    #expect(app.violations == [.sessionID(expected: 1, got: 3)] && app.secondaryControls == ["control heartbeatACK"])
    #expect(!app.isClosed)
  }

  @Test func serviceDataAcknowledgement() {
    var app = TestApp.withSecondary { $0.behaviour.serviceDataAcknowledgement = .always }
    app.startVideo(.standard, on: .secondary)
    app.video(Stream.keyFrame, on: .secondary)
    #expect(app.secondaryControls == ["video startServiceACK", "video serviceDataACK"] && app.controls == [])
  }
}
