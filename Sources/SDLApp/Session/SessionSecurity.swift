import SDLMessages
import SDLWire

/// TLS of a session: the handshake with the head unit, and which services and RPCs are encrypted (protocol
/// specification, "Secure services").
///
/// The head unit is the TLS client and begins, once video, sound or RPCs were requested with the E bit; with head units
/// that are configured as TLS servers, the app begins. One handshake is for the whole session, and only one start of
/// video or sound with the E bit is under way at a time (SDL-0322). The RPC service starts in clear, and is started
/// again with the E bit once the app is registered, if the head unit's policy or the user requires that (SDL-0207).
struct SessionSecurity: Sendable {
  /// The present state of the session that security depends on.
  struct Situation {
    var now: Duration
    /// A start of video is not answered.
    var isVideoStarting: Bool
    /// The same for sound.
    var isAudioStarting: Bool
    /// There is an encrypted service of video or sound.
    var hasEncryptedMedia: Bool

    func isStarting(_ service: ServiceType) -> Bool {
      service == .video && isVideoStarting || service == .audio && isAudioStarting
    }
  }

  enum Output {
    /// A frame that had to wait for the end of the handshake.
    case receive(Frame, on: TransportRole)
    /// The start of this service has failed, because the handshake has.
    case giveUp(ServiceType)
    case rpcProtected
    /// RPCs are not encrypted in this session, although the head unit requires it.
    case rpcInClear
  }

  /// What happens to a frame.
  enum Decrypted {
    case frame(Frame)
    case dropped([Output])
  }

  private struct Handshake {
    let channel: any SecureChannel
    let began: Duration
  }

  /// The time that SDL Core as a TLS server needs to prepare for the handshake: before that, it answers that the
  /// service is not protected.
  private static let handshakeDelay = Duration.milliseconds(300)
  /// The most handshakes that the head unit begins in a session. Each takes some milliseconds.
  private static let maximumHandshakeCount = 100
  /// So many incomplete handshakes in a row mean that the head unit counts one of them as complete, and begins no
  /// other.
  private static let maximumUnfinishedCount = 2
  /// From an encrypted acknowledgement to the end of the handshake that it has overtaken.
  private static let overtakenHandshakeTimeout = Duration.seconds(1)
  /// The most characters of a head unit's text that are passed on.
  private static let maximumTextLength = 200

  private let configuration: AppSession.Configuration
  private let makeChannel: SecureChannelFactory?
  /// The handshake that began last.
  private var handshake: Handshake?
  /// Of those that the head unit has begun; the app's own are ``handshakeDelay`` apart.
  private var handshakeCount = 0
  /// Handshakes in a row that have begun and not completed.
  private var unfinishedCount = 0
  /// When the app as TLS client begins.
  private var handshakeBegin: Duration?
  /// Encrypted acknowledgements that have overtaken the end of the handshake, at most one for each protected service.
  private var heldAcknowledgements: [ServiceType: (frame: Frame, role: TransportRole, time: Duration)] = [:]
  /// Why there is no handshake for the present start, as far as that is known.
  private var failure: HandshakeFailure?
  private var video: MediaProtection
  private var audio: MediaProtection
  private(set) var rpc: RPCProtection

  /// - Parameter makeChannel: makes this end of TLS; nil refuses handshakes.
  init(_ configuration: AppSession.Configuration, makeChannel: SecureChannelFactory?) {
    self.configuration = configuration
    self.makeChannel = makeChannel
    video = MediaProtection(.video, configuration)
    audio = MediaProtection(.audio, configuration)
    rpc = RPCProtection(configuration, hasChannel: makeChannel != nil)
  }

  /// The protection of video or sound.
  private subscript(service: ServiceType) -> MediaProtection {
    get { service == .audio ? audio : video }
    set { if service == .audio { audio = newValue } else { video = newValue } }
  }

  /// The TLS of this session once its handshake is complete, with which to encrypt.
  var channel: (any SecureChannel)? {
    guard let channel = handshake?.channel, channel.isEstablished else { return nil }
    return channel
  }

