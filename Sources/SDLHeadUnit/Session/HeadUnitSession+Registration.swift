import SDLMessages
import SDLWire

/// RegisterAppInterface, and the notifications that follow it.
extension HeadUnitSession {
  mutating func register(_ request: RPCMessage, now: Duration) {
    guard self.app == nil else {
      return refuseRegistration(request, .applicationRegisteredAlready, now: now)
    }
    let parameters = RegisterAppInterface(json: request.parameters)
    guard parameters.isComplete else { return refuseRegistration(request, .invalidData, now: now) }
    // Apps that run in the head unit's own browser are listed in its policies.
    if parameters.appTypes.contains(.webView) { return refuseRegistration(request, .disallowed, now: now) }
    var code = registrationResult(of: request.parameters)
    switch behaviour.registration {
    case .regular: break
    case .silence: return
    case .result(let scripted, success: true): code = scripted
    case .result(let scripted, success: false): return refuseRegistration(request, scripted, now: now)
    }
    let rpcVersion = negotiated(parameters.rpcVersion)
    let app = RegisteredApp(
      parameters, spokenNames: Self.spokenNames(in: request.parameters), rpcVersion: rpcVersion,
      status: HMIStatus(level: HMILevel.none, videoStreamingState: .notStreamable))
    if configuration.refusesTakenNames, let conflict = app.identity.conflict(with: otherApps) {
      return refuseRegistration(request, conflict, now: now)
    }
    self.app = app
    resume(savedApp(for: request.parameters))
    let response = registrationResponse(RPCResult(success: true, resultCode: code), rpcVersion)
    respond(to: request, TemplateCapabilities.added(to: response.json))
    report(
      .appRegistered(
        name: app.identity.name, id: app.identity.id, types: parameters.appTypes,
        protocolVersion: rpcService?.protocolVersion ?? ProtocolVersion(1),
        code == .success && requestWarning != nil ? .warnings : code))
    sendRegistrationNotifications(now: now)
    // What was resumed has a new hash.
    if savedApp(for: request.parameters) != nil { updateHash() }
  }

  private mutating func resume(_ saved: SavedApp?) {
    guard let saved else { return }
    app?.menu = saved.menu
    app?.subscribedButtons = saved.subscribedButtons
  }

  /// Before protocol 5 the app chooses one of the head unit's versions.
  mutating func bindVersion(_ version: UInt8) {
    guard let service = rpcService, !service.isVersionSettled else { return }
    let bound = min(version, service.headerVersion)
    rpcService?.headerVersion = bound
    rpcService?.protocolVersion = ProtocolVersion(Int(bound))
    rpcService?.isVersionSettled = true
  }

  /// SDL Core answers an app below 5.0 with 4.5.1.
  private func negotiated(_ version: RPCVersion) -> RPCVersion {
    min(version.major >= 5 ? version : RPCVersion(4, 5, 1), configuration.rpcVersion)
  }

  /// SDL Core ends the session after a failed registration, unless another one stands in its way.
  mutating func refuseRegistration(_ request: RPCMessage, _ code: ResultCode, now: Duration) {
    respond(to: request, success: false, code)
    let identity = AppIdentity(RegisterAppInterface(json: request.parameters))
    report(.registrationRefused(name: identity.name, id: identity.id, code))
    guard app == nil, code != .applicationRegisteredAlready else { return }
    send(.endService, service: .rpc)
    endSession(now: now)
    close()
  }

  private func registrationResponse(_ result: RPCResult, _ version: RPCVersion) -> RegisterAppInterfaceResponse {
    var response = RegisterAppInterfaceResponse(result: result)
    response.rpcVersion = version
    response.language = configuration.language
    response.graphicSupported = true
    response.screenResolution = configuration.screen
    // `hmiCapabilities.videoStreaming` came with RPC 4.5.
    response.videoStreaming = configuration.rpcVersion >= RPCVersion(4, 5) ? true : nil
    response.pcmFormat = configuration.pcmFormat
    response.make = configuration.vehicle.make
    response.model = configuration.vehicle.model
    response.modelYear = configuration.vehicle.modelYear
    response.trim = configuration.vehicle.trim
    response.systemSoftwareVersion = configuration.vehicle.systemSoftwareVersion
    return response
  }

  private mutating func sendRegistrationNotifications(now: Duration) {
    apply(HMIStatus(level: HMILevel.none, videoStreamingState: .notStreamable), now: now)
    if behaviour.activatesBeforePermissions { activateAutomatically(now: now) }
    notify(
      .onPermissionsChange,
      OnPermissionsChange(
        allowedLevels: configuration.policy.levels, requiresEncryption: configuration.requiresRPCEncryption
      ).json)
    if behaviour.sendsCoreNotifications {
      notify(
        .onSystemRequest,
        [
          "requestType": .string("LOCK_SCREEN_ICON_URL"), "url": .string("https://example.invalid/lock-screen.png"),
        ])
      notify(.onDriverDistraction, OnDriverDistraction(isDistractionLimited: false).json)
    }
    if !behaviour.activatesBeforePermissions, let activation = configuration.activation {
      timers.arm(.activation, at: now + activation)
    }
    if let size = behaviour.policyUpdateSize, size > 0 {
      timers.arm(.policyUpdate, at: now + CoreLimits.policyUpdate)
    }
    startScriptedHeartbeat(now: now)
  }

  mutating func sendPolicyUpdate() {
    guard app != nil, let size = behaviour.policyUpdateSize, size > 0 else { return }
    notify(
      .onSystemRequest,
      ["requestType": .string("HTTP"), "fileType": .string("JSON"), "length": .integer(size)],
      bulk: [UInt8](repeating: UInt8(ascii: "p"), count: size))
  }
}
