import SDLMessages
import SDLWire

/// The check of a media service's data.
protocol MediaChecker: Sendable {
  /// What the app asks for with its start.
  associatedtype Request: Sendable

  static var service: ServiceType { get }

  /// Before the first start of the service.
  init()

  /// Nothing was read for this time, in which the app may have continued sending.
  mutating func expectBacklog(of time: Duration, now: Duration)

  /// The report of the service's end.
  func stop(_ reason: HeadUnitSession.StopReason) -> HeadUnitSession.Event
}

/// Whether SDL Core lets an open service stream.
enum MediaPermission: Sendable {
  case allowed
  /// The HMI status forbids the media since then, but the app may not know yet.
  case grace(since: Duration)
  case forbidden(since: Duration)
}

/// The state of a media service, as SDL Core keeps it for video and audio.
struct MediaService<Checker: MediaChecker>: Sendable {
  private enum State: Sendable {
    /// With the time when it ended, if it ever ran, and whether the app knew that then.
    case closed(endedAt: Duration?, isKnown: Bool = true)
    /// SDL Core keeps the entry of the service, but no data may come: StartService came before the registration, and was
    /// never answered, or has cost the app its level, at this time, when the service was open.
    case listed(forbiddenSince: Duration?)
    case open(MediaPermission)
    /// The head unit's own EndService waits for the app's answer.
    case ending(since: Duration)
  }

  /// A start whose answer is still to come.
  struct Start: Sendable {
    let request: Checker.Request
    let asksForEncryption: Bool
    /// Whether to encrypt the acknowledgement.
    var isEncrypted = false
    /// When the request was ready to be answered; nil while it waits for a TLS handshake.
    var readyTime: Duration?
  }

  private var disallowedReason: String { "The service is disallowed with the current HMI level" }

  var checker = Checker()
  private var state = State.closed(endedAt: nil)
  private(set) var start: Start?
  /// The transport of the service that runs, is ending, or waits for its answer; otherwise of the last one.
  private(set) var transport = TransportRole.primary
  /// Whether the last start got no answer. An app may then end a service that was never started.
  var isStartLost = false
  private var isMisplacedDataReported = false
  /// EndServices of the head unit that the app has not acknowledged, or crossed with its own.
  private var unacknowledgedEnds = 0

  private var type: ServiceType { Checker.service }

  var isOpen: Bool { if case .open = state { true } else { false } }

  var waitsForHandshake: Bool { start.map { $0.readyTime == nil } ?? false }

  private var isClosed: Bool { if case .closed = state { true } else { false } }

  private var stopGrace: TimerTable.Purpose { type == .audio ? .audioStopGrace : .stopGrace }
  private var endServiceACK: TimerTable.Purpose { type == .audio ? .audioEndServiceACK : .endServiceACK }

  // MARK: The start

  /// A start without a registered app. SDL Core does not answer, but lists the service from now on.
  mutating func noteEarlyStart(on transport: TransportRole, _ context: inout ServedContext) {
    // On the secondary transport it need not be the app's, whose own start would be refused then.
    if isClosed, transport == .primary { state = .listed(forbiddenSince: nil) }
    context.report(.startBeforeRegistration(type))
  }

  /// Takes a start of a registered app, or refuses it.
  /// - Parameter isTransportAllowed: by the transport lists of the session's acknowledgement.
  /// - Returns: whether to answer it, unless the HMI refuses it; not yet if it waits for a TLS handshake.
  mutating func begin(
    _ request: Checker.Request, isEncrypted: Bool, on transport: TransportRole, isTransportAllowed: Bool,
    _ app: RegisteredApp, _ security: inout ServedSecurity, _ context: inout ServedContext
  ) -> Bool {
    isStartLost = false
    guard isTransportAllowed else {
      let reason = "The service is not allowed on the \(transport) transport"
      refuse(reason: reason, on: transport, costsLevel: false, &context)
      return false
    }
    if transport == .primary, self.transport == .secondary {
      if start != nil { withdrawStart(reason: "The service is started on the primary transport", &context) }
      security.cancel(type, &context)
      giveWayToPrimary(&context)
    }
    if forgivesMissingAcknowledgement(&context) { close(.endedByHeadUnit, &context) }
    let refusal = reasonToRefuse(app, &context) ?? security.reasonToRefuseMedia(isEncrypted: isEncrypted, context)
    if let refusal {
      refuse(reason: refusal, on: transport, &context)
      return false
    }
    self.transport = transport
    isMisplacedDataReported = false
    start = Start(request: request, asksForEncryption: isEncrypted)
    switch security.prepare(type, on: transport, isEncrypted: isEncrypted, app, &context) {
    case .clear: startReady(isEncrypted: false, now: context.now)
    case .encrypted: startReady(isEncrypted: true, now: context.now)
    case .handshake: break
    case .refused(let reason):
      start = nil
      refuse(reason: reason, &context)
    }
    return start?.readyTime != nil
  }

