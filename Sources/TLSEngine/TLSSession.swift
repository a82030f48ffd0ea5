import COpenSSL
import Synchronization

/// One end of a TLS connection in memory: bytes in, bytes out, no socket and no waiting.
///
/// `@unchecked Sendable`: `state` is only touched with the lock held.
package final class TLSSession: @unchecked Sendable {
  private enum Phase: Equatable {
    case handshake
    case established
    case over
  }

  private struct State {
    /// Made with the first message, which says whether it is DTLS.
    var connection: OpaquePointer?
    var transport: MemoryTransport?
    var phase = Phase.handshake
    var summary: TLSSummary?
    var handshakeByteCount = 0
    var handshakeCallCount = 0
  }

  /// A handshake takes less than 10 messages and 100 KiB; a peer that goes on stalls on purpose.
  private static let maximumHandshakeByteCount = 256 << 10
  private static let maximumHandshakeCallCount = 200

  private let context: TLSContext
  /// Of a client: the host that the server's certificate has to be for, if it is one of the system's authorities.
  private let serverName: String?
  private let lock = Mutex(())
  private var state = State()

  init(context: TLSContext, serverName: String? = nil) {
    self.context = context
    self.serverName = serverName
  }

  deinit {
    if let connection = state.connection { ssl.pointee.SSL_free(connection) }
  }

  private var ssl: UnsafePointer<COpenSSLFunctions> { context.credentials.ssl }

  private func withState<Result>(_ body: (inout State) throws(TLSError) -> Result) throws(TLSError) -> Result {
    let outcome: Swift.Result<Result, TLSError> = lock.withLock { _ in
      do throws(TLSError) { return .success(try body(&state)) } catch { return .failure(error) }
    }
    return try outcome.get()
  }

  /// Whether the handshake is complete, and data can be encrypted.
  package var isEstablished: Bool { lock.withLock { _ in state.phase == .established } }

  /// The result of the handshake; nil before it is complete.
  package var summary: TLSSummary? { lock.withLock { _ in state.summary } }

  /// The connection, which the first message makes.
  private func open(_ state: inout State, datagrams: Bool) throws(TLSError) -> (OpaquePointer, MemoryTransport) {
    if let connection = state.connection, let transport = state.transport { return (connection, transport) }
    let transport = MemoryTransport(isDatagram: datagrams)
    let outOfMemory = TLSError(.misuse, "OpenSSL is out of memory")
    guard let connection = ssl.pointee.SSL_new(datagrams ? context.datagrams : context.streams) else {
      throw outOfMemory
    }
    defer { if state.connection == nil { ssl.pointee.SSL_free(connection) } }
    guard let bio = transport.makeBIO(ssl) else { throw outOfMemory }
    // One BIO for both directions: OpenSSL frees it with the connection.
    ssl.pointee.SSL_set_bio(connection, bio, bio)
    if context.role == .client {
      ssl.pointee.SSL_set_connect_state(connection)
      if let serverName { try name(serverName, on: connection) }
    } else {
      ssl.pointee.SSL_set_accept_state(connection)
    }
    if datagrams {
      _ = ssl.pointee.SSL_ctrl(connection, SSL_CTRL_SET_MTU, Self.datagramSize, nil)
      // The transport is reliable, so nothing has to be sent again.
      ssl.pointee.DTLS_set_timer_cb(connection) { _, _ in 60_000_000 }
    }
    state.connection = connection
    state.transport = transport
    return (connection, transport)
  }

  private func name(_ server: String, on connection: OpaquePointer) throws(TLSError) {
    // An address is no name (RFC 6066, section 3), and no server of several names is reached by it.
    if !server.contains(":"), server.contains(where: { $0.isLetter }) {
      var server = Array(server.utf8CString)
      _ = ssl.pointee.SSL_ctrl(
        connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &server)
    }
    guard !context.trustsSystem || ssl.pointee.SSL_set1_host(connection, server) == 1 else {
      throw TLSError(.misuse, "OpenSSL does not take the host name")
    }
  }

  /// Bytes of handshake in one record of DTLS, which must fit in a frame of any head unit.
  private static let datagramSize = 1400
}

/// The result of a handshake.
package struct TLSSummary: Equatable, Sendable {
  /// "TLSv1.2" or "DTLSv1.2".
  package var protocolVersion: String
  /// OpenSSL's name of the cipher suite.
  package var cipher: String
  /// Of the peer; nil for a peer without a certificate.
  package var peer: CertificateInfo?
  /// Whether the peer's certificate was checked against authorities.
  package var isPeerVerified: Bool
}

