import SDLMessages
import SDLWire

/// The state that all parts of a session share: its settings, the time of the present input, its timers, and the output
/// to the app and to the owner.
struct ServedContext: Sendable {
  /// The transport underneath.
  enum Link: Equatable, Sendable {
    case disconnected
    case connected
    /// `close` was requested; later input is ignored.
    case closing
  }

  /// A request of a part to the session. It is carried out once the part has returned.
  enum Consequence: Equatable, Sendable {
    /// A start of this service was refused, which may cost the app its HMI level.
    case refused(ServiceType)
    case unregister(UnregisteredReason)
    /// The session ends with EndService(RPC).
    case endSession
    case close
    /// UnregisterAppInterface has come, and has to be answered.
    case unregisterByApp(RPCMessage)
    case registered
    /// Other rates of video may have been announced.
    case capabilityAnnounced
    /// The handshake for which the start of this service waits is over; nil if it was successful.
    case handshakeEnded(ServiceType, failure: ServedHandshakeFailure?)
    /// A frame on the secondary transport has made the TLS channel useless.
    case encryptionLost
  }

  /// SDL Core numbers notifications with −1.
  private static let notificationCorrelationID: Int32 = -1

  private static let mostAnswerMembers = 100

  /// With the present offer to the next app.
  private(set) var configuration: HeadUnitConfiguration
  let sessionID: UInt8
  let hashID: Int32
  /// The configured behaviour with later changes.
  var behaviour: HeadUnitBehaviour
  /// The time of the present input.
  var now = Duration.zero
  var link = Link.disconnected
  var rpcService: RPCService?
  var encryption = Encryption()
  var screen = ScreenConditions()
  /// The present language of the head unit; an app with another one gets WRONG_LANGUAGE.
  var language: String
  /// With later changes.
  private(set) var policies: PolicyTable
  /// What they grant the app of the session.
  private(set) var policy: AppPolicy
  /// The car's readings, as far as a script has set them.
  var vehicle: JSONObject = [:]
  var timers = TimerTable()
  /// The warning in the response to the present request, if that is carried out.
  var requestWarning: String?
  /// What a script changes in answers that are still to come, by their correlation ids.
  private var answerMembers: [Int32: JSONObject] = [:]
  private var actions: [HeadUnitSession.Action] = []
  private var consequences: [Consequence] = []
  /// How many hashes were sent to the app (OnHashChange).
  private var hashCount: UInt32 = 0
  /// The limit of reports of violations, because an app can cause one with every frame.
  private var violations = RateLimit(limit: 100, window: .seconds(1))
  private var isLeavingOutViolations = false

  init(_ configuration: HeadUnitConfiguration, sessionID: UInt8, connectionID: UInt16) {
    self.configuration = configuration
    self.sessionID = sessionID
    behaviour = configuration.behaviour
    language = configuration.language
    policies = configuration.policy
    policy = Self.policy(of: "", in: policies)
    hashID = Int32(sessionID) << 16 | Int32(connectionID)
  }

  /// The header version of the session, or the lowest.
  var headerVersion: UInt8 { rpcService?.headerVersion ?? 1 }

  /// Whether there are so many violations that another is not reported.
  var areViolationsLeftOut: Bool { violations.isReached(at: now) }

  /// Applies a change for all apps.
  mutating func apply(_ change: HeadUnitConditions.Change) {
    switch change {
    case .event(let event, let isActive): screen.set(event, isActive: isActive)
    case .activationStatus(let status): screen.activationStatus = status
    case .vehicle(let reading): vehicle[reading.name] = reading.value
    case .policy(let change): policies.apply(change)
    case .videoSilence, .language: break
    }
  }

  mutating func offer(_ capability: VideoStreamingCapability?, screen: VideoSize) {
    configuration.videoCapability = capability
    configuration.screen = screen
  }

  /// An app is registered, or the policies have changed.
  mutating func applyPolicies(to id: String) {
    policy = Self.policy(of: id, in: policies)
  }

  private static func policy(of id: String, in policies: PolicyTable) -> AppPolicy {
    policies.policy(of: id) ?? AppPolicy([:])
  }

