/// TLS: the handshake with the head unit, and what is encrypted (protocol specification, "Secure services").
///
/// The head unit is the TLS client and begins, once video was asked for with the E bit; or the app does, with head units that are
/// configured as TLS servers. One handshake holds for the session.
extension AppSession {
  /// What is known of TLS in this session.
  struct Security: Sendable {
    let makeChannel: SecureChannelFactory?
    /// That of the handshake that began last.
    private(set) var channel: (any SecureChannel)?
    /// When that handshake began.
    private var channelBegan: Duration = .zero
    /// Handshakes in a row that have begun and not ended.
    private(set) var unfinishedCount = 0
    /// Whether the start of video that is under way, or was last, had the E bit.
    private(set) var isStartSecure = false
    /// Whether the head unit has acknowledged it with the E bit.
    var isVideoEncrypted = false
    /// Why there is no handshake, as far as that is known of the present start.
    private(set) var failure: String?
    /// That is because this app does not take the head unit's certificate, which says more than the head unit's answer to that.
    private(set) var isHeadUnitRefused = false
    /// The head unit refuses encrypted video, and the policy allows video in clear.
    var isGivenUp = false
    var handshakeCount = 0
    /// When the app as TLS client begins.
    var handshakeBegin: Duration?
    /// Encrypted acknowledgements that have overtaken the end of the handshake, at most one for each protected service.
    var heldAcknowledgements: [ServiceType: (frame: Frame, role: TransportRole)] = [:]
    var rpc = RPCProtection.none
    /// What the head unit encrypts of its RPCs once that has been agreed on.
    var policy = OnPermissionsChange.Protection.functions([])

    init(makeChannel: SecureChannelFactory?) {
      self.makeChannel = makeChannel
    }

    mutating func startBegins(isSecure: Bool) {
      isStartSecure = isSecure
      isVideoEncrypted = false
      failure = nil
      isHeadUnitRefused = false
      heldAcknowledgements[.video] = nil
      // A handshake that an earlier start has left unfinished is none that the head unit goes on with.
      if isSecure, channel?.isEstablished == false, rpc.deadline == nil { forgetChannel() }
    }

    mutating func handshakeBegins(_ channel: any SecureChannel, now: Duration) {
      self.channel = channel
      channelBegan = now
    }

    mutating func handshakeEnded() {
      unfinishedCount = 0
    }

    mutating func handshakeStalled() {
      unfinishedCount += 1
      fail("the TLS handshake did not end")
      forgetChannel()
    }

    /// When a handshake that has begun counts as one that does not end.
    func handshakeDeadline(_ timeout: Duration) -> Duration? {
      channel.map(\.isEstablished) == false ? channelBegan + timeout : nil
    }

    mutating func fail(_ text: String, refusesHeadUnit: Bool = false) {
      guard refusesHeadUnit || !isHeadUnitRefused else { return }
      failure = text
      isHeadUnitRefused = refusesHeadUnit
    }

    mutating func forgetChannel() {
      channel = nil
      heldAcknowledgements = [:]
    }
  }

  /// What SDL Core as a TLS server needs to prepare for the handshake: before that, it answers that the service is not protected.
  private static let handshakeDelay = Duration.milliseconds(300)

  /// Handshakes that the head unit may begin in a session. Each costs some milliseconds.
  private static let maximumHandshakeCount = 100
  /// As many handshakes in a row that do not end mean that the head unit counts one of them as complete, and begins no other.
  private static let maximumUnfinishedCount = 2
  /// Characters of a text from the head unit that are passed on.
  private static let maximumTextLength = 200

  /// The TLS of this session once its handshake is complete, with which to encrypt video.
  public var secureChannel: (any SecureChannel)? {
    guard let channel = security.channel, channel.isEstablished else { return nil }
    return channel
  }

  /// Whether the next start of video has the E bit.
  var asksForEncryption: Bool {
    configuration.encryption != .none && security.makeChannel != nil && !security.isGivenUp
  }

  /// Whether records of the present session may be on their way.
  private var isChannelUsed: Bool { videoGrant?.isEncrypted == true || isRPCEncrypted }

  /// A message of the control service that is no control frame.
  mutating func receiveSecurityQuery(_ payload: [UInt8]) {
    guard let query = SecurityQuery(payload: payload) else {
      return actions.append(.report(.diagnostic("ignored an unreadable security query")))
    }
    switch query.queryID {
    case SecurityQuery.handshakeID: receiveHandshake(query)
    case SecurityQuery.internalErrorID: receiveSecurityError(query)
    default: actions.append(.report(.diagnostic("ignored security query \(query.queryID)")))
    }
  }

