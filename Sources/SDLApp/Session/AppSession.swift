@_exported import SDLMessages
@_exported import SDLWire

/// The app's side of one connection to a head unit: version negotiation, registration, HMI status, capabilities, and
/// the services of video and audio.
///
/// Sans-I/O: every input is a method that takes the time and returns actions. The caller owns the socket, calls
/// ``advance(to:)`` when ``nextDeadline`` has come, sends video only while ``Status/video`` has a
/// grant, and sound only while ``Status/audio`` has one and is not suspended.
/// Not copyable, because it is one machine; the connection reads its deadline in each turn.
package struct AppSession: Sendable, ~Copyable {
  /// How long to wait for OnAppInterfaceUnregistered, with its reason, after the head unit has ended the session.
  private static let reasonTimeout = Duration.milliseconds(500)

  private var context: SessionContext
  private var services: SessionServices
  private var heartbeat = Heartbeat()
  private var budget = InputBudget()
  /// Of its own, so that a flood there does not keep the primary one from being read.
  private var secondaryBudget = InputBudget()

  /// Creates a session before its connection.
  /// - Parameters:
  ///   - lastEpoch: the last one of the previous session, from which this one continues: frames for an earlier session
  ///     are then never sent in this one.
  ///   - makeSecureChannel: makes this end of TLS; nil refuses handshakes.
  package init(configuration: Configuration, lastEpoch: UInt32 = 0, makeSecureChannel: SecureChannelFactory? = nil) {
    context = SessionContext(configuration: configuration, lastEpoch: lastEpoch, makeSecureChannel: makeSecureChannel)
    services = SessionServices(configuration, canEncrypt: context.security.canEncrypt)
  }

  package var configuration: Configuration { context.configuration }

  /// The epoch of the last ``VideoGrant`` or ``AudioGrant``.
  package var epoch: UInt32 { context.messenger.epoch }

  /// A snapshot. Reports of touches leave it as it is.
  package var status: Status {
    var status = Status()
    if context.headUnit?.rpcVersion != nil { status.headUnit = context.headUnit }
    status.hmi = context.hmiStatus
    status.permissions = context.permissions
    if context.announced.isSettled {
      status.videoCapability = VideoCapability(
        capability: context.announced.capability, fallbackSize: context.announced.fallbackSize)
    }
    status.video = services.video.status
    status.audio = services.audio.status
    status.secondary = context.reportedSecondary
    status.encryption = secureChannel?.summary
    status.isRPCEncrypted = context.security.isRPCEncrypted
    status.roundTrip = heartbeat.roundTrip
    return status
  }

  /// How far the secondary transport has come.
  package var secondaryTransport: SecondaryTransportStatus { context.secondary.status }

  /// Whether a service on the secondary transport could go on over the primary one.
  package var canReplaceSecondary: Bool { services.canReplaceSecondary }

  /// The TLS of this session once its handshake is complete, with which to encrypt.
  package var secureChannel: (any SecureChannel)? { context.security.channel }

  /// Whether RegisterAppInterface waits for its answer, before which the transport must not be closed if that can be
  /// helped.
  package var isRegistrationPending: Bool { context.isRegistrationPending }

  /// When the head unit's bytes on a transport may be read again, because it has exceeded its budget; nil for now.
  package func inputPause(on role: TransportRole = .primary, now: Duration) -> Duration? {
    role == .primary ? budget.pause(now: now) : secondaryBudget.pause(now: now)
  }

  /// When ``advance(to:)`` has to be called next; nil when only the head unit or the app can go on.
  package var nextDeadline: Duration? {
    guard context.phase != .idle, context.phase != .over else { return nil }
    let now = context.now
    let own = (context.phase.deadline ?? heartbeat.nextDeadline).earlier(context.messenger.requests.nextDeadline)
    return own.earlier(services.nextDeadline(now: now)).earlier(context.security.nextDeadline(situation))
      .earlier(context.secondary.nextDeadline(isWanted: context.isSecondaryWanted, now: now))
  }

  private var situation: SessionSecurity.Situation { services.situation(now: context.now) }
}

/// What happens to the session, from either side, and with time.
extension AppSession {
  package mutating func transportConnected(now: Duration) -> [Action] {
    perform(at: now) { $0.context.startSession() }
  }

  /// Bytes have come from the head unit, perhaps only a part of a frame, which may take long over a slow link.
  package mutating func bytesReceived(now: Duration) { heartbeat.bytesReceived(now: now) }

