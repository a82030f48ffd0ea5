import Foundation
import TLSEngine
import TestSupport
import Testing

@Suite struct HandshakeTests {
  @Test(arguments: [false, true]) func bothWays(datagrams: Bool) throws {
    let pair = try Pair.established(datagrams: datagrams)
    let summary = try #require(pair.client.summary)
    #expect(summary.protocolVersion == (datagrams ? "DTLSv1.2" : "TLSv1.2"))
    #expect(summary.cipher.contains("GCM"))
    #expect(summary.isPeerVerified)
    #expect(summary.peer?.subjectSerialNumber == TestCertificates.appID)
    #expect(summary.peer?.subject.contains("CN=App of the desk") == true)
    #expect(summary.peer?.issuer == "CN=Authority of the desk")
    #expect(pair.server.summary?.peer == nil)
    for size in [1, 100, 16_091, TLSRecord.maximumPlaintext] {
      let data = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      let sent = try pair.server.encrypted(data)
      #expect(try pair.client.decrypt(sent) == data)
      let answer = try pair.client.encrypted(data)
      #expect(answer.count > data.count)
      #expect(try pair.server.decrypt(answer) == data)
    }
  }

  /// Sessions are not resumed, so nothing of one that is over can open another. The extension is that of RFC 5077.
  @Test func offersNoTicket() throws {
    let hello = try TLSContext.headUnit().makeSession().begin().output
    let ticket: [UInt8] = [0, 35, 0, 0]
    #expect(hello.count > 100 && !hello.indices.contains { hello[$0...].starts(with: ticket) })
  }

  /// A frame may hold several records.
  @Test(arguments: [false, true]) func severalRecordsAtOnce(datagrams: Bool) throws {
    let pair = try Pair.established(datagrams: datagrams)
    let pieces: [[UInt8]] = (1...5).map { Array(repeating: UInt8($0), count: $0 * 1000) }
    let records: [[UInt8]] = try pieces.map { try pair.server.encrypted($0) }
    let data = try pair.client.decrypt(records.flatMap(\.self))
    #expect(data == pieces.flatMap(\.self))
  }

  /// The bytes of TLS may be cut anywhere.
  @Test func singleBytes() throws {
    var pair = Pair(client: try .headUnit(), server: try .app())
    pair.shakeHands { _, _, bytes in
      // The limit of calls is for peers that do this for longer.
      stride(from: 0, to: bytes.count, by: 40).map { Array(bytes[$0..<min($0 + 40, bytes.count)]) }
    }
    #expect(pair.client.isEstablished && pair.server.isEstablished)
  }

  @Test(arguments: [false, true]) func bothCertificates(datagrams: Bool) throws {
    let authority = TestCertificates.desk.authority
    var pair = Pair(
      client: try .headUnit(certificates: .desk), server: try .app(authorities: authority), datagrams: datagrams)
    pair.shakeHands()
    #expect(pair.server.summary?.peer?.subject == "CN=Head unit of the desk")
    #expect(pair.server.summary?.isPeerVerified == true)
  }

  @Test func missingPeerCertificate() throws {
    var pair = Pair(client: try .headUnit(), server: try .app(authorities: TestCertificates.desk.authority))
    pair.shakeHands()
    #expect(pair.serverFailure?.kind == .peerUntrusted)
    #expect(!pair.server.isEstablished)
  }

  @Test func certificatesThatAreNotAccepted() throws {
    let cases: [(TestCertificates, TLSError.Kind, String)] = [
      (.expired, .peerExpired, "expired"), (.early, .peerExpired, "not yet valid"),
      (.foreign, .peerUntrusted, "unable to get local issuer"),
    ]
    for (certificates, kind, text) in cases {
      var pair = Pair(client: try .headUnit(), server: try .app(certificates))
      pair.shakeHands()
      #expect(pair.clientFailure?.kind == kind)
      #expect(pair.clientFailure?.description.contains(text) == true)
      // The alert of the client reaches the server.
      #expect(pair.serverFailure?.kind == .alert)
      #expect(!pair.client.isEstablished && !pair.server.isEstablished)
    }
  }

  @Test func nothingWithoutHandshake() throws {
    let session = try TLSContext.app().makeSession()
    #expect(throws: TLSError.self) { try session.encrypted([1]) }
    #expect(throws: TLSError.self) { try session.decrypt([1]) }
    let pair = try Pair.established()
    #expect(pair.server.advance([1]).failure?.kind == .misuse)
    #expect(throws: TLSError.self) { try pair.server.encrypted([]) }
    #expect(throws: TLSError.self) {
      try pair.server.encrypted(Array(repeating: 0, count: TLSRecord.maximumPlaintext + 1))
    }
  }

  /// What can't be written has been counted, so that nothing may follow it.
  @Test func memoryThatIsTooSmall() throws {
    let pair = try Pair.established()
    var small = [UInt8](repeating: 0, count: 20)
    let data = [UInt8](repeating: 1, count: 100)
    #expect(throws: TLSError.self) {
      try data.withUnsafeBytes { data in try small.withUnsafeMutableBytes { try pair.server.encrypt(data, into: $0) } }
    }
    #expect(throws: TLSError.self) { try pair.server.encrypted(data) }
  }

  /// What docs/security.md says of security level 1: short keys are taken, signatures with SHA-1 are not. Of a
  /// certificate that is for something else, the authority does not make a client.
  @Test(arguments: [
    ("sha256", "clientAuth", nil), ("sha1", "clientAuth", nil), ("sha256", "serverAuth", "purpose"),
  ])
  func certificatesOfTheSameAuthority(digest: String, usage: String, fault: String?) throws {
    let certificate = TestCertificates.temporaryPath("leaf.pem")
    let extensions = TestCertificates.temporaryPath("extensions")
    try "extendedKeyUsage=\(usage)".write(toFile: extensions, atomically: true, encoding: .utf8)
    TestCertificates.run([
      "sh", "-ec",
      """
      openssl req -new -newkey rsa:1024 -nodes -keyout \(certificate).key -subj /CN=leaf -out \(certificate).csr
      openssl x509 -req -in \(certificate).csr -CA \(TestCertificates.desk.authority) -set_serial 1 -days 2 \
        -CAkey \(TestCertificates.desk.folder)/authority-key.pem -\(digest) -extfile \(extensions) -out \(certificate)
      """,
    ])
    var sources = TLSCredentials.Sources()
    (sources.certificate, sources.privateKey) = (.file(certificate), .file(certificate + ".key"))
    let client: TLSContext
    do throws(TLSError) {
      client = try TLSContext(role: .client, credentials: TLSCredentials(sources))
    } catch {
      #expect(digest == "sha1" && error.description.contains("md too weak"), "\(error)")
      return
    }
    var pair = Pair(client: client, server: try .app(authorities: TestCertificates.desk.authority))
    pair.shakeHands()
    // OpenSSL of newer Debians leaves it to the peer to refuse SHA-1.
    #expect(pair.server.isEstablished == (fault == nil && digest != "sha1"))
    guard let fault else { return }
    #expect(pair.serverFailure?.kind == .peerUntrusted)
    #expect(pair.serverFailure?.description.contains(fault) == true, "\(String(describing: pair.serverFailure))")
  }
}