  private mutating func receiveHandshake(_ query: SecurityQuery) {
    guard let makeChannel = security.makeChannel else {
      // Otherwise a head unit would wait for ever for an answer.
      return refuseHandshake(.notSupported, "this app does not encrypt")
    }
    if configuration.beginsHandshake {
      guard security.channel != nil, !query.beginsHandshake else {
        return query.beginsHandshake
          ? refuseHandshake(.invalidData, "the head unit begins the handshake, as TLS client, and so does this app")
          : actions.append(.report(.diagnostic("ignored handshake bytes that nobody has asked for")))
      }
    } else if security.channel == nil || (query.beginsHandshake && secureChannel != nil && !isChannelUsed) {
      security.handshakeCount += 1
      guard security.handshakeCount <= Self.maximumHandshakeCount else {
        return refuseHandshake(.invalidData, "too many handshakes")
      }
      do throws(SecureChannelFailure) {
        security.handshakeBegins(try makeChannel(), now: now)
      } catch {
        return refuseHandshake(.invalidData, error.text)
      }
    }
    guard let channel = security.channel, !channel.isEstablished else {
      return actions.append(.report(.diagnostic("ignored handshake bytes behind the handshake")))
    }
    takeStep(
      channel.advance(query.handshakeBytes), of: channel, type: SecurityQuery.response, number: query.sequenceNumber)
  }

  private mutating func takeStep(
    _ step: SecureChannelStep, of channel: any SecureChannel, type: UInt8, number: UInt32
  ) {
    let queries = SecurityQuery.handshake(
      step.output, type: type, sequenceNumber: number, limit: maximumPayload(mtu: sessionMTU))
    for query in queries { sendQuery(query) }
    if let failure = step.failure {
      security.forgetChannel()
      let refusesHeadUnit = [.certificateInvalid, .certificateExpired].contains(failure.code)
      refuseHandshake(.invalidData, failure.text, refusesHeadUnit: refusesHeadUnit)
      if refusesHeadUnit, isVideoHandshakeAwaited, configuration.encryptionPolicy == .require {
        fail(.headUnitNotTrusted(reason: failure.text))
      }
      return
    }
    guard let summary = channel.summary else { return }
    security.handshakeEnded()
    actions.append(.report(.secured(summary)))
    for service in [ServiceType.rpc, .video] {
      guard let (frame, role) = security.heldAcknowledgements.removeValue(forKey: service) else { continue }
      role == .primary ? receive(frame) : receiveOnSecondary(frame)
    }
  }

  /// Begins the handshake as TLS client, if the app is that and none is complete or under way.
  mutating func scheduleHandshake() {
    guard configuration.beginsHandshake, security.channel == nil else { return }
    security.handshakeBegin = now + Self.handshakeDelay
  }

  mutating func advanceHandshake() {
    if let deadline = handshakeDeadline, deadline <= now { handshakeStalled() }
    guard phase != .over, let begin = security.handshakeBegin, begin <= now else { return }
    security.handshakeBegin = nil
    guard security.channel == nil, let makeChannel = security.makeChannel, isHandshakeAwaited else { return }
    security.handshakeCount += 1
    guard security.handshakeCount <= Self.maximumHandshakeCount else { return }
    do throws(SecureChannelFailure) {
      let channel = try makeChannel()
      security.handshakeBegins(channel, now: now)
      takeStep(channel.begin(), of: channel, type: SecurityQuery.request, number: 1)
    } catch {
      refuseHandshake(.invalidData, error.text)
    }
  }

  /// Whether a start with the E bit has not been answered.
  private var isHandshakeAwaited: Bool { isVideoHandshakeAwaited || rpcProtectionDeadline != nil }

  private var isVideoHandshakeAwaited: Bool {
    if case .starting = stream.state { security.isStartSecure } else { false }
  }

  /// When a handshake that is waited for counts as one that does not end.
  var handshakeDeadline: Duration? {
    isHandshakeAwaited ? security.handshakeDeadline(configuration.unfinishedHandshakeTimeout) : nil
  }

  /// The handshake has begun, and its end does not come: what waits for it has failed.
  private mutating func handshakeStalled() {
    security.handshakeStalled()
    if security.unfinishedCount >= Self.maximumUnfinishedCount { return fail(.handshakeLost) }
    if rpcProtectionDeadline != nil { rpcProtectionFailed("the TLS handshake did not end") }
    if isVideoHandshakeAwaited { perform(stream.giveUp(now: now)) }
  }

  /// SDL Core reacts to two codes only, and waits for ever after any other.
  private mutating func refuseHandshake(
    _ code: SecurityErrorCode, _ text: String, refusesHeadUnit: Bool = false
  ) {
    security.fail(text, refusesHeadUnit: refusesHeadUnit)
    sendQuery(.error(code, text))
    actions.append(.report(.diagnostic("refused a TLS handshake: \(text)")))
  }

