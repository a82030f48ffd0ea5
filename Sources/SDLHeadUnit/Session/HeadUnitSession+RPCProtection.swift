import SDLMessages
import SDLWire

/// The encryption of the RPC service, as SDL Core demands it of apps whose policy says so (SDL-0207).
extension HeadUnitSession {
  /// What SDL Core takes and sends in clear all the same, since it may come before the service is encrypted.
  private static let unprotectedFunctions: Set<FunctionID> = [
    .registerAppInterface, .systemRequest, .putFile, .onPermissionsChange, .onSystemRequest, .onHMIStatus,
  ]

  /// Whether RPCs of this function must not go in clear, and the service is in clear.
  func needsProtection(_ function: FunctionID) -> Bool {
    configuration.requiresRPCEncryption && !security.isRPCEncrypted && !Self.unprotectedFunctions.contains(function)
  }

  /// Whether all RPCs have to be encrypted once the service is, except for ``unprotectedFunctions``. Otherwise that is
  /// the app's choice for each, as with SDL Core.
  var demandsRPCEncryption: Bool { configuration.requiresRPCEncryption || configuration.security == .require }

  /// Whether an RPC that has come in clear is refused: anybody in the network can put one between the app's.
  mutating func refusesInClear(_ rpc: RPCMessage) -> Bool {
    guard security.isRPCEncrypted else { return rpc.type == .request && needsProtection(rpc.function) }
    // What the app had sent before it got the acknowledgement is no violation.
    let mayBeClear = rpc.type == .request && Self.unprotectedFunctions.contains(rpc.function)
    guard security.hasReceivedEncryptedRPC, !mayBeClear else { return false }
    if security.clearFrameReports.insert(.rpc).inserted { report(.clearFrame(.rpc)) }
    return demandsRPCEncryption
  }

  /// A StartService(RPC) of a session that runs, with the E bit.
  mutating func protectRPC(now: Duration) {
    guard configuration.security != .refuse, security.makeChannel != nil else {
      return refuseRPCProtection("The RPC service can't be protected", now: now)
    }
    guard !security.isRPCEncrypted else { return refuseRPCProtection("The service is protected already", now: now) }
    // One answer is enough.
    guard !security.pendingStarts.contains(.rpc) else { return report(.startWhileActive(.rpc)) }
    guard let channel = security.established else { return beginHandshake(for: .rpc, now: now) }
    if let summary = channel.summary, let fault = identityFault(of: summary) {
      report(.handshakeFailed(fault))
      return refuseRPCProtection(fault, now: now)
    }
    acknowledgeRPCProtection(now: now)
  }

  /// As SDL Core does, the acknowledgement has no hash id: that of the session stays.
  mutating func acknowledgeRPCProtection(now: Duration) {
    guard let rpcService else { return }
    var acknowledgement = RPCServiceAcknowledgement()
    acknowledgement.protocolVersion = rpcService.protocolVersion
    acknowledgement.hashID = 0
    acknowledgement.mtu = Int64(configuration.frameLimits.payload)
    let payload = acknowledgement.bytes(version: rpcService.headerVersion)
    let encrypted = behaviour.handshake == .clear ? nil : protected(payload)
    if encrypted == nil, behaviour.handshake != .clear, demandsRPCEncryption {
      return refuseRPCProtection("The acknowledgement can't be encrypted", now: now)
    }
    send(.startServiceACK, service: .rpc, isEncrypted: encrypted != nil, payload: encrypted ?? payload)
    security.isRPCEncrypted = encrypted != nil
    if encrypted != nil { report(.rpcProtected) }
  }

  /// SDL Core ends the session of an app whose RPCs it could not protect.
  mutating func refuseRPCProtection(_ reason: String, now: Duration) {
    guard let rpcService else { return }
    let refusal = rejection([], reason: reason)
    send(.startServiceNAK, service: .rpc, payload: refusal.bytes(version: rpcService.headerVersion))
    guard !security.isRPCEncrypted else { return }
    unregister(.protocolViolation, now: now)
    send(.endService, service: .rpc)
    endSession(now: now)
    close()
  }
}
