import COpenSSL

/// The handshake.
extension TLSSession {
  /// What a handshake sends, and why it failed if it did: an alert may have to be sent with the failure.
  public struct HandshakeStep: Equatable, Sendable {
    /// Whole records for the peer; may be empty.
    public var output: [UInt8]
    /// Nil unless the handshake has failed.
    public var failure: TLSError?
  }

  /// Begins as a client.
  public func begin() -> HandshakeStep {
    advance([], isBegin: true)
  }

  /// Takes the next bytes of the peer, cut anywhere for TLS and at records for DTLS.
  public func advance(_ bytes: [UInt8]) -> HandshakeStep {
    advance(bytes, isBegin: false)
  }

  private func advance(_ bytes: [UInt8], isBegin: Bool) -> HandshakeStep {
    do throws(TLSError) {
      return try withState { state throws(TLSError) in
        guard state.phase == .handshake else { throw TLSError(.misuse, "the handshake is over") }
        state.handshakeCallCount += 1
        state.handshakeByteCount += bytes.count
        guard state.handshakeByteCount <= Self.maximumHandshakeByteCount,
          state.handshakeCallCount <= Self.maximumHandshakeCallCount
        else {
          state.phase = .over
          throw TLSError(.protocolViolation, "the handshake does not end")
        }
        let datagrams =
          context.role == .client
          ? context.variant == .dtls : bytes.withUnsafeBytes { TLSRecord.isDatagram($0) }
        let (connection, transport) = try open(&state, datagrams: datagrams)
        return bytes.withUnsafeBytes { step(connection, transport, $0, &state) }
      }
    } catch {
      return HandshakeStep(output: [], failure: error)
    }
  }

  private func step(
    _ connection: OpaquePointer, _ transport: MemoryTransport, _ bytes: UnsafeRawBufferPointer, _ state: inout State
  ) -> HandshakeStep {
    ssl.pointee.ERR_clear_error()
    transport.input = bytes
    transport.destination = .handshake([])
    let result = ssl.pointee.SSL_do_handshake(connection)
    transport.input = UnsafeRawBufferPointer(start: nil, count: 0)
    var output: [UInt8] = []
    if case .handshake(let messages) = transport.destination { output = messages }
    transport.destination = .handshake([])
    if result == 1 {
      state.phase = .established
      state.summary = makeSummary(connection)
      return HandshakeStep(output: output, failure: nil)
    }
    let code = ssl.pointee.SSL_get_error(connection, result)
    if code == SSL_ERROR_WANT_READ { return HandshakeStep(output: output, failure: nil) }
    state.phase = .over
    return HandshakeStep(output: output, failure: failure(connection))
  }

  private func failure(_ connection: OpaquePointer) -> TLSError {
    let code = ssl.pointee.ERR_get_error()
    ssl.pointee.ERR_clear_error()
    let text =
      code == 0
      ? "it broke off" : ssl.pointee.ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
    let reason = ERR_GET_REASON(code)
    let verification = context.verifiesPeer ? Int32(clamping: ssl.pointee.SSL_get_verify_result(connection)) : X509_V_OK
    if verification != X509_V_OK {
      let fault = String(openSSL: ssl.pointee.X509_verify_cert_error_string(Int(verification)))
      let isTime = [X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID].contains(verification)
      return TLSError(isTime ? .peerExpired : .peerUntrusted, "the peer's certificate is not accepted: \(fault)")
    }
    if reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE {
      return TLSError(.peerUntrusted, "the peer has no certificate")
    }
    // OpenSSL numbers the alerts of the peer from here on.
    if reason >= SSL_AD_REASON_OFFSET { return TLSError(.alert, "the peer refuses: \(text)") }
    return TLSError(.protocolViolation, "the peer's bytes are not usable: \(text)")
  }

  private func makeSummary(_ connection: OpaquePointer) -> TLSSummary {
    let certificate = ssl.pointee.SSL_get1_peer_certificate(connection)
    defer { if let certificate { ssl.pointee.X509_free(certificate) } }
    let cipher = ssl.pointee.SSL_get_current_cipher(connection)
    return TLSSummary(
      protocolVersion: String(openSSL: ssl.pointee.SSL_get_version(connection)),
      cipher: String(openSSL: ssl.pointee.SSL_CIPHER_get_name(cipher)),
      peer: certificate.flatMap { CertificateInfo($0, ssl) }, isPeerVerified: context.verifiesPeer)
  }
}
