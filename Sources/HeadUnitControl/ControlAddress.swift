/// Where a head unit's control listens, and what its requests have to know.
package struct ControlAddress: Equatable, Sendable {
  /// A name or a numeric address; nil for all of this machine's.
  package var host: String? = "127.0.0.1"
  /// 0 takes any that is free.
  package var port: UInt16
  package var token = ""

  /// As ``HostAndPort`` reads it; * is all addresses.
  package init?(text: String) {
    guard let place = HostAndPort(text[...]) else { return nil }
    port = place.port
    if let host = place.host { self.host = host == "*" ? nil : host }
  }

  /// The address of the page, with the token where it does not leave the browser.
  package func page(atPort port: UInt16) -> String {
    let unreserved = Set("-._~".utf8)
    let fragment = token.utf8.map { byte in
      let character = Character(UnicodeScalar(byte))
      let isPlain = character.isASCII && (character.isLetter || character.isNumber) || unreserved.contains(byte)
      return isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
    return "http://\(Self.host(host)):\(port)/#\(fragment)"
  }

  /// By which programs on this machine reach what listens at an address, in a URI; nil is all addresses.
  package static func host(_ address: String?) -> String {
    switch address {
    case nil, "0.0.0.0": "127.0.0.1"
    case "::": "[::1]"
    case .some(let address): address.contains(":") ? "[\(address)]" : address
    }
  }

  /// The text if a header can carry it as it is: visible ASCII, with spaces in between.
  package static func token(text: String) -> String? {
    let isCarried = text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !text.hasPrefix(" ") && !text.hasSuffix(" ")
    return isCarried && !text.isEmpty ? text : nil
  }

  /// 128 random bits.
  package static var newToken: String {
    (0..<4).map { _ in
      let text = String(UInt32.random(in: 0...(.max)), radix: 16)
      return String(repeating: "0", count: 8 - text.count) + text
    }.joined()
  }
}

/// `[ADDRESS:]PORT`, where an IPv6 address is in square brackets.
package struct HostAndPort {
  /// Without brackets; nil if there is only a port.
  package private(set) var host: String?
  package let port: UInt16

  /// Nil for anything else.
  package init?(_ text: Substring) {
    let colon = text.lastIndex(of: ":")
    guard let port = UInt16(colon.map { text[text.index(after: $0)...] } ?? text) else { return nil }
    self.port = port
    guard let colon else { return }
    let host = text[..<colon]
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    let address = isBracketed ? host.dropFirst().dropLast() : host
    guard !address.isEmpty, isBracketed || !address.contains(":") else { return nil }
    self.host = String(address)
  }
}
