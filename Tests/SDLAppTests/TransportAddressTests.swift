import Testing

@testable import SDLApp

@Suite struct TransportAddressTests {
  @Test(arguments: [
    ("192.168.1.1", "192.168.1.1:12345"), ("2001:db8::1", "[2001:db8::1]:12345"), ("fe80::1", "[fe80::1]:12345"),
    ("headunit.local", "headunit.local:12345"), ("a-1.example", "a-1.example:12345"),
  ])
  func usable(host: String, text: String) throws {
    #expect(try TransportAddress(host: host, port: 12345, acceptsLoopback: false).description == text)
  }

  @Test(arguments: [
    "127.0.0.1", "127.9.9.9", "::1", "localhost", "LocalHost", "::ffff:127.0.0.1",
  ])
  func loopback(host: String) throws {
    #expect(throws: TransportAddress.Refusal.self) {
      try TransportAddress(host: host, port: 1, acceptsLoopback: false)
    }
    #expect(try TransportAddress(host: host, port: 1, acceptsLoopback: true).host == host)
  }

  /// Groups, "any", what no connection can lead to, and notations that resolvers take for numbers.
  @Test(arguments: [
    "", "0.0.0.0", "::", "224.0.0.1", "239.255.255.250", "255.255.255.255", "240.0.0.1", "ff02::1", "::ffff:224.0.0.1",
    "fe80::1%wlan0", "127.1", "2130706433", "1.2.3.4.5", "a b", "-\u{0}", "http://a", "[::1]", "a..b", ".a", "a.",
    String(repeating: "a", count: 64) + ".b", Array(repeating: "aaaaaaa", count: 40).joined(separator: "."),
  ])
  func refused(host: String) {
    #expect(throws: TransportAddress.Refusal.self) {
      try TransportAddress(host: host, port: 12345, acceptsLoopback: true)
    }
  }

  /// The reason is told to the user.
  @Test func refusedAddressesArePrintable() {
    let host = "\u{1B}[2Ja" + String(repeating: "\u{301}", count: 10_000)
    let refusal = #expect(throws: TransportAddress.Refusal.self) {
      try TransportAddress(host: host, port: 1, acceptsLoopback: true)
    }
    #expect(refusal?.reason.contains("\u{1B}") == false)
    #expect(refusal?.reason.utf8.count ?? .max < 400)
  }

  @Test(arguments: [nil, 0, -1, 65536, 70_000, Int32.min, .max] as [Int32?]) func refusedPorts(port: Int32?) {
    #expect(throws: TransportAddress.Refusal.self) {
      try TransportAddress(host: "192.168.1.1", port: port, acceptsLoopback: true)
    }
  }

  @Test(arguments: [1, 80, 65535] as [Int32]) func ports(port: Int32) throws {
    #expect(try TransportAddress(host: "192.168.1.1", port: port, acceptsLoopback: true).port == UInt16(port))
  }
}
