import SDLWire
import TLSEngine
import TestSupport

extension FuzzTarget {
  /// OpenSSL as both sides use it.
  static let tls = [
    FuzzTarget("tls", bytesPerInputByte: 64, baseByteCount: 384 << 10) { checkHandshake($0) }
  ]

  /// A handshake, of which each message may be changed, cut, repeated or replaced, and records after it.
  private static func checkHandshake(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let isDatagram = input.flag()
    let client = (isDatagram ? TLSEnds.datagramClient : TLSEnds.client).makeSession()
    let server = TLSEnds.server.makeSession()
    var pending = [(toServer: true, bytes: client.begin().output)]
    for _ in 0..<40 where !pending.isEmpty {
      let (toServer, message) = pending.removeFirst()
      for piece in changed(message, &input) {
        let step = (toServer ? server : client).advance(piece)
        rule(step.output.count <= 64 << 10, "an answer of \(step.output.count) bytes")
        if !step.output.isEmpty { pending.append((!toServer, step.output)) }
      }
    }
    guard client.isEstablished, server.isEstablished else { return }
    while !input.isEmpty {
      let plaintext = input.piece()
      guard let records = try? plaintext.encrypted(by: client) else { continue }
      for piece in changed(records, &input) {
        guard let decrypted = try? server.decrypt(piece) else { return }
        rule(decrypted == plaintext || plaintext.isEmpty, "another plaintext")
      }
    }
  }

  private static func changed(_ message: [UInt8], _ input: inout FuzzInput) -> [[UInt8]] {
    var message = message
    switch input.byte() {
    case 1 where !message.isEmpty:
      message[input.number(below: min(message.count, 65_535))] ^= input.byte()
      return [message]
    case 2: return [Array(message.prefix(input.number(below: 4096)))]
    case 3: return [message, message]
    case 4: return [input.piece(limit: 1024)]
    case 5: return [message + input.piece()]
    case 6: return []
    default: return [message]
    }
  }
}

extension [UInt8] {
  fileprivate func encrypted(by session: TLSSession) throws -> [UInt8] {
    var records = [UInt8](repeating: 0, count: count + SecurePayload.overhead)
    let size = try withUnsafeBytes { plaintext in
      try records.withUnsafeMutableBytes { try session.encrypt(plaintext, into: $0) }
    }
    return Array(records[..<size])
  }
}

/// Both ends of TLS, with certificates that are made once.
enum TLSEnds {
  static let appID = TestCertificates.appID
  static let server = context(.server, .tls)
  static let client = context(.client, .tls)
  static let datagramClient = context(.client, .dtls)

  private static func context(_ role: TLSContext.Role, _ variant: TLSContext.Variant) -> TLSContext {
    var sources = TLSCredentials.Sources()
    if role == .server {
      sources.certificate = .file(TestCertificates.desk.app)
      sources.privateKey = .file(TestCertificates.desk.appKey)
    } else {
      sources.authorities = .file(TestCertificates.desk.authority)
    }
    do {
      return try TLSContext(role: role, variant: variant, credentials: TLSCredentials(sources))
    } catch {
      fatalError("no TLS: \(error)")
    }
  }
}
