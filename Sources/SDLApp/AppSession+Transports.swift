/// The secondary transport, and which transport carries which service (protocol specification, "Secondary transports"). RPCs
/// and the TLS handshake stay on the primary one.
extension AppSession {
  /// What the head unit allows, and what is used.
  struct Transports: Equatable, Sendable {
    var secondary: SecondaryTransport
    /// The transports that may carry each service, in the head unit's order of preference.
    var audioRoles = TransportRole.preferences(nil)
    var videoRoles = TransportRole.preferences(nil)
    /// The transport of the present service, or of the last one.
    var audioRole = TransportRole.primary
    var videoRole = TransportRole.primary
    var videoAvoidance = SecondaryAvoidance()
    var audioAvoidance = SecondaryAvoidance()
    /// What the app has heard last.
    var reported = SecondaryTransportStatus()
    var videoWait = WaitAnnouncement()
    var audioWait = WaitAnnouncement()
  }

  /// What can be done for a service that is asked for.
  enum Placement: Equatable {
    case start(on: TransportRole)
    /// Not before this time, or a change.
    case wait(until: Duration)
    case impossible(TransportWait)
  }

  /// How far the secondary transport has come.
  public var secondaryTransport: SecondaryTransportStatus { transports.secondary.status }

  /// The connection of an attempt (``Action/openSecondary(_:attempt:)``) stands.
  public mutating func secondaryConnected(attempt: UInt32, now: Duration) -> [Action] {
    perform(at: now) { $0.perform($0.transports.secondary.connected(attempt: attempt, now: now)) }
  }

  /// The connection of an attempt could not be made, or is gone.
  /// - Parameter reason: For people, in a form that can follow a colon.
  public mutating func secondaryClosed(attempt: UInt32, reason: String, now: Duration) -> [Action] {
    perform(at: now) { $0.perform($0.transports.secondary.closed(attempt: attempt, reason: reason, now: now)) }
  }

  /// A frame, or garbage, from the secondary transport.
  public mutating func receiveOnSecondary(_ item: FrameDecoder.Item, now: Duration) -> [Action] {
    perform(at: now) { session in
      guard session.transports.secondary.isConnected else { return }
      session.charge(item)
      switch item {
      case .frame(let frame): session.receiveOnSecondary(frame)
      case .garbage: session.abandonSecondary("it sent bytes that are no frame")
      }
    }
  }

  mutating func receiveOnSecondary(_ frame: Frame) {
    let header = frame.header
    if header.controlFrame == .registerSecondaryTransportNAK {
      // It may name another session, since the head unit does not know this one.
      let reason = ServiceRejection(payload: frame.payload).reason.map { ": \($0.prefix(200))" } ?? ""
      return abandonSecondary("the head unit refused it" + reason)
    }
    guard header.sessionID == sessionID, let frame = decrypted(frame, on: .secondary) else { return }
    switch (header.controlFrame, header.service) {
    case (.registerSecondaryTransportACK, _): transports.secondary.accepted(now: now)
    case (.heartbeat, _):
      send(
        .control(
          .heartbeatACK, service: .control, version: version, sessionID: sessionID, messageID: header.messageID),
        on: .secondary)
    case (let control?, .audio), (let control?, .video): receiveMediaControl(control, frame, on: .secondary)
    default:
      actions.append(.report(.diagnostic("ignored a frame of \(header.service) on the secondary transport")))
    }
  }

  mutating func receiveTransportUpdate(_ frame: Frame) {
    budget.charge(InputBudget.change, now: now)
    let former = transports.secondary.announced
    perform(transports.secondary.updated(TransportEventUpdate(payload: frame.payload), now: now))
    // What was of no use is elsewhere.
    if let address = transports.secondary.announced, address != former {
      transports.videoAvoidance = SecondaryAvoidance()
      transports.audioAvoidance = SecondaryAvoidance()
    }
  }

  mutating func noteTransports(_ acknowledgement: RPCServiceAcknowledgement, _ version: ProtocolVersion) {
    transports.secondary.offered(acknowledgement, protocolVersion: version)
    transports.audioRoles = TransportRole.preferences(acknowledgement.audioServiceTransports)
    transports.videoRoles = TransportRole.preferences(acknowledgement.videoServiceTransports)
  }

  /// The secondary transport is of no use; it is tried again after a pause.
  mutating func abandonSecondary(_ reason: String) {
    perform(transports.secondary.failed(reason, now: now))
  }

  /// A head unit that has not answered there, or refused for no reason that another request would mend, may start the service on the
  /// other transport.
  mutating func startFailed<Request>(_ failure: StreamStartFailure<Request>, of service: ServiceType) {
    let role = service == .video ? transports.videoRole : transports.audioRole
    guard role == .secondary else { return }
    let now = now
    switch failure {
    case .unanswered:
      changeAvoidance(of: service) { $0.unanswered(now: now) }
      abandonSecondary("the head unit did not answer the start of a service")
    case .refused(rejectedParameters: [], _): changeAvoidance(of: service) { $0.refused(now: now) }
    default: break
    }
  }

  mutating func started(_ service: ServiceType) {
    if (service == .video ? transports.videoRole : transports.audioRole) == .secondary {
      changeAvoidance(of: service) { $0.started() }
    }
  }

