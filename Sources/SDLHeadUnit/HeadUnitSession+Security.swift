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

/// TLS, of which the head unit is the client, as in SDL Core's default (protocol specification, "Secure services").
extension HeadUnitSession {
  /// What is known of TLS in this session.
  struct Security: Sendable {
    let makeChannel: SecureChannelFactory?
    var channel: (any SecureChannel)?
    /// The StartService(video) that waits for the handshake.
    var pendingStart: VideoServiceParameters?
    /// Whether the start that is answered next is acknowledged with the E bit.
    var encryptsStart = false
    /// Whether the running service is encrypted.
    var isVideoEncrypted = false
    var isClearFrameReported = false
    var sequenceNumber: UInt32 = 0
    var handshakes = CoreLimits.handshakes

    init(makeChannel: SecureChannelFactory?) {
      self.makeChannel = makeChannel
    }

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
    guard isEncrypted, configuration.security != .refuse, let makeChannel = security.makeChannel else { return false }
    if security.established != nil {
      security.encryptsStart = behaviour.handshake != .clear
      return false
    }
    security.pendingStart = request
    guard !security.handshakes.exceeds(at: now) else {
      handshakeFailed("too many handshakes", now: now)
      return true
    }
    timers.arm(.handshake, at: now + CoreLimits.handshake)
    switch behaviour.handshake {
    case .silence: break
    case .garbage: sendHandshake((0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37) })
    case .regular, .clear, .expired, .wrongID, .unknownAuthority:
      do throws(SecureChannelFailure) {
        let channel = try makeChannel()
        security.channel = channel
        takeStep(channel.begin(), of: channel, now: now)
      } catch {
        handshakeFailed(error.text, now: now)
      }
    }
    return true
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
      guard security.pendingStart != nil, let channel = security.channel, !channel.isEstablished else {
        // As SDL Core answers bytes that it has not asked for.
        return sendSecurityError(.notProtected, "There is no handshake")
      }
      takeStep(channel.advance(query.handshakeBytes), of: channel, now: now)
    case SecurityQuery.internalErrorID:
      let (code, text) = query.error
      // SDL Core waits on after all other codes.
      guard security.pendingStart != nil, code == .invalidData || code == .notSupported else { return }
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
    guard let request = security.pendingStart.take() else { return }
    security.encryptsStart = behaviour.handshake != .clear
    handshakeEnded(request, now: now)
  }

  /// What SDL Core checks beside the chain: the certificate is that of this app.
  private func fault(of summary: SecureChannelSummary) -> (SecurityErrorCode, String)? {
    switch behaviour.handshake {
    case .expired: return (.certificateExpired, "The certificate has expired")
    case .wrongID: return (.certificateInvalid, "The certificate is that of another app")
    case .unknownAuthority: return (.certificateInvalid, "The certificate is not signed by a known authority")
    case .regular, .silence, .garbage, .clear: break
    }
    let expected = app?.identity.id ?? ""
    let given = summary.peer?.serialNumber ?? ""
    guard given.lowercased() != expected.lowercased() else { return nil }
    return (.certificateInvalid, "The certificate's serialNumber is \"\(given)\", but the app id is \"\(expected)\"")
  }

  /// Also when the app has not answered in time.
  mutating func handshakeFailed(_ reason: String, now: Duration) {
    timers.cancel(.handshake)
    security.channel = nil
    security.encryptsStart = false
    guard let request = security.pendingStart.take() else { return }
    report(.handshakeFailed(reason))
    if configuration.security == .require {
      refuseVideo([], reason: "The TLS handshake failed: \(reason)", now: now)
    } else {
      handshakeEnded(request, now: now)
    }
  }

  /// Forgets a start that waits for a handshake.
  mutating func cancelHandshake() {
    guard security.pendingStart.take() != nil else { return }
    timers.cancel(.handshake)
    security.channel = nil
  }

  /// The transport is another one.
  mutating func resetSecurity() {
    timers.cancel(.handshake)
    security = Security(makeChannel: security.makeChannel)
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
    let isProtected = service == .video && security.isVideoEncrypted
    guard frame.header.isEncrypted, frame.header.frameType != .first else {
      guard isProtected, frame.header.frameType != .first else { return frame }
      if !security.isClearFrameReported {
        security.isClearFrameReported = true
        report(.clearFrame(service))
      }
      // SDL Core takes it all the same, and with it what anybody in the network puts between the app's frames.
      return configuration.security == .require ? nil : frame
    }
    guard isProtected, let channel = security.established else {
      report(.encryptedFrame(service))
      sendSecurityError(.notProtected, "The service is not protected")
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

  /// The payload of an acknowledgement, encrypted if the start is; SDL Core does so from protocol 5 on. Nil if that fails.
  mutating func protected(_ payload: [UInt8]) -> [UInt8]? {
    guard security.encryptsStart, let channel = security.established else { return nil }
    guard !payload.isEmpty else { return payload }
    var records = [UInt8](repeating: 0, count: payload.count + SecurePayload.overhead)
    let count = payload.withUnsafeBytes { payload in
      records.withUnsafeMutableBytes { records in try? channel.encrypt(payload, into: records) }
    }
    return count.map { Array(records[..<$0]) }
  }
}
