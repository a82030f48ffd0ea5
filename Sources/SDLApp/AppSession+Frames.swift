/// Frames: the start and the end of the session, control frames, heartbeats.
extension AppSession {
  /// More runs of garbage than this within a second end the session, as in SDL Core.
  private static let maximumGarbageRate = 10
  /// How long to wait for OnAppInterfaceUnregistered, with its reason, after the head unit has ended the session.
  private static let reasonTimeout = Duration.milliseconds(500)
  /// The smallest frame payload that is used, in bytes: with less, most of what is sent would be headers.
  private static let minimumPayload: Int64 = 256
  /// The largest frame payload that is used, in bytes.
  private static let maximumPayload: Int64 = 4 << 20

  /// The first frame has a header of version 1; only apps of protocol 5 name their version in its payload.
  mutating func startSession() {
    let asked = configuration.maximumProtocolVersion
    let request = RPCServiceRequest(protocolVersion: asked.major >= 5 ? asked : nil)
    phase = .startingSession(deadline: now + configuration.sessionTimeout)
    send(.control(.startService, service: .rpc, version: 1, sessionID: 0, payload: request.bytes))
  }

  mutating func receiveGarbage(_ firstBytes: [UInt8]) {
    garbageTimes.append(now)
    garbageTimes.removeAll { now - $0 >= .seconds(1) }
    guard hasReceivedFrame, garbageTimes.count <= Self.maximumGarbageRate else {
      return fail(.notSDL(firstBytes: firstBytes))
    }
    actions.append(.report(.diagnostic("skipped bytes that are no frame: \(firstBytes)")))
  }

  mutating func receive(_ frame: Frame) {
    hasReceivedFrame = true
    heartbeat.frameReceived(now: now)
    let header = frame.header
    if case .startingSession = phase {
      // Head units send it right behind the acknowledgement, which control frames can overtake.
      if header.controlFrame == .transportEventUpdate { return receiveTransportUpdate(frame) }
      return receiveSessionAnswer(frame)
    }
    guard header.sessionID == sessionID else {
      return actions.append(.report(.diagnostic("ignored a frame of session \(header.sessionID)")))
    }
    guard let frame = decrypted(frame) else { return }
    if let control = header.controlFrame {
      return receive(control, frame)
    }
    do {
      guard let message = try assembler.accept(frame, now: now) else { return }
      receive(message)
    } catch {
      actions.append(.report(.diagnostic("dropped a frame of \(header.service): \(error)")))
    }
  }

  private mutating func receiveSessionAnswer(_ frame: Frame) {
    guard frame.header.service == .rpc else { return }
    switch frame.header.controlFrame {
    case .startServiceACK:
      let acknowledgement = RPCServiceAcknowledgement(payload: frame.payload, version: frame.header.version)
      let offered =
        acknowledgement.protocolVersion ?? ProtocolVersion(Int(frame.header.version))
      let negotiated = min(configuration.maximumProtocolVersion, offered)
      guard negotiated.major >= 3 else { return fail(.unsupportedProtocol(version: "\(offered)")) }
      version = UInt8(clamping: min(negotiated.major, 5))
      sessionID = frame.header.sessionID
      hashID = acknowledgement.hashID
      sessionMTU = acknowledgement.mtu
      headUnit = HeadUnitInfo(acknowledgement, protocolVersion: negotiated)
      noteTransports(acknowledgement, negotiated)
      heartbeat.start(interval: configuration.heartbeatInterval, now: now)
      actions.append(.report(.sessionStarted(negotiated)))
      register()
    case .startServiceNAK:
      fail(.sessionRefused(reason: ServiceRejection(payload: frame.payload).reason))
    default:
      break
    }
  }

  private mutating func receive(_ control: ControlFrame, _ frame: Frame) {
    switch (control, frame.header.service) {
    case (.heartbeat, _):
      send(
        .control(
          .heartbeatACK, service: .control, version: version, sessionID: sessionID,
          messageID: frame.header.messageID))
    case (.heartbeatACK, _): heartbeat.answered(now: now)
    case (.transportEventUpdate, _): receiveTransportUpdate(frame)
    case (.serviceDataACK, _): break
    case (_, .audio), (_, .video): receiveMediaControl(control, frame, on: .primary)
    case (.endService, .rpc):
      acknowledgeEnd(of: .rpc, on: .primary)
      endedByHeadUnit()
    case (.endService, let service): acknowledgeEnd(of: service, on: .primary)
    case (.startServiceACK, .rpc): rpcProtectionAcknowledged(isEncrypted: frame.header.isEncrypted)
    case (.startServiceNAK, .rpc): rpcProtectionRefused(ServiceRejection(payload: frame.payload))
    case (.endServiceACK, .rpc), (.endServiceNAK, .rpc):
      if case .finishing(.endingSession, _) = phase { end() }
    default:
      actions.append(.report(.diagnostic("ignored control frame \(control) on \(frame.header.service)")))
    }
  }

  private mutating func acknowledgeEnd(of service: ServiceType, on role: TransportRole) {
    send(.control(.endServiceACK, service: service, version: version, sessionID: sessionID), on: role)
  }

