import COpenSSL

/// Data, once the handshake is complete.
extension TLSSession {
  /// Encrypts into the caller's memory, at most ``TLSRecord/maximumPlaintext`` bytes, which become one record.
  ///
  /// OpenSSL counts the records, so the peer must get all of them, in the order of the calls. Allocates nothing.
  ///
  /// - Parameter destination: ``TLSRecord/maximumOverhead`` bytes more than `plaintext` are always enough.
  /// - Returns: The bytes that were written.
  public func encrypt(
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
      transport.destination = .memory(destination, used: 0)
      let written = ssl.pointee.SSL_write(connection, plaintext.baseAddress, Int32(plaintext.count))
      var used = 0
      if case .memory(_, let count) = transport.destination { used = count }
      transport.destination = .handshake([])
      guard Int(written) == plaintext.count else {
        // What has been counted can't be sent.
        state.phase = .over
        throw TLSError(.misuse, "encrypting failed: \(ssl.takeErrorText() ?? "the memory is too small")")
      }
      return used
    }
  }

  /// Decrypts whole records, any number of them.
  ///
  /// - Throws: when one is cut, was changed, is repeated or is missing; the session is over then.
  public func decrypt(_ records: [UInt8]) throws(TLSError) -> [UInt8] {
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
      transport.destination = .handshake([])
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
