import Testing

@testable import HeadUnitControl

@Suite struct ControlAddressTests {
  @Test(
    arguments: [
      ("8080", "127.0.0.1", 8080), ("localhost:0", "localhost", 0), ("192.0.2.1:80", "192.0.2.1", 80),
      ("[::1]:80", "::1", 80), ("*:80", nil, 80),
    ] as [(String, String?, UInt16)])
  func addresses(_ text: String, _ host: String?, _ port: UInt16) throws {
    let address = try #require(ControlAddress(text: text))
    #expect(address.host == host && address.port == port)
  }

  @Test(arguments: ["", ":80", "[]:80", "localhost", "localhost:", "65536", "-1", "80 ", "a:b", "::1:80"])
  func noAddress(_ text: String) {
    #expect(ControlAddress(text: text) == nil)
  }

  /// The token stands in the fragment; all addresses are reached on this machine.
  @Test(arguments: [
    ("8080", "abc", "http://127.0.0.1:9000/#abc"), ("*:0", "let me/in", "http://127.0.0.1:9000/#let%20me%2Fin"),
    ("[::]:0", "-._~", "http://[::1]:9000/#-._~"), ("[2001:db8::1]:0", "%", "http://[2001:db8::1]:9000/#%25"),
    ("car.example:0", "1", "http://car.example:9000/#1"),
  ])
  func page(_ text: String, _ token: String, _ uri: String) throws {
    var address = try #require(ControlAddress(text: text))
    address.token = token
    #expect(address.page(atPort: 9000) == uri)
  }

  @Test func tokens() {
    #expect(ControlAddress.token(text: "let me/in") == "let me/in")
    for text in ["", " a", "a ", "schlüssel", "a\nb"] { #expect(ControlAddress.token(text: text) == nil, "\(text)") }
    let token = ControlAddress.newToken
    #expect(token.count == 32 && ControlAddress.token(text: token) == token && token != ControlAddress.newToken)
  }
}
