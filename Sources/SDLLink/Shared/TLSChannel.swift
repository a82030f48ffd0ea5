import SDLHeadUnit
import SDLWire
import TLSEngine

/// A TLS session as the state machines use it.
final class TLSChannel: SecureChannel {
  private let session: TLSSession

  init(_ session: TLSSession) {
    self.session = session
  }

  var isEstablished: Bool { session.isEstablished }
  var summary: SecureChannelSummary? { session.summary.map(SecureChannelSummary.init) }

  func begin() -> SecureChannelStep { SecureChannelStep(session.begin()) }

  func advance(_ bytes: [UInt8]) -> SecureChannelStep { SecureChannelStep(session.advance(bytes)) }

  func encrypt(
    _ plaintext: UnsafeRawBufferPointer, into destination: UnsafeMutableRawBufferPointer
  ) throws(SecureChannelFailure) -> Int {
    do throws(TLSError) {
      return try session.encrypt(plaintext, into: destination)
    } catch {
      throw SecureChannelFailure(error)
    }
  }

  func decrypt(_ records: [UInt8]) throws(SecureChannelFailure) -> [UInt8] {
    do throws(TLSError) {
      return try session.decrypt(records)
    } catch {
      throw SecureChannelFailure(error)
    }
  }
}

extension TLSContext {
  /// Makes a channel for each handshake.
  var makeChannel: SecureChannelFactory {
    { TLSChannel(self.makeSession()) }
  }

  /// The same, for the apps of a head unit together: each handshake costs some milliseconds of computing, and an app that
  /// makes too many can connect anew each time.
  func makeChannel(within limit: RateLimit, clock: TimeSource) -> SecureChannelFactory {
    let limit = Monitor(limit)
    return { () throws(SecureChannelFailure) in
      guard !limit.withLock({ $0.exceeds(at: clock.now) }) else {
        throw SecureChannelFailure(.handshakeFailed, "too many handshakes of all apps")
      }
      return TLSChannel(self.makeSession())
    }
  }

  /// The built-in head unit's, which takes any certificate. It has none of its own: as a server it has the app's credentials.
  static func builtInHeadUnit(for app: TLSContext) -> TLSContext? {
    switch app.role {
    case .server:
      guard let credentials = try? TLSCredentials(TLSCredentials.Sources()) else { return nil }
      return try? TLSContext(role: .client, credentials: credentials)
    case .client: return try? TLSContext(role: .server, credentials: app.credentials)
    }
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
