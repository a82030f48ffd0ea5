import SDLMessages
import SDLWire

/// TLS of a session: the handshake with the head unit, and what is encrypted (protocol specification, "Secure
/// services").
///
/// The head unit is the TLS client and begins, once video, sound or RPCs were asked for with the E bit; or the app
/// does, with head units that are configured as TLS servers. One handshake holds for the session, and of starts of
/// video and sound with the E bit only one is under way at a time (SDL-0322). The RPC service starts in clear, and is
/// started again with the E bit once the app is registered, if the head unit's policy asks for that (SDL-0207).
struct SessionSecurity: Sendable {
  /// What security has to know of the rest of the session at the moment.
  struct Situation {
    var now: Duration
    /// A start of video is not answered.
    var isVideoStarting: Bool
    /// The same for sound.
    var isAudioStarting: Bool
    /// There is a service of video or sound that is encrypted.
    var hasEncryptedMedia: Bool

    func isStarting(_ service: ServiceType) -> Bool {
      service == .video && isVideoStarting || service == .audio && isAudioStarting
    }
  }

  /// What the session has to do.
  enum Output {
    /// A frame that had to wait for the end of the handshake.
    case receive(Frame, on: TransportRole)
    /// The start of this service has failed, because nothing comes of the handshake.
    case giveUp(ServiceType)
    /// RPCs are encrypted from now on.
    case rpcProtected
    /// RPCs are not encrypted in this session, although the head unit asks for that.
    case rpcInClear
  }

  /// What becomes of a frame.
  enum Decrypted {
    case frame(Frame)
    case dropped
    /// The head unit believes that the service runs encrypted, but it can't: the start counts as refused.
    case startRefused(ServiceType, ServiceRejection)
  }

  /// How far the encryption of RPCs has come. Nothing undoes it within a session.
  private enum RPCProtection: Equatable {
    case none
    case starting(deadline: Duration)
    case protected
    case refused
  }

  private struct Handshake {
    let channel: any SecureChannel
    let began: Duration
  }

  /// What SDL Core as a TLS server needs to prepare for the handshake: before that, it answers that the service is not
  /// protected.
  private static let handshakeDelay = Duration.milliseconds(300)
  /// Handshakes in a session. Each costs some milliseconds.
  private static let maximumHandshakeCount = 100
  /// As many handshakes in a row that do not end mean that the head unit counts one of them as complete, and begins no
  /// other.
  private static let maximumUnfinishedCount = 2
  /// Characters of a text from the head unit that are passed on.
  private static let maximumTextLength = 200

  private let configuration: AppSession.Configuration
  private let makeChannel: SecureChannelFactory?
  /// The one that began last.
  private var handshake: Handshake?
  private var handshakeCount = 0
  /// Handshakes in a row that have begun and not ended.
  private var unfinishedCount = 0
  /// When the app as TLS client begins.
  private var handshakeBegin: Duration?
  /// Encrypted acknowledgements that have overtaken the end of the handshake, at most one for each protected service.
  private var heldAcknowledgements: [ServiceType: (frame: Frame, role: TransportRole)] = [:]
  /// Why there is no handshake, as far as that is known of the present start.
  private var failure: HandshakeFailure?
  private var video: MediaProtection
  private var audio: MediaProtection
  private var rpc = RPCProtection.none
  /// What the head unit encrypts of its RPCs once that has been agreed on.
  private var policy = OnPermissionsChange.Protection.functions([])

  /// - Parameter makeChannel: makes this end of TLS; nil refuses handshakes.
  init(_ configuration: AppSession.Configuration, makeChannel: SecureChannelFactory?) {
    self.configuration = configuration
    self.makeChannel = makeChannel
    video = MediaProtection(.video, configuration)
    audio = MediaProtection(.audio, configuration)
  }

  /// That of video or sound.
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
  var isRPCEncrypted: Bool { rpc == .protected }

