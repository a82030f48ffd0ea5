import SDLWire

/// The common part of the video and audio services: the app's request, the lifecycle of the service, and its transport.
protocol RequestedService: Sendable {
  associatedtype Request: ServiceRequest
  associatedtype Grant: StreamGrant

  /// The app's request; nil for none.
  var request: Request? { get set }
  var transport: ServiceTransport { get set }
  var lifecycle: StreamLifecycle<Request> { get set }
  /// Of the present service, or of the last one.
  var lastGrant: Grant? { get set }
  /// Of the last service that has ended.
  var end: AppSession.ServiceEnd? { get set }

  static var type: ServiceType { get }
  /// The demanded state of the service, without regard to its transport.
  func unplacedDemand(_ context: SessionContext, beside other: some RequestedService) -> StreamDemand<Request>
  /// The content of a StartServiceACK.
  func answer(payload: [UInt8], _ context: inout SessionContext) -> Request.Answer
  mutating func perform(_ outputs: [StreamLifecycle<Request>.Output], _ context: inout SessionContext)
}

extension RequestedService {
  var status: AppSession.ServiceStatus<Grant> {
    AppSession.ServiceStatus(grant: grant, state: lifecycle.summary, end: end, wait: transport.reportedWait)
  }

  /// The right to send; nil while no byte may go out.
  var grant: Grant? { isOpen ? lastGrant : nil }

  var isClosed: Bool { lifecycle.state == .closed }

  var isOpen: Bool { if case .open = lifecycle.state { true } else { false } }

  /// The secondary transport carries it, and it has not ended.
  var isOnSecondary: Bool { transport.role == .secondary && !isClosed }

  var isStarting: Bool { if case .starting = lifecycle.state { true } else { false } }

  private func demand(_ context: SessionContext, beside other: some RequestedService) -> StreamDemand<Request> {
    transport.placed(unplacedDemand(context, beside: other), placement(context, beside: other), isClosed: isClosed)
  }

  /// Where the service can start now.
  func placement(_ context: SessionContext, beside other: some RequestedService) -> ServicePlacement {
    let binding = binding(context, beside: other)
    let placement = transport.placement(beside: context.secondary, binding: binding, now: context.now)
    // Sound gives way if no transport is allowed for both.
    if Self.type == .audio, isEncryptedBeside(other, context), let binding, !transport.allows(binding) {
      return .impossible(.noTransport)
    }
    return placement
  }

  /// Whether both are wanted, and are to be encrypted.
  private func isEncryptedBeside<Other: RequestedService>(_ other: Other, _ context: SessionContext) -> Bool {
    other.request != nil && [Self.type, Other.type].allSatisfy(context.security.asksForEncryption)
  }

  /// The transport that carries the service if it may: TLS numbers the records of a session, and two connections do not
  /// keep them in order.
  private func binding<Other: RequestedService>(_ context: SessionContext, beside other: Other) -> TransportRole? {
    guard context.security.asksForEncryption(of: Self.type) else { return nil }
    let isBesideOther = isEncryptedBeside(other, context)
    // Sound can't stay beside RPCs where video can't.
    if context.security.isRPCEncrypted, Self.type == .video || !isBesideOther { return .primary }
    guard isBesideOther else { return nil }
    if other.transport.allows(.primary) { return .primary }
    return context.secondary.isRegistered && other.transport.allows(.secondary) ? .secondary : nil
  }

  /// Whether a start has to wait for the other service. Sound does not start while a start of video waits for its
  /// answer: a refusal costs the app its level, unless its other service runs already. A session has one TLS (SDL-0322):
  /// of two starts with the E bit, the second one waits for the answer to the first, and for the end of the other
  /// service's records on another transport.
  private func startWaits<Other: RequestedService>(for other: Other, _ context: SessionContext) -> Bool {
    guard isClosed, !other.isClosed else { return false }
    if Self.type == .audio, other.isStarting { return true }
    guard context.security.asksForEncryption(of: Self.type) else { return false }
    if other.isStarting { return context.security.isAskedFor(Other.type) }
    return context.security.isEncrypted(Other.type)
      && placement(context, beside: other) != .start(on: other.transport.role)
  }

  /// Acts on the difference between the demanded and the present state.
  ///
  /// - Throws: ``AppSessionFailure/encryptedTransportLost`` if records that may be in flight elsewhere could be overtaken.
  mutating func reconcile(
    _ context: inout SessionContext, beside other: some RequestedService
  ) throws(AppSessionFailure) {
    var demand = demand(context, beside: other)
    if case .stream = demand, startWaits(for: other, context) { demand = .hold }
    let placement = placement(context, beside: other)
    let wasClosed = isClosed
    let outputs = lifecycle.reconcile(demand, now: context.now)
    if wasClosed, isStarting {
      transport.starts(placement)
      if other.lifecycle.history.isShortlyAfterRefusal(now: context.now) { lifecycle.followsRefusal = true }
      let isOvertaking = TransportRole.allCases.contains {
        $0 != transport.role && context.security.hasRecordsInFlight(on: $0, now: context.now)
      }
      if isOvertaking, context.security.asksForEncryption(of: Self.type) { throw .encryptedTransportLost }
    }
    perform(outputs, &context)
  }

