import SDLMessages
import SDLWire

enum SessionPhase: Equatable {
  case idle
  case startingSession(deadline: Duration)
  case registering
  case registered
  /// The head unit ended the session; the reason may still be on its way.
  case endedByHeadUnit(deadline: Duration)
  case finishing(Finish, deadline: Duration)
  case over

  /// Until when the head unit, or the end of the session, is waited for.
  var deadline: Duration? {
    switch self {
    case .startingSession(let deadline), .endedByHeadUnit(let deadline), .finishing(_, let deadline): deadline
    case .idle, .registering, .registered, .over: nil
    }
  }

  /// Steps of ``AppSession/finish(now:)``.
  enum Finish: Equatable {
    /// SDL Core registers an app whose session ends before the answer all the same, and refuses it from then on as
    /// registered already, until it is restarted.
    case awaitingRegistration
    /// Services on the secondary transport. The end of the registration, on the other transport, must not overtake
    /// their end.
    case endingServices
    case unregistering
    case endingSession
  }
}

/// The shared state of an ``AppSession``, and its outgoing messages.
struct SessionContext: Sendable {
  /// RPC version that first had CloseApplication.
  private static let closeVersion = RPCVersion(6)
  /// RPC version that first had OnAppCapabilityUpdated.
  private static let appCapabilityVersion = RPCVersion(7, 1)

  let configuration: AppSession.Configuration
  var now: Duration = .zero
  var phase = SessionPhase.idle
  var hmiStatus: HMIStatus?
  /// Nil until the head unit has sent them.
  private(set) var permissions: AppPermissions?
  var headUnit: HeadUnitInfo?
  var announced = AnnouncedVideo()
  var security: SessionSecurity
  var messenger: SessionMessenger
  private(set) var secondary: SecondaryTransport
  private(set) var reportedSecondary = SecondaryTransportStatus()
  private var hashID: Int32?
  /// The secondary transport was lost, and its services have not been told.
  private var hasLostSecondary = false
  /// The video capability has changed, and neither the service nor the app has been told.
  private var hasCapabilityChanged = false

  init(configuration: AppSession.Configuration, lastEpoch: UInt32, makeSecureChannel: SecureChannelFactory?) {
    self.configuration = configuration
    security = SessionSecurity(configuration, makeChannel: makeSecureChannel)
    messenger = SessionMessenger(configuration, lastEpoch: lastEpoch)
    secondary = SecondaryTransport(
      isEnabled: configuration.usesSecondaryTransport, acceptsLoopback: configuration.acceptsLoopback)
  }

  var isRegistered: Bool { phase == .registered }

  var isRegistrationPending: Bool {
    switch phase {
    case .registering, .finishing(.awaitingRegistration, _): true
    default: false
    }
  }

  /// Whether the end of the registration has been requested. The services end with it: even if the head unit
  /// acknowledges a start meanwhile, the service is gone when that answer arrives.
  var hasUnregistered: Bool {
    switch phase {
    case .finishing(.unregistering, _), .finishing(.endingSession, _): true
    default: false
    }
  }

  /// The driver has opened the app (SDL-0214).
  var isSecondaryWanted: Bool { isRegistered && !isInNone }

  /// Whether the driver has not opened the app.
  var isInNone: Bool { hmiStatus?.level == nil || hmiStatus?.level == HMILevel.none }

  /// The first frame has a header of version 1; only apps of protocol 5 name their version in its payload.
  mutating func startSession() {
    let asked = configuration.maximumProtocolVersion
    let request = RPCServiceRequest(protocolVersion: asked.major >= 5 ? asked : nil)
    phase = .startingSession(deadline: now + configuration.sessionTimeout)
    messenger.send(.startService, .rpc, payload: request.bytes)
  }