  /// Whether RPCs go encrypted in both directions.
  var isRPCEncrypted: Bool { rpc.isComplete }

  /// Whether the app encrypts video and sound.
  var canEncrypt: Bool { configuration.encryption != .none && makeChannel != nil }

  /// Whether the next start of video or sound has the E bit.
  func asksForEncryption(of service: ServiceType) -> Bool { canEncrypt && !self[service].isGivenUp }

  /// Whether the present start, or the last one, had the E bit.
  func isAskedFor(_ service: ServiceType) -> Bool { self[service].isAskedFor }

  /// Whether the head unit has acknowledged it with the E bit.
  func isEncrypted(_ service: ServiceType) -> Bool { self[service].isEncrypted }

  /// When ``advance(_:_:)`` has something to do.
  func nextDeadline(_ situation: Situation) -> Duration? {
    handshakeBegin.earlier(handshakeDeadline(situation)).earlier(rpc.deadline)
  }

  mutating func advance(
    _ situation: Situation, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    var outputs: [Output] = []
    if let deadline = handshakeDeadline(situation), deadline <= situation.now {
      outputs += try handshakeStalled(isAcknowledged: !heldAcknowledgements.isEmpty, situation, &messenger)
    }
    outputs += try beginHandshake(situation, &messenger)
    if let deadline = rpc.deadline, deadline <= situation.now {
      try rpc.failed("the head unit did not answer", &messenger)
      outputs.append(.rpcInClear)
    }
    return outputs
  }
}

// MARK: The handshake

extension SessionSecurity {
  /// A message, not a control frame, of the control service.
  mutating func receive(
    _ payload: [UInt8], _ situation: Situation, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    guard let query = SecurityQuery(payload: payload) else {
      messenger.diagnose("ignored an unreadable security query")
      return []
    }
    switch query.queryID {
    case SecurityQuery.handshakeID: return try receiveHandshake(query, situation, &messenger)
    case SecurityQuery.internalErrorID: return try receiveError(query, situation, &messenger)
    default:
      messenger.diagnose("ignored security query \(query.queryID)")
      return []
    }
  }

  private mutating func receiveHandshake(
    _ query: SecurityQuery, _ situation: Situation, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    let isChannelUsed = situation.hasEncryptedMedia || isRPCEncrypted
    let isNew = handshake == nil || query.beginsHandshake && channel != nil && !isChannelUsed
    if isNew, makeChannel != nil, !isHandshakeAwaited(situation) {
      // On a connection of his own, anybody may have started a service in this app's name (SDL-0141). It leaves no trace
      // in the app's own starts.
      let failure = SecureChannelFailure(.invalidData, "this app has started no service that is to be encrypted")
      messenger.send(SecurityQuery.error(failure.code, failure.text))
      messenger.diagnose("refused a TLS handshake: \(failure.text)")
      return []
    }
    do throws(SecureChannelFailure) {
      if makeChannel == nil || !configuration.beginsHandshake && isNew {
        handshakeCount += 1
        guard handshakeCount <= Self.maximumHandshakeCount else {
          throw SecureChannelFailure(.invalidData, "too many handshakes")
        }
        try makeHandshake(now: situation.now)
      } else if configuration.beginsHandshake, query.beginsHandshake {
        throw SecureChannelFailure(
          .invalidData, "the head unit begins the handshake, as TLS client, and so does this app")
      }
    } catch {
      refuse(error, &messenger)
      return []
    }
    guard let channel = handshake?.channel else {
      messenger.diagnose("ignored unrequested handshake bytes")
      return []
    }
    guard !channel.isEstablished else {
      messenger.diagnose("ignored handshake bytes after the handshake")
      return []
    }
    return try take(
      channel.advance(query.handshakeBytes), of: channel, type: SecurityQuery.response, number: query.sequenceNumber,
      situation, &messenger)
  }

