import SDLMessages
import SDLWire

/// What a head unit makes of a StartService with the E bit.
public enum HeadUnitSecurity: String, CaseIterable, Sendable {
  /// Acknowledges it in clear, as SDL Core does without certificates.
  case refuse
  /// Does what the app asks for; in clear after a handshake that fails.
  case accept
  /// Takes video only encrypted (SDL Core's ForceProtectedService): refuses everything else, also single frames.
  case require
}

/// TLS, of which the head unit is the client in SDL Core's default (protocol specification, "Secure services").
extension HeadUnitSession {
  /// What is known of TLS in this session.
  struct Security: Sendable {
    let makeChannel: SecureChannelFactory?
    var channel: (any SecureChannel)?
    /// What waits for the handshake.
    var pendingStarts: [ProtectedStart] = []
    /// Whether the start of video that is answered next is acknowledged with the E bit.
    var encryptsStart = false
    /// Whether the running service is encrypted.
    var isVideoEncrypted = false
    var isRPCEncrypted = false
    /// Before that, what the app has sent in clear may have crossed the acknowledgement.
    var hasReceivedEncryptedRPC = false
    /// The encrypted services on which a frame in clear was reported.
    var clearFrameReports: Set<ServiceType> = []
    var sequenceNumber: UInt32 = 0
    var handshakes = CoreLimits.handshakes

    /// A StartService with the E bit.
    enum ProtectedStart: Equatable, Sendable {
      case rpc
      case video(VideoServiceParameters)
    }

    init(makeChannel: SecureChannelFactory?) {
      self.makeChannel = makeChannel
    }

    var isVideoStartPending: Bool { pendingStarts.contains { $0 != .rpc } }

    /// The channel once its handshake is complete.
    var established: (any SecureChannel)? {
      guard let channel, channel.isEstablished else { return nil }
      return channel
    }
  }

  /// Why a start of video is refused before anything else is looked at; nil if it is not.
  func reasonToRefuse(isEncrypted: Bool) -> String? {
    configuration.security == .require && !(isEncrypted && security.makeChannel != nil)
      ? "The service has to be protected" : nil
  }

  /// Begins a handshake if the start needs one.
  /// - Returns: whether the start waits for it.
  mutating func beginsHandshake(for request: VideoServiceParameters, isEncrypted: Bool, now: Duration) -> Bool {
    security.encryptsStart = false
    guard isEncrypted, configuration.security != .refuse, security.makeChannel != nil else { return false }
    guard let channel = security.established else {
      beginHandshake(for: .video(request), now: now)
      return true
    }
    guard let summary = channel.summary, let fault = identityFault(of: summary) else {
      security.encryptsStart = behaviour.handshake != .clear
      return false
    }
    report(.handshakeFailed(fault))
    guard configuration.security == .require else { return false }
    refuseVideo([], reason: fault, now: now)
    return true
  }