/// The handshake.
extension TLSSession {
  /// The output of a handshake, and its error: an alert may have to be sent with the failure.
  package struct HandshakeStep: Equatable, Sendable {
    /// Whole records for the peer; may be empty.
    package var output: [UInt8]
    /// Nil unless the handshake has failed.
    package var failure: TLSError?
  }

  /// Begins as a client.
  package func begin() -> HandshakeStep {
    advance([], isBegin: true)
  }

  /// Takes the next bytes of the peer, cut anywhere for TLS and at records for DTLS.
  package func advance(_ bytes: [UInt8]) -> HandshakeStep {
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
    let result = ssl.pointee.SSL_do_handshake(connection)
    transport.input = UnsafeRawBufferPointer(start: nil, count: 0)
    let output = transport.takeMessages()
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

/// Data, once the handshake is complete.
extension TLSSession {
  /// Encrypts into the caller's memory, at most ``TLSRecord/maximumPlaintext`` bytes, which become one record.
  ///
  /// OpenSSL numbers the records, so the peer must get all of them, in the order of the calls. Allocates nothing.
  ///
  /// - Parameter destination: ``TLSRecord/maximumOverhead`` bytes more than `plaintext` are always enough.
  /// - Returns: The bytes that were written.
  package func encrypt(
    _ plaintext: UnsafeRawBufferPointer, into destination: UnsafeMutableRawBufferPointer
  ) throws(TLSError) -> Int {
    try withState { state throws(TLSError) in
      guard state.phase == .established, let connection = state.connection, let transport = state.transport else {
        throw TLSError(.misuse, "there is no session to encrypt with")
      }
      guard 1...TLSRecord.maximumPlaintext ~= plaintext.count else {
        throw TLSError(.misuse, "\(plaintext.count) bytes can't be one record")
      }
      ssl.pointee.ERR_clear_error()
      var written: Int32 = 0
      let used = transport.withRecords(in: destination) {
        written = ssl.pointee.SSL_write(connection, plaintext.baseAddress, Int32(plaintext.count))
      }
      guard Int(written) == plaintext.count else {
        // A numbered record can't be sent, so the session is over.
        state.phase = .over
        throw TLSError(.misuse, "encrypting failed: \(ssl.takeErrorText() ?? "the memory is too small")")
      }
      return used
    }
  }

  /// Decrypts whole records, any number of them.
  ///
  /// - Throws: when one is cut, was changed, is repeated or is missing; the session is over then.
  package func decrypt(_ records: [UInt8]) throws(TLSError) -> [UInt8] {
    try withState { state throws(TLSError) in
      guard state.phase == .established, let connection = state.connection, let transport = state.transport else {
        throw TLSError(.misuse, "there is no session to decrypt with")
      }
      let isWhole = records.withUnsafeBytes { TLSRecord.areWhole($0, isDatagram: transport.isDatagram) }
      guard isWhole, !records.isEmpty else {
        state.phase = .over
        throw TLSError(.decryption, "the data is not whole records")
      }
      ssl.pointee.ERR_clear_error()
      // What OpenSSL would answer, such as an alert, has no place in the payload of a service.
      defer { _ = transport.takeMessages() }
      var isFailed = false
      let plaintext = [UInt8](unsafeUninitializedCapacity: records.count) { buffer, count in
        records.withUnsafeBytes { bytes in
          transport.input = bytes
          // A record has less plaintext than bytes, so there is room for each.
          while !transport.input.isEmpty, !isFailed {
            let size = ssl.pointee.SSL_read(
              connection, UnsafeMutableRawPointer(buffer.baseAddress)?.advanced(by: count),
              Int32(clamping: buffer.count - count))
            if size > 0 {
              count += Int(size)
            } else {
              isFailed = ssl.pointee.SSL_get_error(connection, size) != SSL_ERROR_WANT_READ
            }
          }
          transport.input = UnsafeRawBufferPointer(start: nil, count: 0)
        }
      }
      // A changed record of DTLS is dropped in silence.
      guard !isFailed, !plaintext.isEmpty else {
        state.phase = .over
        throw TLSError(
          .decryption, "the data can't be decrypted: \(ssl.takeErrorText() ?? "the peer has ended the session")")
      }
      return plaintext
    }
  }
}

/// A whole connection as one stream of TLS.
extension TLSSession {
  /// Takes the next bytes of the peer, cut anywhere: the handshake, and the data after it.
  ///
  /// - Parameter plaintext: gets the data.
  /// - Returns: what has to be sent, such as handshake messages or an alert, and the failure, after which the session is
  ///   over; a peer that ends the session is one, too.
  package func receive(_ bytes: UnsafeRawBufferPointer, into plaintext: inout [UInt8]) -> HandshakeStep {
    do throws(TLSError) {
      return try withState { state throws(TLSError) in
        guard state.phase != .over else { throw TLSError(.misuse, "the session is over") }
        let (connection, transport) = try open(&state, datagrams: false)
        transport.input = bytes
        defer { transport.input = UnsafeRawBufferPointer(start: nil, count: 0) }
        let failure = advance(connection, transport, &state, &plaintext)
        if failure != nil { state.phase = .over }
        return HandshakeStep(output: transport.takeMessages(), failure: failure)
      }
    } catch {
      return HandshakeStep(output: [], failure: error)
    }
  }

  /// Ends the session.
  ///
  /// - Returns: the alert that tells the peer (close_notify); nothing before the handshake is complete, and when the
  ///   session is over already.
  package func end() -> [UInt8] {
    let output = try? withState { state throws(TLSError) -> [UInt8] in
      guard state.phase == .established, let connection = state.connection, let transport = state.transport else {
        return []
      }
      state.phase = .over
      ssl.pointee.ERR_clear_error()
      _ = ssl.pointee.SSL_shutdown(connection)
      return transport.takeMessages()
    }
    return output ?? []
  }

  /// Reads all of the transport's input; returns why it is the end.
  private func advance(
    _ connection: OpaquePointer, _ transport: MemoryTransport, _ state: inout State, _ plaintext: inout [UInt8]
  ) -> TLSError? {
    ssl.pointee.ERR_clear_error()
    if state.phase == .handshake {
      state.handshakeByteCount += transport.input.count
      guard state.handshakeByteCount <= Self.maximumHandshakeByteCount else {
        return TLSError(.protocolViolation, "the handshake does not end")
      }
      let result = ssl.pointee.SSL_do_handshake(connection)
      guard result == 1 else {
        return ssl.pointee.SSL_get_error(connection, result) == SSL_ERROR_WANT_READ ? nil : failure(connection)
      }
      state.phase = .established
      state.summary = makeSummary(connection)
    }
    return withUnsafeTemporaryAllocation(byteCount: TLSRecord.maximumPlaintext, alignment: 16) { buffer in
      while true {
        let size = ssl.pointee.SSL_read(connection, buffer.baseAddress, Int32(clamping: buffer.count))
        guard size > 0 else {
          switch ssl.pointee.SSL_get_error(connection, size) {
          case SSL_ERROR_WANT_READ: return nil
          case SSL_ERROR_ZERO_RETURN:
            // It wants the same alert back (RFC 5246, section 7.2.1).
            _ = ssl.pointee.SSL_shutdown(connection)
            return TLSError(.alert, "the peer has ended the session")
          default: return failure(connection)
          }
        }
        plaintext += buffer[..<Int(size)]
      }
    }
  }
}

/// The headers of TLS and DTLS records (RFC 5246, section 6.2.1; RFC 6347, section 4.1).
package enum TLSRecord {
  /// The most bytes of plaintext in one record.
  package static let maximumPlaintext = 1 << 14
  /// Bytes that a record may be longer than its plaintext, header included, for every cipher suite of TLS 1.2.
  package static let maximumOverhead = 5 + 32 + 256

  /// Whether a record of DTLS begins here, rather than one of TLS.
  package static func isDatagram(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.count > 1 && bytes[1] == 0xFE }

  /// Bytes of the record that begins here, with its header; nil when less than a header is there.
  static func byteCount(of bytes: UnsafeRawBufferPointer, isDatagram: Bool) -> Int? {
    let headerSize = isDatagram ? 13 : 5
    guard bytes.count >= headerSize else { return nil }
    return headerSize + Int(bytes[headerSize - 2]) << 8 + Int(bytes[headerSize - 1])
  }

  /// Whether the bytes are whole records only.
  static func areWhole(_ bytes: UnsafeRawBufferPointer, isDatagram: Bool) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      guard let count = byteCount(of: rest, isDatagram: isDatagram), count <= rest.count else { return false }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
  }
}
