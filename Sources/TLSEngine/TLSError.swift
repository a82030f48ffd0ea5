/// What goes wrong with certificates, keys and TLS.
public struct TLSError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What a caller may have to tell apart.
  public enum Kind: Equatable, Sendable {
    /// OpenSSL is not installed.
    case unavailable
    /// A certificate, key or list of authorities can't be used.
    case credentials
    /// The peer's certificate is out of its time.
    case peerExpired
    /// The peer's certificate is missing, or not signed by one of the authorities.
    case peerUntrusted
    /// Bytes that are no TLS, or not what has to come next.
    case protocolViolation
    /// The peer has sent an alert.
    case alert
    /// Data that can't be decrypted.
    case decryption
    /// A limit is exceeded, or a function was called at the wrong time.
    case misuse
  }

  public var kind: Kind
  /// What happened, in a form that can follow a colon. Never contains a key or a passphrase.
  public var description: String

  /// Creates an error.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
