import SDLApp
import TestSupport
import Testing

/// An ``AppSession`` whose head unit is the test, frame by frame, with a clock that only the test advances.
final class AppDriver {
  static let sessionID: UInt8 = 1
  static let hashID: Int32 = 0x10001
  static let videoRequest = VideoStartRequest(size: VideoSize(800, 480))

  private(set) var session: AppSession
  private(set) var now = Duration.zero
  private(set) var failure: AppSessionFailure?
  private(set) var headUnit: HeadUnitInfo?
  private(set) var capabilities: [VideoStreamingCapability?] = []
  private(set) var diagnostics: [String] = []
  /// Why video or sound goes in clear.
  private(set) var clearReasons: [String] = []
  /// Why video or sound did not start.
  private(set) var startFailures: [String] = []
  /// What the application got of RPCs.
  private(set) var applicationRPCs: [RPCMessage] = []
  /// What the app sent last.
  private(set) var lastRPC: RPCMessage?
  private(set) var isClosed = false
  /// Frames of the app since the last ``take()``.
  private(set) var frames: [Frame] = []
  /// The same, on the secondary transport.
  private(set) var secondaryFrames: [Frame] = []
  /// The number of the last attempt to open that.
  private(set) var secondaryAttempt: UInt32?
  /// Version of the frames that the head unit sends.
  var version: UInt8 = 5
  /// The head unit's end of TLS, if it encrypts its RPCs.
  var protection: FakeChannel?

  private var lines: [String] = []
  private var status = AppSession.Status()
  private var frameDecoder = FrameDecoder()
  private var reader = WireReader()
  private var secondaryDecoder = FrameDecoder()
  private var secondaryReader = WireReader()
  private var headUnitReader = WireReader()
  private var invariants = AppInvariants()
  private var correlationIDs: [FunctionID: Int32] = [:]
  private var lastMessageID: UInt32 = 0

  static var configuration: AppSession.Configuration {
    var configuration = AppSession.Configuration(
      appName: "Test", appID: "test-1", appType: .navigation, language: "EN-US")
    configuration.legacyStartDelay = .zero
    return configuration
  }

  init(
    _ configuration: AppSession.Configuration = AppDriver.configuration,
    makeSecureChannel: SecureChannelFactory? = nil
  ) {
    invariants.isMedia = configuration.isMediaApplication
    session = AppSession(configuration: configuration, makeSecureChannel: makeSecureChannel)
  }

  /// The actions of the session since the last call: "→" for frames, "⇒" for those of the secondary transport and what
  /// is done with that, "•" for events, "■" for the end.
  func take() -> [String] {
    defer {
      lines = []
      frames = []
      secondaryFrames = []
    }
    return lines
  }

  private func perform(_ actions: [AppSession.Action]) {
    let former = status
    status = session.status
    for action in actions {
      switch action {
      case .send(let bytes): noteSent(bytes)
      case .sendProtected(let message): noteSent(message.framesInClear)
      case .sendOnSecondary(let bytes): noteSentOnSecondary(bytes)
      case .openSecondary(let address, let attempt):
        invariants.opened()
        lines.append("⇒ open \(address)")
        secondaryAttempt = attempt
      case .closeSecondary:
        invariants.closedSecondary()
        lines.append("⇒ close")
      case .note: break
      case .report(let event):
        invariants.reported(event)
        lines.append("• " + WireText.text(event))
        note(event)
      case .close:
        invariants.closed()
        isClosed = true
        lines.append("■")
      }
    }
    noteChanges(since: former)
    invariants.check(session, now: now)
  }

  /// What the status alone tells.
  private func noteChanges(since former: AppSession.Status) {
    func note(_ service: String, _ former: StreamState, _ present: StreamState) {
      guard former != present else { return }
      if present == .suspended { lines.append("• \(service)suspended") }
      if former == .suspended, present == .streaming { lines.append("• \(service)resumed") }
    }
    func note(_ service: String, _ former: TransportWait?, _ present: TransportWait?) {
      if former != present { lines.append("• \(service) waits: \(present?.rawValue ?? "no more")") }
    }
    note("", former.video.state, status.video.state)
    note("audio ", former.audio.state, status.audio.state)
    note("video", former.video.wait, status.video.wait)
    note("audio", former.audio.wait, status.audio.wait)
  }