  private mutating func makeHandshake(now: Duration) throws(SecureChannelFailure) {
    // Without an answer, a head unit would wait forever.
    guard let makeChannel else { throw SecureChannelFailure(.notSupported, "this app does not encrypt") }
    do throws(SecureChannelFailure) {
      handshake = Handshake(channel: try makeChannel(), began: now)
    } catch {
      throw SecureChannelFailure(.invalidData, error.text)
    }
  }

  private mutating func take(
    _ step: SecureChannelStep, of channel: any SecureChannel, type: UInt8, number: UInt32, _ situation: Situation,
    _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    let queries = SecurityQuery.handshake(
      step.output, type: type, sequenceNumber: number, limit: messenger.maximumPayload())
    for query in queries { messenger.send(query) }
    if let failure = step.failure {
      let refusesHeadUnit = [.certificateInvalid, .certificateExpired].contains(failure.code)
      refuse(SecureChannelFailure(.invalidData, failure.text), refusesHeadUnit: refusesHeadUnit, &messenger)
      if refusesHeadUnit, mediaAwaitingHandshake(situation) != nil, configuration.encryptionPolicy == .require {
        throw .headUnitNotTrusted(reason: failure.text)
      }
      return try abandonHandshake(situation, &messenger)
    }
    guard let summary = channel.summary else { return [] }
    unfinishedCount = 0
    messenger.report(.secured(summary))
    return [ServiceType.rpc, .video, .audio].compactMap { service in
      heldAcknowledgements.removeValue(forKey: service).map { .receive($0.frame, on: $0.role) }
    }
  }

  /// Begins the handshake, if the app is the TLS client and none is complete or under way.
  private mutating func scheduleHandshake(now: Duration) {
    guard configuration.beginsHandshake, handshake == nil else { return }
    handshakeBegin = now + Self.handshakeDelay
  }

  private mutating func beginHandshake(
    _ situation: Situation, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    guard let begin = handshakeBegin, begin <= situation.now else { return [] }
    handshakeBegin = nil
    guard handshake == nil, makeChannel != nil, isHandshakeAwaited(situation) else { return [] }
    do throws(SecureChannelFailure) {
      try makeHandshake(now: situation.now)
    } catch {
      refuse(error, &messenger)
    }
    guard let channel = handshake?.channel else { return [] }
    return try take(channel.begin(), of: channel, type: SecurityQuery.request, number: 1, situation, &messenger)
  }

  /// Whether a start with the E bit has not been answered.
  private func isHandshakeAwaited(_ situation: Situation) -> Bool {
    mediaAwaitingHandshake(situation) != nil || rpc.deadline != nil
  }

  /// The service of that start; there is only one at a time.
  private func mediaAwaitingHandshake(_ situation: Situation) -> ServiceType? {
    if situation.isVideoStarting, video.isAskedFor { return .video }
    return situation.isAudioStarting && audio.isAskedFor ? .audio : nil
  }

  /// When a handshake counts as failed because it does not complete.
  private func handshakeDeadline(_ situation: Situation) -> Duration? {
    guard let handshake, !handshake.channel.isEstablished, isHandshakeAwaited(situation) else { return nil }
    let overtaken = heldAcknowledgements.values.map(\.time).min().map { $0 + Self.overtakenHandshakeTimeout }
    return overtaken.earlier(handshake.began + configuration.unfinishedHandshakeTimeout)
  }

  /// The handshake has begun and does not complete: the starts that wait for it have failed.
  ///
  /// - Parameter isAcknowledged: whether the head unit has acknowledged one of them encrypted. As a TLS server it takes
  ///   the handshake for complete then, and begins no other on this connection.
  private mutating func handshakeStalled(
    isAcknowledged: Bool, _ situation: Situation, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    unfinishedCount += 1
    fail("the TLS handshake did not end")
    forgetHandshake()
    let isLost = isAcknowledged && configuration.beginsHandshake && configuration.encryptionPolicy == .require
    guard !isLost, unfinishedCount < Self.maximumUnfinishedCount else { throw .handshakeLost }
    var outputs: [Output] = try rpc.handshakeStalled(&messenger) ? [.rpcInClear] : []
    if let service = mediaAwaitingHandshake(situation) { outputs.append(.giveUp(service)) }
    return outputs
  }

