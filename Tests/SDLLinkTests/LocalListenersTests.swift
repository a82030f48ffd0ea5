import Glibc
import TestSupport
import Testing

@testable import SDLLink

@Suite struct LocalListenersTests {
  @Test(arguments: [
    ("127.0.0.1", "0100007F:3039 00000000:0000 0A", true),
    ("any address", "00000000:3039 00000000:0000 0A", true),
    ("any address, IPv6", "00000000000000000000000000000000:3039 00000000000000000000000000000000:0000 0A", true),
    ("127.0.0.1 as IPv6", "0000000000000000FFFF00000100007F:3039 0000000000000000:0000 0A", true),
    ("another address", "0200A8C0:3039 00000000:0000 0A", false),
    ("another port", "0100007F:3038 00000000:0000 0A", false),
    ("a connection", "0100007F:3039 0100007F:8F00 01", false),
    ("cut off", "0100007F:3039", false),
    ("no port", "0100007F 00000000:0000 0A", false),
  ])
  func line(_ what: String, _ fields: String, _ listens: Bool) {
    let table = "  sl  local_address rem_address   st\n   0: \(fields) 00000000:00000000 00:00000000\n"
    #expect(LocalListeners.listens(on: 12345, in: table) == listens, "\(what)")
  }

  @Test func realPort() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    // An unbound socket gets a port of its own on any address.
    try #require(listen(descriptor, 1) == 0)
    let address = try #require(SocketAddress(boundTo: descriptor))
    #expect(LocalListeners.listens(on: address.port))
  }
}
