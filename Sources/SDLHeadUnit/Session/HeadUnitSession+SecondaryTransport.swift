import SDLMessages
import SDLWire

/// A second connection of the session, which may carry video and audio (SDL-0141).
///
/// The owner accepts it, and gives the session what comes on it from RegisterSecondaryTransport on.
extension HeadUnitSession {
  /// What becomes of a connection on which RegisterSecondaryTransport has come.
  public enum SecondaryRegistration: Equatable, Sendable {
    /// It is the session's second one. The acknowledgement is among the actions.
    case accepted
    /// It is closed after these frames have been written.
    case refused([UInt8])
    /// It gets no answer; the app gives it up.
    case unanswered
  }

  /// How RegisterSecondaryTransport is refused, with the texts of SDL Core 8.2.
  public enum SecondaryRefusal: String, Sendable {
    case noSessionID = "RegisterSecondaryTransport MUST include a non-zero session ID"
    case unknownSession = "RegisterSecondaryTransport session ID not found"
    case registeredAlready = "RegisterSecondaryTransport session ID has already been registered"
    case notOffered = "No secondary transport is offered"
    case scripted = "The secondary transport is refused"
    /// Gets no answer.
    case notRegistered = "The connection did not begin with RegisterSecondaryTransport"
  }

  /// The answer to RegisterSecondaryTransport that no session takes; of protocol 5 then, as from SDL Core.
  public static func refusal(
    of header: FrameHeader, _ reason: SecondaryRefusal, version: UInt8 = 5
  ) -> [UInt8] {
    Frame.control(
      .registerSecondaryTransportNAK, service: .control, version: version, sessionID: header.sessionID, messageID: 2,
      payload: ServiceRejection(reason: reason.rawValue).bytes(version: version)
    ).bytes
  }

  /// RegisterSecondaryTransport with the id of this session has come on another connection. If it is accepted, the
  /// connection's further frames are inputs of ``receive(_:on:now:)``.
  public mutating func registerSecondaryTransport(
    _ frame: Frame, now: Duration
  ) -> (SecondaryRegistration, [Action]) {
    guard link == .connected, let rpcService else {
      return (.refused(Self.refusal(of: frame.header, .unknownSession)), [])
    }
    let registration = answerRegistration(frame, rpcService, now: now)
    return (registration, takeActions())
  }

  private mutating func answerRegistration(
    _ frame: Frame, _ rpcService: RPCService, now: Duration
  ) -> SecondaryRegistration {
    if let reason = reasonToRefuseSecondary(rpcService) {
      report(.secondaryTransportRefused(reason))
      return .refused(Self.refusal(of: frame.header, reason, version: rpcService.headerVersion))
    }
    guard behaviour.secondaryRegistration != .silence else { return .unanswered }
    noteTraffic(now: now)
    hasSecondaryTransport = true
    send(.registerSecondaryTransportACK, service: .control, on: .secondary, messageID: 2)
    report(.secondaryTransportRegistered)
    if behaviour.secondaryRegistration == .acknowledgeAndClose { closeSecondaryTransport(now: now) }
    return .accepted
  }

  private func reasonToRefuseSecondary(_ rpcService: RPCService) -> SecondaryRefusal? {
    if hasSecondaryTransport { return .registeredAlready }
    guard rpcService.offersSecondaryTransport, behaviour.secondaryTransport == .served else { return .notOffered }
    return behaviour.secondaryRegistration == .reject ? .scripted : nil
  }

  /// The second connection is gone. Its services are over, without EndService; the session goes on.
  public mutating func secondaryTransportLost(now: Duration) -> [Action] {
    endSecondaryTransport(now: now)
    return takeActions()
  }

  /// The owner has to close the second connection, if there is one, and need not say that it is gone.
  mutating func closeSecondaryTransport(now: Duration) {
    guard hasSecondaryTransport else { return }
    actions.append(.closeSecondary)
    endSecondaryTransport(now: now)
  }

  private mutating func endSecondaryTransport(now: Duration) {
    guard hasSecondaryTransport else { return }
    hasSecondaryTransport = false
    for service in [ServiceType.audio, .video] where transport(of: service) == .secondary {
      closeMedia(service, .transportLost, now: now)
      setTransport(.primary, of: service)
    }
    report(.secondaryTransportLost)
  }
}

/// The offer.
extension HeadUnitSession {
  /// Where the owner takes second connections of this session; nil while it does not. The app is told if it is offered
  /// that (``HeadUnitBehaviour/SecondaryTransportOffer/served``).
  public mutating func setServedTransport(_ address: TransportEventUpdate?, now: Duration) -> [Action] {
    guard address != servedTransport else { return [] }
    servedTransport = address
    if behaviour.secondaryTransport == .served { offerChanged(now: now) }
    return takeActions()
  }