  /// A control frame of the audio or video service.
  mutating func receiveMediaControl(_ control: ControlFrame, _ frame: Frame, on role: TransportRole) {
    let service = frame.header.service
    if control == .endService {
      // Unanswered, the head unit would keep the service and refuse to start it again.
      acknowledgeEnd(of: service, on: role)
      if service == .video { perform(stream.endedByHeadUnit(now: now)) }
      if service == .audio { perform(audioStream.endedByHeadUnit(now: now)) }
      return
    }
    guard role == (service == .video ? transports.videoRole : transports.audioRole) else {
      actions.append(.report(.diagnostic("ignored \(control) of \(service) on the transport that does not carry it")))
      // What the head unit believes to run there was given up before it answered.
      let end = Frame.control(.endService, service: service, version: version, sessionID: sessionID)
      return control == .startServiceACK ? send(end, on: role) : ()
    }
    switch (control, service) {
    case (.serviceDataACK, _): break
    case (.startServiceACK, .video):
      receiveVideoAcknowledgement(
        VideoServiceParameters(payload: frame.payload), isEncrypted: frame.header.isEncrypted)
    case (.startServiceNAK, .video):
      let rejection = noteRefusal(ServiceRejection(payload: frame.payload))
      perform(stream.refused(rejection, videoDemand, now: now))
    case (.endServiceACK, .video), (.endServiceNAK, .video): stream.endConfirmed()
    case (.startServiceACK, _):
      perform(audioStream.acknowledged(AudioServiceAcknowledgement(payload: frame.payload), audioDemand, now: now))
    case (.startServiceNAK, _):
      perform(audioStream.refused(ServiceRejection(payload: frame.payload), audioDemand, now: now))
    case (.endServiceACK, _), (.endServiceNAK, _): audioStream.endConfirmed()
    default: actions.append(.report(.diagnostic("ignored control frame \(control) on \(service)")))
    }
  }

  private mutating func endedByHeadUnit() {
    stopStreams(.sessionEnded)
    requests.removeAll()
    switch phase {
    case .finishing: end()
    case .endedByHeadUnit: break
    default: phase = .endedByHeadUnit(deadline: now + Self.reasonTimeout)
    }
  }

  /// Begins to end the session step by step; each further step follows an answer.
  mutating func beginFinish() {
    switch phase {
    case .registered:
      stopStreams(.app)
      phase = .finishing(.endingServices, deadline: now + configuration.finishTimeout / 2)
      unregisterIfServicesHaveEnded()
    case .registering:
      // Of the request that is pending.
      phase = .finishing(.awaitingRegistration, deadline: requests.nextDeadline ?? now)
    case .idle, .startingSession, .endedByHeadUnit: end()
    case .finishing, .over: break
    }
  }

  /// Goes on with the end of the session.
  mutating func unregisterIfServicesHaveEnded() {
    guard case .finishing(.endingServices, let deadline) = phase else { return }
    let isVideoEnding = transports.videoRole == .secondary && stream.state != .closed
    let isAudioEnding = transports.audioRole == .secondary && audioStream.state != .closed
    if deadline <= now || !(isVideoEnding || isAudioEnding) { unregister() }
  }

  /// Whether the end of the registration has been asked for. The services end with it: a head unit that acknowledges a start
  /// meanwhile has none left when the answer to that arrives.
  var hasUnregistered: Bool {
    switch phase {
    case .finishing(.unregistering, _), .finishing(.endingSession, _): true
    default: false
    }
  }

  /// Ends the registration, because the app ends.
  mutating func unregister() {
    phase = .finishing(.unregistering, deadline: now + configuration.finishTimeout)
    sendRequest(.unregisterAppInterface, [:])
  }

  /// Ends the session, when the registration has ended or was refused, or when its beginning or end was not answered.
  mutating func endSession() {
    guard case .finishing(let step, let deadline) = phase, step != .endingSession else { return }
    let isFirstStep = step == .awaitingRegistration
    phase = .finishing(.endingSession, deadline: isFirstStep ? now + configuration.finishTimeout : deadline)
    let request = EndServiceRequest(hashID: hashID)
    send(
      .control(
        .endService, service: .rpc, version: version, sessionID: sessionID, payload: request.bytes(version: version)))
  }

  mutating func advanceHeartbeat() {
    guard phase == .registering || phase == .registered else { return }
    switch heartbeat.advance(now: now) {
    case .none: break
    case .send:
      send(
        .control(.heartbeat, service: .control, version: version, sessionID: sessionID, messageID: nextMessageID()))
    case .lost: fail(.heartbeatLost)
    }
  }

  mutating func send(_ frame: Frame) {
    send(frame, on: .primary)
  }

  /// The largest payload of a frame, in bytes, for a service that announced `mtu`. Some head units mean the payload by
  /// it and others the whole frame, so that 12 bytes less suits both. Before protocol 5 nothing is announced, and the
  /// limit of SDL Core holds. The transport may have a lower limit of its own.
  func maximumPayload(mtu: Int64?, on role: TransportRole = .primary) -> Int {
    let announced = mtu ?? sessionMTU ?? Int64(FrameLimits.corePayload)
    let payload = min(max(announced, Self.minimumPayload), Self.maximumPayload) - Int64(FrameHeader.maximumByteCount)
    return min(Int(payload), transportClass(of: role).maximumFramePayload ?? .max)
  }

  func transportClass(of role: TransportRole) -> TransportClass {
    // TransportEventUpdate describes no other one.
    role == .primary ? configuration.primaryTransport : .tcpWiFi
  }
}
