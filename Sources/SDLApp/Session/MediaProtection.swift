import SDLWire

/// Whether video and sound are encrypted, in the terms of SDL's guides for apps.
package enum MediaEncryption: Sendable, CaseIterable {
  case none
  /// A TLS handshake is required, encryption is not. On the wire both requests are the same: the head unit decides.
  case authenticate
  case authenticateAndEncrypt
}

/// The consequence of an answer that does not fulfil ``MediaEncryption``.
package enum EncryptionPolicy: Sendable, CaseIterable {
  /// The session fails.
  case require
  /// A warning, and video or sound in clear.
  case prefer
}

struct HandshakeFailure: Equatable, Sendable {
  /// In a form that can follow a colon.
  var text: String
  /// This app does not accept the head unit's certificate, which explains more than the head unit's answer.
  var refusesHeadUnit = false
}

/// The encryption of one media service: the request of its start, and the head unit's answer. The handshake belongs to
/// the session.
struct MediaProtection: Sendable {
  private let service: ServiceType
  private let encryption: MediaEncryption
  private let policy: EncryptionPolicy
  /// Whether the present start, or the last one, had the E bit.
  private(set) var isAskedFor = false
  /// Whether the head unit has acknowledged it with the E bit.
  private(set) var isEncrypted = false
  /// The head unit refuses the service encrypted, and the policy allows it in clear.
  private(set) var isGivenUp = false
  /// The transport on which records of the service may be in flight, also after its end; nil for none.
  private var recordsInFlight: TransportRole?
  /// When they have arrived, if the transport works; nil if only the head unit's answer shows that.
  private var arrival: Duration?

  /// From the end of a service by the head unit to the arrival of its records: as long as a transport may take none
  /// until it counts as lost.
  static let arrivalTime = Duration.seconds(20)

  init(_ service: ServiceType, _ configuration: AppSession.Configuration) {
    self.service = service
    encryption = configuration.encryption
    policy = configuration.encryptionPolicy
  }

  /// The service is about to be requested.
  mutating func starts(isAskedFor: Bool) {
    self.isAskedFor = isAskedFor
    isEncrypted = false
  }

  /// The start is acknowledged, with or without the E bit, which alone says what is encrypted.
  ///
  /// - Parameters:
  ///   - role: the transport that carries the service.
  ///   - hasHandshake: whether the session's handshake is complete.
  ///   - failure: why it is not, if that is known.
  /// - Returns: Why the service runs in clear although encryption was requested; nil if the request is fulfilled.
  /// - Throws: ``AppSessionFailure/notEncrypted(_:reason:)`` if it must not start like that.
  mutating func acknowledged(
    isEncrypted: Bool, on role: TransportRole, hasHandshake: Bool, after failure: HandshakeFailure?
  ) throws(AppSessionFailure) -> String? {
    guard encryption != .none else { return nil }
    self.isEncrypted = isEncrypted && hasHandshake
    if self.isEncrypted { (recordsInFlight, arrival) = (role, nil) }
    if self.isEncrypted || encryption == .authenticate && hasHandshake { return nil }
    let handshake = hasHandshake ? "although the TLS handshake was completed" : "without a TLS handshake"
    let cause = failure?.text ?? (isGivenUp ? "it has refused encrypted \(service.mediaName)" : nil) ?? handshake
    let reason = "it answered in clear, " + cause
    guard policy == .prefer else { throw .notEncrypted(service, reason: reason) }
    return failure?.refusesHeadUnit == true
      ? "this app does not trust the head unit, as \(cause)" : "the head unit does not want it, as \(reason)"
  }

  /// The head unit has confirmed the end of the service, before which it has read all of its records.
  mutating func endConfirmed() { recordsInFlight = nil }

  /// The head unit has ended the service. It confirms nothing more, as the app's acknowledgement is the last message.
  mutating func endedByHeadUnit(now: Duration) { arrival = now + Self.arrivalTime }

  /// Whether records of the service may be in flight on this transport.
  func hasRecordsInFlight(on role: TransportRole, now: Duration) -> Bool {
    recordsInFlight == role && arrival.map { now < $0 } ?? true
  }

  /// Adds the state of the handshake to a refusal. If the service may be sent in clear, the next start requests that.
  mutating func refused(_ rejection: ServiceRejection, after failure: HandshakeFailure?) -> ServiceRejection {
    guard isAskedFor, rejection.rejectedParameters.isEmpty else { return rejection }
    giveUp()
    guard let failure else { return rejection }
    var rejection = rejection
    rejection.reason = [rejection.reason, "TLS handshake: \(failure.text)"].compactMap(\.self).joined(separator: "; ")
    return rejection
  }

  /// The head unit does not start the service encrypted: the next start requests it in clear, if allowed.
  mutating func giveUp() {
    if policy == .prefer { isGivenUp = true }
  }
}

extension ServiceType {
  /// In the words of messages to the user.
  var mediaName: String { self == .audio ? "sound" : "video" }
}