  private func noteSent(_ bytes: [UInt8]) {
    frameDecoder.append(bytes)
    while case .frame(let frame)? = frameDecoder.next() { frames.append(frame) }
    for item in reader.read(bytes) {
      invariants.sent(item)
      if case .rpc(let message, _) = item {
        correlationIDs[message.function] = message.correlationID
        lastRPC = message
      }
      lines.append("→ " + item.text)
    }
  }

  private func noteSentOnSecondary(_ bytes: [UInt8]) {
    secondaryDecoder.append(bytes)
    while case .frame(let frame)? = secondaryDecoder.next() { secondaryFrames.append(frame) }
    for item in secondaryReader.read(bytes) {
      invariants.sent(item, on: .secondary)
      lines.append("⇒ " + item.text)
    }
  }

  private func note(_ event: AppSession.Event) {
    switch event {
    case .failed(let failure): self.failure = failure
    case .mediaInClear(_, let reason): clearReasons.append(reason)
    case .videoStartFailed(let failure, _, _): startFailures.append("\(failure)")
    case .audioStartFailed(let failure, _): startFailures.append("\(failure)")
    case .registered(let headUnit): self.headUnit = headUnit
    case .videoCapability(let capability, _): capabilities.append(capability)
    case .diagnostic(let text): diagnostics.append(text)
    case .applicationRPC(let message): applicationRPCs.append(message)
    default: break
    }
  }
}

/// The app and the clock.
extension AppDriver {
  func connect() {
    perform(session.transportConnected(now: now))
  }

  func setVideoRequest(_ request: VideoStartRequest?) {
    invariants.requested(request)
    perform(session.setVideoRequest(request, now: now))
  }

  func setAudioRequest(_ request: AudioStartRequest?) {
    invariants.requested(request)
    perform(session.setAudioRequest(request, now: now))
  }

  func send(_ request: ApplicationRequest) {
    perform(session.send(request, now: now))
  }

  func setNotifications(_ functions: Set<FunctionID>) {
    perform(session.setNotifications(functions, now: now))
  }

  func setSupportedDisplays(_ displays: [VideoDisplay]) {
    perform(session.setSupportedDisplays(displays, now: now))
  }

  func setAppState(_ appState: AppState) {
    invariants.entered(appState)
    perform(session.setAppState(appState, now: now))
  }

  func setHapticRectangles(_ list: HapticRectangleList?) {
    perform(session.setHapticRectangles(list, now: now))
  }

  func setButtonsWanted(_ isWanted: Bool) {
    perform(session.setButtonsWanted(isWanted, now: now))
  }

  func finish() {
    invariants.finishing()
    perform(session.finish(now: now))
  }

  func lose() {
    perform(session.transportLost(now: now))
  }

  /// A part of a frame has come.
  func receivePart() { session.bytesReceived(now: now) }

  /// Lets time pass, stopping at every deadline on the way.
  func wait(_ duration: Duration) {
    let target = now + duration
    while let deadline = session.nextDeadline, deadline <= target {
      now = max(now, deadline)
      perform(session.advance(to: now))
      guard session.nextDeadline.map({ $0 > now }) ?? true else {
        Issue.record("a deadline that has passed stays: the connection thread would spin")
        return
      }
    }
    now = target
  }

  func wait(milliseconds: Int) {
    wait(.milliseconds(milliseconds))
  }
}

/// The head unit.
extension AppDriver {
  func receive(_ frame: Frame) {
    if frame.header.sessionID == Self.sessionID, Self.counts(frame) {
      for item in headUnitReader.read(frame.bytes) { invariants.received(item) }
    }
    perform(session.receive(.frame(frame), now: now))
  }

