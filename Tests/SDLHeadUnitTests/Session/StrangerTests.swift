import SDLHeadUnit
import SDLMessages
import SDLWire
import TestSupport
import Testing

/// A stranger who is at an app's secondary transport: what he can't take from the app.
@Suite struct StrangerTests {
  // MARK: The way there

  private func offered(activation: Duration? = .milliseconds(100)) -> TestApp {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.secondaryTransport = .served
    configuration.activation = activation
    var app = TestApp(configuration)
    app.startSession()
    app.serve(TransportEventUpdate(address: "127.0.0.1", port: 5678))
    app.register()
    return app
  }

  private func isAccepted(_ app: inout TestApp) -> Bool {
    app.forget()
    let registration = app.registerSecondary(isPeerKnown: false)
    guard case .refused(let bytes) = registration else { return registration == .accepted }
    // As for a session that does not exist.
    #expect(ServiceRejection(payload: Array(bytes.dropFirst(12))).reason?.hasSuffix("session ID not found") == true)
    #expect(app.events == [.secondaryTransportRefused(.notAwaited)])
    return false
  }

  /// Without an address of the app to compare with, a connection is its own once, soon after the offer.
  @Test func awaitedAfterAnOffer() {
    var app = offered(activation: nil)
    app.wait(.seconds(300))
    let answers = [isAccepted(&app), isAccepted(&app)]
    #expect(answers == [true, false])
    var late = offered(activation: nil)
    late.wait(.seconds(301))
    let answer1 = isAccepted(&late)
    #expect(!answer1)
    late.serve(TransportEventUpdate(address: "127.0.0.1", port: 5679))
    let answer2 = isAccepted(&late)
    #expect(answer2)
    // The app's own address may come at any time.
    late.run { $0.secondaryTransportLost(now: $1) }
    late.wait(.seconds(400))
    let answer3 = isAccepted(&late)
    #expect(!answer3)
    #expect(late.registerSecondary() == .accepted)
  }

  @Test func awaitedAfterALoss() {
    var app = offered()
    let answer4 = isAccepted(&app)
    #expect(answer4)
    app.wait(.seconds(400))
    app.run { $0.secondaryTransportLost(now: $1) }
    let answer5 = isAccepted(&app)
    #expect(answer5)
  }

  /// SDL's iOS library connects when the driver opens the app.
  @Test func awaitedWhenTheAppIsOpened() {
    var app = offered(activation: nil)
    app.wait(.seconds(400))
    let answer6 = isAccepted(&app)
    #expect(!answer6)
    app.run { $0.activateApp(now: $1) }
    let answer7 = isAccepted(&app)
    #expect(answer7)
  }

  /// An app that has been open for long has found its way, until it is opened again.
  @Test func awaitedForATimeAfterTheOpening() {
    var app = offered()
    app.wait(.seconds(301))
    let isAcceptedLate = isAccepted(&app)
    #expect(!isAcceptedLate)
    app.set(.none, .notStreamable)
    app.set(.limited, .streamable)
    let isAcceptedThen = isAccepted(&app)
    #expect(isAcceptedThen)
  }

  @Test func withdrawnOffer() {
    var app = offered()
    app.serve(nil)
    let answer8 = isAccepted(&app)
    #expect(!answer8)
  }

  // MARK: Starts