  /// A frame, or garbage, from the head unit.
  package mutating func receive(_ item: FrameDecoder.Item, now: Duration) -> [Action] {
    perform(at: now) { session throws(AppSessionFailure) in
      session.budget.charge(item, now: now)
      switch item {
      case .frame(let frame): try session.receive(frame)
      case .garbage(_, let firstBytes):
        guard session.budget.garbageReceived(now: now) else { throw .notSDL(firstBytes: firstBytes) }
        session.context.messenger.diagnose("skipped bytes that are not a frame: \(firstBytes)")
      }
    }
  }

  package mutating func secondaryConnected(attempt: UInt32, now: Duration) -> [Action] {
    perform(at: now) { $0.context.changeSecondary { $0.connected(attempt: attempt, now: $1) } }
  }

  /// The connection of an attempt could not be made, or is gone.
  /// - Parameter reason: For users, in a form that can follow a colon.
  package mutating func secondaryClosed(attempt: UInt32, reason: String, now: Duration) -> [Action] {
    perform(at: now) { $0.context.changeSecondary { $0.closed(attempt: attempt, reason: reason, now: $1) } }
  }

  /// A frame, or garbage, from the secondary transport.
  package mutating func receiveOnSecondary(_ item: FrameDecoder.Item, now: Duration) -> [Action] {
    perform(at: now) { session throws(AppSessionFailure) in
      guard session.context.secondary.isConnected else { return }
      session.secondaryBudget.charge(item, now: now)
      switch item {
      case .frame(let frame): try session.receiveOnSecondary(frame)
      case .garbage: session.context.abandonSecondary("it sent bytes that are not a frame")
      }
    }
  }

  package mutating func advance(to now: Duration) -> [Action] {
    perform(at: now) { session throws(AppSessionFailure) in try session.handleDeadlines() }
  }

  package mutating func transportLost(now: Duration) -> [Action] {
    perform(at: now) { session throws(AppSessionFailure) in
      // Head units close the connection after their EndService.
      if case .endedByHeadUnit = session.context.phase { throw .endedByHeadUnit }
      throw .connectionLost
    }
  }

  /// Requests a stream from now on, or none if `request` is nil. Repeating a request that failed does not shorten the
  /// pause before the next attempt.
  package mutating func setVideoRequest(_ request: VideoStartRequest?, now: Duration) -> [Action] {
    perform(at: now) { $0.services.video.request = request }
  }

  /// Requests sound from now on, or none if `request` is nil.
  package mutating func setAudioRequest(_ request: AudioStartRequest?, now: Duration) -> [Action] {
    perform(at: now) { $0.services.audio.request = request }
  }

  /// Sets which of the head unit's displays the app supports from now on. They are announced once, before the first
  /// start of video with any (OnAppCapabilityUpdated).
  package mutating func setSupportedDisplays(_ displays: [VideoDisplay], now: Duration) -> [Action] {
    perform(at: now) { $0.context.announced.supportedDisplays = displays }
  }

  /// Sets whether the app is in the foreground of its own device.
  package mutating func setAppState(_ appState: AppState, now: Duration) -> [Action] {
    perform(at: now) { $0.services.video.appState = appState }
  }

  /// Sets the touchable rectangles in the pictures from now on; nil leaves the head unit as it is, an empty list
  /// clears.
  package mutating func setHapticRectangles(_ list: HapticRectangleList?, now: Duration) -> [Action] {
    guard services.video.hapticRectangles != list else { return [] }
    return perform(at: now) { $0.services.video.hapticRectangles = list }
  }

  /// Sets whether the app subscribes to the car's buttons from now on.
  package mutating func setButtonsWanted(_ isWanted: Bool, now: Duration) -> [Action] {
    perform(at: now) { $0.services.buttons.setWanted(isWanted, &$0.context) }
  }

  /// Sends an RPC request of the application, after earlier ones, as soon as the head unit's policy and rate limit
  /// allow it. After the end, it is answered all the same.
  package mutating func send(_ request: ApplicationRequest, now: Duration) -> [Action] {
    guard context.phase != .over else { return [.report(.applicationRPC(request.aborted))] }
    return perform(at: now) { $0.services.application.add(request, &$0.context) }
  }

  /// Sets which notifications the application gets from now on, in addition to the session's own use of them.
  package mutating func setNotifications(_ functions: Set<FunctionID>, now: Duration) -> [Action] {
    perform(at: now) { $0.services.application.setNotifications(functions) }
  }

  /// Ends video, audio, registration and session, as far as they exist, each after the answer to the one before, within
  /// `finishTimeout`. While ``isRegistrationPending``, that begins only with its answer. No failure is reported any
  /// more.
  package mutating func finish(now: Duration) -> [Action] { perform(at: now) { $0.beginFinish() } }

