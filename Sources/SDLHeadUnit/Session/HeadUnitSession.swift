import SDLMessages
import SDLWire

/// The head unit's side of one SDL session, without any input or output of its own.
///
/// Its inputs are decoded frames, the time, and the driver's actions; it returns frames to send, and reports. It serves
/// one app. It routes inputs to its parts, which have the state and share the ``ServedContext``. Not copyable, because
/// the server reads its deadline in each turn.
package struct HeadUnitSession: Sendable, ~Copyable {
  private var context: ServedContext
  private var gate = FrameGate()
  private var heartbeat = SessionHeartbeat()
  private var security: ServedSecurity
  private var secondary = ServedSecondaryTransport()
  private var registration: Registration
  private var media = SessionMedia()

  /// Creates a session that waits for its transport.
  /// - Parameters:
  ///   - sessionID: 1…255, unique among the sessions of a head unit.
  ///   - connectionID: unique among its transports; part of the hash that ends the session.
  ///   - makeSecureChannel: makes this end of TLS; nil answers encrypted starts in clear.
  package init(
    configuration: HeadUnitConfiguration, sessionID: UInt8 = 1, connectionID: UInt16 = 1,
    makeSecureChannel: SecureChannelFactory? = nil
  ) {
    context = ServedContext(configuration, sessionID: sessionID, connectionID: connectionID)
    security = ServedSecurity(makeChannel: makeSecureChannel)
    registration = Registration(configuration)
  }

  // MARK: What the owner can see

  /// The configuration at the start, with the present offer to the next app; the behaviour may have changed since.
  package var configuration: HeadUnitConfiguration { context.configuration }
  package var sessionID: UInt8 { context.sessionID }
  /// Counters over all video services since the session was created.
  package var statistics: VideoStreamStatistics { media.video.statistics }
  /// When ``advance(to:)`` is due; nil when nothing is pending.
  package var nextDeadline: Duration? { context.timers.next }
  /// Whether the RPC service runs, and with it the session.
  package var isStarted: Bool { context.rpcService != nil }
  package var isStreaming: Bool { media.isOpen(.video) || media.isOpen(.audio) }
  /// Where nothing is to be read before a video message is checked (``continueWork(now:)``); nil for no such transport.
  package var busyTransport: TransportRole? { media.video.isBusy ? media.video.service.transport : nil }
  /// The memory that incomplete messages of the app take, in bytes.
  package var incompleteByteCount: Int { gate.incompleteByteCount }
  /// Nil while no app is registered, like the summary.
  package var identity: AppIdentity? { registration.app?.identity }
  package var summary: AppSummary? { registration.app?.summary(isStreaming: media.video.service.isOpen, context) }
  /// The state of the app to keep after a broken connection; nil while none is registered, or there is none.
  package var savedApp: SavedApp? { registration.app?.saved }

  // MARK: The transport

  /// The transport is up. The session starts again, except for statistics, behaviour, events, and counts for limits.
  package mutating func transportConnected(now: Duration) -> [Action] {
    input(now) { session in
      if session.context.link != .disconnected { session.loseTransport() }
      session.context.link = .connected
      session.registration.forgetUpdates(session.context)
    }
  }

  /// The primary transport is gone, by either side; with it goes the secondary one.
  package mutating func transportLost(now: Duration) -> [Action] { input(now) { $0.loseTransport() } }

  /// The next frame, or garbage, from a transport. Nothing comes from the secondary one before it is registered.
  package mutating func receive(
    _ item: FrameDecoder.Item, on transport: TransportRole = .primary, now: Duration
  ) -> [Action] {
    guard context.link == .connected, transport == .primary || secondary.isRegistered else { return [] }
    return input(now) { session in
      switch item {
      case .garbage(let reason, _): session.noteMalformed(.malformedBytes(reason), on: transport)
      case .frame(let frame): session.receive(frame, on: transport)
      }
      guard transport == .secondary, session.context.forgoEnds() else { return }
      session.secondary.close(&session.media, &session.context)
    }
  }

  /// Continues with a long message, whose check takes many calls, so that the owner has time for other apps.
  package mutating func continueWork(now: Duration) -> [Action] {
    input(now) { $0.media.video.continueCheck(&$0.context) }
  }

  /// Handles deadlines up to `now`.
  package mutating func advance(to now: Duration) -> [Action] {
    context.now = now
    while let purpose = context.timers.takeDue(at: now) {
      fire(purpose)
      settle()
    }
    return context.takeActions()
  }

  /// Sets whether the app's bytes are read. Otherwise they pile up, which is not its fault: deadlines are postponed, it
  /// is no pause of the video, and rates are those of the whole time.
  package mutating func setReading(_ isReading: Bool, now: Duration) -> [Action] {
    input(now) { if isReading { $0.resumeReading() } else { $0.gate.stopReading(&$0.context) } }
  }

  /// Gives up the incomplete message that has waited longest for its next frame.
  package mutating func dropIncompleteMessage() -> [Action] { input(context.now) { $0.gate.dropOldest(&$0.context) } }

  /// Refuses a StartService(RPC) for a further session of the same transport, because there are as many as allowed.
  package mutating func refuseSession(_ frame: Frame, now: Duration) -> [Action] {
    guard context.link == .connected else { return [] }
    return input(now) { if $0.gate.answersOtherSession(&$0.context) { RPCService.refuse(frame, &$0.context) } }
  }

  /// The address for second connections, for an app to which they are offered; nil for none.
  package mutating func setServedTransport(_ address: TransportEventUpdate?, now: Duration) -> [Action] {
    input(now) { $0.secondary.setServedAddress(address, &$0.context) }
  }

  /// RegisterSecondaryTransport with this session's id has come on a connection, whose further frames are inputs of
  /// ``receive(_:on:now:)`` if it is accepted.
  /// - Parameter isPeerKnown: whether it comes from the app's address. Another is accepted once, and only soon after an
  ///   offer, the loss of the former one, or the app's opening by the driver.
  package mutating func registerSecondaryTransport(
    _ frame: Frame, isPeerKnown: Bool = true, now: Duration
  ) -> (SecondaryRegistration, [Action]) {
    guard context.link == .connected, isStarted else {
      return (.refused(Self.refusal(of: frame.header, .unknownSession)), [])
    }
    var registration = SecondaryRegistration.unanswered
    let actions = input(now) { session in
      registration = session.secondary.register(
        frame.header, isPeerKnown: isPeerKnown, &session.media, &session.context)
      if registration == .accepted { session.heartbeat.noteTraffic(&session.context) }
    }
    return (registration, actions)
  }

  /// The second connection is gone. Its services have ended, without EndService; the session continues.
  package mutating func secondaryTransportLost(now: Duration) -> [Action] {
    input(now) { $0.secondary.end(&$0.media, &$0.context) }
  }

  // MARK: The driver and the vehicle

  /// The driver, or another app, changes the level. Ignored unless an app is registered, like all inputs of the driver.
  package mutating func setHMIStatus(_ status: HMIStatus, now: Duration) -> [Action] {
    input(now) { $0.registration.app?.apply(status, &$0.context) }
  }

  /// The driver opens the app: FULL, as restricted by the active events.
  package mutating func activateApp(now: Duration) -> [Action] { input(now) { $0.registration.app?.open(&$0.context) } }

  /// Another sound source of the car starts or stops. Ignored at NONE, where no app is audible. An active event may
  /// restrict it further; the next change of the level ends it.
  package mutating func setAudioStreaming(_ state: AudioStreamingState, now: Duration) -> [Action] {
    input(now) { $0.registration.app?.setAudioStreaming(state, &$0.context) }
  }

  /// Sends the app a notification, without any other effect.
  package mutating func notify(_ function: FunctionID, _ parameters: JSONObject, now: Duration) -> [Action] {
    input(now) { if $0.registration.app != nil { $0.context.notify(function, parameters) } }
  }

  /// Asks the app to send the policy to a server, and to return the new one (OnSystemRequest), as SDL Core does.
  package mutating func requestPolicyUpdate(from url: String, now: Duration) -> [Action] {
    input(now) { $0.registration.requestPolicyUpdate(from: url, &$0.context) }
  }

  /// The driver uses a control of the app. One that the app has not subscribed to or offered is reported.
  package mutating func take(_ input: DriverInput, now: Duration) -> [Action] {
    self.input(now) { $0.registration.app?.take(input, &$0.context) }
  }

  /// The driver touches the screen. Samples without a time get the present one.
  package mutating func touch(_ event: OnTouchEvent, now: Duration) -> [Action] {
    input(now) { $0.registration.app?.touch(event, &$0.context) }
  }

  /// The driver touches the pictures in a window. Ignored before the app's first video service, and without touches.
  /// - Parameter picture: the size of the pictures, in pixels.
  package mutating func touch(_ touch: PictureTouch, picture: VideoSize, now: Duration) -> [Action] {
    guard let display = media.video.displaySize else { return [] }
    return self.touch(touch.onDisplay(display, picture: picture), now: now)
  }

  /// The head unit ends the service of video or audio. Ignored unless the service is open.
  package mutating func endService(
    _ service: ServiceType, _ reason: StopReason = .endedByHeadUnit, now: Duration
  ) -> [Action] {
    input(now) { $0.media.end(service, reason, &$0.context) }
  }

  /// The video capability changes; absent members do not. Sent only to an app that has subscribed, and to others once
  /// they subscribe, also to one that is still to be registered; GetSystemCapability keeps returning the old value, as
  /// SDL Core's does.
  package mutating func updateCapability(_ update: VideoStreamingCapability, now: Duration) -> [Action] {
    input(now) { $0.registration.capability.update(update, inUse: $0.media.video.sizeInUse, &$0.context) }
  }

  /// The window of the app gets another size, and from now on no other is accepted. The app gets size and scale as with
  /// ``updateCapability(_:now:)``.
  /// - Parameter scale: 1…10, or nil for the present one.
  package mutating func resize(to size: VideoSize, scale: Double?, now: Duration) -> [Action] {
    input(now) { $0.registration.capability.resize(to: size, scale: scale, &$0.context) }
  }

  /// Sets what the next app is offered; one that is registered keeps what it has been told.
  package mutating func offer(_ capability: VideoStreamingCapability?, screen: VideoSize) {
    context.offer(capability, screen: screen)
    if registration.app == nil { registration.forgetUpdates(context) }
  }

  /// The head unit ends the registration. Ignored unless an app is registered.
  package mutating func unregisterApp(_ reason: UnregisteredReason, now: Duration) -> [Action] {
    input(now) { $0.unregister(reason) }
  }

  // MARK: Other apps

  /// Sets the states of the registered apps; its own does not matter. While another has the screen, also a former
  /// connection of its own, this one is not opened automatically after its registration.
  /// - Parameter samePhone: those of the same phone in other sessions, whose ids and names are taken.
  package mutating func setApps(_ apps: [AppSummary], samePhone: [AppIdentity] = [], now: Duration) -> [Action] {
    input(now) { session in
      session.registration.setOtherApps(samePhone)
      session.context.screen.setApps(apps, besides: session.sessionID)
      if session.context.screen.isActivationDeferred { session.registration.app?.openAutomatically(&session.context) }
      session.registration.app?.sendChangedStatus(&session.context)
    }
  }

  /// Another app is brought to the screen.
  package mutating func giveWay(to other: AppSummary.Role, now: Duration) -> [Action] {
    input(now) { $0.registration.app?.giveWay(to: other, &$0.context) }
  }

  /// Sets the kept states of apps whose former connection has broken.
  package mutating func setSavedApps(_ apps: [SavedApp]) { registration.setSavedApps(apps) }

  // MARK: The behaviour

  /// Changes the head unit's behaviour towards this app.
  package mutating func change(_ change: HeadUnitBehaviour.Change, now: Duration) -> [Action] {
    input(now) { session in
      session.context.behaviour.apply(change)
      switch change {
      case .heartbeat: session.heartbeat.change(isRegistered: session.registration.app != nil, &session.context)
      case .videoStartDelay(let delay): session.media.video.changeDelay(to: delay, &session.context)
      case .videoDataTimeout(nil): session.context.timers.cancel(.videoData)
      case .secondaryTransport: session.secondary.offerChanged(&session.context)
      default: break
      }
    }
  }

  /// Applies a change for all apps, also those that register later.
  package mutating func apply(_ change: HeadUnitConditions.Change, now: Duration) -> [Action] {
    input(now) { session in
      session.context.apply(change)
      switch change {
      case .event: session.registration.app?.sendChangedStatus(&session.context)
      case .videoSilence(let isSilent): session.media.video.isSilent = isSilent
      case .vehicle(let reading): session.registration.app?.tell(reading, &session.context)
      case .language(let language): session.registration.change(to: language, &session.context)
      case .policy: session.registration.policiesDidChange(&session.context)
      case .activationStatus: break
      }
    }
  }

  /// Sets the answer to the next StartService(video) that is allowed; several calls answer as many starts, in order.
  package mutating func answerNextVideoStart(_ answer: HeadUnitBehaviour.VideoStartAnswer) {
    media.video.answerNextStart(answer)
  }

  // MARK: Consequences

  private mutating func input(_ now: Duration, _ body: (inout Self) -> Void) -> [Action] {
    context.now = now
    body(&self)
    settle()
    context.limitViolations()
    return context.takeActions()
  }

  /// Reports changes of one part to the others, and carries out their requests.
  private mutating func settle() {
    repeat {
      if let app = registration.app { media.permit(app, &context) }
      if !media.video.service.waitsForHandshake { security.cancel(.video, &context) }
      if !media.audio.service.waitsForHandshake { security.cancel(.audio, &context) }
      secondary.noteLevel(registration.app?.status.level, context)
      guard let consequence = context.takeConsequence() else { break }
      carryOut(consequence)
    } while true
    if context.link == .closing { gate.reset() }
  }

  private mutating func carryOut(_ consequence: ServedContext.Consequence) {
    switch consequence {
    case .refused(let service):
      guard !media.isStreaming(besides: service), context.behaviour.dropsToNoneAfterRefusal else { return }
      media.forbid(service, &context)
      registration.app?.close(&context)
    case .unregister(let reason): unregister(reason)
    case .endSession: endSession(.registrationRefused)
    case .close: context.close()
    case .unregisterByApp(let request):
      media.endTwice(.unregistered, &context)
      context.respond(to: request, success: true, .success)
      endRegistration(.requestedByApp)
    case .registered: heartbeat.startScripted(&context)
    case .capabilityAnnounced: media.video.setLimits(of: registration.capability, now: context.now)
    case .handshakeEnded(let service, let failure):
      media.handshakeEnded(of: service, failure, registration.app, registration.capability, &context)
    case .encryptionLost: loseEncryption()
    }
  }

  private mutating func fire(_ purpose: TimerTable.Purpose) {
    switch purpose {
    case .activation, .policyUpdate, .alert, .overlay, .speech, .microphone, .button, .scriptedAnswer:
      registration.fire(purpose, &context)
    case .transportEventUpdate: secondary.sendAddress(&context)
    case .videoStart, .videoData, .stopGrace, .audioStopGrace, .endServiceACK, .audioEndServiceACK:
      media.fire(purpose, registration.app, registration.capability, &context)
    case .heartbeat: if heartbeat.isUnanswered(&context) { endSession(.heartbeatTimeout) }
    case .handshake: security.handshakeDue(&context)
    case .incompleteMessage: gate.dropExpired(&context)
    }
  }
}

