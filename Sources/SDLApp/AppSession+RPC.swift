/// Remote procedure calls: registration, capabilities, notifications.
extension AppSession {
  /// RPC version that first had the video streaming capability.
  private static let capabilityVersion = RPCVersion(4, 5)
  /// RPC version that first had OnAppCapabilityUpdated.
  private static let appCapabilityVersion = RPCVersion(7, 1)

  mutating func register() {
    phase = .registering
    let request = RegisterAppInterface(
      rpcVersion: configuration.maximumRPCVersion, appName: configuration.appName, appID: configuration.appID,
      language: configuration.language, isMediaApplication: configuration.isMediaApplication,
      appTypes: [configuration.appType])
    sendRequest(.registerAppInterface, request.json)
  }

  mutating func sendRequest(_ function: FunctionID, _ parameters: JSONObject) {
    let id = requests.add(
      function, isEncrypted: isRPCEncrypted, deadline: now + configuration.requestTimeout)
    sendRPC(RPCMessage(type: .request, function: function, correlationID: id, parameters: parameters))
  }

  private mutating func sendRPC(_ message: RPCMessage) {
    let payload = message.payload
    if isRPCEncrypted {
      return actions.append(
        .sendProtected(
          ProtectedMessage(
            service: message.service, version: version, sessionID: sessionID, messageID: nextMessageID(),
            payload: payload, maximumPayload: maximumPayload(mtu: sessionMTU))))
    }
    let fragmentation = Fragmentation(
      service: message.service, version: version, sessionID: sessionID, messageID: nextMessageID(),
      payloadSize: payload.count, maximumPayload: maximumPayload(mtu: sessionMTU))
    actions.append(.send(fragmentation.frames(of: payload)))
  }

  mutating func receive(_ message: Message) {
    switch message.header.service {
    case .rpc, .hybrid:
      do {
        receive(try RPCMessage(payload: message.payload), isEncrypted: message.header.isEncrypted)
      } catch {
        actions.append(.report(.diagnostic("ignored an unreadable RPC: \(error)")))
      }
    case .control: receiveSecurityQuery(message.payload)
    case .audio, .video: break
    }
  }

  private mutating func receive(_ message: RPCMessage, isEncrypted: Bool) {
    switch message.type {
    case .response:
      guard let function = requests.take(message, isEncrypted: isEncrypted) else {
        return actions.append(.report(.diagnostic("ignored a response without a request: \(message.function)")))
      }
      receiveResponse(to: function, message.parameters)
    case .notification where !isEncrypted && needsProtection(message.function):
      actions.append(.report(.diagnostic("ignored \(message.function) in clear, which has to be encrypted")))
    case .notification: receiveNotification(message.function, message.parameters, isEncrypted: isEncrypted)
    case .request: actions.append(.report(.diagnostic("ignored request \(message.function)")))
    }
  }

  private mutating func receiveResponse(to function: FunctionID, _ parameters: JSONObject) {
    if RPCResult(json: parameters).resultCode == ResultCode.encryptionNeeded.rawValue { rpcProtectionNeeded() }
    switch function {
    case .registerAppInterface: registered(RegisterAppInterfaceResponse(json: parameters))
    case .getSystemCapability: receiveCapability(RPCResult(json: parameters), SystemCapability(json: parameters))
    case .sendHapticData: receiveHapticAnswer(RPCResult(json: parameters))
    case .unregisterAppInterface: endSession()
    default: break
    }
  }

  mutating func requestExpired(_ function: FunctionID) {
    switch function {
    case .registerAppInterface:
      if case .finishing = phase { return endSession() }
      fail(.unanswered(request: "RegisterAppInterface"))
    case .getSystemCapability:
      actions.append(.report(.diagnostic("GetSystemCapability was not answered")))
      capabilityUnavailable()
    case .sendHapticData: receiveHapticAnswer(nil)
    case .unregisterAppInterface: endSession()
    default: break
    }
  }

  private mutating func registered(_ response: RegisterAppInterfaceResponse) {
    if case .finishing(.awaitingRegistration, _) = phase {
      return response.result.success ? unregister() : endSession()
    }
    guard case .registering = phase else { return }
    guard response.result.success else {
      return fail(.registrationRefused(resultCode: response.result.resultCode, info: response.result.info))
    }
    let rpcVersion = min(configuration.maximumRPCVersion, response.rpcVersion ?? configuration.maximumRPCVersion)
    registration = response
    headUnit?.merge(response, rpcVersion: rpcVersion)
    phase = .registered
    if let headUnit { actions.append(.report(.registered(headUnit))) }
    if rpcVersion >= Self.capabilityVersion {
      requestCapability()
    } else {
      capabilityUnavailable()
    }
  }

  private var isInNone: Bool { hmiStatus?.level == nil || hmiStatus?.level == HMILevel.none }

  mutating func requestCapability() {
    guard case .registered = phase else { return }
    capability = .requested(inNone: isInNone)
    sendRequest(.getSystemCapability, GetSystemCapability(type: .videoStreaming, subscribe: true).json)
  }

