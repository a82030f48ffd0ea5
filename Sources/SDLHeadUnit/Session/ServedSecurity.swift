import SDLMessages
import SDLWire

/// The encrypted parts of a session.
struct Encryption: Sendable {
  /// Functions that SDL Core still accepts and sends in clear, since they may come before the RPC service is encrypted.
  private static let clearFunctions: Set<FunctionID> = [
    .registerAppInterface, .systemRequest, .putFile, .onPermissionsChange, .onSystemRequest, .onHMIStatus,
  ]

  static func mayBeClear(_ function: FunctionID) -> Bool { clearFunctions.contains(function) }

  var channel: (any SecureChannel)?
  var isRPCEncrypted = false
  /// The encrypted services of video and sound.
  private var media: Set<ServiceType> = []
  /// The encrypted services on which a frame in clear was reported.
  private var clearFrameReports: Set<ServiceType> = []
  /// Whether the next encrypted acknowledgement is followed by bytes that are no TLS.
  var garblesFinished = false

  /// The channel once its handshake is complete.
  var established: (any SecureChannel)? {
    guard let channel, channel.isEstablished else { return nil }
    return channel
  }

  /// Whether the data of a service is encrypted; control frames never are, only parts of their service's messages.
  func protects(_ service: ServiceType) -> Bool {
    switch service {
    case .audio, .video: media.contains(service)
    case .rpc, .hybrid: isRPCEncrypted
    case .control: false
    }
  }

  mutating func begin(_ service: ServiceType, isEncrypted: Bool) {
    if isEncrypted { media.insert(service) } else { media.remove(service) }
    clearFrameReports.remove(service)
  }

  /// Notes a frame in clear on an encrypted service.
  /// - Returns: whether it is the first.
  mutating func noteClearFrame(_ service: ServiceType) -> Bool { clearFrameReports.insert(service).inserted }

  /// The encrypted payload of an acknowledgement; SDL Core does so from protocol 5 on. Nil if that fails.
  func encrypted(_ payload: [UInt8]) -> [UInt8]? {
    guard let channel = established else { return nil }
    return payload.isEmpty ? payload : try? channel.encrypt(payload)
  }
}

struct ServedHandshakeFailure: Equatable, Sendable {
  var text: String
  /// Whether it is this app's, and not that of others.
  var isOwnFault: Bool
}

/// TLS, of which the head unit is the client in SDL Core's default (protocol specification, "Secure services"), and the
/// encryption of the RPC service, as SDL Core demands it of apps whose policy says so (SDL-0207).
struct ServedSecurity: Sendable {
  /// A service whose start has the E bit.
  private enum Start: Equatable, Sendable {
    case rpc
    case media(ServiceType, on: TransportRole)

    var transport: TransportRole {
      switch self {
      case .rpc: .primary
      case .media(_, let transport): transport
      }
    }
  }

  /// How a start of video or sound continues.
  enum MediaProtection {
    case clear
    case encrypted
    /// ``ServedContext/Consequence/handshakeEnded(_:failure:)`` reports its end.
    case handshake
    case refused(reason: String)
  }