  /// The app's own start wins, and costs it nothing.
  @Test(arguments: [ServiceType.video, .audio], [false, true])
  func appTakesItsServiceBack(service: ServiceType, isPending: Bool) {
    var app = TestApp.withSecondary { if isPending { $0.behaviour.videoStartDelay = .seconds(1) } }
    let payload = service == .video ? VideoServiceParameters.standard.bytes(version: 5) : []
    app.send(.startService, service, on: .secondary, payload: payload)
    app.send(.startService, service, payload: payload)
    app.wait(.seconds(2))
    #expect(app.controls == ["\(service) startServiceACK"])
    let isRefused = isPending && service == .video
    #expect(
      app.secondaryControls
        == (isRefused
          ? ["\(service) startServiceNAK"] : ["\(service) startServiceACK", "\(service) endService"]))
    #expect(app.session.summary?.level == .full && app.levels == [])
    app.forget()
    let data: [UInt8] = service == .video ? Stream.keyFrame : [1, 2, 3, 4]
    app.send(data: data, service, on: .secondary)
    app.send(.endServiceACK, service, on: .secondary)
    app.send(.endService, service, on: .secondary)
    #expect(!app.events.contains { $0 == .videoData(data) || $0 == .audioData(data) })
    app.send(data: data, service)
    #expect(app.events.contains { $0 == .videoData(data) || $0 == .audioData(data) })
  }

  /// A head unit's own end that the stranger does not acknowledge does not keep the app from its service.
  @Test func endThatIsNotAcknowledged() {
    var app = TestApp.withSecondary()
    app.startVideo(.standard, on: .secondary)
    app.run { $0.endService(.video, now: $1) }
    app.forget()
    app.startVideo(.standard)
    #expect(app.controls == ["video startServiceACK"] && app.levels == [])
  }

  /// Nor does he acknowledge in the app's name.
  @Test func acknowledgementOfAnotherTransport() {
    var app = TestApp.withSecondary()
    app.startVideo(.standard)
    app.run { $0.endService(.video, now: $1) }
    app.send(.endServiceACK, .video, on: .secondary)
    app.wait(.seconds(2))
    #expect(app.violations.contains { if case .endServiceNotAcknowledged = $0 { true } else { false } })
  }

  /// SDL Core keeps a start that came too early, and refuses the next one.
  @Test(arguments: [ServiceType.video, .audio]) func startBeforeTheRegistration(service: ServiceType) {
    var app = TestApp()
    app.change(.secondaryTransport(.served))
    app.serve(TransportEventUpdate(address: "127.0.0.1", port: 5678))
    app.startSession()
    app.registerSecondary()
    app.send(.startService, service, on: .secondary)
    app.register()
    app.wait(.milliseconds(100))
    app.forget()
    app.send(.startService, service)
    #expect(app.controls == ["\(service) startServiceACK"] && app.levels == [])
  }

  /// The state of the app decides, as for its own starts, without costing it anything.
  @Test func appThatMayNotStream() {
    var app = TestApp.withSecondary()
    app.set(.background, .notStreamable)
    app.forget()
    app.startVideo(.standard, on: .secondary)
    #expect(app.secondaryControls == ["video startServiceNAK"] && app.levels == [])
    #expect(app.session.summary?.level == .background && app.session.summary?.isStreaming == false)
  }

  // MARK: TLS

  private func secured(_ security: HeadUnitSecurity, _ makeChannel: @escaping SecureChannelFactory) -> TestApp {
    var app = TestApp.secured(security, makeSecureChannel: makeChannel) {
      $0.behaviour.secondaryTransport = .served
      $0.behaviour.dropsToNoneAfterRefusal = true
    }
    app.serve(TransportEventUpdate(address: "127.0.0.1", port: 5678))
    app.registerSecondary()
    app.forget()
    return app
  }

  private func start(_ service: ServiceType, isEncrypted: Bool, _ app: inout TestApp) {
    var frame = Frame.control(
      .startService, service: service, version: 5, sessionID: 1,
      payload: service == .video ? VideoServiceParameters.standard.bytes(version: 5) : [])
    frame.header.isEncrypted = isEncrypted
    app.send(frame, on: .secondary)
  }

  /// Where video must be encrypted, nothing in clear counts.
  @Test func clearStartWhereItMustBeEncrypted() {
    var app = secured(.require) { TestChannel() }
    start(.video, isEncrypted: false, &app)
    #expect(app.secondaryControls == ["video startServiceNAK"] && app.controls == [])
    #expect(app.levels == [] && app.session.summary?.isStreaming == false)
  }

  /// A handshake that only the stranger wants does not keep the app from its own.
  @Test(arguments: [HeadUnitSecurity.accept, .require], [ServiceType.video, .rpc, .audio])
  func ownHandshakeBeginsAnew(security: HeadUnitSecurity, service: ServiceType) {
    var app = secured(security) { TestChannel() }
    start(.video, isEncrypted: true, &app)
    let first = app.headers.count
    app.startEncrypted(service)
    #expect(app.headers.count > first)
    app.shakeHands()
    #expect(app.controls.contains("\(service) startServiceACK") && app.levels == [])
    #expect(app.headers.last?.isEncrypted == true)
    #expect(!app.isClosed && app.session.summary?.level == .full)
  }

  /// He has few handshakes; most are the app's.
  @Test func handshakesOnTheSecondary() {
    var app = secured(.require) { TestChannel() }
    for _ in 0..<20 {
      start(.video, isEncrypted: true, &app)
      app.shakeHands([1])
    }
    #expect(app.session.summary?.level == .full)
    let failures = app.events.compactMap { if case .handshakeFailed(let reason) = $0 { reason } else { nil } }
    #expect(failures.count { $0 == "no hello" } == 3 && failures.count { $0 == "too many handshakes" } == 17)
    app.forget()
    app.startEncrypted()
    app.shakeHands()
    #expect(app.controls == ["video startServiceACK"])
  }

  /// Bytes that no record of the app's are end the channel. The app starts its services again, and stays registered.
  @Test func channelThatAStrangerBreaks() {
    var app = secured(.require) { TestChannel() }
    app.startEncrypted(.audio)
    app.shakeHands()
    start(.video, isEncrypted: true, &app)
    #expect(app.secondaryControls == ["video startServiceACK"])
    app.forget()
    app.send(TestApp.videoFrame([1, 2, 3], isEncrypted: true), on: .secondary)
    #expect(app.isSecondaryClosed && !app.isClosed && app.session.summary?.level == .full)
    #expect(app.controls == ["audio endService"] && app.levels == [])
    app.send(.endServiceACK, .audio)
    app.forget()
    app.startEncrypted(.audio)
    app.shakeHands()
    #expect(app.controls == ["audio startServiceACK"] && app.headers.last?.isEncrypted == true)
  }

  /// What was in clear goes on.
  @Test func clearServiceBesideAChannelThatAStrangerBreaks() {
    var app = secured(.accept) { TestChannel() }
    app.send(.startService, .audio)
    start(.video, isEncrypted: true, &app)
    app.shakeHands()
    app.forget()
    app.send(TestApp.videoFrame([1, 2, 3], isEncrypted: true), on: .secondary)
    app.send(data: [1, 2, 3, 4], .audio)
    #expect(app.isSecondaryClosed && app.controls == [] && app.events.last == .audioData([1, 2, 3, 4]))
  }

  /// RPCs that were encrypted can't go on in clear.
  @Test func protectedRPCsOfAChannelThatAStrangerBreaks() {
    var app = secured(.accept) { TestChannel() }
    app.startEncrypted(.rpc)
    app.shakeHands()
    start(.video, isEncrypted: true, &app)
    #expect(app.secondaryControls == ["video startServiceACK"])
    app.forget()
    app.send(TestApp.videoFrame([1, 2, 3], isEncrypted: true), on: .secondary)
    #expect(app.controls == ["rpc endService"] && app.isClosed)
    #expect(app.events.contains(.appUnregistered(reason: .headUnit(.protocolViolation))))
  }

  /// A handshake that is refused because of other apps' costs this one nothing but the start.
  @Test(arguments: [ServiceType.video, .audio, .rpc]) func handshakesOfOtherApps(service: ServiceType) {
    var app = secured(.require) { () throws(SecureChannelFailure) in
      throw SecureChannelFailure(.handshakeFailed, "too many handshakes of all apps")
    }
    app.startEncrypted(service)
    #expect(app.controls == ["\(service) startServiceNAK"] && app.levels == [])
    #expect(!app.isClosed && app.session.summary?.level == .full)
  }
}
