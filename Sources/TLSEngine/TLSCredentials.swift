import COpenSSL

/// This end's identity and the authorities that it trusts: certificate, private key and authorities, checked to match.
///
/// The key exists inside of OpenSSL only, which clears its memory.
///
/// `@unchecked Sendable`: nothing changes after the initialiser, and OpenSSL counts references atomically.
package final class TLSCredentials: @unchecked Sendable {
  package struct Sources: Equatable, Sendable {
    /// This end's certificate, with the intermediate certificates after it; nil for an end without one.
    package var certificate: PEMSource?
    /// Its key; nil if it is in the certificate's file.
    package var privateKey: PEMSource?
    /// The passphrase of the key, if that is encrypted.
    package var passphrase: String?
    /// Authorities, one of which must have signed the peer's certificate; nil accepts any peer.
    package var authorities: PEMSource?

    package init() {}
  }

  /// More certificates in a source are a mistake.
  static let maximumCertificateCount = 100

  /// Of this end; nil without a certificate.
  package let info: CertificateInfo?
  let ssl: UnsafePointer<COpenSSLFunctions>
  let certificates: [OpaquePointer]
  let privateKey: OpaquePointer?
  let authorities: [OpaquePointer]

  /// Loads and checks everything, except for the time of the certificate.
  ///
  /// - Throws: what is wrong, with the name of the file.
  package init(_ sources: Sources) throws(TLSError) {
    let ssl = try OpenSSL.functions()
    self.ssl = ssl
    var loaded = Loaded(ssl: ssl)
    do throws(TLSError) {
      try loaded.load(sources)
    } catch {
      loaded.free()
      throw error
    }
    certificates = loaded.certificates
    privateKey = loaded.privateKey
    authorities = loaded.authorities
    info = certificates.first.flatMap { CertificateInfo($0, ssl) }
  }

  deinit {
    Loaded(ssl: ssl, certificates: certificates, privateKey: privateKey, authorities: authorities).free()
  }
}

/// OpenSSL objects that are owned by hand.
private struct Loaded {
  let ssl: UnsafePointer<COpenSSLFunctions>
  var certificates: [OpaquePointer] = []
  var privateKey: OpaquePointer?
  var authorities: [OpaquePointer] = []

  func free() {
    for certificate in certificates + authorities { ssl.pointee.X509_free(certificate) }
    if let privateKey { ssl.pointee.EVP_PKEY_free(privateKey) }
  }

  mutating func load(_ sources: TLSCredentials.Sources) throws(TLSError) {
    if let source = sources.authorities { try read(source, "authority", into: \.authorities) }
    guard let source = sources.certificate else {
      guard sources.privateKey == nil else {
        throw TLSError(.credentials, "there is a private key, but no certificate")
      }
      return
    }
    try read(source, "certificate", into: \.certificates)
    let keySource = sources.privateKey ?? source
    let key = try readKey(keySource, sources.passphrase)
    privateKey = key
    guard let certificate = certificates.first, ssl.pointee.X509_check_private_key(certificate, key) == 1 else {
      ssl.pointee.ERR_clear_error()
      throw TLSError(
        .credentials, "the private key in \(keySource.name) does not belong to the certificate in \(source.name)")
    }
    guard CertificateInfo(certificate, ssl) != nil else {
      throw TLSError(.credentials, "the certificate in \(source.name) has times that can't be read")
    }
  }

  private mutating func read(
    _ source: PEMSource, _ what: String, into place: WritableKeyPath<Loaded, [OpaquePointer]>
  ) throws(TLSError) {
    ssl.pointee.ERR_clear_error()
    let ssl = ssl
    var found: [OpaquePointer] = []
    var isTooLong = false
    try source.withBIO(ssl) { bio in
      // Never asks on the terminal, as OpenSSL's default function does.
      while let certificate = ssl.pointee.PEM_read_bio_X509(bio, nil, passphraseCallback, nil) {
        found.append(certificate)
        if found.count > TLSCredentials.maximumCertificateCount { isTooLong = true }
        if isTooLong { break }
      }
    }
    self[keyPath: place] = found
    guard !isTooLong else {
      throw TLSError(
        .credentials, "\(source.name) holds more than \(TLSCredentials.maximumCertificateCount) certificates")
    }
    let isAtEnd = ERR_GET_REASON(ssl.pointee.ERR_peek_error()) == PEM_R_NO_START_LINE
    let text = ssl.takeErrorText()
    guard !found.isEmpty else {
      throw TLSError(.credentials, "\(source.name) holds no \(what) in PEM" + (text.map { " (\($0))" } ?? ""))
    }
    if let text, !isAtEnd {
      throw TLSError(
        .credentials, "certificate number \(found.count + 1) in \(source.name) can't be read (\(text))")
    }
  }

  private func readKey(_ source: PEMSource, _ passphrase: String?) throws(TLSError) -> OpaquePointer {
    ssl.pointee.ERR_clear_error()
    let ssl = ssl
    var request = PassphraseRequest()
    var text = passphrase ?? ""
    let key = try source.withBIO(ssl) { (bio) throws(TLSError) -> OpaquePointer? in
      text.withUTF8 { bytes in
        request.passphrase = passphrase == nil ? nil : UnsafeRawBufferPointer(bytes)
        return withUnsafeMutablePointer(to: &request) {
          ssl.pointee.PEM_read_bio_PrivateKey(bio, nil, passphraseCallback, $0)
        }
      }
    }
    let fault = ssl.takeErrorText()
    if let key { return key }
    guard request.wasAsked else {
      throw TLSError(.credentials, "\(source.name) holds no private key in PEM" + (fault.map { " (\($0))" } ?? ""))
    }
    throw TLSError(
      .credentials,
      passphrase == nil
        ? "the private key in \(source.name) is encrypted, and there is no passphrase"
        : "the passphrase does not open the private key in \(source.name)")
  }
}

/// The argument of ``passphraseCallback``.
private struct PassphraseRequest {
  var passphrase: UnsafeRawBufferPointer?
  var wasAsked = false
}

/// Gives OpenSSL the passphrase, or a failure if there is none.
private let passphraseCallback:
  @convention(c) (
    UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?
  ) -> Int32 = { buffer, size, _, request in
    guard let request = request?.assumingMemoryBound(to: PassphraseRequest.self) else { return -1 }
    request.pointee.wasAsked = true
    guard let passphrase = request.pointee.passphrase, let buffer, passphrase.count <= Int(size) else { return -1 }
    UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)).copyBytes(from: passphrase)
    return Int32(passphrase.count)
  }
