import Glibc
import HTTPFetch
import Testing

@Suite struct HTTPClientTests {
  @Test(arguments: [
    ("https://a.example/p?q=1", true), ("HTTPS://a.example", true), ("http://localhost:80/p", true),
    ("http://127.0.0.1/p", true), ("http://[::1]:8080", true), ("http://a.example/", false),
    ("http://localhost.a.example/", false), ("http://127.0.0.1@a.example/", false), ("https://a@b.example/", false),
    ("http://127.0.0.1\\@a.example/", false), ("http://localhost:1@\u{301}a.example/", false),
    ("ftp://127.0.0.1/", false), ("file:///etc/passwd", false),
    ("https://", false), ("", false), ("localhost", false),
  ])
  func allowed(url: String, isAllowed: Bool) {
    #expect(HTTPClient.isAllowed(url, allowsThisMachine: true) == isAllowed)
  }

  /// Another machine's head unit must not reach services that expect nothing from other machines.
  @Test(arguments: ["http://localhost:80/p", "http://127.0.0.1/p", "http://[::1]:8080"])
  func thisMachine(url: String) {
    #expect(!HTTPClient.isAllowed(url, allowsThisMachine: false))
    #expect(HTTPClient.isAllowed("https://a.example/", allowsThisMachine: false))
  }

  /// However its address is written, and whatever the name service says: nothing is sent to a program of this machine,
  /// not even a connection made.
  @Test(arguments: ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0"])
  func thisMachineByAddress(host: String) throws {
    let listener = try Listener()
    let error = #expect(throws: HTTPFailure.self) {
      try HTTPClient.post(
        [1], to: "https://\(host):\(listener.port)/", contentType: "text/plain", allowsThisMachine: false)
    }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("is on this machine or in a network around it"), "\(host): \(text)")
    #expect(!listener.hasConnection)
    // For a head unit on this machine it is only a server without a certificate.
    let reached = #expect(throws: HTTPFailure.self) {
      try HTTPClient.post(
        [1], to: "https://\(host):\(listener.port)/", contentType: "text/plain", allowsThisMachine: true,
        within: .milliseconds(200))
    }
    #expect(reached?.description.contains("network around it") == false && listener.hasConnection, "\(host)")
  }

  /// Forms of numbers that libsoup takes for names are no addresses to it, and must not become any.
  @Test(arguments: ["0x7f000001", "2130706433", "0177.0.0.1", "127.1"]) func thisMachineByNumber(host: String) throws {
    let listener = try Listener()
    #expect(throws: HTTPFailure.self) {
      try HTTPClient.post(
        [1], to: "https://\(host):\(listener.port)/", contentType: "text/plain", allowsThisMachine: false)
    }
    #expect(!listener.hasConnection)
  }

  /// Nor to one in a network around this machine, or to this machine by its address there.
  @Test func localNetwork() throws {
    for host in ["10.255.255.1", "192.168.255.1", "169.254.169.254", "[fd00::1]", "[fe80::1]"] {
      let error = #expect(throws: HTTPFailure.self) {
        try HTTPClient.post([1], to: "https://\(host)/", contentType: "text/plain", allowsThisMachine: false)
      }
      #expect(error?.description.contains("network around it") == true, "\(host): \(error as Any)")
    }
  }

  private func post(
    _ body: [UInt8], to url: String, within time: Duration = HTTPClient.totalTimeout
  ) throws(HTTPFailure) -> [UInt8] {
    try HTTPClient.post(body, to: url, contentType: "text/plain", allowsThisMachine: true, within: time)
  }

  @Test func answer() throws {
    let server = try TestServer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    #expect(try post(Array("body".utf8), to: server.url) == Array("hello".utf8))
    let request = server.request
    #expect(request.hasPrefix("POST /policy HTTP/1.1\r\n") && request.hasSuffix("\r\n\r\nbody"), "\(request)")
    #expect(request.contains("Content-Type: text/plain\r\n"), "\(request)")
  }

  /// Every 2xx is a success, and the longest answer is read.
  @Test(arguments: [("200 OK", 1 << 20), ("204 No Content", 0), ("299 Odd", 3)])
  func success(status: String, byteCount: Int) throws {
    let server = try TestServer(
      "HTTP/1.1 \(status)\r\nContent-Length: \(byteCount)\r\n\r\n" + String(repeating: "a", count: byteCount))
    #expect(try post([1], to: server.url).count == byteCount)
  }

  @Test(arguments: [
    ("HTTP/1.1 300 Many\r\nContent-Length: 0\r\n\r\n", "300"),
    ("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", "404"),
    ("HTTP/1.1 302 Elsewhere\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", "302"),
    ("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "a", count: HTTPClient.longestAnswer + 1), "more than 1048576"),
    ("nonsense\r\n\r\n", "parse"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", "terminated unexpectedly"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", "terminated unexpectedly"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhello", "terminated unexpectedly"),
  ])
  func failure(answer: String, reason: String) throws {
    let server = try TestServer(answer)
    let error = #expect(throws: HTTPFailure.self) {
      try post([1], to: server.url)
    }
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
  }

  /// Each byte comes in time, and the answer never.
  @Test(arguments: ["HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"])
  func answerWithoutEnd(beginning: String) throws {
    let server = try TestServer(beginning, thenBytewise: String(repeating: "a", count: 100_000))
    let began = ContinuousClock.now
    #expect(throws: HTTPFailure.self) {
      try post([1], to: server.url, within: .milliseconds(500))
    }
    #expect(ContinuousClock.now - began < HTTPClient.timeout)
  }

  @Test func refusedURL() {
    #expect(throws: HTTPFailure.self) { try post([1], to: "http://a.example/") }
  }
}

