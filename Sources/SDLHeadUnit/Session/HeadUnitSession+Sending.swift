import SDLMessages
import SDLWire

extension HeadUnitSession {
  /// SDL Core numbers notifications with −1.
  private static let notificationCorrelationID: Int32 = -1

  mutating func report(_ event: Event) {
    actions.append(.report(event))
  }

  mutating func report(_ violation: Violation) {
    report(.violation(violation))
  }

  /// Leaves out the violations that an input has caused if there have been too many. That is reported once, until there
  /// are fewer again.
  mutating func limitViolations(now: Duration) {
    guard actions.contains(where: { if case .report(.violation) = $0 { true } else { false } }) else { return }
    actions = actions.compactMap { action in
      guard case .report(.violation) = action else { return action }
      guard violations.exceeds(at: now) else {
        isLeavingOutViolations = false
        return action
      }
      if isLeavingOutViolations { return nil }
      isLeavingOutViolations = true
      return .report(.violation(.tooManyViolations(limit: violations.limit, within: violations.window)))
    }
  }

  mutating func close(_ scope: CloseScope = .session) {
    guard link == .connected else { return }
    link = .closing
    assembler = Self.makeAssembler()
    timers.cancelAll()
    actions.append(.close(scope))
  }

  /// Sends a control frame of the session, or one in the given version before there is a session.
  mutating func send(
    _ control: ControlFrame, service: ServiceType, on transport: TransportRole = .primary, version: UInt8? = nil,
    sessionID: UInt8? = nil, messageID: UInt32? = nil, isEncrypted: Bool = false, payload: [UInt8] = []
  ) {
    let version = version ?? rpcService?.headerVersion ?? 1
    let id = messageID ?? takeMessageID()
    var frame = Frame.control(
      control, service: service, version: version, sessionID: sessionID ?? self.sessionID,
      messageID: version > 1 ? id : 0, payload: payload)
    frame.header.isEncrypted = isEncrypted
    actions.append(transport == .primary ? .send(frame.bytes) : .sendOnSecondary(frame.bytes))
    // SDL Core forgets its counter with the service, also in the middle of a session.
    if control == .endServiceACK { rpcService?.nextMessageID = 0 }
  }

  /// - Parameter foreignID: the id of a session that is not this one.
  mutating func send(_ message: RPCMessage, sessionID foreignID: UInt8? = nil) {
    guard let rpcService else { return }
    // SDL Core drops notifications that it may not send in clear.
    if message.type == .notification, needsProtection(message.function) { return }
    let payload = message.payload
    let id = takeMessageID()
    // The libraries on phones drop frames whose payload reaches mtu − 12.
    let limit = configuration.frameLimits.maximumPayload(version: rpcService.headerVersion, service: .rpc) - 13
    if foreignID == nil, isEncrypted(message), let channel = security.established {
      let message = ProtectedMessage(
        service: message.service, version: rpcService.headerVersion, sessionID: sessionID,
        messageID: id, payload: payload, maximumPayload: limit)
      guard let frames = try? message.frames(encryptedBy: channel) else { return close() }
      return actions.append(.send(frames))
    }
    let fragmentation = Fragmentation(
      service: message.service, version: rpcService.headerVersion, sessionID: foreignID ?? sessionID,
      messageID: payload.count > limit ? id & 0xFF : id, payloadSize: payload.count, maximumPayload: limit)
    actions.append(.send(fragmentation.frames(of: payload)))
  }

  /// Answers are encrypted as soon as the service is, notifications if the policy demands it.
  private func isEncrypted(_ message: RPCMessage) -> Bool {
    security.isRPCEncrypted && (message.type != .notification || demandsRPCEncryption)
  }

  mutating func send(_ query: SecurityQuery) {
    guard let rpcService else { return }
    let bytes = query.bytes
    let fragmentation = Fragmentation(
      service: .control, version: rpcService.headerVersion, sessionID: sessionID, messageID: takeMessageID(),
      payloadSize: bytes.count,
      maximumPayload: configuration.frameLimits.maximumPayload(version: rpcService.headerVersion, service: .control)
        - 13)
    actions.append(.send(fragmentation.frames(of: bytes)))
  }

  mutating func notify(_ function: FunctionID, _ parameters: JSONObject, bulk: [UInt8] = []) {
    send(
      RPCMessage(
        type: .notification, function: function, correlationID: Self.notificationCorrelationID, parameters: parameters,
        bulk: bulk))
  }

  /// - Parameter warning: what SUCCESS has to be told with, as WARNINGS; nil for that of the present request.
  mutating func respond(to request: RPCMessage, _ parameters: JSONObject, warning: String? = nil) {
    var parameters = parameters
    if let warning = warning ?? requestWarning, parameters["resultCode"]?.string == ResultCode.success.rawValue {
      parameters["resultCode"] = .string(ResultCode.warnings.rawValue)
      parameters["info"] = .string(warning)
    }
    send(
      RPCMessage(
        type: .response, function: request.function, correlationID: request.correlationID, parameters: parameters))
    if parameters["success"]?.bool == true { noteChange(by: request.function) }
  }

  mutating func respond(to request: RPCMessage, success: Bool, _ code: ResultCode, info: String? = nil) {
    respond(to: request, RPCResult(success: success, resultCode: code, info: info).json)
  }

  /// A NAK's reason text exists since protocol 5.3.
  func rejection(_ parameters: [String], reason: String?) -> ServiceRejection {
    let hasReason = (rpcService?.protocolVersion ?? ProtocolVersion(1)) >= ProtocolVersion(5, 3)
    return ServiceRejection(rejectedParameters: parameters, reason: hasReason ? reason : nil)
  }

  private mutating func takeMessageID() -> UInt32 {
    defer { rpcService?.nextMessageID &+= 1 }
    return rpcService?.nextMessageID ?? 0
  }
}