  /// One side has broken the handshake off. The head unit answers the starts that wait for it, unless it has done so.
  private mutating func abandonHandshake(
    _ situation: Situation, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    let isAcknowledged = !heldAcknowledgements.isEmpty
    forgetHandshake()
    return isAcknowledged ? try handshakeStalled(isAcknowledged: true, situation, &messenger) : []
  }

  private mutating func forgetHandshake() {
    handshake = nil
    heldAcknowledgements = [:]
  }

  /// The head unit does not continue a handshake that an earlier start has left unfinished.
  private mutating func forgetUnfinishedHandshake() {
    if handshake?.channel.isEstablished == false { forgetHandshake() }
  }

  private mutating func fail(_ text: String, refusesHeadUnit: Bool = false) {
    guard refusesHeadUnit || failure?.refusesHeadUnit != true else { return }
    failure = HandshakeFailure(text: text, refusesHeadUnit: refusesHeadUnit)
  }

  /// SDL Core reacts to two codes only, and waits forever after any other.
  private mutating func refuse(
    _ failure: SecureChannelFailure, refusesHeadUnit: Bool = false, _ messenger: inout SessionMessenger
  ) {
    fail(failure.text, refusesHeadUnit: refusesHeadUnit)
    messenger.send(SecurityQuery.error(failure.code, failure.text))
    messenger.diagnose("refused a TLS handshake: \(failure.text)")
  }

  private mutating func receiveError(
    _ query: SecurityQuery, _ situation: Situation, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    let (code, text) = query.error
    let reason = String((text ?? code.map { "\($0)" } ?? "no reason given").prefix(Self.maximumTextLength))
    fail("the head unit says \"\(reason)\"")
    messenger.diagnose("the head unit reports a TLS error: \(reason)")
    guard code == .notProtected else {
      // If the session is in use already, the head unit has only refused a frame.
      return situation.hasEncryptedMedia || isRPCEncrypted ? [] : try abandonHandshake(situation, &messenger)
    }
    guard configuration.beginsHandshake, channel == nil, isHandshakeAwaited(situation) else { return [] }
    let outputs = try abandonHandshake(situation, &messenger)
    // A TLS server that was not ready yet.
    if outputs.isEmpty { scheduleHandshake(now: situation.now) }
    return outputs
  }
}

// MARK: Frames

extension SessionSecurity {
  /// The frame with its payload in clear. First frames and empty payloads are always in clear.
  mutating func decrypt(
    _ frame: Frame, on role: TransportRole, _ situation: Situation, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> Decrypted {
    guard frame.header.isEncrypted, frame.header.frameType != .first else { return .frame(frame) }
    if let channel {
      guard !frame.payload.isEmpty else { return .frame(frame) }
      do throws(SecureChannelFailure) {
        return .frame(try frame.decrypted(by: channel))
      } catch {
        messenger.send(SecurityQuery.error(.decryptionFailed, error.text))
        throw .decryptionFailed(reason: error.text)
      }
    }
    let isAcknowledgement = frame.header.controlFrame == .startServiceACK
    let service = frame.header.service
    if configuration.beginsHandshake, handshake != nil, isAcknowledgement {
      heldAcknowledgements[service] = (frame, role, situation.now)
      return .dropped([])
    }
    guard isAcknowledgement, service == .rpc ? rpc.deadline != nil : situation.isStarting(service) else {
      messenger.diagnose("ignored an encrypted frame: no encryption was agreed")
      return .dropped([])
    }
    return .dropped(try handshakeStalled(isAcknowledged: true, situation, &messenger))
  }
}

// MARK: Video and sound

extension SessionSecurity {
  /// Video or sound is about to be requested.
  ///
  /// - Returns: whether with the E bit.
  mutating func starts(_ service: ServiceType, now: Duration) -> Bool {
    let isAskedFor = asksForEncryption(of: service)
    self[service].starts(isAskedFor: isAskedFor)
    heldAcknowledgements[service] = nil
    guard isAskedFor else { return false }
    failure = nil
    if rpc.deadline == nil { forgetUnfinishedHandshake() }
    scheduleHandshake(now: now)
    return true
  }