  private mutating func receiveSecurityError(_ query: SecurityQuery) {
    let (code, text) = query.error
    let reason = String((text ?? code.map { "\($0)" } ?? "no reason given").prefix(Self.maximumTextLength))
    security.fail("the head unit says \"\(reason)\"")
    // Of a session that is in use, the head unit has only refused a frame.
    if code != .notProtected, !isChannelUsed { security.forgetChannel() }
    // A TLS server that was not ready yet.
    if code == .notProtected, configuration.beginsHandshake, secureChannel == nil, isHandshakeAwaited {
      security.forgetChannel()
      scheduleHandshake()
    }
    actions.append(.report(.diagnostic("the head unit reports a TLS error: \(reason)")))
  }

  private mutating func sendQuery(_ query: SecurityQuery) {
    let bytes = query.bytes
    let fragmentation = Fragmentation(
      service: .control, version: version, sessionID: sessionID, messageID: nextMessageID(),
      payloadSize: bytes.count, maximumPayload: maximumPayload(mtu: sessionMTU))
    actions.append(.send(fragmentation.frames(of: bytes)))
  }

  /// The frame with its payload in clear; nil for one that is dropped. First frames and empty payloads are always in clear.
  mutating func decrypted(_ frame: Frame, on role: TransportRole = .primary) -> Frame? {
    guard frame.header.isEncrypted, frame.header.frameType != .first else { return frame }
    guard let secureChannel else {
      if configuration.beginsHandshake, security.channel != nil, frame.header.controlFrame == .startServiceACK {
        security.heldAcknowledgements[frame.header.service] = (frame, role)
        return nil
      }
      if case .starting = stream.state, frame.header.service == .video,
        frame.header.controlFrame == .startServiceACK
      {
        security.handshakeStalled()
        if configuration.encryptionPolicy == .prefer { security.isGivenUp = true }
        guard security.unfinishedCount < Self.maximumUnfinishedCount else {
          fail(.handshakeLost)
          return nil
        }
        let reason = "the head unit answered encrypted, but no TLS handshake is complete"
        // The head unit believes that the service runs.
        perform(stream.refused(ServiceRejection(reason: reason), videoDemand, now: now) + [.sendEndService])
      }
      actions.append(.report(.diagnostic("ignored an encrypted frame: no encryption was agreed")))
      return nil
    }
    guard !frame.payload.isEmpty else { return frame }
    do throws(SecureChannelFailure) {
      return try frame.decrypted(by: secureChannel)
    } catch {
      sendQuery(.error(.decryptionFailed, error.text))
      fail(.decryptionFailed(reason: error.text))
      return nil
    }
  }

  /// Whether video may start, acknowledged with or without the E bit, which alone says what is encrypted. If not, the
  /// session has failed.
  mutating func acceptsProtection(isEncrypted: Bool) -> Bool {
    guard case .starting = stream.state, configuration.encryption != .none else { return true }
    security.isVideoEncrypted = isEncrypted && secureChannel != nil
    if security.isVideoEncrypted { return true }
    if configuration.encryption == .authenticate, secureChannel != nil { return true }
    let handshake = secureChannel == nil ? "without a TLS handshake" : "although the TLS handshake was completed"
    let cause = security.failure ?? (security.isGivenUp ? "it has refused encrypted video" : nil)
    let reason = "it answered in clear, " + (cause ?? handshake)
    switch configuration.encryptionPolicy {
    case .prefer:
      let isOurs = security.isHeadUnitRefused
      let refusal = "this app does not trust the head unit, as \(cause ?? handshake)"
      actions.append(
        .report(.videoInClear(isOurs ? refusal : "the head unit does not want it, as \(reason)")))
      return true
    case .require:
      sendVideoControl(.endService)
      fail(.notEncrypted(reason: reason))
      return false
    }
  }

  /// Adds to a refusal what is known of the handshake. If video may be sent in clear, the next start asks for that.
  mutating func noteRefusal(_ rejection: ServiceRejection) -> ServiceRejection {
    guard security.isStartSecure, rejection.rejectedParameters.isEmpty else { return rejection }
    if configuration.encryptionPolicy == .prefer { security.isGivenUp = true }
    guard let failure = security.failure else { return rejection }
    var rejection = rejection
    rejection.reason = [rejection.reason, "TLS handshake: \(failure)"].compactMap(\.self).joined(separator: "; ")
    return rejection
  }

  /// The same for a start that was not answered.
  mutating func noteFailure(_ failure: VideoStartFailure) -> VideoStartFailure {
    guard failure == .unanswered, security.isStartSecure, secureChannel == nil else { return failure }
    if configuration.encryptionPolicy == .prefer { security.isGivenUp = true }
    security.forgetChannel()
    return .handshakeUnfinished
  }
}
