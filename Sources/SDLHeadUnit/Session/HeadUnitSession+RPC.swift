import SDLMessages
import SDLWire

/// Requests and notifications of the app, after its registration.
extension HeadUnitSession {
  mutating func receiveRPC(_ message: Message, now: Duration) {
    guard message.header.version >= 2 else {
      // Protocol 1 has other RPC payloads, which are not supported.
      return report(.headerVersion(expected: rpcService?.headerVersion ?? 2, got: message.header.version))
    }
    let rpc: RPCMessage
    do {
      rpc = try RPCMessage(payload: message.payload)
    } catch {
      report(.malformedRPC(error))
      if case .parameters(let header) = error, header.type == .request { answerMalformed(header, now: now) }
      return
    }
    let isRefused = !message.header.isEncrypted && refusesInClear(rpc)
    switch rpc.type {
    case .request: receiveRequest(rpc, headerVersion: message.header.version, isRefused: isRefused, now: now)
    case .notification: if !isRefused { receiveNotification(rpc) }
    case .response: break  // No request was sent.
    }
  }

  private mutating func answerMalformed(_ header: RPCHeader, now: Duration) {
    let request = RPCMessage(
      type: .request, function: FunctionID(rawValue: header.functionID), correlationID: header.correlationID)
    refuseInvalid(request, now: now)
  }

  private mutating func refuseInvalid(_ request: RPCMessage, now: Duration) {
    if request.function == .registerAppInterface {
      return refuseRegistration(request, .invalidData, now: now)
    }
    respond(to: request, success: false, app == nil ? .applicationNotRegistered : .invalidData)
  }

  /// The request as SDL Core understands it, with a warning of what it has left out; nil if it is invalid.
  private mutating func checked(_ received: RPCMessage) -> RPCMessage? {
    guard let members = RequestSchemas.members(of: received.function.description) else { return received }
    var report = RPCSchema.Report()
    guard let parameters = RPCSchema.checked(received.parameters, members, &report) else { return nil }
    var request = received
    request.parameters = parameters
    requestWarning = report.text ?? (app?.files).flatMap { MissingImages.warning(of: parameters, files: $0) }
    return request
  }

  /// - Parameter isRefused: because it is not encrypted.
  private mutating func receiveRequest(
    _ received: RPCMessage, headerVersion: UInt8, isRefused: Bool, now: Duration
  ) {
    if isFlooding(now: now) { return }
    guard received.correlationID >= 0 else {
      return respond(to: received, success: false, .invalidID)
    }
    if received.function == .registerAppInterface, app == nil { bindVersion(headerVersion) }
    guard app != nil || received.function == .registerAppInterface else {
      return respond(to: received, success: false, .applicationNotRegistered)
    }
    guard let request = checked(received) else { return refuseInvalid(received, now: now) }
    defer { requestWarning = nil }
    if request.function == .registerAppInterface { return register(request, now: now) }
    guard let app else { return }
    if isRefused { return respond(to: request, success: false, .encryptionNeeded) }
    switch request.function {
    case .unregisterAppInterface:
      sendEndService(.audio, reason: .unregistered, now: now)
      sendEndService(.video, reason: .unregistered, now: now)
      respond(to: request, success: true, .success)
      endRegistration(.requestedByApp, now: now)
    case .getSystemCapability where app.rpcVersion >= RPCVersion(4, 5):
      answerSystemCapability(request, now: now)
    case .sendHapticData where app.rpcVersion >= RPCVersion(4, 5):
      answerHapticData(request, app)
    default:
      answerOther(request, app, now: now)
    }
  }

  /// SDL Core unregisters apps that send too many requests.
  private mutating func isFlooding(now: Duration) -> Bool {
    guard app != nil, requests.exceeds(at: now) else { return false }
    report(.tooManyRequests(limit: requests.limit, within: requests.window))
    unregister(.tooManyRequests, now: now)
    return true
  }

  private mutating func answerSystemCapability(_ request: RPCMessage, now: Duration) {
    switch behaviour.systemCapability {
    case .silence: return
    case .result(let code, let success): return respond(to: request, success: success, code)
    case .regular: break
    }
    guard let name = request.parameters["systemCapabilityType"]?.string,
      request.parameters["subscribe"].map({ $0.bool != nil }) ?? true
    else {
      return respond(to: request, success: false, .invalidData)
    }
    let parameters = GetSystemCapability(json: request.parameters)
    guard parameters.type == .videoStreaming else { return answerOtherCapability(name, request) }
    guard let configured = configuration.videoCapability else {
      return respond(to: request, success: false, .dataNotAvailable)
    }
    if let subscribe = parameters.subscribe { app?.isSubscribedToVideoCapability = subscribe }
    let result = RPCResult(success: true, resultCode: .success).json
    let capability = SystemCapability(type: .videoStreaming, videoStreaming: configured).json
    respond(to: request, result.merging(capability) { first, _ in first })
    app?.knowsVideoCapability = true
    sendDeferredUpdate(now: now)
  }

  /// Of anything but video. It never changes, so that a subscription has no effect.
  private mutating func answerOtherCapability(_ name: String, _ request: RPCMessage) {
    if name == "REMOTE_CONTROL" {
      let mayControl = app?.types.contains(.remoteControl) ?? false
      return respond(to: request, success: false, mayControl ? .dataNotAvailable : .disallowed)
    }
    guard let (member, capability) = SystemCapabilities.capability(name) else {
      return respond(to: request, success: false, .unsupportedResource)
    }
    let result = RPCResult(success: true, resultCode: .success).json
    let answer: JSONObject = ["systemCapabilityType": .string(name), member: capability]
    respond(to: request, result.merging(["systemCapability": .object(answer)]) { first, _ in first })
  }

  private mutating func answerHapticData(_ request: RPCMessage, _ app: RegisteredApp) {
    guard app.mayStream, configuration.policy.allows(.sendHapticData, at: app.status.level) else {
      return respond(to: request, success: false, .disallowed)
    }
    guard let data = SendHapticData(validating: request.parameters) else {
      return respond(to: request, success: false, .invalidData)
    }
    respond(to: request, success: true, .success)
    for fault in hapticRules.faults(of: data.rectangles) { report(.haptics(fault)) }
    report(.hapticRectangles(data.rectangles))
  }

  /// The capabilities that the app may know; GetSystemCapability keeps answering with the configured one.
  private var offeredCapabilities: [VideoStreamingCapability] {
    [configuration.videoCapability, capability].compactMap(\.self)
  }

  private mutating func receiveNotification(_ notification: RPCMessage) {
    guard let app else { return }
    switch notification.function {
    case .onHMIStatus:
      report(.appHMIStatus(HMIStatus(json: notification.parameters)))
    case .onAppCapabilityUpdated:
      guard app.status.level != HMILevel.none else {
        return report(.notificationNotAllowed(notification.function, app.status.level))
      }
      let parameters = OnAppCapabilityUpdated(json: notification.parameters)
      guard parameters.type == .videoStreaming else { return }
      let video = parameters.videoStreaming ?? VideoStreamingCapability()
      for fault in AppCapabilityRules.faults(of: video, offered: offeredCapabilities, rpcVersion: app.rpcVersion) {
        report(.appCapability(fault))
      }
      report(.appCapability(video))
    default: break
    }
  }
}
