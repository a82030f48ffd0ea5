import TLSEngine
import TestSupport
import Testing

/// Memory of OpenSSL that nobody frees.
@Suite(.serialized) struct MemoryBalanceWholeProcessTests {
  enum Situation: CaseIterable, Sendable {
    case streams, datagrams, oneStream, untrustedPeer, brokenOff, garbage, wrongKey, shortKey
  }

  /// Once OpenSSL has what it keeps for the process and for the thread, nothing is left of one that is over. That the
  /// same is repeated three times tells it from a cache that changes.
  @Test(arguments: Situation.allCases) func nothingIsLeftOf(_ situation: Situation) throws {
    try #require(OpenSSLMemory.isReplaced)
    let shortKey = situation == .shortKey ? Self.makeShortKey() : ""
    var growth: [Int] = []
    while growth.count < 40, growth.count < 3 || growth.suffix(3) != [0, 0, 0] {
      let before = OpenSSLMemory.count
      switch situation {
      case .streams: try connect(datagrams: false)
      case .datagrams: try connect(datagrams: true)
      case .oneStream: try connectAsOneStream()
      case .untrustedPeer: try refuse()
      case .brokenOff: try breakOff()
      case .garbage:
        #expect(try TLSContext.app().makeSession().advance(Array("GET / HTTP/1.1\r\n\r\n".utf8)).failure != nil)
      case .wrongKey: #expect(throws: TLSError.self) { try credentials(key: TestCertificates.desk.headUnitKey) }
      case .shortKey:
        let credentials = try credentials(shortKey, key: shortKey)
        #expect { try TLSContext(role: .server, credentials: credentials) } throws: {
          "\($0)".contains("key too small")
        }
      }
      growth.append(OpenSSLMemory.count - before)
    }
    #expect(growth.suffix(3) == [0, 0, 0], "\(growth)")
  }

  /// Both ends read each other's certificate.
  private func connect(datagrams: Bool) throws {
    var pair = Pair(
      client: try .headUnit(certificates: .desk), server: try .app(authorities: TestCertificates.desk.authority),
      datagrams: datagrams)
    pair.shakeHands()
    #expect(pair.client.summary?.peer != nil && pair.server.summary?.peer != nil)
    #expect(try pair.client.decrypt(pair.server.encrypted([1, 2, 3])) == [1, 2, 3])
    #expect(!pair.server.end().isEmpty)
  }

  private func connectAsOneStream() throws {
    let (client, server) = (try TLSContext.headUnit().makeSession(), try TLSContext.app().makeSession())
    var plaintext: [UInt8] = []
    func pass(_ bytes: [UInt8], to session: TLSSession) -> TLSSession.HandshakeStep {
      bytes.withUnsafeBytes { session.receive($0, into: &plaintext) }
    }
    var bytes = client.begin().output
    for _ in 0..<2 { bytes = pass(pass(bytes, to: server).output, to: client).output }
    #expect(client.summary?.peer != nil && server.isEstablished)
    _ = pass(try client.encrypted([1, 2, 3]), to: server)
    #expect(plaintext == [1, 2, 3])
    #expect(pass(server.end(), to: client).failure?.kind == .alert)
  }

  private func refuse() throws {
    var pair = Pair(client: try .headUnit(), server: try .app(.foreign))
    pair.shakeHands()
    #expect(pair.clientFailure?.kind == .peerUntrusted && pair.serverFailure?.kind == .alert)
  }

  /// While the client waits for the server's certificate, and the server for the client's key.
  private func breakOff() throws {
    let client = try TLSContext.headUnit().makeSession()
    let step = try TLSContext.app().makeSession().advance(client.begin().output)
    #expect(step.failure == nil && !step.output.isEmpty && !client.isEstablished)
  }

  private func credentials(_ certificate: String = TestCertificates.desk.app, key: String) throws -> TLSCredentials {
    var sources = TLSCredentials.Sources()
    (sources.certificate, sources.privateKey) = (.file(certificate), .file(key))
    sources.authorities = .file(TestCertificates.desk.authority)
    return try TLSCredentials(sources)
  }

  /// A key that is too short for security level 1, with its certificate in the same file.
  private static func makeShortKey() -> String {
    let path = TestCertificates.temporaryPath("short.pem")
    TestCertificates.run([
      "sh", "-ec",
      "openssl req -x509 -newkey rsa:512 -nodes -sha256 -keyout \(path) -subj /CN=short -out \(path).certificate; "
        + "cat \(path).certificate >> \(path)",
    ])
    return path
  }
}