  /// The handshake for which the start has waited is over.
  /// - Parameter failure: why it has failed.
  /// - Returns: whether to answer the start.
  mutating func handshakeEnded(_ failure: ServedHandshakeFailure?, _ context: inout ServedContext) -> Bool {
    guard waitsForHandshake else { return false }
    if let failure, context.configuration.security == .require {
      start = nil
      refuse(reason: failure.text, costsLevel: failure.isOwnFault, &context)
      return false
    }
    startReady(isEncrypted: failure == nil && context.behaviour.handshake != .clear, now: context.now)
    return true
  }

  private mutating func startReady(isEncrypted: Bool, now: Duration) {
    start?.isEncrypted = isEncrypted
    start?.readyTime = now
  }

  /// The start that is answered now.
  mutating func takeStart() -> Start? { start.take() }

  /// Refuses a start that waits, without the loss of the HMI level.
  private mutating func withdrawStart(reason: String, _ context: inout ServedContext) {
    cancelStart(&context)
    refuse(reason: reason, costsLevel: false, &context)
  }

  private mutating func cancelStart(_ context: inout ServedContext) {
    start = nil
    if type == .video { context.timers.cancel(.videoStart) }
  }

  /// The app starts the service on its primary transport while it runs, or is ending, on the secondary one, where the
  /// sender need not be the app. SDL Core would refuse the start, and take the app's HMI level.
  private mutating func giveWayToPrimary(_ context: inout ServedContext) {
    if isOpen {
      context.report(.startWhileActive(type))
      end(.endedByApp, &context)
    }
    if !isClosed { close(.endedByHeadUnit, &context) }
    unacknowledgedEnds = 0
    transport = .primary
  }

  /// The reasons for which SDL Core refuses a start without asking the HMI.
  func reasonToRefuse(_ app: RegisteredApp, _ context: inout ServedContext) -> String? {
    guard context.headerVersion >= 3 else { return "The service needs protocol 3" }
    guard app.mayStream else { return "The app type may not use this service" }
    guard isClosed, start == nil else {
      context.report(.startWhileActive(type))
      return "The service is active already"
    }
    return app.allows(type) ? nil : disallowedReason
  }

  /// - Parameters:
  ///   - transport: of the request; nil for the service's transport. A request on the secondary one need not come from
  ///     the app, and costs it nothing.
  ///   - costsLevel: whether the app may lose its HMI level. SDL Core asks the HMI otherwise.
  mutating func refuse(
    _ parameters: [String] = [], reason: String?, on transport: TransportRole? = nil, costsLevel: Bool = true,
    _ context: inout ServedContext
  ) {
    let transport = transport ?? self.transport
    let rejection = context.refuse(.startServiceNAK, service: type, on: transport, parameters, reason: reason)
    context.report(type == .audio ? .audioRefused(rejection) : .videoRefused(rejection))
    if costsLevel, transport == .primary { context.demand(.refused(type)) }
  }

  /// Acknowledges a start: the service is open. Otherwise refuses it, because that can't be encrypted.
  /// - Returns: whether it is open.
  mutating func acknowledge(_ start: Start, _ payload: [UInt8], _ context: inout ServedContext) -> Bool {
    let encrypted = start.isEncrypted ? context.encryption.encrypted(payload) : nil
    if start.isEncrypted, encrypted == nil, context.configuration.security == .require {
      refuse(reason: "The acknowledgement can't be encrypted", &context)
      return false
    }
    state = .open(.allowed)
    context.encryption.begin(type, isEncrypted: encrypted != nil)
    context.send(
      .startServiceACK, service: type, on: transport, isEncrypted: encrypted != nil, payload: encrypted ?? payload)
    return true
  }

  // MARK: The right to stream

  /// The status of the app, which may allow or forbid the service.
  mutating func permit(_ app: RegisteredApp, _ context: inout ServedContext) {
    // The level stays as the driver chose it.
    if start != nil, !app.allows(type) { withdrawStart(reason: disallowedReason, &context) }
    guard case .open(let permission) = state else { return }
    if app.allows(type) {
      if case .allowed = permission { return }
      state = .open(.allowed)
    } else if app.status.level == HMILevel.none {
      end(.hmiLevelNone, &context)
    } else if case .allowed = permission {
      state = .open(.grace(since: context.now))
      context.timers.arm(stopGrace, at: context.now + CoreLimits.stopStreaming)
    }
  }