  static let garbage = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37) }

  private let makeChannel: SecureChannelFactory?
  /// The starts that wait for the one handshake, in the order of the answers.
  private var pendingStarts: [Start] = []
  /// Before that, clear frames of the app may have crossed the acknowledgement, and are no violation.
  private var hasReceivedEncryptedRPC = false
  private var sequenceNumber: UInt32 = 0
  private var handshakes = CoreLimits.handshakes
  /// Those that were begun by a start on the secondary transport, whose sender need not be the app.
  private var secondaryHandshakes = CoreLimits.secondaryHandshakes

  init(makeChannel: SecureChannelFactory?) {
    self.makeChannel = makeChannel
  }

  // MARK: Starts

  /// Why a start of video or sound is refused before any other check; nil if it is not.
  func reasonToRefuseMedia(isEncrypted: Bool, _ context: ServedContext) -> String? {
    context.configuration.security == .require && !(isEncrypted && makeChannel != nil)
      ? "The service has to be protected" : nil
  }

  /// Begins a handshake if a start of video or sound needs one.
  mutating func prepare(
    _ service: ServiceType, on transport: TransportRole, isEncrypted: Bool, _ app: RegisteredApp,
    _ context: inout ServedContext
  ) -> MediaProtection {
    guard isEncrypted, context.configuration.security != .refuse, makeChannel != nil else { return .clear }
    guard let channel = context.encryption.established else {
      beginHandshake(for: .media(service, on: transport), app, &context)
      return .handshake
    }
    guard let summary = channel.summary, let fault = Self.identityFault(of: summary, app, context) else {
      return context.behaviour.handshake == .clear ? .clear : .encrypted
    }
    context.report(.handshakeFailed(fault))
    return context.configuration.security == .require ? .refused(reason: fault) : .clear
  }

  /// A StartService(RPC) with the E bit in a running session.
  mutating func protectRPC(_ app: RegisteredApp?, _ context: inout ServedContext) {
    guard context.configuration.security != .refuse, makeChannel != nil else {
      return refuseRPC("The RPC service can't be protected", &context)
    }
    // The certificate has to be that of the app, and a handshake costs the head unit a lot.
    guard app != nil else { return refuseRPC("No app is registered", &context) }
    guard !context.encryption.isRPCEncrypted else { return refuseRPC("The service is protected already", &context) }
    // One answer is enough.
    guard !pendingStarts.contains(.rpc) else { return context.report(.startWhileActive(.rpc)) }
    guard let channel = context.encryption.established else { return beginHandshake(for: .rpc, app, &context) }
    if let summary = channel.summary, let fault = Self.identityFault(of: summary, app, context) {
      context.report(.handshakeFailed(fault))
      return refuseRPC(fault, &context)
    }
    acknowledgeRPC(&context)
  }

  /// As in SDL Core, the acknowledgement has no hash id: the session's stays valid.
  private func acknowledgeRPC(_ context: inout ServedContext) {
    guard let rpcService = context.rpcService else { return }
    var acknowledgement = RPCServiceAcknowledgement()
    acknowledgement.protocolVersion = rpcService.protocolVersion
    acknowledgement.hashID = 0
    acknowledgement.mtu = Int64(context.configuration.frameLimits.payload)
    let payload = acknowledgement.bytes(version: rpcService.headerVersion)
    let isClear = context.behaviour.handshake == .clear
    let encrypted = isClear ? nil : context.encryption.encrypted(payload)
    if encrypted == nil, !isClear, context.demandsRPCEncryption {
      return refuseRPC("The acknowledgement can't be encrypted", &context)
    }
    context.send(.startServiceACK, service: .rpc, isEncrypted: encrypted != nil, payload: encrypted ?? payload)
    context.encryption.isRPCEncrypted = encrypted != nil
    if encrypted != nil { context.report(.rpcProtected) }
  }

  /// SDL Core ends the session of an app whose RPCs it could not protect.
  private func refuseRPC(_ reason: String, endsSession: Bool = true, _ context: inout ServedContext) {
    guard context.rpcService != nil else { return }
    context.refuse(.startServiceNAK, service: .rpc, reason: reason)
    guard endsSession, !context.encryption.isRPCEncrypted else { return }
    context.demand(.unregister(.protocolViolation))
    context.demand(.endSession)
  }

  // MARK: The handshake

  /// Begins the handshake of the session, or lets `start` wait for the present one.
  private mutating func beginHandshake(for start: Start, _ app: RegisteredApp?, _ context: inout ServedContext) {
    // The app need not take part in a handshake that only the sender on the secondary transport has asked for.
    if start.transport == .primary, pendingStarts.allSatisfy({ $0.transport == .secondary }) {
      fail("the app begins another on its primary transport", &context)
    }
    let isUnderWay = !pendingStarts.isEmpty
    pendingStarts.append(start)
    guard !isUnderWay, let makeChannel else { return }
    let isTooMany =
      start.transport == .secondary && secondaryHandshakes.exceeds(at: context.now)
      || handshakes.exceeds(at: context.now)
    guard !isTooMany else { return fail("too many handshakes", &context) }
    context.timers.arm(.handshake, at: context.now + CoreLimits.handshake)
    switch context.behaviour.handshake {
    case .silence: break
    case .garbage: send(Self.garbage, &context)
    case .regular, .clear, .lostFinished, .garbledFinished, .expired, .wrongID, .unknownAuthority:
      do throws(SecureChannelFailure) {
        let channel = try makeChannel()
        context.encryption.channel = channel
        // The server of TLS waits for the first message.
        if context.configuration.beginsHandshake { take(channel.begin(), of: channel, app, &context) }
      } catch {
        // The handshakes of other apps may be the reason.
        fail(error.text, isOwnFault: false, &context)
      }
    }
  }

  /// A message, not a control frame, of the control service.
  mutating func receive(_ payload: [UInt8], _ app: RegisteredApp?, _ context: inout ServedContext) {
    // Without certificates, SDL Core ignores it.
    guard makeChannel != nil else { return }
    guard let query = SecurityQuery(payload: payload) else {
      return context.send(.error(.invalidQuerySize, "The query is too short"))
    }
    switch query.queryID {
    case SecurityQuery.handshakeID:
      guard !pendingStarts.isEmpty, let channel = context.encryption.channel, !channel.isEstablished else {
        // As SDL Core answers unexpected bytes.
        return context.send(.error(.notProtected, "There is no handshake"))
      }
      take(channel.advance(query.handshakeBytes), of: channel, app, &context)
    case SecurityQuery.internalErrorID:
      let (code, text) = query.error
      // SDL Core keeps waiting after all other codes.
      guard !pendingStarts.isEmpty, code == .invalidData || code == .notSupported else { return }
      fail("the app says \"\((text ?? "").prefix(200))\"", &context)
    default: context.send(.error(.invalidQueryID, "There is no query \(query.queryID)"))
    }
  }

  private mutating func take(
    _ step: SecureChannelStep, of channel: any SecureChannel, _ app: RegisteredApp?, _ context: inout ServedContext
  ) {
    let handshake = context.behaviour.handshake
    let losesFinished = channel.isEstablished && (handshake == .lostFinished || handshake == .garbledFinished)
    if !losesFinished { send(step.output, &context) }
    context.encryption.garblesFinished = losesFinished && handshake == .garbledFinished
    if let failure = step.failure {
      context.send(.error(failure.code, failure.text))
      return fail(failure.text, &context)
    }
    guard let summary = channel.summary else { return }
    if let (code, text) = fault(of: summary, app, context) {
      context.send(.error(code, text))
      return fail(text, &context)
    }
    context.report(.secured(summary))
    context.timers.cancel(.handshake)
    for start in takePendingStarts() {
      switch start {
      case .rpc: acknowledgeRPC(&context)
      case .media(let service, _): context.demand(.handshakeEnded(service, failure: nil))
      }
    }
  }

  private mutating func takePendingStarts() -> [Start] {
    defer { pendingStarts = [] }
    return pendingStarts
  }

  /// SDL Core's check beside the chain: the certificate belongs to this app.
  private func fault(
    of summary: SecureChannelSummary, _ app: RegisteredApp?, _ context: ServedContext
  ) -> (SecurityErrorCode, String)? {
    switch context.behaviour.handshake {
    case .expired: (.certificateExpired, "The certificate has expired")
    case .wrongID: (.certificateInvalid, "The certificate belongs to another app")
    case .unknownAuthority: (.certificateInvalid, "The certificate is not signed by a known authority")
    case .regular, .silence, .garbage, .clear, .lostFinished, .garbledFinished:
      Self.identityFault(of: summary, app, context).map { (.certificateInvalid, $0) }
    }
  }

  /// Why the peer is not the registered app.
  private static func identityFault(
    of summary: SecureChannelSummary, _ app: RegisteredApp?, _ context: ServedContext
  ) -> String? {
    // A TLS server without authorities asks for no certificate.
    if !context.configuration.beginsHandshake, summary.peer == nil, !summary.isPeerVerified { return nil }
    guard let expected = app?.identity.id else { return "No app is registered" }
    let given = summary.peer?.serialNumber ?? ""
    guard expected.isEmpty || given.lowercased() != expected.lowercased() else { return nil }
    return "The certificate's serialNumber is \"\(given)\", but the app id is \"\(expected)\""
  }

  /// The app has not answered in time. SDL Core waits forever, and so does a head unit whose behaviour is silence.
  mutating func handshakeDue(_ context: inout ServedContext) {
    if context.behaviour.handshake != .silence { fail("the app does not answer", &context) }
  }

  /// - Parameter isOwnFault: whether the app may lose its level, or its session, for it.
  private mutating func fail(_ reason: String, isOwnFault: Bool = true, _ context: inout ServedContext) {
    context.timers.cancel(.handshake)
    context.encryption.channel = nil
    let starts = takePendingStarts()
    if !starts.isEmpty { context.report(.handshakeFailed(reason)) }
    for start in starts {
      let text = "The TLS handshake failed: \(reason)"
      switch start {
      case .rpc: refuseRPC(text, endsSession: isOwnFault, &context)
      case .media(let service, _):
        context.demand(.handshakeEnded(service, failure: ServedHandshakeFailure(text: text, isOwnFault: isOwnFault)))
      }
    }
  }

  /// Forgets a start of video or sound that waits for a handshake, and the handshake if nothing else does.
  mutating func cancel(_ service: ServiceType, _ context: inout ServedContext) {
    let count = pendingStarts.count
    pendingStarts.removeAll { if case .media(service, _) = $0 { true } else { false } }
    guard pendingStarts.count < count, pendingStarts.isEmpty else { return }
    context.timers.cancel(.handshake)
    context.encryption.channel = nil
  }

  /// Nothing is encrypted any more: the transport has changed, or the registration has ended, and the certificate was
  /// for that app only. The count of handshakes stays.
  mutating func reset(_ context: inout ServedContext) {
    context.timers.cancel(.handshake)
    context.encryption = Encryption()
    let counts = (handshakes, secondaryHandshakes)
    self = ServedSecurity(makeChannel: makeChannel)
    (handshakes, secondaryHandshakes) = counts
  }

  private mutating func send(_ bytes: [UInt8], _ context: inout ServedContext) {
    guard !bytes.isEmpty else { return }
    sequenceNumber &+= 1
    let queries = SecurityQuery.handshake(
      bytes, type: SecurityQuery.request, sequenceNumber: sequenceNumber, limit: context.maximumPayload(of: .control))
    for query in queries { context.send(query) }
  }

  // MARK: Frames

  /// The frame with its payload in clear; nil for one that is dropped. First frames are always in clear.
  mutating func decrypted(
    _ frame: Frame, on transport: TransportRole, _ media: SessionMedia, _ context: inout ServedContext
  ) -> Frame? {
    let service = frame.header.service
    let isMedia = service == .video || service == .audio
    let isProtected = context.encryption.protects(service)
    if service == .rpc || service == .hybrid, frame.header.isEncrypted { hasReceivedEncryptedRPC = isProtected }
    guard frame.header.isEncrypted, frame.header.frameType != .first else {
      // For RPCs it depends on the function.
      guard isProtected, isMedia, frame.header.frameType != .first else { return frame }
      if context.encryption.noteClearFrame(service) { context.report(.clearFrame(service)) }
      // SDL Core accepts it all the same, including frames that an attacker in the network inserts.
      return context.configuration.security == .require ? nil : frame
    }
    guard isProtected, let channel = context.encryption.established else {
      // A frame that crosses the end of a service and of its encryption is no additional violation, and is ignored.
      if isMedia, !media.isOpen(service) { return frame }
      context.report(.encryptedFrame(service))
      if !context.areViolationsLeftOut { context.send(.error(.notProtected, "The service is not protected")) }
      return nil
    }
    do throws(SecureChannelFailure) {
      return try frame.decrypted(by: channel)
    } catch {
      context.report(.undecryptableFrame(service))
      context.send(.error(.decryptionFailed, error.text))
      context.demand(.unregister(.protocolViolation))
      context.demand(.close)
      // The app can do nothing about what another sender has broken, except begin anew.
      if transport == .secondary { context.demand(.encryptionLost) }
      return nil
    }
  }

  /// Whether an RPC in clear is refused: an attacker in the network can insert one.
  func refusesInClear(_ rpc: RPCMessage, _ context: inout ServedContext) -> Bool {
    guard context.encryption.isRPCEncrypted else {
      return rpc.type == .request && context.needsProtection(rpc.function)
    }
    guard rpc.type != .request || !Encryption.mayBeClear(rpc.function) else { return false }
    // What the app sent before it got the acknowledgement is no violation. It is refused all the same, as by SDL Core:
    // whoever drops the app's encrypted messages could otherwise go on in its name.
    if hasReceivedEncryptedRPC, context.encryption.noteClearFrame(.rpc) { context.report(.clearFrame(.rpc)) }
    return context.demandsRPCEncryption
  }
}
