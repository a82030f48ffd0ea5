import Glibc
import TLSEngine
import TestSupport
import Testing

/// Servers whose certificates are checked by the authorities of the system, which OpenSSL finds by the environment.
@Suite(.serialized) struct SystemAuthoritiesWholeProcessTests {
  /// A server with a certificate for these names.
  private static func server(_ names: String) throws -> TLSContext {
    let certificate = TestCertificates.temporaryPath("named.pem")
    let extensions = TestCertificates.temporaryPath("names")
    try "subjectAltName=\(names)".write(toFile: extensions, atomically: true, encoding: .utf8)
    TestCertificates.run([
      "sh", "-ec",
      """
      openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout \(certificate).key \
        -subj /CN=server -out \(certificate).csr
      openssl x509 -req -in \(certificate).csr -CA \(TestCertificates.desk.authority) -set_serial 2 -days 2 \
        -CAkey \(TestCertificates.desk.folder)/authority-key.pem -sha256 -extfile \(extensions) -out \(certificate)
      """,
    ])
    var sources = TLSCredentials.Sources()
    (sources.certificate, sources.privateKey) = (.file(certificate), .file(certificate + ".key"))
    return try TLSContext(role: .server, credentials: TLSCredentials(sources))
  }

  /// One that asks the system whose authority this is.
  private func client(system: TestCertificates, own: TestCertificates? = nil) throws -> TLSContext {
    setenv("SSL_CERT_FILE", system.authority, 1)
    setenv("SSL_CERT_DIR", "/nonexistent", 1)
    defer { for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] { unsetenv(name) } }
    var sources = TLSCredentials.Sources()
    sources.authorities = own.map { .file($0.authority) }
    return try TLSContext(role: .client, credentials: TLSCredentials(sources), trustsSystem: true)
  }

  /// The failure of the client, and whether it has checked its peer.
  private func connect(_ client: TLSSession, _ server: TLSSession) -> (failure: TLSError?, isPeerVerified: Bool?) {
    var step = client.begin()
    for _ in 0..<10 where step.failure == nil && !(client.isEstablished && server.isEstablished) {
      step = server.advance(step.output)
      if !client.isEstablished { step = client.advance(step.output) }
    }
    return (step.failure, client.summary?.isPeerVerified)
  }

  @Test func namesOfTheServer() throws {
    let server = try Self.server("DNS:car.example,IP:192.0.2.7")
    let client = try client(system: .desk)
    for name in ["car.example", "192.0.2.7"] {
      let result = connect(client.makeSession(with: name), server.makeSession())
      #expect(result.failure == nil && result.isPeerVerified == true, "\(name): \(result)")
    }
    for name in ["other.example", "192.0.2.8", "sub.car.example"] {
      let result = connect(client.makeSession(with: name), server.makeSession())
      #expect(result.failure?.kind == .peerUntrusted, "\(name): \(result)")
    }
  }

  @Test func authorityThatTheSystemDoesNotKnow() throws {
    let server = try Self.server("DNS:car.example")
    let result = connect(try client(system: .foreign).makeSession(with: "car.example"), server.makeSession())
    #expect(result.failure?.kind == .peerUntrusted, "\(result)")
  }

  /// The user's own authority signs for the servers that the user means, whatever their names.
  @Test func ownAuthorities() throws {
    let server = try Self.server("DNS:car.example")
    let trusted = try client(system: .foreign, own: .desk)
    let result = connect(trusted.makeSession(with: "other.example"), server.makeSession())
    #expect(result.failure == nil && result.isPeerVerified == true, "\(result)")
    // Those of the system do not count then.
    let distrusted = try client(system: .desk, own: .foreign)
    let other = connect(distrusted.makeSession(with: "car.example"), server.makeSession())
    #expect(other.failure?.kind == .peerUntrusted, "\(other)")
  }

  /// A server of several names is asked for one of them; addresses are no names (RFC 6066, section 3).
  @Test(arguments: [("car.example", true), ("192.0.2.7", false), ("fe80::1", false)])
  func nameInTheFirstMessage(host: String, isNamed: Bool) throws {
    let hello = try client(system: .desk).makeSession(with: host).begin().output
    #expect((hello.firstRange(of: Array(host.utf8)) != nil) == isNamed)
  }
}
