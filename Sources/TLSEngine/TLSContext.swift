import COpenSSL

/// The common part of all sessions of one end: its role, its credentials, and the rules of TLS 1.2.
///
/// Newer versions are left out on purpose: SDL Core negotiates TLS 1.3, but then fails to decrypt every frame (seen on
/// 8.2).
///
/// `@unchecked Sendable`: nothing changes after the initialiser, and OpenSSL allows sessions to be made on any thread.
package final class TLSContext: @unchecked Sendable {
  /// Which end begins.
  package enum Role: CaseIterable, Equatable, Sendable {
    /// Sends the first message: a head unit, in SDL Core's default.
    case client
    /// Waits for it: an app.
    case server
  }

  /// The protocol that a client begins with; a server answers in the client's.
  package enum Variant: CaseIterable, Equatable, Sendable {
    case tls
    /// Datagram TLS, which SDL Core's own configuration file names.
    case dtls
  }

  /// Forward secrecy with authenticated encryption first, the cheapest form before others. Level 1 as in SDL Core,
  /// since certificates of head units may have keys that are short for today's rules.
  private static let ciphers =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:AESGCM"
    + ":ECDHE+AES:AES:!aNULL:!PSK:!SRP@SECLEVEL=1"
  /// Certificates between the peer's and an authority.
  private static let maximumChainLength: Int32 = 10
  /// Bytes of the peer's certificates.
  private static let maximumPeerCertificates = 32 << 10

  package let role: Role
  /// Of a client.
  package let variant: Variant
  package let credentials: TLSCredentials
  /// Whether the peer's certificate is checked by the system's authorities, and for its name.
  let trustsSystem: Bool
  let streams: OpaquePointer
  let datagrams: OpaquePointer

  /// Creates the rules for one end. With authorities in the credentials, the peer must have a certificate that one of
  /// them has signed.
  ///
  /// - Parameter trustsSystem: without authorities in the credentials, those of the system count.
  /// - Throws: when a server has no certificate, or OpenSSL refuses the credentials.
  package init(
    role: Role, variant: Variant = .tls, credentials: TLSCredentials, trustsSystem: Bool = false
  ) throws(TLSError) {
    guard role == .client || credentials.privateKey != nil else {
      throw TLSError(.credentials, "a server needs a certificate and a private key")
    }
    self.role = role
    self.variant = variant
    self.credentials = credentials
    self.trustsSystem = trustsSystem && credentials.authorities.isEmpty
    let ssl = credentials.ssl
    streams = try Self.make(ssl.pointee.TLS_method(), TLS1_2_VERSION, role, credentials, self.trustsSystem)
    do throws(TLSError) {
      datagrams = try Self.make(ssl.pointee.DTLS_method(), DTLS1_2_VERSION, role, credentials)
    } catch {
      ssl.pointee.SSL_CTX_free(streams)
      throw error
    }
  }

  deinit {
    credentials.ssl.pointee.SSL_CTX_free(streams)
    credentials.ssl.pointee.SSL_CTX_free(datagrams)
  }

  /// Whether the peer needs a certificate of an authority.
  var verifiesPeer: Bool { !credentials.authorities.isEmpty || trustsSystem }

  package func makeSession() -> TLSSession { TLSSession(context: self) }

  /// A session of a client with this server, a host name or numeric address.
  package func makeSession(with server: String) -> TLSSession { TLSSession(context: self, serverName: server) }

  private static func make(
    _ method: OpaquePointer?, _ version: Int32, _ role: Role, _ credentials: TLSCredentials,
    _ trustsSystem: Bool = false
  ) throws(TLSError) -> OpaquePointer {
    let ssl = credentials.ssl
    ssl.pointee.ERR_clear_error()
    guard let context = ssl.pointee.SSL_CTX_new(method) else { throw failure(ssl) }
    var isComplete =
      ssl.pointee.SSL_CTX_set_cipher_list(context, ciphers) == 1
      && ssl.pointee.SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version), nil) == 1
      && ssl.pointee.SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil) == 1
    _ = ssl.pointee.SSL_CTX_set_options(context, COPENSSL_OPTIONS)
    _ = ssl.pointee.SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
    _ = ssl.pointee.SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_CERT_LIST, maximumPeerCertificates, nil)
    if let certificate = credentials.certificates.first, let key = credentials.privateKey {
      isComplete =
        isComplete && ssl.pointee.SSL_CTX_use_certificate(context, certificate) == 1
        && ssl.pointee.SSL_CTX_use_PrivateKey(context, key) == 1
      for intermediate in credentials.certificates.dropFirst() {
        // With 1, OpenSSL adds a reference to the certificate, so that ours stays valid.
        let result = ssl.pointee.SSL_CTX_ctrl(
          context, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(intermediate))
        isComplete = isComplete && result == 1
      }
    }
    if !credentials.authorities.isEmpty {
      let store = ssl.pointee.SSL_CTX_get_cert_store(context)
      for authority in credentials.authorities {
        isComplete = isComplete && ssl.pointee.X509_STORE_add_cert(store, authority) == 1
      }
      ssl.pointee.SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
      ssl.pointee.SSL_CTX_set_verify_depth(context, maximumChainLength)
    }
    if trustsSystem {
      isComplete = isComplete && ssl.pointee.SSL_CTX_set_default_verify_paths(context) == 1
      ssl.pointee.SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    }
    guard isComplete else {
      let error = failure(ssl)
      ssl.pointee.SSL_CTX_free(context)
      throw error
    }
    return context
  }

  private static func failure(_ ssl: UnsafePointer<COpenSSLFunctions>) -> TLSError {
    TLSError(.credentials, "OpenSSL does not accept the credentials: \(ssl.takeErrorText() ?? "no reason given")")
  }
}