// MARK: Ends

extension HeadUnitSession {
  /// The app starts its services again, with another handshake; RPCs can't go on in clear.
  private mutating func loseEncryption() {
    media.endEncrypted(&context)
    let isOver = context.encryption.isRPCEncrypted
    security.reset(&context)
    if isOver { endSession(.headUnit(.protocolViolation)) }
  }

  private mutating func loseTransport() {
    context.link = .disconnected
    resumeReading()
    media.close(.transportLost, &context)
    media.reset()
    endRegistration(.transportLost)
    endSession()
  }

  private mutating func resumeReading() {
    if let time = gate.resumeReading(&context) { media.noteTimeWithoutReading(time, now: context.now) }
  }

  private mutating func unregister(_ reason: UnregisteredReason) {
    guard registration.app != nil else { return }
    media.end(.unregistered, &context)
    let endsWithCar = [.ignitionOff, .masterReset, .factoryDefaults].contains(reason)
    if endsWithCar { context.send(.endService, service: .rpc) }
    context.notify(.onAppInterfaceUnregistered, OnAppInterfaceUnregistered(reason: reason).json)
    // The session continues, and the app may register again in it, unless it could not be told in clear.
    let continues = [.languageChange, .protocolViolation, .tooManyRequests].contains(reason)
    if continues, !context.needsProtection(.onAppInterfaceUnregistered) { return endRegistration(.headUnit(reason)) }
    endSession(.headUnit(reason), isEndSent: endsWithCar)
  }