  /// Whether RPCs may yet be encrypted.
  var canProtectRPCs: Bool { rpc != .refused && rpc != .protected }

  /// Whether the app encrypts at all.
  var canEncrypt: Bool { configuration.encryption != .none && makeChannel != nil }

  /// Whether the next start of video or sound has the E bit.
  func asksForEncryption(of service: ServiceType) -> Bool { canEncrypt && !self[service].isGivenUp }

  /// Whether the start that is under way, or was last, had the E bit.
  func isAskedFor(_ service: ServiceType) -> Bool { self[service].isAskedFor }

  /// Whether the head unit has acknowledged it with the E bit.
  func isEncrypted(_ service: ServiceType) -> Bool { self[service].isEncrypted }

  /// When ``advance(_:_:)`` has something to do.
  func nextDeadline(_ situation: Situation) -> Duration? {
    handshakeBegin.earlier(handshakeDeadline(situation)).earlier(rpcDeadline)
  }

  /// Time has passed.
  mutating func advance(
    _ situation: Situation, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    var outputs: [Output] = []
    if let deadline = handshakeDeadline(situation), deadline <= situation.now {
      handshakeStalled()
      guard unfinishedCount < Self.maximumUnfinishedCount else { throw .handshakeLost }
      if rpcDeadline != nil { outputs += rpcFailed("the TLS handshake did not end", &messenger) }
      if let service = mediaAwaitingHandshake(situation) { outputs.append(.giveUp(service)) }
    }
    outputs += try beginHandshake(situation, &messenger)
    if let deadline = rpcDeadline, deadline <= situation.now {
      outputs += rpcFailed("the head unit did not answer", &messenger)
    }
    return outputs
  }
}

// MARK: The handshake

extension SessionSecurity {
  /// A message of the control service that is no control frame.
  mutating func receive(
    _ payload: [UInt8], _ situation: Situation, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    guard let query = SecurityQuery(payload: payload) else {
      messenger.diagnose("ignored an unreadable security query")
      return []
    }
    switch query.queryID {
    case SecurityQuery.handshakeID: return try receiveHandshake(query, situation, &messenger)
    case SecurityQuery.internalErrorID: receiveError(query, situation, &messenger)
    default: messenger.diagnose("ignored security query \(query.queryID)")
    }
    return []
  }

