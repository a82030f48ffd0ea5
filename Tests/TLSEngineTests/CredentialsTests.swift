import Foundation
import TLSEngine
import TestSupport
import Testing

/// Files and texts that can't be used, and what the error says.
@Suite struct CredentialsTests {
  private func fault(_ change: (inout TLSCredentials.Sources) -> Void) -> String? {
    var sources = TLSCredentials.Sources()
    sources.certificate = .file(TestCertificates.desk.app)
    sources.privateKey = .file(TestCertificates.desk.appKey)
    change(&sources)
    do {
      _ = try TLSCredentials(sources)
      return nil
    } catch {
      return error.description
    }
  }

  private func file(_ text: String) throws -> PEMSource {
    let path = TestCertificates.temporaryPath("file.pem")
    try Data(text.utf8).write(to: URL(filePath: path))
    return .file(path)
  }

  @Test func good() throws {
    #expect(fault { _ in } == nil)
    let certificate = try String(contentsOfFile: TestCertificates.desk.app, encoding: .utf8)
    let key = try String(contentsOfFile: TestCertificates.desk.appKey, encoding: .utf8)
    #expect(PEMSource(certificate) == .text(certificate))
    #expect(PEMSource("/a/b.pem") == .file("/a/b.pem"))
    // Both in one text, as car makers deliver them.
    #expect(fault { ($0.certificate, $0.privateKey) = (.text(key + certificate), nil) } == nil)
    var sources = TLSCredentials.Sources()
    sources.certificate = .text(certificate + key)
    let info = try #require(try TLSCredentials(sources).info)
    #expect(info.subjectSerialNumber == TestCertificates.appID)
    #expect(info.validity(at: Int64(Date().timeIntervalSince1970)) == .valid)
    #expect(info.validity(at: info.notBefore) == .valid && info.validity(at: info.notAfter) == .valid)
    #expect(info.validity(at: info.notBefore - 1) == .notYet)
    #expect(info.validity(at: info.notAfter + 1) == .expired)
  }

