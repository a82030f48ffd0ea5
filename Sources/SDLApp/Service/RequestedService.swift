import SDLWire

/// What the services of video and sound have in common: a request of the app, the way of the service to what that
/// demands, and the transport that carries it.
protocol RequestedService: Sendable {
  associatedtype Request: ServiceRequest

  /// What the app asks for; nil for nothing.
  var request: Request? { get set }
  var transport: ServiceTransport { get set }
  var lifecycle: StreamLifecycle<Request> { get set }

  static var type: ServiceType { get }
  mutating func perform(_ outputs: [StreamLifecycle<Request>.Output], _ context: inout SessionContext)
}

extension RequestedService {
  var state: StreamState { lifecycle.summary }

  var isClosed: Bool { lifecycle.state == .closed }

  var isOpen: Bool { if case .open = lifecycle.state { true } else { false } }

  mutating func advance(_ context: inout SessionContext) {
    perform(lifecycle.advance(now: context.now), &context)
  }

  mutating func endedByHeadUnit(_ context: inout SessionContext) {
    perform(lifecycle.endedByHeadUnit(now: context.now), &context)
  }

  /// The secondary transport is gone: the head unit drops its services by itself.
  mutating func secondaryLost(_ context: inout SessionContext) {
    if transport.role == .secondary { perform(lifecycle.transportLost(now: context.now), &context) }
  }

  /// Ends the service because the session ends. EndService is only sent when the app ends it, since otherwise the
  /// session is already gone.
  mutating func stop(_ reason: StreamStopReason, _ context: inout SessionContext) {
    let outputs = lifecycle.reconcile(.closed(reason), now: context.now)
    perform(reason == .app ? outputs : outputs.filter { $0 != .sendEndService }, &context)
  }

  func sendEndService(_ context: inout SessionContext) {
    if !context.hasUnregistered { context.messenger.send(.endService, Self.type, on: transport.role) }
  }

  /// Whether the app has to hear of a start that has failed: one that asks for nothing any more has nothing to decide.
  func isAskedFor(_ context: SessionContext) -> Bool { context.isRegistered && request != nil }

  /// The secondary transport is left if it may be the reason for a start that has failed.
  mutating func avoidSecondary(after failure: StreamStartFailure<Request>, _ context: inout SessionContext) {
    if let reason = transport.startFailed(failure, now: context.now) {
      context.changeSecondary { $0.failed(reason, now: $1) }
    }
  }

  /// Notes whether the service can't start because no transport may carry it.
  mutating func updateWait(_ demand: StreamDemand<Request>, _ placement: ServicePlacement, now: Duration) {
    var wait: TransportWait?
    if isClosed, case .stream = demand, case .impossible(let reason) = placement { wait = reason }
    transport.updateWait(wait, now: now)
  }
}