  /// Ends the registration and the app's services.
  private mutating func endRegistration(_ reason: UnregistrationReason) {
    media.close(reason == .transportLost ? .transportLost : .unregistered, &context)
    guard registration.app != nil else { return }
    registration.end(&context)
    security.reset(&context)
    context.report(.appUnregistered(reason: reason))
  }

  /// The app may start another session on the same transport.
  private mutating func endSession() {
    secondary.close(&media, &context)
    context.rpcService = nil
    gate.reset()
    security.reset(&context)
    heartbeat.stop(&context)
    secondary.reset()
    context.timers.cancelAll()
  }

  private mutating func endSession(_ reason: UnregistrationReason, isEndSent: Bool = false, closes: Bool = true) {
    endRegistration(reason)
    if !isEndSent { context.send(.endService, service: .rpc) }
    endSession()
    if closes { context.close() }
  }
}

// MARK: Frames

extension HeadUnitSession {
  /// On the secondary transport the sender need not be the app, whose session must not suffer.
  private mutating func receive(_ frame: Frame, on transport: TransportRole) {
    let header = frame.header
    if let violation = gate.malformation(of: header, configuration) { return noteMalformed(violation, on: transport) }
    if let control = header.controlFrame { context.note(ConversationMessage(control, frame, by: .app, on: transport)) }
    let isRPCStart = header.controlFrame == .startService && header.service == .rpc
    if isStarted, header.sessionID != sessionID {
      guard gate.answersOtherSession(&context) else { return }
      if isRPCStart { return startRPCService(frame, on: transport) }
      return gate.refuseOfOtherSession(frame, on: transport, &context)
    }
    if gate.hasTooMany(with: header, on: transport, &context) {
      if transport == .secondary { return secondary.close(&media, &context) }
      guard isStarted else { return header.sessionID == 0 ? context.close() : () }
      unregister(.tooManyRequests)
      // A transport that is closed while bytes of the app wait there is reset, and the app can't read why.
      return endSession(.headUnit(.tooManyRequests), closes: false)
    }
    if isRPCStart { return startRPCService(frame, on: transport) }
    guard let rpcService = context.rpcService else { return gate.refuseWithoutSession(frame, &context) }
    heartbeat.noteTraffic(&context)
    rpcService.checkVersion(of: header, &context)
    if gate.isMisplaced(header, on: transport, &media, &context) { return }
    guard let control = header.controlFrame else { return receiveData(frame, on: transport) }
    receive(control, frame, on: transport)
  }