  /// Of encrypted frames the session only takes acknowledgements, whose E bit says what is encrypted.
  private static func counts(_ frame: Frame) -> Bool {
    !frame.header.isEncrypted || frame.header.controlFrame == .startServiceACK
  }

  func receiveOnSecondary(_ frame: Frame) {
    if frame.header.sessionID == Self.sessionID, Self.counts(frame) {
      for item in headUnitReader.read(frame.bytes) { invariants.received(item, on: .secondary) }
    }
    perform(session.receiveOnSecondary(.frame(frame), now: now))
  }

  func receiveGarbageOnSecondary(_ bytes: [UInt8]) {
    perform(session.receiveOnSecondary(.garbage(reason: .version(0), firstBytes: bytes), now: now))
  }

  /// The connection of an attempt stands; nil for the last one.
  func connectSecondary(attempt: UInt32? = nil) {
    perform(session.secondaryConnected(attempt: attempt ?? secondaryAttempt ?? 0, now: now))
  }

  func loseSecondary(attempt: UInt32? = nil, reason: String = "cut") {
    let attempt = attempt ?? secondaryAttempt ?? 0
    if attempt == secondaryAttempt { invariants.closedSecondary() }
    perform(session.secondaryClosed(attempt: attempt, reason: reason, now: now))
  }

  func updateTransport(_ address: String?, _ port: Int32?) {
    control(.transportEventUpdate, .control, payload: TransportEventUpdate(address: address, port: port).bytes)
  }

  func receiveGarbage(_ bytes: [UInt8]) {
    perform(session.receive(.garbage(reason: .version(0), firstBytes: bytes), now: now))
  }

  func control(
    _ control: ControlFrame, _ service: ServiceType, payload: [UInt8] = [], messageID: UInt32 = 0,
    on role: TransportRole = .primary
  ) {
    let frame = Frame.control(
      control, service: service, version: version, sessionID: Self.sessionID, messageID: messageID, payload: payload)
    role == .primary ? receive(frame) : receiveOnSecondary(frame)
  }

  func acknowledgeSession(_ change: (inout RPCServiceAcknowledgement) -> Void = { _ in }) {
    var answer = RPCServiceAcknowledgement()
    answer.protocolVersion = ProtocolVersion(5, 4, 0)
    answer.hashID = Self.hashID
    answer.mtu = 131_072
    change(&answer)
    control(.startServiceACK, .rpc, payload: answer.bytes(version: version))
  }

  func acknowledgeVideo(_ parameters: VideoServiceParameters = VideoServiceParameters()) {
    control(.startServiceACK, .video, payload: parameters.bytes(version: version))
  }

  func acknowledgeAudio(mtu: Int64? = nil) {
    control(.startServiceACK, .audio, payload: AudioServiceAcknowledgement(mtu: mtu).bytes(version: version))
  }

  func refuseVideo(_ rejected: [String] = [], reason: String? = nil) {
    let rejection = ServiceRejection(rejectedParameters: rejected, reason: reason)
    control(.startServiceNAK, .video, payload: rejection.bytes(version: version))
  }

  func send(_ message: RPCMessage, maximumPayload: Int = 1000) {
    lastMessageID += 1
    let payload = message.payload
    let fragmentation = Fragmentation(
      service: message.service, version: version, sessionID: Self.sessionID, messageID: lastMessageID,
      payloadSize: payload.count, maximumPayload: maximumPayload)
    var decoder = FrameDecoder()
    decoder.append(fragmentation.frames(of: payload))
    while case .frame(var frame)? = decoder.next() {
      if let protection, frame.header.frameType != .first, let payload = try? protection.encrypt(frame.payload) {
        frame.payload = payload
        frame.header.dataSize = UInt32(payload.count)
        frame.header.isEncrypted = true
      }
      receive(frame)
    }
  }

  /// Answers the last request of `function`.
  func respond(_ function: FunctionID, _ parameters: JSONObject, as answer: FunctionID? = nil) {
    guard let id = correlationIDs[function] else {
      Issue.record("\(function) was not requested")
      return
    }
    send(RPCMessage(type: .response, function: answer ?? function, correlationID: id, parameters: parameters))
  }