  /// Begins the handshake of the session, or lets `start` wait for the one that is under way.
  mutating func beginHandshake(for start: Security.ProtectedStart, now: Duration) {
    let isUnderWay = !security.pendingStarts.isEmpty
    security.pendingStarts.append(start)
    guard !isUnderWay, let makeChannel = security.makeChannel else { return }
    guard !security.handshakes.exceeds(at: now) else { return handshakeFailed("too many handshakes", now: now) }
    timers.arm(.handshake, at: now + CoreLimits.handshake)
    switch behaviour.handshake {
    case .silence: break
    case .garbage: sendHandshake((0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37) })
    case .regular, .clear, .expired, .wrongID, .unknownAuthority:
      do throws(SecureChannelFailure) {
        let channel = try makeChannel()
        security.channel = channel
        // The server of TLS waits for the first message.
        if configuration.beginsHandshake { takeStep(channel.begin(), of: channel, now: now) }
      } catch {
        handshakeFailed(error.text, now: now)
      }
    }
  }

  /// A message of the control service that is no control frame.
  mutating func receiveSecurityQuery(_ payload: [UInt8], now: Duration) {
    // Without certificates, SDL Core has nobody to take it.
    guard security.makeChannel != nil else { return }
    guard let query = SecurityQuery(payload: payload) else {
      return sendSecurityError(.invalidQuerySize, "The query is too short")
    }
    switch query.queryID {
    case SecurityQuery.handshakeID:
      guard !security.pendingStarts.isEmpty, let channel = security.channel, !channel.isEstablished else {
        // As SDL Core answers bytes that it has not asked for.
        return sendSecurityError(.notProtected, "There is no handshake")
      }
      takeStep(channel.advance(query.handshakeBytes), of: channel, now: now)
    case SecurityQuery.internalErrorID:
      let (code, text) = query.error
      // SDL Core waits on after all other codes.
      guard !security.pendingStarts.isEmpty, code == .invalidData || code == .notSupported else { return }
      handshakeFailed("the app says \"\((text ?? "").prefix(200))\"", now: now)
    default: sendSecurityError(.invalidQueryID, "There is no query \(query.queryID)")
    }
  }

  private mutating func takeStep(_ step: SecureChannelStep, of channel: any SecureChannel, now: Duration) {
    sendHandshake(step.output)
    if let failure = step.failure {
      sendSecurityError(failure.code, failure.text)
      return handshakeFailed(failure.text, now: now)
    }
    guard let summary = channel.summary else { return }
    if let (code, text) = fault(of: summary) {
      sendSecurityError(code, text)
      return handshakeFailed(text, now: now)
    }
    report(.secured(summary))
    timers.cancel(.handshake)
    for start in takePendingStarts() {
      switch start {
      case .rpc: acknowledgeRPCProtection(now: now)
      case .video(let request):
        security.encryptsStart = behaviour.handshake != .clear
        handshakeEnded(request, now: now)
      }
    }
  }

  private mutating func takePendingStarts() -> [Security.ProtectedStart] {
    defer { security.pendingStarts = [] }
    return security.pendingStarts
  }

  /// What SDL Core checks beside the chain: the certificate is that of this app.
  private func fault(of summary: SecureChannelSummary) -> (SecurityErrorCode, String)? {
    switch behaviour.handshake {
    case .expired: return (.certificateExpired, "The certificate has expired")
    case .wrongID: return (.certificateInvalid, "The certificate is that of another app")
    case .unknownAuthority: return (.certificateInvalid, "The certificate is not signed by a known authority")
    case .regular, .silence, .garbage, .clear: break
    }
    return identityFault(of: summary).map { (.certificateInvalid, $0) }
  }

  /// Why the peer is not the registered app.
  func identityFault(of summary: SecureChannelSummary) -> String? {
    // A TLS server without authorities asks for no certificate.
    if !configuration.beginsHandshake, summary.peer == nil, !summary.isPeerVerified { return nil }
    guard let expected = app?.identity.id else { return "No app is registered" }
    let given = summary.peer?.serialNumber ?? ""
    guard expected.isEmpty || given.lowercased() != expected.lowercased() else { return nil }
    return "The certificate's serialNumber is \"\(given)\", but the app id is \"\(expected)\""
  }

  /// Also when the app has not answered in time.
  mutating func handshakeFailed(_ reason: String, now: Duration) {
    timers.cancel(.handshake)
    security.channel = nil
    security.encryptsStart = false
    let starts = takePendingStarts()
    if !starts.isEmpty { report(.handshakeFailed(reason)) }
    for start in starts {
      switch start {
      case .rpc: refuseRPCProtection("The TLS handshake failed: \(reason)", now: now)
      case .video(let request) where configuration.security != .require: handshakeEnded(request, now: now)
      case .video: refuseVideo([], reason: "The TLS handshake failed: \(reason)", now: now)
      }
    }
  }

  /// Forgets a start of video that waits for a handshake, and the handshake if nothing else does.
  mutating func cancelVideoHandshake() {
    guard !security.pendingStarts.isEmpty else { return }
    security.pendingStarts.removeAll { $0 != .rpc }
    guard security.pendingStarts.isEmpty else { return }
    timers.cancel(.handshake)
    security.channel = nil
  }

  /// Nothing is encrypted any more: the transport is another one, or the registration is over, for whose app alone the
  /// certificate counts. Handshakes stay counted.
  mutating func resetSecurity() {
    timers.cancel(.handshake)
    let handshakes = security.handshakes
    security = Security(makeChannel: security.makeChannel)
    security.handshakes = handshakes
  }

  private mutating func sendHandshake(_ bytes: [UInt8]) {
    guard let rpcService, !bytes.isEmpty else { return }
    let limit = configuration.frameLimits.maximumPayload(version: rpcService.headerVersion, service: .control) - 13
    let number = security.sequenceNumber &+ 1
    security.sequenceNumber = number
    for query in SecurityQuery.handshake(bytes, type: SecurityQuery.request, sequenceNumber: number, limit: limit) {
      send(query)
    }
  }

  private mutating func sendSecurityError(_ code: SecurityErrorCode, _ text: String) {
    send(.error(code, text))
  }

  /// The frame with its payload in clear; nil for one that is dropped. First frames are always in clear.
  mutating func decrypted(_ frame: Frame, now: Duration) -> Frame? {
    let service = frame.header.service
    let isProtected: Bool
    switch service {
    case .video: isProtected = security.isVideoEncrypted
    case .rpc, .hybrid:
      isProtected = security.isRPCEncrypted
      if frame.header.isEncrypted { security.hasReceivedEncryptedRPC = isProtected }
    case .audio, .control: isProtected = false
    }
    guard frame.header.isEncrypted, frame.header.frameType != .first else {
      // Of RPCs it depends on the function.
      guard isProtected, service == .video, frame.header.frameType != .first else { return frame }
      if security.clearFrameReports.insert(service).inserted { report(.clearFrame(service)) }
      // SDL Core takes it all the same, and with it what anybody in the network puts between the app's frames.
      return configuration.security == .require ? nil : frame
    }
    guard isProtected, let channel = security.established else {
      // What crosses the end of a service and of its encryption is no violation of its own, and is not looked at.
      if service == .video, !isOpen(.video) { return frame }
      report(.encryptedFrame(service))
      if !violations.isReached(at: now) { sendSecurityError(.notProtected, "The service is not protected") }
      return nil
    }
    do throws(SecureChannelFailure) {
      return try frame.decrypted(by: channel)
    } catch {
      report(.undecryptableFrame(service))
      sendSecurityError(.decryptionFailed, error.text)
      unregister(.protocolViolation, now: now)
      close()
      return nil
    }
  }

  /// The encrypted payload of an acknowledgement; SDL Core does so from protocol 5 on. Nil if that fails.
  mutating func protected(_ payload: [UInt8]) -> [UInt8]? {
    guard let channel = security.established else { return nil }
    return payload.isEmpty ? payload : try? channel.encrypt(payload)
  }
}