  private mutating func perform(
    at now: Duration, _ body: (inout AppSession) throws(AppSessionFailure) -> Void
  ) -> [Action] {
    guard context.phase != .over else { return [] }
    context.now = now
    do {
      try body(&self)
      try reconcile()
    } catch {
      fail(error)
    }
    return context.messenger.takeActions()
  }

  /// Acts on the difference between the wanted and the present state.
  private mutating func reconcile() throws(AppSessionFailure) {
    guard context.phase != .over else { return }
    if context.isRegistered { try context.security.protectRPCs(situation, &context.messenger) }
    if context.takeCapabilityChange() {
      services.video.capabilityChanged(&context)
      let announced = context.announced
      context.messenger.report(.videoCapability(announced.capability, fallbackSize: announced.fallbackSize))
    }
    try noteLossOfSecondary()
    let isWanted = context.isSecondaryWanted
    context.changeSecondary { $0.reconcile(isWanted: isWanted, now: $1) }
    try noteLossOfSecondary()
    try services.reconcile(&context)
    unregisterIfServicesHaveEnded()
    services.sendRequests(&context)
    context.reportSecondary()
    services.updateWaits(context)
  }

  private mutating func handleDeadlines() throws(AppSessionFailure) {
    if try context.isUnansweredEnd() { return end() }
    for function in context.messenger.requests.takeExpired(now: context.now) { try requestExpired(function) }
    if context.phase == .registering || context.isRegistered {
      switch heartbeat.advance(now: context.now) {
      case .none: break
      case .send: context.messenger.sendHeartbeat()
      case .lost: throw .heartbeatLost
      }
    }
    try perform(try context.security.advance(situation, &context.messenger))
    services.advance(&context)
  }
}

/// Beginning and end.
extension AppSession {
  private mutating func sessionAcknowledged(_ frame: Frame) throws(AppSessionFailure) {
    let acknowledgement = RPCServiceAcknowledgement(payload: frame.payload, version: frame.header.version)
    heartbeat.start(interval: configuration.heartbeatInterval, now: context.now)
    try context.register(acknowledgement, frame.header)
    services.offered(acknowledgement)
  }

  private mutating func endedByHeadUnit() {
    services.stop(.sessionEnded, &context)
    context.messenger.requests.removeAll()
    switch context.phase {
    case .finishing: end()
    case .endedByHeadUnit: break
    default: context.phase = .endedByHeadUnit(deadline: context.now + Self.reasonTimeout)
    }
  }

  /// Begins to end the session step by step; each further step follows an answer.
  private mutating func beginFinish() {
    switch context.phase {
    case .registered:
      services.stop(.app, &context)
      context.phase = .finishing(.endingServices, deadline: context.now + configuration.finishTimeout / 2)
    case .registering:
      // The deadline of the pending request.
      context.phase = .finishing(
        .awaitingRegistration, deadline: context.messenger.requests.nextDeadline ?? context.now)
    case .idle, .startingSession, .endedByHeadUnit: end()
    case .finishing, .over: break
    }
  }

  /// Continues to end the session.
  private mutating func unregisterIfServicesHaveEnded() {
    guard case .finishing(.endingServices, let deadline) = context.phase else { return }
    if deadline <= context.now || !services.usesSecondary { context.unregister() }
  }

  /// Ends the session with an error for the app, unless the app is ending it anyway.
  private mutating func fail(_ failure: AppSessionFailure) {
    guard context.phase != .over else { return }
    if case .finishing = context.phase { return end() }
    services.stop(failure == .connectionLost || failure == .heartbeatLost ? .connectionLost : .sessionEnded, &context)
    context.messenger.report(.failed(failure))
    end()
  }

  private mutating func end() {
    guard context.phase != .over else { return }
    services.stop(.sessionEnded, &context)
    context.changeSecondary { secondary, _ in secondary.finish() }
    context.messenger.requests.removeAll()
    context.phase = .over
    context.messenger.append(.close)
  }
}

/// Frames.
extension AppSession {
  private mutating func receive(_ frame: Frame) throws(AppSessionFailure) {
    heartbeat.bytesReceived(now: context.now)
    if case .startingSession = context.phase { return try receiveSessionAnswer(frame) }
    guard frame.header.sessionID == context.messenger.sessionID else {
      return context.messenger.diagnose("ignored a frame of session \(frame.header.sessionID)")
    }
    guard let frame = try decrypted(frame, on: .primary) else { return }
    if let control = frame.header.controlFrame { return try receive(control, frame) }
    guard let message = context.messenger.message(completedBy: frame, now: context.now) else { return }
    switch message.header.service {
    case .rpc, .hybrid:
      guard let rpc = context.messenger.rpc(in: message) else { return }
      try receive(rpc, isEncrypted: message.header.isEncrypted)
    case .control: try perform(try context.security.receive(message.payload, situation, &context.messenger))
    case .audio, .video: break
    }
  }