  /// From now on the app must know that it may not stream. What has ended the time of grace before does not cancel its
  /// timer, which a new one arms again.
  mutating func graceOver() {
    if case .open(.grace(let since)) = state { state = .open(.forbidden(since: since)) }
  }

  /// Data of the service.
  /// - Returns: nil if the data is ignored.
  func permission(_ context: inout ServedContext) -> MediaPermission? {
    switch state {
    case .open(let permission): return permission
    case .ending(let since):
      // Data that was on the way when EndService was sent is no violation.
      let time = context.now - since
      if time > CoreLimits.stopStreaming { refuse(.dataAfterEndService(type, after: time), &context) }
    case .closed(let endedAt?, let isKnown):
      let time = context.now - endedAt
      let violation = Violation.dataAfterEndService(type, after: time)
      // Observed on SDL Core: a frame just after EndService is tolerated, one 1.5 s later is not.
      if time > CoreLimits.stopStreaming {
        refuse(violation, &context)
      } else if isKnown {
        context.report(violation)
      }
    case .closed(nil, _): refuse(start != nil ? .dataBeforeAcknowledgement(type) : .dataWithoutService(type), &context)
    case .listed(nil): refuse(.dataBeforeAcknowledgement(type), &context)
    case .listed(let since?): refuse(forbidden(since: since, context), &context)
    }
    return nil
  }

  /// A message of the service has been checked. If the app must know that it is forbidden, the service ends.
  /// - Returns: whether it is shown, or heard.
  mutating func shows(_ permission: MediaPermission, _ context: inout ServedContext) -> Bool {
    switch permission {
    case .allowed: return true
    case .grace: break
    case .forbidden(let since):
      context.report(forbidden(since: since, context))
      end(.streamingForbidden, &context)
    }
    return false
  }

  private func forbidden(since: Duration, _ context: ServedContext) -> Violation {
    let time = context.now - since
    return type == .audio ? .audioWhileForbidden(for: time) : .videoWhileForbidden(for: time)
  }

  /// Reports data that has no service; a strict head unit unregisters the app for it.
  private func refuse(_ violation: Violation, _ context: inout ServedContext) {
    context.report(violation)
    if context.configuration.isStrict { context.demand(.unregister(.protocolViolation)) }
  }

  /// Reports frames on another connection than the service's: its data, of which only the first frame is reported, and
  /// its end.
  /// - Returns: whether to ignore the frame.
  mutating func isMisplaced(_ header: FrameHeader, on transport: TransportRole, _ context: inout ServedContext) -> Bool
  {
    guard transport != self.transport, !isClosed else { return false }
    switch header.controlFrame {
    case .endService:
      context.report(.wrongTransport(type, expected: self.transport))
      context.refuse(.endServiceNAK, service: type, on: transport, reason: nil)
    case nil:
      if !isMisplacedDataReported { context.report(.wrongTransport(type, expected: self.transport)) }
      isMisplacedDataReported = true
    // One that crossed the app's own end, or another sender's. It would end the service.
    case .endServiceACK where unacknowledgedEnds == 0 || !isOpen: break
    default: return false
    }
    return true
  }

  /// Nothing was read for this time: ends and prohibitions count from a later time.
  mutating func noteTimeWithoutReading(_ time: Duration, now: Duration) {
    checker.expectBacklog(of: time, now: now)
    // It may have happened in that time.
    func later(_ former: Duration) -> Duration { min(former + time, now) }
    switch state {
    case .closed(let end?, let isKnown): state = .closed(endedAt: later(end), isKnown: isKnown)
    case .open(.grace(let since)): state = .open(.grace(since: later(since)))
    case .open(.forbidden(let since)): state = .open(.forbidden(since: later(since)))
    case .ending(let since): state = .ending(since: later(since))
    case .listed(let since?): state = .listed(forbiddenSince: later(since))
    case .closed(nil, _), .listed(nil), .open(.allowed): break
    }
  }

  // MARK: The end