  @Test func noRegularFiles() throws {
    let folder = TestCertificates.desk.folder
    let pipe = TestCertificates.temporaryPath("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let large = try file(String(repeating: "x", count: (1 << 20) + 1))
    let places: [WritableKeyPath<TLSCredentials.Sources, PEMSource?>] = [\.certificate, \.privateKey, \.authorities]
    for place in places {
      #expect(fault { $0[keyPath: place] = .file(folder) } == "\"\(folder)\" is a directory")
      #expect(fault { $0[keyPath: place] = .file(pipe) } == "\"\(pipe)\" is no regular file")
      #expect(fault { $0[keyPath: place] = .file("/dev/zero") } == "\"/dev/zero\" is no regular file")
      #expect(fault { $0[keyPath: place] = .file("/missing") }?.contains("No such file") == true)
      #expect(fault { $0[keyPath: place] = .file("") }?.contains("can't be opened") == true)
      #expect(fault { $0[keyPath: place] = large }?.contains("more than 1048576 bytes") == true)
      #expect(fault { $0[keyPath: place] = .text("") }?.contains("holds no") == true)
    }
    if getuid() != 0 {
      let secret = try file("x")
      guard case .file(let path) = secret else { return }
      chmod(path, 0)
      #expect(fault { $0.privateKey = secret }?.contains("Permission denied") == true)
    }
  }

  /// The largest file or text that is read.
  @Test func largestSource() throws {
    let most = String(repeating: "x", count: 1 << 20)
    #expect(fault { $0.authorities = .text(most) }?.hasPrefix("the text holds no authority") == true)
    #expect(fault { $0.authorities = .text(most + "x") } == "the text has more than 1048576 bytes")
    let large = try file(most)
    #expect(fault { $0.authorities = large }?.contains("holds no authority") == true)
  }

  @Test func noPEM() throws {
    #expect(fault { $0.certificate = .text("hello") } == "the text holds no certificate in PEM (no start line)")
    #expect(fault { $0.privateKey = .text("hello") }?.hasPrefix("the text holds no private key in PEM") == true)
    #expect(fault { $0.authorities = .text("hello") }?.hasPrefix("the text holds no authority in PEM") == true)
    #expect(fault { $0.certificate = .file(TestCertificates.desk.appKey) }?.contains("holds no certificate") == true)
    #expect(fault { $0.privateKey = .file(TestCertificates.desk.app) }?.contains("holds no private key") == true)
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    #expect(fault { $0.certificate = .text(broken) }?.contains("holds no certificate") == true)
    let whole = try String(contentsOfFile: TestCertificates.desk.app, encoding: .utf8)
    for rest in [broken, String(whole.prefix(whole.count / 2)), whole.replacingOccurrences(of: "A", with: "?")] {
      let fault = fault { $0.authorities = .text("\(whole)\n\(rest)") }
      #expect(fault?.hasPrefix("certificate number 2 in the text can't be read (") == true, "\(fault ?? "")")
    }
    #expect(fault { $0.authorities = .text("\(whole)\nand a remark") } == nil)
  }

  /// A text that was mangled on its way, as by a shell or a configuration file, is none the less no path: nothing of it
  /// appears in an error.
  @Test func mangledTextIsNotQuoted() throws {
    let key = try String(contentsOfFile: TestCertificates.desk.appKey, encoding: .utf8)
    let lines = key.split(separator: "\n")
    for mangled in [
      key.replacingOccurrences(of: "\n", with: " "), key.replacingOccurrences(of: "-----BEGIN", with: "-----BGIN"),
      lines.dropFirst().joined(separator: "\n"), lines.dropFirst().dropLast().joined(separator: "\n"),
      lines.dropFirst().joined(), lines.dropFirst().dropLast().joined(),
      lines.dropFirst().dropLast().joined(separator: " "),
    ] {
      let fault = try #require(fault { $0.privateKey = PEMSource(mangled) })
      #expect(fault.hasPrefix("the text holds no private key in PEM"), "\(fault)")
      #expect(!fault.contains(lines[1].prefix(10)))
    }
    let path = "certificates/of-a-car-with-a-long-name/in-a-folder-with-a-long-name/app.pem"
    #expect(PEMSource(path) == .file(path))
  }

  @Test func keyAndCertificate() throws {
    #expect(fault { $0.privateKey = .file(TestCertificates.desk.headUnitKey) }?.contains("does not belong to") == true)
    #expect(fault { $0.certificate = nil } == "there is a private key, but no certificate")
    #expect(throws: TLSError.self) {
      try TLSContext(role: .server, credentials: TLSCredentials(TLSCredentials.Sources()))
    }
  }

  @Test func passphrase() throws {
    let path = TestCertificates.temporaryPath("encrypted.pem")
    let secret = "correct horse"
    TestCertificates.run([
      "openssl", "pkey", "-in", TestCertificates.desk.appKey, "-aes256", "-passout", "pass:\(secret)", "-out", path,
    ])
    #expect(fault { ($0.privateKey, $0.passphrase) = (.file(path), secret) } == nil)
    #expect(
      fault { $0.privateKey = .file(path) }
        == "the private key in \"\(path)\" is encrypted, and there is no passphrase")
    for wrong in ["wrong horse", "", String(repeating: "x", count: 5000)] {
      let fault = fault { ($0.privateKey, $0.passphrase) = (.file(path), wrong) }
      #expect(fault == "the passphrase does not open the private key in \"\(path)\"")
    }
  }

  /// Far too many certificates; and a chain that no peer takes.
  @Test func manyCertificates() throws {
    let certificate = try String(contentsOfFile: TestCertificates.desk.app, encoding: .utf8)
    let authority = try String(contentsOfFile: TestCertificates.desk.authority, encoding: .utf8)
    let endless = String(repeating: authority, count: 101)
    #expect(fault { $0.certificate = .text(certificate + endless) }?.contains("more than 100") == true)

    var sources = TLSCredentials.Sources()
    sources.certificate = .text(certificate + String(repeating: authority, count: 99))
    sources.privateKey = .file(TestCertificates.desk.appKey)
    let server = try TLSContext(role: .server, credentials: TLSCredentials(sources))
    var pair = Pair(client: try .headUnit(), server: server)
    pair.shakeHands()
    // 42 KiB of certificates.
    #expect(pair.clientFailure?.description.contains("excessive message size") == true)
  }
}