  private mutating func receiveHandshake(
    _ query: SecurityQuery, _ situation: Situation, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    let isChannelUsed = situation.hasEncryptedMedia || isRPCEncrypted
    let isNew = handshake == nil || query.beginsHandshake && channel != nil && !isChannelUsed
    do throws(SecureChannelFailure) {
      if makeChannel == nil || !configuration.beginsHandshake && isNew {
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
      messenger.diagnose("ignored handshake bytes that were not asked for")
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
    // Unanswered, a head unit would wait without end.
    guard let makeChannel else { throw SecureChannelFailure(.notSupported, "this app does not encrypt") }
    handshakeCount += 1
    guard handshakeCount <= Self.maximumHandshakeCount else {
      throw SecureChannelFailure(.invalidData, "too many handshakes")
    }
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
      forgetHandshake()
      let refusesHeadUnit = [.certificateInvalid, .certificateExpired].contains(failure.code)
      refuse(SecureChannelFailure(.invalidData, failure.text), refusesHeadUnit: refusesHeadUnit, &messenger)
      if refusesHeadUnit, mediaAwaitingHandshake(situation) != nil, configuration.encryptionPolicy == .require {
        throw .headUnitNotTrusted(reason: failure.text)
      }
      return []
    }
    guard let summary = channel.summary else { return [] }
    unfinishedCount = 0
    messenger.report(.secured(summary))
    return [ServiceType.rpc, .video, .audio].compactMap { service in
      heldAcknowledgements.removeValue(forKey: service).map { .receive($0.frame, on: $0.role) }
    }
  }

  /// Begins the handshake as TLS client, if the app is that and none is complete or under way.
  private mutating func scheduleHandshake(now: Duration) {
    guard configuration.beginsHandshake, handshake == nil else { return }
    handshakeBegin = now + Self.handshakeDelay
  }

  private mutating func beginHandshake(
    _ situation: Situation, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> [Output] {
    guard let begin = handshakeBegin, begin <= situation.now else { return [] }
    handshakeBegin = nil
    guard handshake == nil, makeChannel != nil, handshakeCount < Self.maximumHandshakeCount,
      isHandshakeAwaited(situation)
    else { return [] }
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
    mediaAwaitingHandshake(situation) != nil || rpcDeadline != nil
  }

  /// The service of which that is a start; only one is at a time.
  private func mediaAwaitingHandshake(_ situation: Situation) -> ServiceType? {
    if situation.isVideoStarting, video.isAskedFor { return .video }
    return situation.isAudioStarting && audio.isAskedFor ? .audio : nil
  }

  /// When a handshake that is waited for counts as one that does not end.
  private func handshakeDeadline(_ situation: Situation) -> Duration? {
    guard let handshake, !handshake.channel.isEstablished, isHandshakeAwaited(situation) else { return nil }
    return handshake.began + configuration.unfinishedHandshakeTimeout
  }

  /// The handshake has begun, and its end does not come: what waits for it has failed.
  private mutating func handshakeStalled() {
    unfinishedCount += 1
    fail("the TLS handshake did not end")
    forgetHandshake()
  }

  private mutating func forgetHandshake() {
    handshake = nil
    heldAcknowledgements = [:]
  }

  private mutating func fail(_ text: String, refusesHeadUnit: Bool = false) {
    guard refusesHeadUnit || failure?.refusesHeadUnit != true else { return }
    failure = HandshakeFailure(text: text, refusesHeadUnit: refusesHeadUnit)
  }

  /// SDL Core reacts to two codes only, and waits without end after any other.
  private mutating func refuse(
    _ failure: SecureChannelFailure, refusesHeadUnit: Bool = false, _ messenger: inout SessionMessenger
  ) {
    fail(failure.text, refusesHeadUnit: refusesHeadUnit)
    messenger.send(SecurityQuery.error(failure.code, failure.text))
    messenger.diagnose("refused a TLS handshake: \(failure.text)")
  }

  private mutating func receiveError(
    _ query: SecurityQuery, _ situation: Situation, _ messenger: inout SessionMessenger
  ) {
    let (code, text) = query.error
    let reason = String((text ?? code.map { "\($0)" } ?? "no reason given").prefix(Self.maximumTextLength))
    fail("the head unit says \"\(reason)\"")
    // Of a session that is in use, the head unit has only refused a frame.
    if code != .notProtected, !situation.hasEncryptedMedia, !isRPCEncrypted { forgetHandshake() }
    // A TLS server that was not ready yet.
    if code == .notProtected, configuration.beginsHandshake, channel == nil, isHandshakeAwaited(situation) {
      forgetHandshake()
      scheduleHandshake(now: situation.now)
    }
    messenger.diagnose("the head unit reports a TLS error: \(reason)")
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
    if configuration.beginsHandshake, handshake != nil, isAcknowledgement {
      heldAcknowledgements[frame.header.service] = (frame, role)
      return .dropped
    }
    let service = frame.header.service
    guard isAcknowledgement, situation.isStarting(service) else {
      messenger.diagnose("ignored an encrypted frame: no encryption was agreed")
      return .dropped
    }
    handshakeStalled()
    self[service].giveUp()
    guard unfinishedCount < Self.maximumUnfinishedCount else { throw .handshakeLost }
    return .startRefused(
      service, ServiceRejection(reason: "the head unit answered encrypted, but no TLS handshake is complete"))
  }
}

// MARK: Video and sound

extension SessionSecurity {
  /// Video or sound is about to be asked for.
  ///
  /// - Returns: whether with the E bit.
  mutating func starts(_ service: ServiceType, now: Duration) -> Bool {
    let isAskedFor = asksForEncryption(of: service)
    self[service].starts(isAskedFor: isAskedFor)
    heldAcknowledgements[service] = nil
    guard isAskedFor else { return false }
    failure = nil
    // A handshake that an earlier start has left unfinished is none that the head unit goes on with.
    if handshake?.channel.isEstablished == false, rpcDeadline == nil { forgetHandshake() }
    scheduleHandshake(now: now)
    return true
  }

  /// The start that is under way is acknowledged, with or without the E bit.
  ///
  /// - Throws: ``AppSessionFailure/notEncrypted(_:reason:)`` if it must not start like that.
  mutating func acknowledged(
    _ service: ServiceType, isEncrypted: Bool, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) {
    let reason = try self[service].acknowledged(
      isEncrypted: isEncrypted, hasHandshake: channel != nil, after: failure)
    if let reason { messenger.report(.mediaInClear(service, reason)) }
  }

  /// Adds to a refusal what is known of the handshake.
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
  /// When the start of the protected RPC service counts as unanswered.
  private var rpcDeadline: Duration? { if case .starting(let deadline) = rpc { deadline } else { nil } }

  /// The head unit refuses RPCs in clear, or says that it will. The app is registered.
  mutating func rpcProtectionNeeded(now: Duration, _ messenger: inout SessionMessenger) {
    guard rpc == .none else { return }
    guard configuration.encryption != .none, makeChannel != nil else {
      rpc = .refused
      return messenger.report(.rpcInClear("this app does not encrypt (see the property encryption)"))
    }
    rpc = .starting(deadline: now + configuration.handshakeTimeout)
    messenger.send(.startService, .rpc, isEncrypted: true)
    scheduleHandshake(now: now)
  }

  /// Whether a notification of `function` that comes in clear is none of the head unit's: SDL Core encrypts what its
  /// policy says, and sends the rest in clear.
  func needsProtection(_ function: FunctionID) -> Bool {
    isRPCEncrypted && policy.includes(function)
  }

  /// Whether requests of `function` have to be encrypted, and RPCs are not.
  func isProtectionMissing(for function: FunctionID) -> Bool { !isRPCEncrypted && policy.includes(function) }

  /// What the head unit's policy wants encrypted. Once RPCs are, that is not taken back in clear.
  mutating func note(_ policy: OnPermissionsChange.Protection, isEncrypted: Bool) {
    self.policy = isRPCEncrypted && !isEncrypted ? self.policy.union(policy) : policy
  }

  /// Also when it comes late: from now on the head unit takes RPCs for encrypted.
  mutating func rpcAcknowledged(isEncrypted: Bool, _ messenger: inout SessionMessenger) -> [Output] {
    let isLate = rpc == .refused && isEncrypted && channel != nil
    guard rpcDeadline != nil || isLate else {
      messenger.diagnose("ignored the acknowledgement of a start of RPCs that is not under way")
      return []
    }
    guard isEncrypted, channel != nil else {
      return rpcFailed(failure?.text ?? "the head unit acknowledged in clear", &messenger)
    }
    rpc = .protected
    messenger.report(.rpcProtected)
    return [.rpcProtected]
  }

  mutating func rpcRefused(_ rejection: ServiceRejection, _ messenger: inout SessionMessenger) -> [Output] {
    guard rpcDeadline != nil else {
      messenger.diagnose("ignored the refusal of a start of RPCs that is not under way")
      return []
    }
    return rpcFailed(failure?.text ?? rejection.reason ?? "the head unit refused it", &messenger)
  }

  private mutating func rpcFailed(_ reason: String, _ messenger: inout SessionMessenger) -> [Output] {
    rpc = .refused
    messenger.report(.rpcInClear(reason))
    return [.rpcInClear]
  }
}
