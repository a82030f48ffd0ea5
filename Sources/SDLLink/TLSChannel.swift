import SDLWire
import TLSEngine

/// A TLS session as the state machines use it.
package final class TLSChannel: SecureChannel {
  private let session: TLSSession

  package init(_ session: TLSSession) {
    self.session = session
  }

  package var isEstablished: Bool { session.isEstablished }
  package var summary: SecureChannelSummary? { session.summary.map(SecureChannelSummary.init) }

  package func begin() -> SecureChannelStep { SecureChannelStep(session.begin()) }

  package func advance(_ bytes: [UInt8]) -> SecureChannelStep { SecureChannelStep(session.advance(bytes)) }

  package func encrypt(
    _ plaintext: UnsafeRawBufferPointer, into destination: UnsafeMutableRawBufferPointer
  ) throws(SecureChannelFailure) -> Int {
    do throws(TLSError) {
      return try session.encrypt(plaintext, into: destination)
    } catch {
      throw SecureChannelFailure(error)
    }
  }

  package func decrypt(_ records: [UInt8]) throws(SecureChannelFailure) -> [UInt8] {
    do throws(TLSError) {
      return try session.decrypt(records)
    } catch {
      throw SecureChannelFailure(error)
    }
  }
}

extension TLSContext {
  /// Makes a channel for each handshake.
  package var makeChannel: SecureChannelFactory {
    { TLSChannel(self.makeSession()) }
  }
}

extension SecureChannelStep {
  fileprivate init(_ step: TLSSession.HandshakeStep) {
    self.init(output: step.output, failure: step.failure.map(SecureChannelFailure.init))
  }
}

extension SecureChannelFailure {
  fileprivate init(_ error: TLSError) {
    let code: SecurityErrorCode =
      switch error.kind {
      case .unavailable, .credentials, .misuse: .handshakeFailed
      case .peerExpired: .certificateExpired
      case .peerUntrusted: .certificateInvalid
      case .protocolViolation: .invalidData
      case .alert: .handshakeFailed
      case .decryption: .decryptionFailed
      }
    self.init(code, error.description.printable())
  }
}

extension SecureChannelSummary {
  fileprivate init(_ summary: TLSSummary) {
    self.init(
      protocolVersion: summary.protocolVersion, cipher: summary.cipher, peer: summary.peer.map(Peer.init),
      isPeerVerified: summary.isPeerVerified)
  }
}

extension SecureChannelSummary.Peer {
  fileprivate init(_ info: CertificateInfo) {
    self.init(
      subject: info.subject.printable(limit: 200), issuer: info.issuer.printable(limit: 200),
      serialNumber: info.subjectSerialNumber, notBefore: info.notBefore,
      notAfter: info.notAfter)
  }
}