  private mutating func receiveSessionAnswer(_ frame: Frame) throws(AppSessionFailure) {
    context.messenger.noteReceived(frame, on: .primary)
    switch (frame.header.controlFrame, frame.header.service) {
    // Head units send it right after the acknowledgement, which control frames can overtake.
    case (.transportEventUpdate, _): receiveTransportUpdate(frame)
    case (.startServiceACK, .rpc): try sessionAcknowledged(frame)
    case (.startServiceNAK, .rpc): throw .sessionRefused(reason: ServiceRejection(payload: frame.payload).reason)
    default: break
    }
  }

  private mutating func receive(_ control: ControlFrame, _ frame: Frame) throws(AppSessionFailure) {
    let header = frame.header
    switch (control, header.service) {
    case (.heartbeat, _): context.messenger.send(.heartbeatACK, .control, messageID: header.messageID)
    case (.heartbeatACK, _): heartbeat.answered(now: context.now)
    case (.transportEventUpdate, _): receiveTransportUpdate(frame)
    case (.serviceDataACK, _): break
    case (_, .audio), (_, .video): try services.receive(control, frame, on: .primary, &context)
    case (.endService, .rpc):
      context.messenger.send(.endServiceACK, .rpc)
      endedByHeadUnit()
    case (.endService, let service): context.messenger.send(.endServiceACK, service)
    case (.startServiceACK, .rpc):
      try perform(try context.security.rpcAcknowledged(isEncrypted: header.isEncrypted, &context.messenger))
    case (.startServiceNAK, .rpc):
      try perform(try context.security.rpcRefused(ServiceRejection(payload: frame.payload), &context.messenger))
    case (.endServiceACK, .rpc), (.endServiceNAK, .rpc):
      if case .finishing(.endingSession, _) = context.phase { end() }
    default: context.messenger.diagnose("ignored control frame \(control) on \(header.service)")
    }
  }

  private mutating func receiveOnSecondary(_ frame: Frame) throws(AppSessionFailure) {
    let header = frame.header
    if header.controlFrame == .registerSecondaryTransportNAK {
      // It may have another session id, since the head unit does not know this session.
      return context.secondaryRefused(by: frame)
    }
    guard header.sessionID == context.messenger.sessionID, let frame = try decrypted(frame, on: .secondary) else {
      return
    }
    switch (header.controlFrame, header.service) {
    case (.registerSecondaryTransportACK, _): context.secondaryAccepted()
    case (.heartbeat, _): context.messenger.send(.heartbeatACK, .control, on: .secondary, messageID: header.messageID)
    case (let control?, .audio), (let control?, .video): try services.receive(control, frame, on: .secondary, &context)
    default: context.messenger.diagnose("ignored a frame of \(header.service) on the secondary transport")
    }
  }

  private mutating func receiveTransportUpdate(_ frame: Frame) {
    budget.charge(InputBudget.change, now: context.now)
    let former = context.secondary.announced
    context.changeSecondary { $0.updated(TransportEventUpdate(payload: frame.payload), now: $1) }
    if let address = context.secondary.announced, address != former { services.addressChanged() }
  }

  private mutating func noteLossOfSecondary() throws(AppSessionFailure) {
    guard context.takeLossOfSecondary() else { return }
    services.secondaryLost(&context)
    // The end of the session goes on.
    if case .finishing = context.phase { return }
    if context.security.hasRecordsInFlight(on: .secondary, now: context.now) { throw .encryptedTransportLost }
  }

  /// The frame with its payload in clear; nil for one that is dropped.
  private mutating func decrypted(_ frame: Frame, on role: TransportRole) throws(AppSessionFailure) -> Frame? {
    switch try context.security.decrypt(frame, on: role, situation, &context.messenger) {
    case .frame(let frame):
      context.messenger.noteReceived(frame, on: role)
      return frame
    case .dropped(let outputs):
      try perform(outputs)
      return nil
    }
  }

  private mutating func perform(_ outputs: [SessionSecurity.Output]) throws(AppSessionFailure) {
    let isInNone = context.isInNone
    for output in outputs {
      switch output {
      case .receive(let frame, .primary): try receive(frame)
      case .receive(let frame, .secondary): try receiveOnSecondary(frame)
      case .giveUp(let service): services.giveUp(service, &context)
      case .rpcProtected:
        services.permissionsChanged()
        try context.announce { $0.protectionSettled(isInNone: isInNone) }
      case .rpcInClear: try context.announce { $0.protectionSettled(isInNone: isInNone) }
      }
    }
  }
}

