/// The encryption of the RPC service, which the head unit's policy may ask for (protocol specification, "Secure services";
/// SDL-0207). The service starts in clear, and is started again with the E bit once the app is registered.
extension AppSession {
  /// How far it has come. Nothing undoes it within a session.
  enum RPCProtection: Equatable, Sendable {
    case none
    case starting(deadline: Duration)
    case protected
    case refused

    /// When the start of the protected service counts as unanswered.
    var deadline: Duration? { if case .starting(let deadline) = self { deadline } else { nil } }
  }

  /// Whether RPCs go encrypted in both directions.
  public var isRPCEncrypted: Bool { security.rpc == .protected }

  var rpcProtectionDeadline: Duration? { security.rpc.deadline }

  /// The head unit refuses RPCs in clear, or says that it will.
  mutating func rpcProtectionNeeded() {
    guard case .registered = phase, security.rpc == .none else { return }
    guard configuration.encryption != .none, security.makeChannel != nil else {
      security.rpc = .refused
      return actions.append(
        .report(.rpcInClear("this app does not encrypt (see the property encryption)")))
    }
    security.rpc = .starting(deadline: now + configuration.handshakeTimeout)
    var request = Frame.control(.startService, service: .rpc, version: version, sessionID: sessionID)
    request.header.isEncrypted = true
    send(request)
    scheduleHandshake()
  }

  /// Whether a notification of `function` that comes in clear is none of the head unit's: SDL Core encrypts what its policy says,
  /// and sends the rest in clear.
  func needsProtection(_ function: FunctionID) -> Bool {
    isRPCEncrypted && security.policy.includes(function)
  }

  /// What the head unit's policy wants encrypted. Once RPCs are, that is not taken back in clear.
  mutating func notePolicy(_ policy: OnPermissionsChange.Protection, isEncrypted: Bool) {
    security.policy = isRPCEncrypted && !isEncrypted ? security.policy.union(policy) : policy
  }

  /// Also when it comes late: from now on the head unit takes RPCs for encrypted.
  mutating func rpcProtectionAcknowledged(isEncrypted: Bool) {
    let isLate = security.rpc == .refused && isEncrypted && secureChannel != nil
    guard rpcProtectionDeadline != nil || isLate else {
      return actions.append(
        .report(.diagnostic("ignored the acknowledgement of a start of RPCs that is not under way")))
    }
    guard isEncrypted, secureChannel != nil else {
      return rpcProtectionFailed(security.failure ?? "the head unit acknowledged in clear")
    }
    security.rpc = .protected
    actions.append(.report(.rpcProtected))
    haptics.permissionsChanged()
    if capability == .needsProtection { requestCapability() }
  }

  mutating func rpcProtectionRefused(_ rejection: ServiceRejection) {
    guard case .starting = security.rpc else {
      return actions.append(.report(.diagnostic("ignored the refusal of a start of RPCs that is not under way")))
    }
    rpcProtectionFailed(security.failure ?? rejection.reason ?? "the head unit refused it")
  }

  mutating func advanceRPCProtection() {
    guard let deadline = rpcProtectionDeadline, deadline <= now else { return }
    rpcProtectionFailed("the head unit did not answer")
  }

  mutating func rpcProtectionFailed(_ reason: String) {
    security.rpc = .refused
    actions.append(.report(.rpcInClear(reason)))
    if capability == .needsProtection { capabilityUnavailable() }
  }
}