  // MARK: To the owner

  mutating func report(_ event: HeadUnitSession.Event) {
    actions.append(.report(event))
  }

  mutating func report(_ violation: Violation) {
    report(.violation(violation))
  }

  /// Reports a message, if the owner wants that.
  mutating func note(_ message: @autoclosure () -> ConversationMessage) {
    if configuration.reportsMessages { report(.message(message())) }
  }

  mutating func close(_ scope: HeadUnitSession.CloseScope = .session) {
    guard link == .connected else { return }
    link = .closing
    timers.cancelAll()
    actions.append(.close(scope))
  }

  mutating func closeSecondary() {
    actions.append(.closeSecondary)
  }

  mutating func takeActions() -> [HeadUnitSession.Action] {
    defer { actions = [] }
    return actions
  }

  /// Drops the violations of an input if there have been too many. That is reported once, until there are fewer again.
  mutating func limitViolations() {
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

  /// Adds a request of a part to the session.
  mutating func demand(_ consequence: Consequence) {
    consequences.append(consequence)
  }

  /// Drops the requests that end the registration, the session, or the transport.
  /// - Returns: whether there were any.
  mutating func forgoEnds() -> Bool {
    let count = consequences.count
    consequences.removeAll {
      switch $0 {
      case .unregister, .endSession, .close: true
      default: false
      }
    }
    return consequences.count < count
  }

  mutating func takeConsequence() -> Consequence? {
    consequences.isEmpty ? nil : consequences.removeFirst()
  }

  // MARK: Control frames

  /// Sends a control frame of the session, or one in the given version before there is a session.
  mutating func send(
    _ control: ControlFrame, service: ServiceType, on transport: TransportRole = .primary, version: UInt8? = nil,
    sessionID: UInt8? = nil, messageID: UInt32? = nil, isEncrypted: Bool = false, payload: [UInt8] = []
  ) {
    let version = version ?? headerVersion
    let id = messageID ?? rpcService?.takeMessageID() ?? 0
    var frame = Frame.control(
      control, service: service, version: version, sessionID: sessionID ?? self.sessionID,
      messageID: version > 1 ? id : 0, payload: payload)
    frame.header.isEncrypted = isEncrypted
    note(ConversationMessage(control, frame, by: .headUnit, on: transport))
    actions.append(transport == .primary ? .send(frame.bytes) : .sendOnSecondary(frame.bytes))
    if isEncrypted, encryption.garblesFinished {
      encryption.garblesFinished = false
      let queries = SecurityQuery.handshake(
        ServedSecurity.garbage, type: SecurityQuery.request, sequenceNumber: 0, limit: maximumPayload(of: .control))
      for query in queries { send(query) }
    }
    // SDL Core forgets its counter with the service, also in the middle of a session.
    if control == .endServiceACK { rpcService?.resetMessageID() }
  }

  /// Refuses a start or an end. The text exists since protocol 5.3.
  /// - Returns: the text for the app.
  @discardableResult
  mutating func refuse(
    _ control: ControlFrame, service: ServiceType, on transport: TransportRole = .primary, sessionID: UInt8? = nil,
    _ parameters: [String] = [], reason: String?
  ) -> ServiceRejection {
    let hasReason = (rpcService?.protocolVersion ?? ProtocolVersion(1)) >= ProtocolVersion(5, 3)
    let rejection = ServiceRejection(rejectedParameters: parameters, reason: hasReason ? reason : nil)
    send(
      control, service: service, on: transport, sessionID: sessionID, payload: rejection.bytes(version: headerVersion))
    return rejection
  }

  /// Refuses RegisterSecondaryTransport that has come on a transport of the session.
  mutating func refuseSecondaryTransport(
    _ refusal: HeadUnitSession.SecondaryRefusal, on transport: TransportRole = .primary, version: UInt8? = nil,
    sessionID: UInt8? = nil
  ) {
    let rejection = ServiceRejection(reason: refusal.rawValue)
    send(
      .registerSecondaryTransportNAK, service: .control, on: transport, version: version, sessionID: sessionID,
      messageID: 2, payload: rejection.bytes(version: version ?? headerVersion))
  }

  // MARK: RPCs

  mutating func notify(_ function: FunctionID, _ parameters: JSONObject, bulk: [UInt8] = []) {
    send(
      RPCMessage(
        type: .notification, function: function, correlationID: Self.notificationCorrelationID, parameters: parameters,
        bulk: bulk))
  }

  /// Sends the app a hash that no other session has used.
  mutating func sendNewHash() -> String {
    hashCount &+= 1
    let hash = "\(hashID)-\(hashCount)"
    notify(.onHashChange, ["hashID": .string(hash)])
    return hash
  }

  /// - Parameter warning: turns SUCCESS into WARNINGS with this text; nil for the warning of the present request.
  mutating func respond(to request: RPCMessage, _ parameters: JSONObject, warning: String? = nil) {
    var parameters = parameters
    if let warning = warning ?? requestWarning, parameters["resultCode"]?.string == ResultCode.success.rawValue {
      parameters["resultCode"] = .string(ResultCode.warnings.rawValue)
      parameters["info"] = .string(warning)
    }
    if !answerMembers.isEmpty, let members = answerMembers.removeValue(forKey: request.correlationID) {
      parameters.merge(members) { $1 }
    }
    send(
      RPCMessage(
        type: .response, function: request.function, correlationID: request.correlationID, parameters: parameters))
  }

  mutating func setMembers(_ members: JSONObject, ofAnswerTo request: RPCMessage) {
    // An answer that never comes must not be remembered for ever.
    if answerMembers.count >= Self.mostAnswerMembers { answerMembers = [:] }
    answerMembers[request.correlationID] = members
  }

  mutating func forgetAnswerMembers() {
    answerMembers = [:]
  }

  mutating func respond(to request: RPCMessage, success: Bool, _ code: ResultCode, info: String? = nil) {
    respond(to: request, RPCResult(success: success, resultCode: code, info: info).json)
  }

  /// - Parameter info: says why, and names the member.
  mutating func refuse(_ request: RPCMessage, _ code: ResultCode, _ info: String) {
    respond(to: request, success: false, code, info: info)
  }

  /// SUCCESS with further members.
  mutating func respond(to request: RPCMessage, with members: JSONObject) {
    respond(to: request, RPCResult(success: true, resultCode: .success).json.merging(members) { result, _ in result })
  }

  /// Answers a request that waited until now.
  mutating func respond(
    to function: FunctionID, _ correlationID: Int32, _ code: ResultCode, with members: JSONObject = [:],
    warning: String?
  ) {
    let request = RPCMessage(type: .request, function: function, correlationID: correlationID)
    let result = RPCResult(success: code == .success, resultCode: code).json
    respond(to: request, result.merging(members) { $1 }, warning: warning)
  }

  /// Answers a request of a session that is not this one, in clear.
  mutating func send(_ response: RPCMessage, inForeignSessionOf header: FrameHeader) {
    note(ConversationMessage(sender: .headUnit, content: .rpc(response)))
    let payload = response.payload
    let fragmentation = Fragmentation(
      service: response.service, version: header.version, sessionID: header.sessionID,
      messageID: rpcService?.takeMessageID() ?? 0, payloadSize: payload.count, maximumPayload: maximumPayload(of: .rpc))
    actions.append(.send(fragmentation.frames(of: payload)))
  }

  mutating func send(_ message: RPCMessage) {
    guard let version = rpcService?.headerVersion else { return }
    // SDL Core drops notifications that it may not send in clear.
    if message.type == .notification, needsProtection(message.function) { return }
    let payload = message.payload
    let id = rpcService?.takeMessageID() ?? 0
    let limit = maximumPayload(of: .rpc)
    let isProtected = isEncrypted(message)
    note(ConversationMessage(sender: .headUnit, content: .rpc(message), isEncrypted: isProtected))
    if isProtected, let channel = encryption.established {
      let message = ProtectedMessage(
        service: message.service, version: version, sessionID: sessionID,
        messageID: id, payload: payload, maximumPayload: limit)
      guard let frames = try? message.frames(encryptedBy: channel) else { return close() }
      return actions.append(.send(frames))
    }
    let fragmentation = Fragmentation(
      service: message.service, version: version, sessionID: sessionID,
      messageID: payload.count > limit ? id & 0xFF : id, payloadSize: payload.count, maximumPayload: limit)
    actions.append(.send(fragmentation.frames(of: payload)))
  }

  mutating func send(_ query: SecurityQuery) {
    guard let version = rpcService?.headerVersion else { return }
    let bytes = query.bytes
    let fragmentation = Fragmentation(
      service: .control, version: version, sessionID: sessionID, messageID: rpcService?.takeMessageID() ?? 0,
      payloadSize: bytes.count, maximumPayload: maximumPayload(of: .control))
    actions.append(.send(fragmentation.frames(of: bytes)))
  }

  /// In bytes. The libraries on phones drop frames whose payload reaches mtu − 12.
  func maximumPayload(of service: ServiceType) -> Int {
    configuration.frameLimits.maximumPayload(version: headerVersion, service: service) - 13
  }

  /// Whether all RPCs have to be encrypted once the service is, except for some. Otherwise the app chooses for each, as
  /// with SDL Core.
  var demandsRPCEncryption: Bool { configuration.requiresRPCEncryption || configuration.security == .require }

  /// Whether RPCs of this function must not go in clear, and the service is in clear.
  func needsProtection(_ function: FunctionID) -> Bool {
    configuration.requiresRPCEncryption && !encryption.isRPCEncrypted && policy.protects(function)
  }

  /// Answers are encrypted as soon as the service is, notifications if the policy demands it.
  private func isEncrypted(_ message: RPCMessage) -> Bool {
    encryption.isRPCEncrypted && (message.type != .notification || demandsRPCEncryption)
  }
}

/// Numbers of SDL Core 8.2 (smartDeviceLink.ini as shipped, where not said otherwise).
enum CoreLimits {
  /// MalformedFrequencyCount, MalformedFrequencyTime.
  static let malformedFrames = RateLimit(limit: 10, window: .milliseconds(1000))
  /// FrequencyCount, FrequencyTime; the data of audio and video is exempt. (SDL Core exempts their control frames as
  /// well, so that an app can have it answer starts as fast as they come.)
  static let frames = RateLimit(limit: 1000, window: .milliseconds(1000))
  /// AppRequestsTimeScale…
  static let requests = RateLimit(limit: 1000, window: .seconds(10))
  /// HeartBeatTimeout.
  static let heartbeat = Duration.milliseconds(7000)
  /// StopStreamingTimeout.
  static let stopStreaming = Duration.milliseconds(1000)
  /// VideoDataStoppedTimeout.
  static let videoDataStopped = Duration.milliseconds(1000)
  /// GetVehicleDataRequest.
  static let vehicleDataRequests = RateLimit(limit: 5, window: .seconds(1))
  /// How long the app may take to exchange the policies with the maker, in seconds (`timeout_after_x_seconds` of
  /// sdl_preloaded_pt.json).
  static let policyExchange = 60
  /// From RegisterAppInterface to its answer; a start of video in this time is not answered (observed on SDL Core).
  static let registration = Duration.milliseconds(10)
  /// From the registration to the policy update (observed on SDL Core).
  static let policyUpdate = Duration.seconds(2)
  /// ApplicationResumingTimeout: from the registration to the former HMI level.
  static let resumption = Duration.seconds(3)
  /// For a TLS handshake. SDL Core has no limit (70 s were observed); an app that stalls must not keep its place.
  static let handshake = Duration.seconds(10)
  /// TLS handshakes of one session.
  static let handshakes = RateLimit(limit: 10, window: .seconds(10))
  /// Those of them that a start on the secondary transport may begin.
  static let secondaryHandshakes = RateLimit(limit: 3, window: .seconds(10))
  /// After this time SDL Core no longer expects EndServiceACK: data is a violation then. It keeps the service without
  /// limit.
  static let endServiceACK = stopStreaming
}