  /// The address that the app is told; nil while there is none.
  var offeredTransport: TransportEventUpdate? {
    switch behaviour.secondaryTransport {
    case .off: nil
    case .elsewhere(let address): address
    case .served: servedTransport
    }
  }

  /// The app is told of an address late if the behaviour says so, and of its end at once.
  mutating func offerChanged(now: Duration) {
    guard rpcService?.offersSecondaryTransport == true else { return }
    if offeredTransport != nil, let delay = behaviour.secondaryTransportDelay {
      timers.arm(.transportEventUpdate, at: now + delay)
    } else {
      timers.cancel(.transportEventUpdate)
      sendTransportEventUpdate()
    }
  }

  /// The address of the secondary transport; empty once it is withdrawn.
  mutating func sendTransportEventUpdate() {
    let update = offeredTransport ?? TransportEventUpdate(address: nil, port: nil)
    send(.transportEventUpdate, service: .control, payload: update.bytes)
  }

  /// The lists of StartServiceACK(RPC), and what they mean for services.
  mutating func offerTransports(in acknowledgement: inout RPCServiceAcknowledgement) {
    // Over plain TCP SDL Core offers no other transport by default, and lists none.
    let isOffered = behaviour.secondaryTransport != .off
    func allowed(_ configured: [TransportRole]?) -> [TransportRole] {
      (configured ?? [.primary, .secondary]).filter { $0 == .primary || isOffered }
    }
    rpcService?.offersSecondaryTransport = isOffered
    rpcService?.audioTransports = allowed(behaviour.audioTransports)
    rpcService?.videoTransports = allowed(behaviour.videoTransports)
    acknowledgement.secondaryTransports = isOffered ? ["TCP_WIFI"] : []
    acknowledgement.audioServiceTransports = rpcService?.audioTransports.map(\.rawValue)
    acknowledgement.videoServiceTransports = rpcService?.videoTransports.map(\.rawValue)
  }
}

/// Which connection carries what.
extension HeadUnitSession {
  /// The connection of the service that runs, is ending, or waits for its answer; otherwise of the last one.
  func transport(of service: ServiceType) -> TransportRole {
    service == .audio ? audioTransport : service == .video ? videoTransport : .primary
  }

  mutating func setTransport(_ transport: TransportRole, of service: ServiceType) {
    if service == .audio { audioTransport = transport } else { videoTransport = transport }
    wrongTransportReports.remove(service)
  }

  /// Whether the lists of the acknowledgement allow the service there.
  func allows(_ service: ServiceType, on transport: TransportRole) -> Bool {
    guard let rpcService else { return false }
    return (service == .audio ? rpcService.audioTransports : rpcService.videoTransports).contains(transport)
  }

  /// Refuses a start on a connection that the lists exclude. SDL Core asks nobody then, so that the HMI level stays.
  mutating func refuseMisplaced(_ service: ServiceType, on transport: TransportRole) {
    guard let rpcService else { return }
    let refusal = rejection([], reason: "The service is not allowed on the \(transport) transport")
    send(
      .startServiceNAK, service: service, on: transport, payload: refusal.bytes(version: rpcService.headerVersion))
    report(service == .audio ? .audioRefused(refusal) : .videoRefused(refusal))
  }

  /// Reports what comes on a connection where it does not belong: all but media and heartbeats on the secondary one, and
  /// the data and the end of a service elsewhere than where it was started. Of data only the first frame is reported.
  /// - Returns: whether the frame is to be ignored.
  mutating func isMisplaced(_ header: FrameHeader, on transport: TransportRole) -> Bool {
    let service = header.service
    switch service {
    case .rpc, .hybrid, .control:
      guard transport == .secondary else { return false }
      switch header.controlFrame {
      case .heartbeat, .heartbeatACK, .registerSecondaryTransport: return false
      default: report(.wrongTransport(service, expected: .primary))
      }
    case .audio, .video:
      let expected = self.transport(of: service)
      guard transport != expected, isOpen(service) else { return false }
      switch header.controlFrame {
      case .endService:
        report(.wrongTransport(service, expected: expected))
        sendEndServiceNAK(service, on: transport)
      case nil:
        if wrongTransportReports.insert(service).inserted { report(.wrongTransport(service, expected: expected)) }
      default: return false
      }
    }
    return true
  }
}