  /// The session has begun: registers the app.
  mutating func register(
    _ acknowledgement: RPCServiceAcknowledgement, _ header: FrameHeader
  ) throws(AppSessionFailure) {
    let offered = acknowledgement.protocolVersion ?? ProtocolVersion(Int(header.version))
    let negotiated = min(configuration.maximumProtocolVersion, offered)
    guard negotiated.major >= 3 else { throw .unsupportedProtocol(version: "\(offered)") }
    messenger.begin(
      version: UInt8(clamping: min(negotiated.major, 5)), sessionID: header.sessionID, mtu: acknowledgement.mtu)
    hashID = acknowledgement.hashID
    headUnit = HeadUnitInfo(acknowledgement, protocolVersion: negotiated)
    secondary.offered(acknowledgement, protocolVersion: negotiated)
    messenger.report(.sessionStarted(negotiated))
    phase = .registering
    let registration = RegisterAppInterface(
      rpcVersion: configuration.maximumRPCVersion, appName: configuration.appName, appID: configuration.appID,
      language: configuration.language, isMediaApplication: configuration.isMediaApplication,
      appTypes: [configuration.appType], spokenName: configuration.spokenName, synonyms: configuration.synonyms)
    request(.registerAppInterface, registration.json)
  }

  /// The answer to RegisterAppInterface.
  mutating func registered(_ response: RegisterAppInterfaceResponse) throws(AppSessionFailure) {
    if case .finishing(.awaitingRegistration, _) = phase {
      return response.result.success ? unregister() : endSession()
    }
    guard case .registering = phase else { return }
    guard response.result.success else {
      throw .registrationRefused(resultCode: response.result.resultCode, info: response.result.info)
    }
    let rpcVersion = min(configuration.maximumRPCVersion, response.rpcVersion ?? configuration.maximumRPCVersion)
    headUnit?.merge(response, rpcVersion: rpcVersion)
    phase = .registered
    if let headUnit { messenger.report(.registered(headUnit)) }
    try act(on: announced.registered(response, make: headUnit?.make, rpcVersion: rpcVersion, isInNone: isInNone))
  }

  /// Ends the registration, because the app ends.
  mutating func unregister() {
    phase = .finishing(.unregistering, deadline: now + configuration.finishTimeout)
    // The screen returns to its former content. The answer is not waited for.
    if [.full, .limited].contains(hmiStatus?.level), let version = headUnit?.rpcVersion, version >= Self.closeVersion,
      permissions?.allow(.closeApplication, at: hmiStatus?.level) == true,
      !security.rpc.isPending(for: .closeApplication)
    {
      request(.closeApplication, [:])
    }
    request(.unregisterAppInterface, [:])
  }

  /// The answer to GetSystemCapability.
  mutating func capabilityAnswered(_ result: RPCResult, _ answer: SystemCapability) throws(AppSessionFailure) {
    guard isRegistered else { return }
    let canProtectRPCs = security.rpc.isPossible
    try act(
      on: announced.answered(result, answer, isInNone: isInNone, canProtectRPCs: canProtectRPCs, &messenger))
  }

  /// Whether the head unit has not answered one of the last steps of the end in time.
  ///
  /// - Throws: when it has not begun the session, or has ended it, and no time is left to say why.
  func isUnansweredEnd() throws(AppSessionFailure) -> Bool {
    switch phase {
    case .startingSession(let deadline) where deadline <= now: throw .unanswered(request: "StartService")
    case .endedByHeadUnit(let deadline) where deadline <= now: throw .endedByHeadUnit
    case .finishing(.unregistering, let deadline), .finishing(.endingSession, let deadline): return deadline <= now
    default: return false
    }
  }

  /// Ends the session, when the registration has ended or was refused, or when its beginning or end was not answered.
  mutating func endSession() {
    guard case .finishing(let step, let deadline) = phase, step != .endingSession else { return }
    let isFirstStep = step == .awaitingRegistration
    phase = .finishing(.endingSession, deadline: isFirstStep ? now + configuration.finishTimeout : deadline)
    let request = EndServiceRequest(hashID: hashID)
    messenger.send(.endService, .rpc, payload: request.bytes(version: messenger.version))
  }

  /// Whether the head unit's policy lets the app send or get `function` at the present level, as far as that is known.
  func permit(_ function: FunctionID) -> Bool { permissions?.allow(function, at: hmiStatus?.level) ?? true }