  private mutating func changeAvoidance(of service: ServiceType, _ change: (inout SecondaryAvoidance) -> Void) {
    if service == .video { change(&transports.videoAvoidance) } else { change(&transports.audioAvoidance) }
  }

  /// Whether a service on the secondary transport could go on over the primary one.
  public var canReplaceSecondary: Bool {
    (transports.videoRole == .secondary && transports.videoRoles.contains(.primary))
      || (transports.audioRole == .secondary && transports.audioRoles.contains(.primary))
  }

  /// The driver has opened the app (SDL-0214).
  var isSecondaryWanted: Bool {
    guard case .registered = phase, let level = hmiStatus?.level else { return false }
    return level != .none
  }

  mutating func reconcileSecondary() {
    perform(transports.secondary.reconcile(isWanted: isSecondaryWanted, now: now))
  }

  private mutating func perform(_ outputs: [SecondaryTransport.Output]) {
    // The loss of one may end the session.
    for output in outputs where phase != .over {
      switch output {
      case .open(let address, let attempt): actions.append(.openSecondary(address, attempt: attempt))
      case .register:
        send(
          .control(
            .registerSecondaryTransport, service: .control, version: version, sessionID: sessionID, messageID: 1),
          on: .secondary)
      case .lost: secondaryLost()
      case .close: actions.append(.closeSecondary)
      case .problem(let text): actions.append(.report(.transportProblem(text)))
      case .diagnostic(let text): actions.append(.report(.diagnostic(text)))
      }
    }
  }

  /// The services on it are gone: the head unit drops them by itself.
  private mutating func secondaryLost() {
    // TLS numbers its records, of which some may be lost. No further one could be decrypted.
    let hadRecords = transports.videoRole == .secondary && stream.state != .closed && security.isVideoEncrypted
    if transports.videoRole == .secondary { perform(stream.transportLost(now: now)) }
    if transports.audioRole == .secondary { perform(audioStream.transportLost(now: now)) }
    // The end of the session goes on.
    if case .finishing = phase { return unregisterIfServicesHaveEnded() }
    if hadRecords { fail(.encryptedTransportLost) }
  }

  /// Closes the secondary transport, because the session is over.
  mutating func finishSecondary() {
    perform(transports.secondary.finish())
  }
}

/// Where services run.
extension AppSession {
  var videoPlacement: Placement {
    // TLS numbers the records of a session, and nothing keeps those of two connections in order.
    let staysOnPrimary = isRPCEncrypted && asksForEncryption && transports.videoRoles.contains(.primary)
    return placement(staysOnPrimary ? [.primary] : transports.videoRoles, transports.videoAvoidance)
  }

  var audioPlacement: Placement { placement(transports.audioRoles, transports.audioAvoidance) }

  private func placement(_ allowed: [TransportRole], _ avoidance: SecondaryAvoidance) -> Placement {
    let isAvoided = avoidance.isActive(now: now) && allowed.contains(.primary)
    let roles = isAvoided ? [.primary] : allowed
    for role in roles {
      if role == .primary {
        return transports.secondary.settling(now: now).map { .wait(until: $0) } ?? .start(on: .primary)
      }
      if transports.secondary.isRegistered { return .start(on: .secondary) }
      if let time = transports.secondary.worthWaiting(now: now) { return .wait(until: time) }
    }
    guard roles.contains(.secondary) else { return .impossible(.noTransport) }
    return .impossible(transports.secondary.isPossible ? .secondaryTransport : .secondaryTransportUnused)
  }

  /// What `demand` becomes with the transports that are there: a service moves by its end here and its start there.
  func placed<Request>(
    _ demand: StreamDemand<Request>, _ placement: Placement, isClosed: Bool, role: TransportRole
  ) -> StreamDemand<Request> {
    guard case .stream = demand else { return demand }
    switch placement {
    case .start(let best): return isClosed || best == role ? demand : .closed(.moved)
    case .wait, .impossible: return isClosed ? .closed(.moved) : demand
    }
  }

  /// Tells the app what has changed.
  mutating func reportTransports() {
    guard phase != .over else { return }
    let status = transports.secondary.status
    if status.differs(from: transports.reported) {
      transports.reported = status
      actions.append(.report(.secondaryTransportChanged(status)))
    }
    let videoWait = wait(unplacedVideoDemand, videoPlacement, isClosed: stream.state == .closed)
    if transports.videoWait.update(videoWait, now: now) { actions.append(.report(.videoWaits(videoWait))) }
    let audioWait = wait(unplacedAudioDemand, audioPlacement, isClosed: audioStream.state == .closed)
    if transports.audioWait.update(audioWait, now: now) { actions.append(.report(.audioWaits(audioWait))) }
  }

  private func wait<Request>(
    _ demand: StreamDemand<Request>, _ placement: Placement, isClosed: Bool
  ) -> TransportWait? {
    guard isClosed, case .stream = demand, case .impossible(let wait) = placement else { return nil }
    return wait
  }

  mutating func send(_ frame: Frame, on role: TransportRole) {
    switch role {
    case .primary: actions.append(.send(frame.bytes))
    case .secondary:
      guard transports.secondary.isConnected else { return }
      actions.append(.sendOnSecondary(frame.bytes))
    }
  }
}