  private mutating func noteMalformed(_ violation: Violation, on transport: TransportRole) {
    context.report(violation)
    if transport == .secondary { return secondary.close(&media, &context) }
    guard gate.hasTooManyMalformed(&context) else { return }
    endRegistration(.malformedFrames)
    context.close(.transport)
  }

  private mutating func receiveData(_ frame: Frame, on transport: TransportRole) {
    guard let frame = security.decrypted(frame, on: transport, media, &context) else { return }
    let service = frame.header.service
    switch service {
    case .rpc, .hybrid: if let message = assemble(frame) { registration.receive(message, &security, &context) }
    case .control: if let message = assemble(frame) { security.receive(message.payload, registration.app, &context) }
    case .audio, .video:
      guard let permission = media.permission(of: service, &context), let message = assemble(frame) else { return }
      media.take(message, permission, &context)
    }
  }

  private mutating func assemble(_ frame: Frame) -> Message? {
    gate.assemble(frame, isRegistered: registration.app != nil, &context)
  }

  private mutating func receive(_ control: ControlFrame, _ frame: Frame, on transport: TransportRole) {
    let service = frame.header.service
    switch control {
    case .heartbeat: heartbeat.answer(frame.header, on: transport, &context)
    case .heartbeatACK: break
    case .startService:
      switch service {
      case .video, .audio:
        media.start(
          frame, on: transport, isTransportAllowed: secondary.allows(service, on: transport), registration.app,
          registration.capability, &security, &context)
      // Every session of SDL Core has this service. To protect it, it waits for an app.
      case .hybrid where frame.header.isEncrypted && registration.app == nil: break
      case .control, .rpc, .hybrid:
        context.refuse(.startServiceNAK, service: service, reason: "This service is not supported")
      }
    case .endService:
      switch service {
      case .rpc: endRPCService(frame)
      case .video, .audio: media.answerEnd(of: service, on: transport, &context)
      case .control, .hybrid:
        context.report(.endOfServiceNotRunning(service))
        context.refuse(.endServiceNAK, service: service, reason: nil)
      }
    case .endServiceACK: media.endAcknowledged(of: service, &context)
    case .registerSecondaryTransport:
      // This transport is one of the session's already.
      context.refuseSecondaryTransport(.registeredAlready, on: transport)
    default: context.report(.unexpectedControlFrame(control, service))
    }
  }

  private mutating func startRPCService(_ frame: Frame, on transport: TransportRole) {
    let asksForProtection = isStarted && frame.header.isEncrypted && frame.header.sessionID == sessionID
    guard asksForProtection, transport == .primary, context.behaviour.rpcStart == .acknowledge else {
      return RPCService.start(frame, on: transport, &secondary, &context)
    }
    security.protectRPC(registration.app, &context)
  }

  private mutating func endRPCService(_ frame: Frame) {
    // The transport stays open, as with SDL Core: the app closes it.
    guard RPCService.answerEnd(frame, &context) else { return }
    endRegistration(.sessionEndedByApp)
    endSession()
  }
}