  /// Sends a request, encrypted if RPCs are.
  mutating func request(_ function: FunctionID, _ parameters: JSONObject, bulk: [UInt8] = []) {
    messenger.request(
      function, parameters, bulk: bulk, isEncrypted: security.isRPCEncrypted,
      deadline: now + configuration.requestTimeout)
  }

  /// Tells the head unit, once, which of its displays the app supports.
  mutating func announceSupportedDisplays() {
    guard let version = headUnit?.rpcVersion, version >= Self.appCapabilityVersion,
      !security.rpc.isPending(for: .onAppCapabilityUpdated)
    else { return }
    let entries = announced.takeSupportedEntries()
    guard !entries.isEmpty else { return }
    messenger.notify(
      .onAppCapabilityUpdated, OnAppCapabilityUpdated(supported: entries).json, isEncrypted: security.isRPCEncrypted)
  }

  /// Gives an input to the secondary transport, and carries out its actions.
  mutating func changeSecondary(_ body: (inout SecondaryTransport, Duration) -> [SecondaryTransport.Output]) {
    let outputs = body(&secondary, now)
    messenger.isSecondaryOpen = secondary.isConnected
    for output in outputs {
      switch output {
      case .open(let address, let attempt): messenger.append(.openSecondary(address, attempt: attempt))
      case .register: messenger.send(.registerSecondaryTransport, .control, on: .secondary, messageID: 1)
      case .lost: hasLostSecondary = true
      case .close: messenger.append(.closeSecondary)
      case .problem(let text): messenger.report(.transportProblem(text))
      case .diagnostic(let text): messenger.diagnose(text)
      }
    }
  }

  /// The head unit has another policy for the app.
  mutating func permissionsChanged(_ permissions: OnPermissionsChange, isEncrypted: Bool) {
    self.permissions = AppPermissions(permissions)
    security.note(permissions.protection, isEncrypted: isEncrypted)
  }

  /// Handles a message about the video capability.
  mutating func announce(
    _ body: (inout AnnouncedVideo) -> AnnouncedVideo.Output
  ) throws(AppSessionFailure) {
    if isRegistered { try act(on: body(&announced)) }
  }

  private mutating func act(on output: AnnouncedVideo.Output) throws(AppSessionFailure) {
    switch output {
    case .none: break
    case .request:
      guard permit(.getSystemCapability) else { return try act(on: announced.unavailable()) }
      guard !security.rpc.isPending(for: .getSystemCapability) else { return announced.waitForProtection() }
      request(.getSystemCapability, GetSystemCapability(type: .videoStreaming, subscribe: true).json)
    case .notSupported: throw .videoNotSupported
    case .changed:
      hasCapabilityChanged = true
      headUnit?.videoCapability = announced.capability
      if let count = announced.capability?.unreadCapabilityCount, count > 0 {
        messenger.diagnose("the head unit's list of video capabilities is too long: \(count) were cut off")
      }
    }
  }

  /// Whether the video capability has changed since the last call.
  mutating func takeCapabilityChange() -> Bool {
    defer { hasCapabilityChanged = false }
    return hasCapabilityChanged
  }

  /// The head unit has registered the secondary transport.
  mutating func secondaryAccepted() {
    changeSecondary { secondary, now in
      secondary.accepted(now: now)
      return []
    }
  }

  /// The head unit has refused the secondary transport.
  mutating func secondaryRefused(by frame: Frame) {
    messenger.noteReceived(frame, on: .secondary)
    let rejection = ServiceRejection(payload: frame.payload)
    abandonSecondary("the head unit refused it" + (rejection.reason.map { ": \($0.prefix(200))" } ?? ""))
  }

  /// Reports the state of the secondary transport to the app, if that is news.
  mutating func reportSecondary() {
    let status = secondary.status
    guard status.differs(from: reportedSecondary) else { return }
    reportedSecondary = status
    messenger.report(.secondaryTransportChanged(status))
  }

  /// The secondary transport is of no use; it is tried again after a pause.
  mutating func abandonSecondary(_ reason: String) {
    changeSecondary { $0.failed(reason, now: $1) }
  }

  /// Whether the secondary transport was lost since the last call.
  mutating func takeLossOfSecondary() -> Bool {
    defer { hasLostSecondary = false }
    return hasLostSecondary
  }
}