/// A server that gives one answer to one request.
final class TestServer: @unchecked Sendable {
  private let listener: Int32
  private let answer: [UInt8]
  private let slowEnd: [UInt8]
  private var thread = pthread_t()
  /// Written by the thread, and read after it has ended.
  private var received: [UInt8] = []

  let url: String

  /// - Parameter slowEnd: follows a byte every 10 ms.
  init(_ answer: String, thenBytewise slowEnd: String = "") throws {
    self.answer = Array(answer.utf8)
    self.slowEnd = Array(slowEnd.utf8)
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, size) | listen(listener, 1) | getsockname(listener, pointer, &size)
      }
    }
    self.listener = listener
    url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/policy"
    try #require(result == 0)
    let server = Unmanaged.passRetained(self)
    pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<TestServer>.fromOpaque(context).takeRetainedValue().serve() }
        return nil
      }, server.toOpaque())
  }

  deinit {
    close(listener)
  }

  /// What was asked; waits until it is answered.
  var request: String {
    pthread_join(thread, nil)
    return String(decoding: received, as: UTF8.self)
  }

  private func serve() {
    let connection = accept(listener, nil, nil)
    defer { close(connection) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    // All bodies here are in what comes first or second.
    while !String(decoding: received, as: UTF8.self).contains("\r\n\r\n") || received.last == UInt8(ascii: "\n") {
      let count = read(connection, &buffer, buffer.count)
      guard count > 0 else { return }
      received += buffer[..<count]
    }
    var rest = answer[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
    for var byte in slowEnd {
      guard send(connection, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 else { return }
      usleep(10_000)
    }
    // The end of the answer, for one without a length.
    shutdown(connection, Int32(SHUT_WR))
    while read(connection, &buffer, buffer.count) > 0 {}
  }
}

/// A port of this machine, on which nothing answers.
private final class Listener {
  private let descriptor: Int32
  let port: UInt16

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, size) | listen(descriptor, 8) | getsockname(descriptor, pointer, &size)
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    try #require(result == 0)
  }

  deinit { close(descriptor) }

  /// Whether somebody has connected since the last call.
  var hasConnection: Bool {
    let connection = accept(descriptor, nil, nil)
    guard connection >= 0 else { return false }
    close(connection)
    return true
  }
}
