import TLSEngine
import TestSupport
import Testing

extension TLSContext {
  /// The app's side: a server with a certificate.
  static func app(
    _ certificates: TestCertificates = .desk, authorities: String? = nil
  ) throws -> TLSContext {
    var sources = TLSCredentials.Sources()
    sources.certificate = .file(certificates.app)
    sources.privateKey = .file(certificates.appKey)
    sources.authorities = authorities.map { .file($0) }
    return try TLSContext(role: .server, credentials: TLSCredentials(sources))
  }

  /// The head unit's side: a client that checks the app.
  static func headUnit(
    authorities: String? = TestCertificates.desk.authority, certificates: TestCertificates? = nil
  ) throws -> TLSContext {
    var sources = TLSCredentials.Sources()
    sources.certificate = certificates.map { .file($0.headUnit) }
    sources.privateKey = certificates.map { .file($0.headUnitKey) }
    sources.authorities = authorities.map { .file($0) }
    return try TLSContext(role: .client, credentials: TLSCredentials(sources))
  }
}

/// Both ends, joined in memory.
struct Pair {
  let client: TLSSession
  let server: TLSSession
  /// All messages so far, and who sent them.
  private(set) var messages: [(isClient: Bool, bytes: [UInt8])] = []
  private(set) var clientFailure: TLSError?
  private(set) var serverFailure: TLSError?

  init(client: TLSContext, server: TLSContext, datagrams: Bool = false) {
    let variant: TLSContext.Variant = datagrams ? .dtls : .tls
    let context = try? TLSContext(role: .client, variant: variant, credentials: client.credentials)
    self.client = (context ?? client).makeSession()
    self.server = server.makeSession()
  }

  /// A pair whose handshake is complete.
  static func established(datagrams: Bool = false) throws -> Pair {
    var pair = Pair(client: try .headUnit(), server: try .app(), datagrams: datagrams)
    pair.shakeHands()
    #expect(pair.client.isEstablished && pair.server.isEstablished)
    return pair
  }

  /// Delivers all messages, each as `change` makes it of the original.
  mutating func shakeHands(_ change: (_ isClient: Bool, _ index: Int, [UInt8]) -> [[UInt8]] = { [$2] }) {
    var pending = [(isClient: true, bytes: client.begin().output)]
    while !pending.isEmpty {
      let (isClient, bytes) = pending.removeFirst()
      let index = messages.count
      messages.append((isClient, bytes))
      for piece in change(isClient, index, bytes) {
        let step = isClient ? server.advance(piece) : client.advance(piece)
        if isClient {
          serverFailure = serverFailure ?? step.failure
        } else {
          clientFailure = clientFailure ?? step.failure
        }
        if !step.output.isEmpty { pending.append((!isClient, step.output)) }
      }
      // A handshake has a handful of messages.
      guard messages.count < 50 else { return }
    }
  }
}

extension TLSSession {
  /// One or more records.
  func encrypted(_ plaintext: [UInt8]) throws -> [UInt8] {
    var records = [UInt8](repeating: 0, count: plaintext.count + TLSRecord.maximumOverhead)
    let count = try plaintext.withUnsafeBytes { plaintext in
      try records.withUnsafeMutableBytes { try encrypt(plaintext, into: $0) }
    }
    return Array(records[..<count])
  }
}
