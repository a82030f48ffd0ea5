import Foundation
import TLSEngine
import TestSupport
import Testing

/// Against openssl(1), which shares no code of ours.
@Suite(.serialized) struct OpenSSLProgramTests {
  /// openssl s_client, of which this end is the server.
  @Test func clients() throws {
    let server = try TLSContext.app()
    let good: [([String], String)] = [
      (["-tls1_2"], "TLSv1.2"), ([], "TLSv1.2"), (["-dtls1_2"], "DTLSv1.2"),
      (["-tls1_2", "-cipher", "AES128-SHA256:ECDHE-ECDSA-AES128-SHA"], "TLSv1.2"),
    ]
    for (arguments, version) in good {
      let session = server.makeSession()
      let data = try Peer.client(arguments, session)
      #expect(session.summary?.protocolVersion == version, "\(arguments)")
      #expect(String(decoding: data, as: UTF8.self) == "hello from openssl\n", "\(arguments)")
    }
    for arguments in [["-tls1_1", "-cipher", "ALL@SECLEVEL=0"], ["-tls1_3"]] {
      let session = server.makeSession()
      _ = try Peer.client(arguments, session)
      #expect(!session.isEstablished, "\(arguments)")
    }
  }

  /// openssl s_server, of which this end is the client; it sends each line back in reverse.
  @Test func servers() throws {
    let client = try TLSContext.headUnit()
    for arguments in [["-tls1_2"], [], ["-tls1_2", "-cipher", "AES256-SHA256:ECDHE-ECDSA-AES256-SHA384"]] {
      let session = client.makeSession()
      let data = try Peer.server(TestCertificates.desk, arguments, session)
      #expect(session.summary?.protocolVersion == "TLSv1.2", "\(arguments)")
      #expect(session.summary?.peer?.subjectSerialNumber == TestCertificates.appID)
      #expect(String(decoding: data, as: UTF8.self) == "olleh\n", "\(arguments)")
    }
    for (certificates, arguments) in [(TestCertificates.foreign, ["-tls1_2"]), (.desk, ["-tls1_3"])] {
      let session = client.makeSession()
      _ = try Peer.server(certificates, arguments, session)
      #expect(!session.isEstablished, "\(arguments)")
    }
  }
}

/// openssl(1) at the other end of a socket.
private enum Peer {
  /// Runs s_server until `session` has failed, or has got the answer to a line, which is returned.
  static func server(
    _ certificates: TestCertificates, _ arguments: [String], _ session: TLSSession
  ) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["openssl", "s_server", "-accept", "127.0.0.1:0", "-rev", "-cert", certificates.app, "-key", certificates.appKey]
      + arguments
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    var text = ""
    while !text.contains(/ACCEPT .*:\d+\n/) {
      let more = output.fileHandleForReading.availableData
      try #require(!more.isEmpty, "\(text)")
      text += String(decoding: more, as: UTF8.self)
    }
    let port = try #require(text.firstMatch(of: /ACCEPT .*:(\d+)\n/).flatMap { UInt16($0.1) })
    let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(connection) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    let isConnected = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    try #require(isConnected)
    func write(_ bytes: [UInt8]) { _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
    write(session.begin().output)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while wait(connection) {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return [] }
      if session.isEstablished { return try session.decrypt(Array(buffer[..<count])) }
      let step = session.advance(Array(buffer[..<count]))
      write(step.output)
      if step.failure != nil { return [] }
      if session.isEstablished { write(try session.encrypted(Array("hello\n".utf8))) }
    }
    return []
  }

  /// Runs s_client until `session` has failed, or has got data, which is returned.
  static func client(_ arguments: [String], _ session: TLSSession) throws -> [UInt8] {
    let isDatagram = arguments.contains("-dtls1_2")
    let kind = Int32((isDatagram ? SOCK_DGRAM : SOCK_STREAM).rawValue)
    let listener = socket(AF_INET, kind, 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && (isDatagram || listen(listener, 1) == 0)
          && getsockname(listener, $0, &length) == 0
      }
    }
    try #require(isBound)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    let port = UInt16(bigEndian: address.sin_port)
    process.arguments = ["openssl", "s_client", "-quiet", "-connect", "127.0.0.1:\(port)"] + arguments
    let input = Pipe()
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer {
      // It may have inherited a mask without SIGTERM.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    try input.fileHandleForWriting.write(contentsOf: Data("hello from openssl\n".utf8))
    guard wait(listener) else { return [] }
    let connection = isDatagram ? listener : accept(listener, nil, nil)
    defer { if !isDatagram { close(connection) } }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while wait(connection) {
      var from = sockaddr_storage()
      var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let count = withUnsafeMutablePointer(to: &from) { from in
        from.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          recvfrom(connection, &buffer, buffer.count, 0, $0, &size)
        }
      }
      guard count > 0 else { return [] }
      if session.isEstablished { return try session.decrypt(Array(buffer[..<count])) }
      let step = session.advance(Array(buffer[..<count]))
      _ = withUnsafePointer(to: &from) { from in
        from.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(
            connection, step.output, step.output.count, Int32(MSG_NOSIGNAL), isDatagram ? $0 : nil,
            isDatagram ? size : 0)
        }
      }
      if step.failure != nil { return [] }
    }
    return []
  }

  private static func wait(_ descriptor: Int32) -> Bool {
    var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, 20_000) == 1
  }
}