  private mutating func receiveCapability(_ result: RPCResult, _ answer: SystemCapability) {
    guard case .registered = phase, case .requested(let wasInNone) = capability else { return }
    if result.success, let video = answer.videoStreaming {
      return setCapability(earlyCapabilityUpdate.map(video.updated(by:)) ?? video)
    }
    if result.resultCode == ResultCode.disallowed.rawValue, wasInNone {
      capability = .deferred
      // The level may have changed while the answer was on its way.
      if !isInNone { requestCapability() }
    } else if result.resultCode == ResultCode.encryptionNeeded.rawValue, security.rpc != .refused,
      !isRPCEncrypted
    {
      capability = .needsProtection
    } else {
      actions.append(.report(.diagnostic("no video capability: \(result.resultCode) \(result.info ?? "")")))
      capabilityUnavailable()
    }
  }

  private mutating func setCapability(_ video: VideoStreamingCapability) {
    capability = .known(video)
    headUnit?.videoCapability = video
    stream.startDelay = .zero
    if video.unreadCapabilityCount > 0 {
      let count = video.unreadCapabilityCount
      actions.append(
        .report(.diagnostic("the head unit's list of video capabilities is too long: \(count) were cut off")))
    }
    // The running service may be shown in another place from now on; where the capability does not show its size any
    // more, it is about to end.
    if let size = videoGrant?.size, let geometry = announcedGeometry(of: size) {
      if geometry.display != videoGeometry?.display { interruptTouches() }
      videoGeometry = geometry
    }
    actions.append(.report(.videoCapability(video, fallbackSize: fallbackSize)))
  }

  /// Goes on without a capability: head units before RPC 4.5 take H.264 in the size of their screen.
  mutating func capabilityUnavailable() {
    guard case .registered = phase else { return }
    if let earlyCapabilityUpdate { return setCapability(earlyCapabilityUpdate) }
    let isVideoSupported = registration?.videoStreaming ?? registration?.graphicSupported ?? true
    guard isVideoSupported else { return fail(.videoNotSupported) }
    capability = .unavailable
    stream.startDelay = configuration.legacyStartDelay
    actions.append(.report(.videoCapability(nil, fallbackSize: fallbackSize)))
  }

  /// Sends the head unit, once in a session, those of the entries of its capability that the app supports (SDL-0296).
  /// Displays of a list that it has replaced are not among them: SDL-0332 wants a part of what it announces.
  mutating func announceSupportedDisplays() {
    guard !hasAnnouncedDisplays, case .known(let video) = capability, let version = headUnit?.rpcVersion,
      version >= Self.appCapabilityVersion
    else { return }
    let supported = Set(supportedDisplays.map(\.identity))
    let entries = VideoDisplay.entries(of: video).filter { supported.contains($0.display.identity) }.map(\.entry)
    guard !entries.isEmpty else { return }
    hasAnnouncedDisplays = true
    sendRPC(
      RPCMessage(
        type: .notification, function: .onAppCapabilityUpdated, correlationID: 0,
        parameters: OnAppCapabilityUpdated(supported: entries).json))
  }

  private mutating func receiveNotification(
    _ function: FunctionID, _ parameters: JSONObject, isEncrypted: Bool
  ) {
    budget.charge(function == .onTouchEvent ? .zero : InputBudget.change, now: now)
    switch function {
    case .onHMIStatus: receive(HMIStatus(json: parameters))
    case .onSystemCapabilityUpdated:
      if let update = SystemCapability(json: parameters).videoStreaming { mergeCapability(update) }
    case .onDriverDistraction:
      actions.append(.report(.driverDistraction(OnDriverDistraction(json: parameters))))
    case .onTouchEvent: receive(OnTouchEvent(json: parameters))
    case .onAppInterfaceUnregistered:
      if case .finishing = phase { return endSession() }
      fail(.unregistered(reason: OnAppInterfaceUnregistered(json: parameters).reasonText))
    case .onPermissionsChange:
      haptics.permissionsChanged()
      let permissions = OnPermissionsChange(json: parameters)
      notePolicy(permissions.protection, isEncrypted: isEncrypted)
      if permissions.requiresEncryption { rpcProtectionNeeded() }
    default:
      // Policy updates, icons, languages, hashes: no stream depends on them, and none has to be answered.
      break
    }
  }

  private mutating func receive(_ status: HMIStatus) {
    guard status.windowID == 0 else { return }
    guard status.level != nil else {
      return actions.append(.report(.diagnostic("ignored an HMI status with an unknown level")))
    }
    if hmiStatus?.level != status.level { haptics.permissionsChanged() }
    // SDL Core sends touches in FULL only, so that the end of a finger that is down now would never come.
    if hmiStatus?.level == .full, status.level != .full { interruptTouches() }
    hmiStatus = status
    actions.append(.report(.hmiStatus(status)))
    if capability == .deferred, !isInNone { requestCapability() }
  }

  /// Members that an update leaves out are unchanged.
  private mutating func mergeCapability(_ update: VideoStreamingCapability) {
    guard case .registered = phase else { return }
    switch capability {
    case .known(let current):
      let inUse = displayInUse
      let merged = current.updated(by: update, inUse: inUse?.display)
      noteChange(of: inUse, by: update)
      if merged != current { setCapability(merged) }
    case .unavailable: setCapability(update)
    case .unknown, .requested, .deferred, .needsProtection:
      earlyCapabilityUpdate = earlyCapabilityUpdate?.updated(by: update) ?? update
    }
  }
}