  /// A control frame of the service, on the transport that carries it.
  mutating func receive(
    _ control: ControlFrame, _ frame: Frame, _ context: inout SessionContext, beside other: some RequestedService
  ) throws(AppSessionFailure) {
    switch control {
    case .startServiceACK:
      try acceptProtection(isEncrypted: frame.header.isEncrypted, &context)
      let answer = answer(payload: frame.payload, &context)
      perform(lifecycle.acknowledged(answer, demand(context, beside: other), now: context.now), &context)
    case .startServiceNAK:
      let rejection = context.security.refused(Self.type, ServiceRejection(payload: frame.payload))
      perform(lifecycle.refused(rejection, demand(context, beside: other), now: context.now), &context)
    case .endServiceACK, .endServiceNAK: endConfirmed(&context)
    default: context.messenger.diagnose("ignored control frame \(control) on \(frame.header.service)")
    }
  }

  /// Whether an acknowledgement of the start that is under way may be followed; if not, the service is ended.
  private mutating func acceptProtection(
    isEncrypted: Bool, _ context: inout SessionContext
  ) throws(AppSessionFailure) {
    guard isStarting else { return }
    do throws(AppSessionFailure) {
      try context.security.acknowledged(Self.type, isEncrypted: isEncrypted, on: transport.role, &context.messenger)
    } catch {
      context.messenger.send(.endService, Self.type, on: transport.role)
      throw error
    }
  }

  /// The right to send that the acknowledgement of a start gives, with its `mtu`.
  func mediaGrant(mtu: Int64?, _ context: inout SessionContext) -> MediaGrant {
    let isEncrypted = context.security.isEncrypted(Self.type)
    let limit = context.messenger.maximumPayload(mtu: mtu, on: transport.role)
    return MediaGrant(
      service: Self.type, epoch: context.messenger.nextEpoch(), sessionID: context.messenger.sessionID,
      version: context.messenger.version,
      maximumPayload: isEncrypted ? SecurePayload.plaintextLimit(limit) : limit, isEncrypted: isEncrypted,
      role: transport.role)
  }

  /// EndServiceACK or EndServiceNAK. A late one is not about the service that has begun since.
  private mutating func endConfirmed(_ context: inout SessionContext) {
    if !isOpen { context.security.endConfirmed(Self.type) }
    lifecycle.endConfirmed()
  }

  /// Gives up a start that is not answered.
  mutating func giveUp(_ context: inout SessionContext) {
    perform(lifecycle.giveUp(now: context.now), &context)
  }

  mutating func advance(_ context: inout SessionContext) {
    perform(lifecycle.advance(now: context.now), &context)
  }

  mutating func endedByHeadUnit(_ context: inout SessionContext) {
    if isOpen { context.security.endedByHeadUnit(Self.type, now: context.now) }
    perform(lifecycle.endedByHeadUnit(now: context.now), &context)
  }

  /// The secondary transport is gone: the head unit drops its services by itself.
  mutating func secondaryLost(_ context: inout SessionContext) {
    if transport.role == .secondary { perform(lifecycle.transportLost(now: context.now), &context) }
  }

  /// Ends the service because the session ends. EndService is only sent if the app ends the session, since otherwise
  /// the session is already gone.
  mutating func stop(_ reason: StreamStopReason, _ context: inout SessionContext) {
    let outputs = lifecycle.reconcile(.closed(reason), now: context.now)
    perform(reason == .app ? outputs : outputs.filter { $0 != .sendEndService }, &context)
  }

  func sendEndService(_ context: inout SessionContext) {
    if !context.hasUnregistered { context.messenger.send(.endService, Self.type, on: transport.role) }
  }

  /// Whether a failed start has to be reported: an app without a request has nothing to decide.
  func isAskedFor(_ context: SessionContext) -> Bool { context.isRegistered && request != nil }

  /// The secondary transport is left if it may be the reason for a start that has failed.
  mutating func avoidSecondary(after failure: StreamStartFailure<Request>, _ context: inout SessionContext) {
    if let reason = transport.startFailed(failure, now: context.now) {
      context.changeSecondary { $0.failed(reason, now: $1) }
    }
  }

  /// Notes whether the service can't start because no transport may carry it.
  mutating func updateWait(_ context: SessionContext, beside other: some RequestedService) {
    var wait: TransportWait?
    if isClosed, case .stream = unplacedDemand(context, beside: other),
      case .impossible(let reason) = placement(context, beside: other)
    {
      wait = reason
    }
    transport.updateWait(wait, now: context.now)
  }
}
