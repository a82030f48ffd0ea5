import SDLMessages
import SDLWire

/// Whether RPCs are encrypted once the app is registered.
package enum RPCEncryption: Sendable, CaseIterable {
  /// Not even if the head unit's policy requires it.
  case none
  /// If the head unit's policy requires it. When the app encrypts video and sound as well, ``EncryptionPolicy`` says
  /// what happens if that fails.
  case prefer
  /// Always; if that fails, the session does.
  case require
}

/// The encryption of RPCs: which have to be encrypted, and how far that has come. The handshake belongs to the session.
struct RPCProtection: Sendable {
  /// Nothing undoes it within a session.
  private enum State: Equatable {
    case none
    case starting(deadline: Duration)
    case protected
    case refused
  }

  /// What SDL-0207 leaves in clear until RPCs are encrypted, of what head units send.
  private static let leftInClear: Set<FunctionID> = [.onPermissionsChange, .onSystemRequest, .onHMIStatus]

  private let encryption: RPCEncryption
  /// Whether the app encrypts anything.
  private let canEncrypt: Bool
  /// Whether what has to be encrypted must not go in clear instead.
  private let isDemanded: Bool
  private var state = State.none
  /// The head unit has refused a request because it was in clear.
  private var hasRefusedClearRPC = false
  /// A notification in clear, which the user does not accept, was reported.
  private var hasReportedClearRPC = false
  /// Which RPCs the head unit encrypts, once RPCs are encrypted.
  private var policy = OnPermissionsChange.Protection.functions([])

  /// - Parameter hasChannel: whether there is an end of TLS for this app.
  init(_ configuration: AppSession.Configuration, hasChannel: Bool) {
    encryption = configuration.rpcEncryption
    let encryptsMedia = configuration.encryption != .none && hasChannel
    switch encryption {
    case .none: (canEncrypt, isDemanded) = (false, false)
    case .prefer:
      canEncrypt = encryptsMedia
      isDemanded = encryptsMedia && configuration.encryptionPolicy == .require
    case .require: (canEncrypt, isDemanded) = (hasChannel, true)
    }
  }

  /// The RPCs that have to be encrypted, as the head unit's policy and the user want it.
  private var protectedRPCs: OnPermissionsChange.Protection { encryption == .require ? .all : policy }

  /// Whether RPCs go encrypted in both directions.
  var isComplete: Bool { state == .protected }

  /// Whether RPCs can still become encrypted.
  var isPossible: Bool { canEncrypt && state != .refused && state != .protected }

  /// When the start of the protected RPC service counts as unanswered; nil unless it is under way.
  var deadline: Duration? { if case .starting(let deadline) = state { deadline } else { nil } }

  /// Whether an encrypted acknowledgement may be followed, also when it comes late: from then on the head unit expects
  /// encrypted RPCs.
  var acceptsAcknowledgement: Bool { deadline != nil || canEncrypt && state == .refused }

  /// Whether the protected RPC service has to be started, in a session whose app is registered.
  var isStartDue: Bool { state == .none && (hasRefusedClearRPC || protectedRPCs != .functions([])) }

  /// Whether a clear notification of `function` is not accepted. SDL Core encrypts those that its policy names, and
  /// sends the rest in clear. Before RPCs are encrypted, it does not send those that its policy names, except for some
  /// (SDL-0207).
  func rejectsClear(_ function: FunctionID) -> Bool {
    protectedRPCs.includes(function) && (isComplete || isDemanded && !Self.leftInClear.contains(function))
  }

  /// Whether requests of `function` have to be encrypted, and RPCs are not. SystemRequest may be in clear before that,
  /// whatever the policy says: with a policy update it brings the head unit the certificate for the handshake.
  func isMissing(for function: FunctionID) -> Bool {
    !isComplete && function != .systemRequest && protectedRPCs.includes(function)
  }

  /// The same while RPCs can still become encrypted, for which such a request waits, or where it is never sent in clear.
  func isPending(for function: FunctionID) -> Bool { isMissing(for: function) && (isPossible || isDemanded) }
}

extension RPCProtection {
  /// The head unit has refused a request with ENCRYPTION_NEEDED.
  mutating func refusedInClear() { hasRefusedClearRPC = true }

  /// The RPCs that the head unit's policy requires to be encrypted. Once RPCs are encrypted, a policy in clear can't
  /// take that back.
  mutating func note(_ policy: OnPermissionsChange.Protection, isEncrypted: Bool) {
    self.policy = isComplete && !isEncrypted ? self.policy.union(policy) : policy
  }

  /// A notification has come in clear that ``rejectsClear(_:)``.
  mutating func ignoredInClear(_ function: FunctionID, _ messenger: inout SessionMessenger) {
    messenger.diagnose("ignored \(function) in clear, which must be encrypted")
    // It may be the head unit's own, which then sends no other.
    guard isComplete, !policy.includes(function), !hasReportedClearRPC else { return }
    hasReportedClearRPC = true
    messenger.report(.rpcIgnored(function))
  }

  /// StartService is about to be sent.
  ///
  /// - Returns: whether it may be, because the app encrypts.
  mutating func start(
    until deadline: Duration, _ messenger: inout SessionMessenger
  ) throws(AppSessionFailure) -> Bool {
    guard canEncrypt else {
      let property = encryption == .none ? "rpc-encryption" : "encryption"
      try failed("this app does not encrypt (see the property \(property))", &messenger)
      return false
    }
    state = .starting(deadline: deadline)
    return true
  }

  /// The head unit has acknowledged the start encrypted.
  mutating func acknowledged(_ messenger: inout SessionMessenger) {
    state = .protected
    messenger.report(.rpcProtected)
  }

  /// The handshake for the start has begun, and did not end. What must be encrypted is started once more, as video is.
  ///
  /// - Returns: whether RPCs stay in clear.
  mutating func handshakeStalled(_ messenger: inout SessionMessenger) throws(AppSessionFailure) -> Bool {
    guard deadline != nil else { return false }
    guard !isDemanded else {
      state = .none
      return false
    }
    try failed("the TLS handshake did not end", &messenger)
    return true
  }

  /// RPCs stay in clear.
  ///
  /// - Throws: ``AppSessionFailure/rpcsNotEncrypted(reason:isRequiredByHeadUnit:)`` if they must not.
  mutating func failed(_ reason: String, _ messenger: inout SessionMessenger) throws(AppSessionFailure) {
    state = .refused
    guard !isDemanded else {
      throw .rpcsNotEncrypted(reason: reason, isRequiredByHeadUnit: encryption != .require)
    }
    messenger.report(.rpcInClear(reason))
  }
}
