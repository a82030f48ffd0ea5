import COpenSSL

/// OpenSSL, loaded on first use.
enum OpenSSL {
  /// Nil when it is not installed, or is another major version than this was built for.
  private nonisolated(unsafe) static let table = copenssl_load(nil)

  /// - Throws: ``TLSError`` of the kind `unavailable`.
  static func functions() throws(TLSError) -> UnsafePointer<COpenSSLFunctions> {
    guard let table else {
      throw TLSError(
        .unavailable,
        "encryption needs OpenSSL: libssl.so.\(OPENSSL_VERSION_MAJOR) can't be loaded (Debian: libssl3)")
    }
    return table
  }
}

extension UnsafePointer<COpenSSLFunctions> {
  /// The oldest error of this thread's queue as OpenSSL words it, such as "wrong version number"; the queue is emptied.
  func takeErrorText() -> String? {
    let code = pointee.ERR_get_error()
    pointee.ERR_clear_error()
    guard code != 0 else { return nil }
    return pointee.ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
  }
}

extension String {
  /// Empty for NULL.
  init(openSSL text: UnsafePointer<CChar>?) {
    self = text.map { String(cString: $0) } ?? ""
  }
}

/// An error of certificates, keys or TLS.
package struct TLSError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Kinds that callers may have to tell apart.
  package enum Kind: Equatable, Sendable {
    /// OpenSSL is not installed.
    case unavailable
    /// A certificate, key or list of authorities can't be used.
    case credentials
    /// The peer's certificate is out of its time.
    case peerExpired
    /// The peer's certificate is missing, or not signed by one of the authorities.
    case peerUntrusted
    /// Bytes that are no TLS, or no message that may come next.
    case protocolViolation
    /// The peer has sent an alert.
    case alert
    case decryption
    /// A limit is exceeded, or a function was called at the wrong time.
    case misuse
  }

  package var kind: Kind
  /// What happened, in a form that can follow a colon. Never contains a key or a passphrase.
  package var description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