/// Remote procedure calls.
extension AppSession {
  private mutating func receive(_ message: RPCMessage, isEncrypted: Bool) throws(AppSessionFailure) {
    switch message.type {
    case .response:
      guard !services.application.receive(message, isEncrypted: isEncrypted, &context) else { return }
      guard let function = context.messenger.requests.take(message, isEncrypted: isEncrypted) else {
        return context.messenger.diagnose("ignored a response without a request: \(message.function)")
      }
      try receiveResponse(to: function, message.parameters)
    case .notification where !isEncrypted && context.security.rpc.rejectsClear(message.function):
      context.security.rpcIgnoredInClear(message.function, &context.messenger)
    case .notification:
      if services.application.wants(message.function) { context.messenger.report(.applicationRPC(message)) }
      try receiveNotification(message.function, message.parameters, isEncrypted: isEncrypted)
    case .request: context.messenger.diagnose("ignored request \(message.function)")
    }
  }

  private mutating func receiveResponse(to function: FunctionID, _ parameters: JSONObject) throws(AppSessionFailure) {
    let result = RPCResult(json: parameters)
    if result.resultCode == ResultCode.encryptionNeeded.rawValue { context.security.rpcRefusedInClear() }
    switch function {
    case .registerAppInterface:
      let response = RegisterAppInterfaceResponse(json: parameters)
      services.buttons.announced(response.buttons)
      services.presentation.registered(response)
      try context.registered(response)
    case .getSystemCapability: try context.capabilityAnswered(result, SystemCapability(json: parameters))
    case .unregisterAppInterface: context.endSession()
    default: services.answered(function, result, &context)
    }
  }

  private mutating func requestExpired(_ function: FunctionID) throws(AppSessionFailure) {
    switch function {
    case .registerAppInterface:
      if case .finishing = context.phase { return context.endSession() }
      throw .unanswered(request: "RegisterAppInterface")
    case .getSystemCapability:
      context.messenger.diagnose("GetSystemCapability was not answered")
      try context.announce { $0.unavailable() }
    case .unregisterAppInterface: context.endSession()
    default: services.answered(function, nil, &context)
    }
  }

  private mutating func receiveNotification(
    _ function: FunctionID, _ parameters: JSONObject, isEncrypted: Bool
  ) throws(AppSessionFailure) {
    budget.charge(function == .onTouchEvent ? .zero : InputBudget.change, now: context.now)
    switch function {
    case .onHMIStatus: try receive(HMIStatus(json: parameters))
    case .onSystemCapabilityUpdated:
      let capability = SystemCapability(json: parameters)
      if context.isRegistered { services.buttons.announced(capability.buttons) }
      guard let update = capability.videoStreaming else { break }
      let sizesInUse = services.video.sizesInUse
      try context.announce { $0.updated(by: update, inUse: sizesInUse) }
    case .onDriverDistraction: context.messenger.report(.driverDistraction(OnDriverDistraction(json: parameters)))
    case .onTouchEvent:
      let touches = services.video.receive(OnTouchEvent(json: parameters))
      budget.charge(InputBudget.touch * touches.count, now: context.now)
      if !touches.isEmpty { context.messenger.report(.touch(touches)) }
    case .onAppInterfaceUnregistered:
      if case .finishing = context.phase { return context.endSession() }
      throw .unregistered(reason: OnAppInterfaceUnregistered(json: parameters).reasonText)
    case .onButtonEvent, .onButtonPress:
      services.buttons.receive(ButtonNotification(function, json: parameters), &context)
    case .onPermissionsChange:
      services.permissionsChanged()
      context.permissionsChanged(OnPermissionsChange(json: parameters), isEncrypted: isEncrypted)
    default: break  // Policy updates, icons, languages, hashes: no stream depends on them, and none is answered.
    }
  }

  private mutating func receive(_ status: HMIStatus) throws(AppSessionFailure) {
    guard status.windowID == 0 else { return }
    guard status.level != nil else { return context.messenger.diagnose("ignored an HMI status with an unknown level") }
    if status.level != context.hmiStatus?.level { services.levelChanges(&context) }
    context.hmiStatus = status
    context.messenger.report(.hmiStatus(status))
    let isInNone = context.isInNone
    try context.announce { $0.levelChanged(isInNone: isInNone) }
  }
}
