/// Why a session ended, or could not begin.
package enum AppSessionFailure: Error, Equatable, Sendable {
  /// The peer sent bytes that are not an SDL frame.
  case notSDL(firstBytes: [UInt8])
  /// The head unit answered the first request with a NAK.
  case sessionRefused(reason: String?)
  /// The head unit only has protocol versions before 3.
  case unsupportedProtocol(version: String)
  /// A request was not answered in time.
  case unanswered(request: String)
  case registrationRefused(resultCode: String, info: String?)
  /// The head unit says that it shows no video of apps.
  case videoNotSupported
  /// The head unit unregistered the app; the reason is that of `AppInterfaceUnregisteredReason`.
  case unregistered(reason: String)
  /// The head unit ended the session without a reason.
  case endedByHeadUnit
  /// A heartbeat stayed unanswered.
  case heartbeatLost
  case connectionLost
  /// The head unit answers the request for encrypted video, or sound, in clear; the text gives the cause, if known.
  case notEncrypted(ServiceType, reason: String)
  /// RPCs have to be encrypted, by the head unit's policy or for the user, and are not; the text says why.
  case rpcsNotEncrypted(reason: String, isRequiredByHeadUnit: Bool)
  /// This app does not accept the head unit's certificate; the text says why.
  case headUnitNotTrusted(reason: String)
  /// TLS handshakes do not complete, but the head unit behaves as if they had.
  case handshakeLost
  /// The secondary transport was lost with encrypted video or sound that may not have arrived, or video or sound would
  /// overtake it on another transport.
  case encryptedTransportLost
  /// The head unit's data can't be decrypted.
  case decryptionFailed(reason: String)
}

extension AppSessionFailure: CustomStringConvertible {
  /// A text for messages to the user: what happened, and advice.
  package var description: String {
    switch self {
    case .notSDL(let firstBytes) where Self.isHTTP(firstBytes):
      "the peer answers with HTTP, not with SmartDeviceLink: \(Self.quoted(firstBytes)); if it takes WebSocket there, write sdl+ws://HOST:PORT"
    case .notSDL(let firstBytes):
      "the peer is no SDL head unit: it sent \(Self.quoted(firstBytes)); check host and port (SDL Core listens on 12345)"
    case .sessionRefused(let reason):
      "the head unit refused the session\(reason.map { " (\($0))" } ?? ""); its software may not support this protocol version"
    case .unsupportedProtocol(let version):
      "the head unit speaks SDL protocol \(version); 3 or newer is needed for video"
    case .unanswered(let request):
      "the head unit did not answer \(request); is its HMI running? A longer connect-timeout gives it more time"
    case .registrationRefused(let resultCode, let info):
      "the head unit refused to register the app: \(resultCode)\(info.map { " (\($0))" } ?? ""); \(Self.advice(on: resultCode))"
    case .videoNotSupported:
      "the head unit does not show video of apps (hmiCapabilities.videoStreaming); only its maker can change that"
    case .unregistered(let reason):
      "the head unit unregistered the app: \(Self.explanation(of: reason))"
    case .endedByHeadUnit:
      "the head unit ended the session without a reason, possibly because the app has not answered its heartbeats in time; its log may say why"
    case .heartbeatLost:
      "the head unit has sent nothing for some time, not even the answer to a heartbeat: either it hangs, or the network has failed"
    case .connectionLost:
      "the head unit closed the connection; its log may say why"
    case .notEncrypted(let service, let reason):
      "the head unit does not encrypt the \(service.mediaName): \(reason). With encryption-policy=prefer it would be sent in clear"
    case .rpcsNotEncrypted(let reason, true):
      "the head unit's policy requires encrypted RPCs, but they can't be encrypted: \(reason). With encryption-policy=prefer they would be sent in clear"
    case .rpcsNotEncrypted(let reason, false):
      "the RPCs are not encrypted, as rpc-encryption=require demands: \(reason). The head unit needs certificates and a policy for that; with rpc-encryption=prefer its policy alone would decide"
    case .headUnitNotTrusted(let reason):
      "this app does not trust the head unit: \(reason). The property ca-certificates says which authorities may sign its certificate; with encryption-policy=prefer video and sound would be sent in clear"
    case .handshakeLost:
      "TLS handshakes with the head unit do not end: it has most likely lost the last message of one (SDL Core as TLS server does now and then), and begins no other on the same connection"
    case .encryptedTransportLost:
      "encrypted video or sound may not have arrived on the transport that carried it; TLS can't continue without it"
    case .decryptionFailed(let reason):
      "data from the head unit can't be decrypted: \(reason)"
    }
  }

  private static func advice(on resultCode: String) -> String {
    switch ResultCode(rawValue: resultCode) {
    case .tooManyApplications: "close another app on the head unit"
    case .applicationRegisteredAlready:
      "probably the app's own former session, which the head unit has not ended yet (restart the head unit if this persists), or another app with this app-id"
    default: "check app-name, app-id, app-type and language"
    }
  }

  private static func explanation(of reason: String) -> String {
    switch UnregisteredReason(rawValue: reason) {
    case .appUnauthorized: "\(reason); check app-id against the head unit's policies"
    case .protocolViolation: "\(reason); the head unit's log names the rule that was broken"
    case .languageChange: "\(reason); the driver has chosen a language other than the app's"
    case .ignitionOff: "\(reason); the car was switched off"
    case .bluetoothOff, .usbDisconnected: "\(reason); the head unit has closed this kind of connection"
    case .masterReset, .factoryDefaults: "\(reason); the head unit was reset"
    case .requestWhileInNone, .tooManyRequests: "\(reason); the app has sent more requests than the head unit allows"
    case .driverDistractionViolation: "\(reason); the app has broken a rule against distracting the driver"
    case .unsupportedHMIResource: "\(reason); the head unit's screen lacks something that the app needs"
    case .resourceConstraint: "\(reason); the head unit is short of memory or computing time"
    case nil: reason.isEmpty ? "it gave no reason" : reason
    }
  }

  private static func isHTTP(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "HTTP/".utf8) }

  private static func quoted(_ bytes: [UInt8]) -> String {
    let text = bytes.map { (0x20...0x7E).contains($0) ? String(UnicodeScalar($0)) : "." }.joined()
    return "\"\(text)\""
  }
}