  /// EndService from the app. The service ends with any answer: a NAK means "not running", and without an answer the
  /// app can only assume the end.
  mutating func answerEnd(
    on transport: TransportRole, _ answer: HeadUnitBehaviour.ControlAnswer, _ context: inout ServedContext
  ) {
    unacknowledgedEnds = 0
    if isClosed, start == nil || transport != self.transport {
      let isFault = !isStartLost && !mayHaveCrossedTheEnd(at: context.now)
      if isFault { context.report(.endOfServiceNotRunning(type)) }
      if answer != .silence { context.refuse(.endServiceNAK, service: type, on: transport, reason: nil) }
      // A second end costs the level; observed on SDL Core, for sound only.
      if isFault, type == .audio, transport == .primary, case .closed(_?, _) = state { context.demand(.refused(type)) }
      return
    }
    switch answer {
    case .acknowledge: context.send(.endServiceACK, service: type, on: transport)
    case .reject: context.refuse(.endServiceNAK, service: type, on: transport, reason: nil)
    case .silence: break
    }
    close(.endedByApp, &context)
  }

  /// Whether data that comes now may have been sent before the app knew that the service had ended.
  private func mayHaveCrossedTheEnd(at now: Duration) -> Bool {
    if case .closed(let endedAt?, isKnown: false) = state { now - endedAt <= CoreLimits.stopStreaming } else { false }
  }

  /// The head unit's own EndService; nothing if the service is not open.
  mutating func end(_ reason: HeadUnitSession.StopReason, _ context: inout ServedContext) {
    guard isOpen else { return }
    context.send(.endService, service: type, on: transport)
    unacknowledgedEnds = 1
    if type == .video, context.behaviour.endsVideoServiceTwice {
      context.send(.endService, service: type, on: transport)
      unacknowledgedEnds = 2
    }
    state = .ending(since: context.now)
    context.timers.arm(endServiceACK, at: context.now + CoreLimits.endServiceACK)
    context.report(checker.stop(reason))
  }

  /// EndService once more.
  mutating func repeatEnd(_ context: inout ServedContext) {
    context.send(.endService, service: type, on: transport)
    unacknowledgedEnds += 1
  }

  /// The app has lost its level, without EndService: data is a violation from now on.
  mutating func forbid(_ context: inout ServedContext) {
    guard isOpen else { return }
    state = .listed(forbiddenSince: context.now)
    context.report(checker.stop(.hmiLevelNone))
  }

  /// EndServiceACK. A second one, of an EndService that was sent twice, changes nothing. Without an EndService the app has
  /// ended the service in answer to one that had crossed its start; SDL Core removes the service then as well.
  mutating func endAcknowledged(_ context: inout ServedContext) {
    let isExpected = unacknowledgedEnds > 0
    unacknowledgedEnds = max(unacknowledgedEnds - 1, 0)
    switch state {
    case .ending: close(.endedByHeadUnit, &context)
    case .open where !isExpected: close(.endedByApp, &context)
    case .open, .closed, .listed: break
    }
  }

  private var endingSince: Duration? { if case .ending(let since) = state { since } else { nil } }

  /// A new start without the acknowledgement of the head unit's own EndService. SDL's libraries for apps never
  /// acknowledge; a strict SDL Core then refuses every start.
  /// - Returns: whether to close the former service.
  private func forgivesMissingAcknowledgement(_ context: inout ServedContext) -> Bool {
    guard let endingSince, !context.configuration.isStrict else { return false }
    let time = context.now - endingSince
    if time < CoreLimits.endServiceACK { context.report(.endServiceNotAcknowledged(type, after: time)) }
    return true
  }

  /// The app has not acknowledged EndService in time.
  func acknowledgementDue(_ context: inout ServedContext) {
    guard let endingSince else { return }
    context.report(.endServiceNotAcknowledged(type, after: context.now - endingSince))
  }

  /// Removes the service, or its start, without EndService; reports it unless its end was reported before.
  mutating func close(_ reason: HeadUnitSession.StopReason, _ context: inout ServedContext) {
    cancelStart(&context)
    context.timers.cancel(endServiceACK)
    if type == .video { context.timers.cancel(.videoData) }
    switch state {
    case .closed: return
    case .listed: state = .closed(endedAt: nil)
    case .ending: state = .closed(endedAt: context.now, isKnown: reason == .endedByHeadUnit)
    case .open:
      state = .closed(endedAt: context.now)
      context.report(checker.stop(reason))
    }
  }

  mutating func secondaryLost(_ context: inout ServedContext) {
    guard transport == .secondary else { return }
    close(.transportLost, &context)
    transport = .primary
  }

  /// The transport is gone, and with it all services.
  mutating func reset() {
    state = .closed(endedAt: nil)
  }
}