  /// The present start is acknowledged, with or without the E bit.
  ///
  /// - Throws: ``AppSessionFailure/notEncrypted(_:reason:)`` if it must not start like that.
  mutating func acknowledged(
    _ service: ServiceType, isEncrypted: Bool, on role: TransportRole, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) {
    let reason = try self[service].acknowledged(
      isEncrypted: isEncrypted, on: role, hasHandshake: channel != nil, after: failure)
    if let reason { messenger.report(.mediaInClear(service, reason)) }
  }

  mutating func endConfirmed(_ service: ServiceType) { self[service].endConfirmed() }

  mutating func endedByHeadUnit(_ service: ServiceType, now: Duration) { self[service].endedByHeadUnit(now: now) }

  /// Whether records of video or sound may be in flight on this transport: TLS numbers them, so the head unit can
  /// decrypt no later one that it gets without them.
  func hasRecordsInFlight(on role: TransportRole, now: Duration) -> Bool {
    video.hasRecordsInFlight(on: role, now: now) || audio.hasRecordsInFlight(on: role, now: now)
  }

  /// Adds the state of the handshake to a refusal.
  mutating func refused(_ service: ServiceType, _ rejection: ServiceRejection) -> ServiceRejection {
    self[service].refused(rejection, after: failure)
  }

  /// The same for a start that was not answered.
  mutating func failed<Request>(
    _ service: ServiceType, _ failure: StreamStartFailure<Request>
  ) -> StreamStartFailure<Request> {
    guard failure == .unanswered, self[service].isAskedFor, channel == nil else { return failure }
    self[service].giveUp()
    forgetHandshake()
    return .handshakeUnfinished
  }
}

// MARK: RPCs

extension SessionSecurity {
  /// Starts the encryption of RPCs if that is due. The app is registered.
  mutating func protectRPCs(
    _ situation: Situation, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) {
    guard rpc.isStartDue, try rpc.start(until: situation.now + configuration.handshakeTimeout, &messenger) else {
      return
    }
    if mediaAwaitingHandshake(situation) == nil { forgetUnfinishedHandshake() }
    messenger.send(.startService, .rpc, isEncrypted: true)
    scheduleHandshake(now: situation.now)
  }

  mutating func rpcAcknowledged(
    isEncrypted: Bool, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    let isProtected = isEncrypted && channel != nil
    guard rpc.deadline != nil || isProtected && rpc.acceptsAcknowledgement else {
      messenger.diagnose("ignored the acknowledgement of a start of RPCs that is not under way")
      return []
    }
    guard isProtected else {
      try rpc.failed(failure?.text ?? "the head unit acknowledged in clear", &messenger)
      return [.rpcInClear]
    }
    rpc.acknowledged(&messenger)
    return [.rpcProtected]
  }

  mutating func rpcRefused(
    _ rejection: ServiceRejection, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    guard rpc.deadline != nil else {
      messenger.diagnose("ignored the refusal of a start of RPCs that is not under way")
      return []
    }
    try rpc.failed(failure?.text ?? rejection.reason ?? "the head unit refused it", &messenger)
    return [.rpcInClear]
  }

  /// See ``RPCProtection/refusedInClear()``.
  mutating func rpcRefusedInClear() { rpc.refusedInClear() }

  /// See ``RPCProtection/note(_:isEncrypted:)``.
  mutating func note(_ policy: OnPermissionsChange.Protection, isEncrypted: Bool) {
    rpc.note(policy, isEncrypted: isEncrypted)
  }

  /// See ``RPCProtection/ignoredInClear(_:_:)``.
  mutating func rpcIgnoredInClear(_ function: FunctionID, _ messenger: inout SessionMessenger) {
    rpc.ignoredInClear(function, &messenger)
  }
}
