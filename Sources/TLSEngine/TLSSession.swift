import COpenSSL
import Synchronization

/// One end of a TLS connection in memory: bytes in, bytes out, no socket and no waiting.
///
/// `@unchecked Sendable`: `state` is only touched with the lock held.
public final class TLSSession: @unchecked Sendable {
  enum Phase: Equatable {
    case handshake
    case established
    case over
  }

  struct State {
    /// Made with the first message, which says whether it is DTLS.
    var connection: OpaquePointer?
    var transport: MemoryTransport?
    var phase = Phase.handshake
    var summary: TLSSummary?
    var handshakeByteCount = 0
    var handshakeCallCount = 0
  }

  /// A handshake takes less than 10 messages and 100 KiB; a peer that goes on stalls on purpose.
  static let maximumHandshakeByteCount = 256 << 10
  static let maximumHandshakeCallCount = 200

  let context: TLSContext
  private let lock = Mutex(())
  private var state = State()

  init(context: TLSContext) {
    self.context = context
  }

  deinit {
    if let connection = state.connection { ssl.pointee.SSL_free(connection) }
  }

  var ssl: UnsafePointer<COpenSSLFunctions> { context.credentials.ssl }

  func withState<Result>(_ body: (inout State) throws(TLSError) -> Result) throws(TLSError) -> Result {
    let outcome: Swift.Result<Result, TLSError> = lock.withLock { _ in
      do throws(TLSError) { return .success(try body(&state)) } catch { return .failure(error) }
    }
    return try outcome.get()
  }

  /// Whether the handshake is complete, and data can be encrypted.
  public var isEstablished: Bool { lock.withLock { _ in state.phase == .established } }

  /// What was agreed on; nil before the handshake is complete.
  public var summary: TLSSummary? { lock.withLock { _ in state.summary } }

  /// The connection, which the first message makes.
  func open(_ state: inout State, datagrams: Bool) throws(TLSError) -> (OpaquePointer, MemoryTransport) {
    if let connection = state.connection, let transport = state.transport { return (connection, transport) }
    let transport = MemoryTransport(isDatagram: datagrams)
    guard let connection = ssl.pointee.SSL_new(datagrams ? context.datagrams : context.streams),
      let bio = transport.makeBIO(ssl)
    else { throw TLSError(.misuse, "OpenSSL is out of memory") }
    // One BIO for both directions: OpenSSL frees it with the connection.
    ssl.pointee.SSL_set_bio(connection, bio, bio)
    if context.role == .client {
      ssl.pointee.SSL_set_connect_state(connection)
    } else {
      ssl.pointee.SSL_set_accept_state(connection)
    }
    if datagrams {
      _ = ssl.pointee.SSL_ctrl(connection, SSL_CTRL_SET_MTU, Self.datagramSize, nil)
      // Nothing is lost on the way, so nothing has to be sent again.
      ssl.pointee.DTLS_set_timer_cb(connection) { _, _ in 60_000_000 }
    }
    state.connection = connection
    state.transport = transport
    return (connection, transport)
  }

  /// Bytes of handshake in one record of DTLS, which must fit in a frame of any head unit.
  private static let datagramSize = 1400
}

/// What a handshake has agreed on.
public struct TLSSummary: Equatable, Sendable {
  /// "TLSv1.2" or "DTLSv1.2".
  public var protocolVersion: String
  /// OpenSSL's name of the cipher suite.
  public var cipher: String
  /// Of the peer; nil for a peer without a certificate.
  public var peer: CertificateInfo?
  /// Whether the peer's certificate was checked against authorities.
  public var isPeerVerified: Bool
}
