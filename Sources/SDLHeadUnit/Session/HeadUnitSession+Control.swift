import SDLMessages
import SDLWire

/// The RPC service, and the control frames that belong to no service in particular.
extension HeadUnitSession {
  mutating func startRPCService(_ frame: Frame, on transport: TransportRole, now: Duration) {
    guard transport == .primary else {
      report(.wrongTransport(.rpc, expected: .primary))
      return refuseRPCService(frame, on: transport)
    }
    switch behaviour.rpcStart {
    case .silence: return
    case .reject: return refuseRPCService(frame)
    case .acknowledge: break
    }
    if rpcService != nil, frame.header.isEncrypted, frame.header.sessionID == sessionID {
      return protectRPC(now: now)
    }
    guard rpcService == nil else {
      report(.startWhileActive(.rpc))
      return refuseRPCService(frame)
    }
    // A session gets its id from the head unit.
    guard frame.header.sessionID == 0 else {
      report(.sessionID(expected: 0, got: frame.header.sessionID))
      return refuseRPCService(frame)
    }
    let maximum = configuration.maximumProtocolVersion
    // SDL Core takes a payload that it can't read for none.
    guard maximum.major >= 5, let payload = try? BSONDocument(decoding: frame.payload) else {
      let version = min(configuration.maximumHeaderVersion, 4)
      acknowledgeSession(version: version, protocolVersion: ProtocolVersion(Int(version)), now: now)
      return
    }
    // SDL Core reads no version without a minor part.
    guard let text = payload.string("protocolVersion"), text.contains("."),
      let wanted = ProtocolVersion(text), wanted.major >= 5
    else { return refuseRPCService(frame) }
    acknowledgeSession(version: 5, protocolVersion: min(wanted, maximum), now: now)
  }

  private mutating func refuseRPCService(_ frame: Frame, on transport: TransportRole = .primary) {
    let header = frame.header
    // SDL Core copies the version of the request: an old header, so no payload.
    send(
      .startServiceNAK, service: .rpc, on: transport, version: header.version, sessionID: header.sessionID,
      messageID: 0,
      payload: header.version < 5 ? [] : BSONDocument().bytes)
  }

  /// Whether the RPC service runs, which is what makes a session.
  public var isStarted: Bool { rpcService != nil }

  /// Refuses a StartService(RPC) for a further session of the same transport, because there are as many as may be.
  public mutating func refuseSession(_ frame: Frame) -> [Action] {
    guard link == .connected else { return [] }
    refuseRPCService(frame)
    return takeActions()
  }

  private mutating func acknowledgeSession(version: UInt8, protocolVersion: ProtocolVersion, now: Duration) {
    rpcService = RPCService(
      headerVersion: version, isVersionSettled: version >= 5, protocolVersion: protocolVersion, hashID: hashID)
    var acknowledgement = RPCServiceAcknowledgement()
    acknowledgement.protocolVersion = protocolVersion
    acknowledgement.hashID = hashID
    acknowledgement.mtu = Int64(configuration.frameLimits.payload)
    if protocolVersion >= ProtocolVersion(5, 1) { offerTransports(in: &acknowledgement) }
    if protocolVersion >= ProtocolVersion(5, 4) {
      let vehicle = configuration.vehicle
      acknowledgement.make = vehicle.make
      acknowledgement.model = vehicle.model
      acknowledgement.modelYear = vehicle.modelYear
      acknowledgement.trim = vehicle.trim
      acknowledgement.systemSoftwareVersion = vehicle.systemSoftwareVersion
      acknowledgement.systemHardwareVersion = vehicle.systemHardwareVersion
    }
    send(.startServiceACK, service: .rpc, payload: acknowledgement.bytes(version: version))
    if offeredTransport != nil { offerChanged(now: now) }
  }

  mutating func receiveControl(_ frame: Frame, on transport: TransportRole, now: Duration) {
    guard let control = frame.header.controlFrame, let rpcService else { return }
    switch control {
    case .heartbeat: answerHeartbeat(frame.header, on: transport, now: now)
    case .heartbeatACK: break
    case .startService: startService(frame, on: transport, now: now)
    case .endService: endService(frame, on: transport, now: now)
    case .endServiceACK: endAcknowledged(frame.header.service, now: now)
    case .registerSecondaryTransport:
      // This transport is one of the session's already.
      send(
        .registerSecondaryTransportNAK, service: .control, on: transport, messageID: 2,
        payload: ServiceRejection(reason: SecondaryRefusal.registeredAlready.rawValue)
          .bytes(version: rpcService.headerVersion))
    case .startServiceACK, .startServiceNAK, .endServiceNAK, .registerSecondaryTransportACK,
      .registerSecondaryTransportNAK, .transportEventUpdate, .serviceDataACK:
      report(.unexpectedControlFrame(control, frame.header.service))
    }
  }

  private mutating func startService(_ frame: Frame, on transport: TransportRole, now: Duration) {
    switch frame.header.service {
    case .video: startVideo(frame, on: transport, now: now)
    case .audio: startAudio(isEncrypted: frame.header.isEncrypted, on: transport, now: now)
    case .control, .rpc, .hybrid:
      let refusal = rejection([], reason: "This service is not supported")
      send(
        .startServiceNAK, service: frame.header.service,
        payload: refusal.bytes(version: rpcService?.headerVersion ?? 1))
    }
  }

  private mutating func endService(_ frame: Frame, on transport: TransportRole, now: Duration) {
    let service = frame.header.service
    switch service {
    case .rpc: endRPCService(frame, now: now)
    case .video, .audio: endMedia(service, on: transport, now: now)
    case .control, .hybrid:
      report(.endOfServiceNotRunning(service))
      sendEndServiceNAK(service)
    }
  }

  private mutating func endRPCService(_ frame: Frame, now: Duration) {
    let version = rpcService?.headerVersion ?? 1
    let given = EndServiceRequest(payload: frame.payload, version: version).hashID
    guard version == 1 || given == hashID else {
      report(.hashID(expected: hashID, got: given))
      return sendEndServiceNAK(.rpc, rejected: ["hashId"])
    }
    switch behaviour.serviceEnd {
    case .reject: return sendEndServiceNAK(.rpc)
    case .acknowledge: send(.endServiceACK, service: .rpc)
    case .silence: break
    }
    // The transport stays open, as with SDL Core: the app closes it.
    endRegistration(.sessionEndedByApp, now: now)
    endSession(now: now)
  }

  mutating func sendEndServiceNAK(
    _ service: ServiceType, on transport: TransportRole = .primary, rejected: [String] = []
  ) {
    let refusal = rejection(rejected, reason: rejected.isEmpty ? nil : "Wrong hash")
    send(
      .endServiceNAK, service: service, on: transport, payload: refusal.bytes(version: rpcService?.headerVersion ?? 1))
  }

  /// Ends the session; the app may start another on the same transport.
  mutating func endSession(now: Duration) {
    closeSecondaryTransport(now: now)
    rpcService = nil
    assembler = Self.makeAssembler()
    resetSecurity()
    heartbeat = nil
    timers.cancelAll()
  }

  mutating func loseTransport(now: Duration) {
    link = .disconnected
    resumeReading(now: now)
    closeMedia(.transportLost, now: now)
    video = .closed(endedAt: nil)
    audio = .closed(endedAt: nil)
    endRegistration(.transportLost, now: now)
    endSession(now: now)
  }
}