  /// Whether a request of `function` was sent, which can be answered any number of times.
  func hasAsked(_ function: FunctionID) -> Bool { correlationIDs[function] != nil }

  func notify(_ function: FunctionID, _ parameters: JSONObject, bulk: [UInt8] = []) {
    send(
      RPCMessage(type: .notification, function: function, correlationID: -1, parameters: parameters, bulk: bulk))
  }

  func status(
    _ level: HMILevel, _ state: VideoStreamingState? = nil, window: Int? = nil, audio: AudioStreamingState = .notAudible
  ) {
    notify(
      .onHMIStatus,
      [
        "hmiLevel": .string(level.rawValue), "audioStreamingState": .string(audio.rawValue),
        "systemContext": .string("MAIN"),
      ].merging(state.map { ["videoStreamingState": .string($0.rawValue)] } ?? [:]) { first, _ in first }
        .merging(window.map { ["windowID": .integer($0)] } ?? [:]) { first, _ in first })
  }

  func acceptRegistration(_ change: (inout RegisterAppInterfaceResponse) -> Void = { _ in }) {
    var response = RegisterAppInterfaceResponse(result: RPCResult(success: true, resultCode: .success))
    response.rpcVersion = RPCVersion(8, 0, 0)
    response.videoStreaming = true
    response.screenResolution = VideoSize(640, 360)
    change(&response)
    respond(.registerAppInterface, response.json)
  }

  func answerCapability(_ capability: VideoStreamingCapability = AppDriver.capability) {
    let result = RPCResult(success: true, resultCode: .success).json
    let answer = SystemCapability(type: .videoStreaming, videoStreaming: capability).json
    respond(.getSystemCapability, result.merging(answer) { first, _ in first })
  }

  /// The first finger comes down, in pixels of the head unit's display.
  func touch(_ x: Int, _ y: Int) {
    notify(.onTouchEvent, OnTouchEvent(kind: .begin, fingers: [.init(id: 0, samples: [.init(x: x, y: y)])]).json)
  }

  func updateCapability(_ update: VideoStreamingCapability) {
    notify(.onSystemCapabilityUpdated, SystemCapability(type: .videoStreaming, videoStreaming: update).json)
  }

  static var capability: VideoStreamingCapability {
    var capability = VideoStreamingCapability()
    capability.preferredResolution = VideoSize(800, 480)
    capability.maxBitrate = 10_000
    capability.scale = 1
    capability.preferredFPS = 30
    return capability
  }
}

/// Drivers at common starting points.
extension AppDriver {
  /// The session has begun, and the app is not registered yet.
  static func registering(_ configuration: AppSession.Configuration = AppDriver.configuration) -> AppDriver {
    let driver = AppDriver(configuration)
    driver.connect()
    driver.acknowledgeSession()
    _ = driver.take()
    return driver
  }

  /// Registered in NONE with a known capability, with `request`.
  static func ready(
    request: VideoStartRequest? = AppDriver.videoRequest,
    _ configuration: AppSession.Configuration = AppDriver.configuration
  ) -> AppDriver {
    let driver = registering(configuration)
    driver.acceptRegistration()
    driver.answerCapability()
    driver.status(.none, .notStreamable)
    driver.setVideoRequest(request)
    _ = driver.take()
    return driver
  }

  /// In FULL; StartService of video is not answered yet.
  static func starting() -> AppDriver {
    let driver = ready()
    driver.status(.full, .streamable)
    _ = driver.take()
    return driver
  }

  /// Streaming in FULL.
  static func streaming(_ configuration: AppSession.Configuration = AppDriver.configuration) -> AppDriver {
    let driver = ready(request: AppDriver.videoRequest, configuration)
    driver.status(.full, .streamable)
    driver.acknowledgeVideo()
    _ = driver.take()
    return driver
  }

  var isStreaming: Bool { session.status.video.grant != nil }
}
