import Glibc
import SDLWire

/// Where a head unit listens for a secondary transport.
package struct TransportAddress: Hashable, Sendable, CustomStringConvertible {
  /// Why an announced address can't be connected to; a text for the log.
  struct Refusal: Error, Equatable {
    var reason: String
  }

  /// RFC 1035, section 2.3.4.
  private static let maximumNameLength = 253

  /// A numeric IPv4 or IPv6 address without brackets, or a host name.
  package let host: String
  /// TCP port, not 0.
  package let port: UInt16

  /// "192.0.2.1:12345" or "[2001:db8::1]:12345".
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Checks an address that a head unit announces.
  ///
  /// - Parameters:
  ///   - host: `tcpIpAddress` of a TransportEventUpdate.
  ///   - port: `tcpPort`.
  ///   - acceptsLoopback: whether the head unit may be on this machine. For any other head unit, such an address is the
  ///     app's own machine.
  /// - Throws: for an address that can't be the head unit's.
  init(host: String, port: Int32?, acceptsLoopback: Bool) throws(Refusal) {
    guard let port, let number = UInt16(exactly: port), number > 0 else {
      throw Refusal(reason: "the port \(port.map { "\($0)" } ?? "is missing") (1 to 65535 are possible)")
    }
    switch Self.kind(of: host) {
    case .usable: break
    case .loopback:
      guard acceptsLoopback else { throw Refusal(reason: "the address \(host) belongs to the app's own machine") }
    case .multicast: throw Refusal(reason: "the address \(host) is a multicast address")
    case .unspecified: throw Refusal(reason: "the address \(host) is the unspecified address")
    case .malformed: throw Refusal(reason: "\(host.quoted) is neither an address nor a name")
    }
    self.host = host
    self.port = number
  }

  private enum Kind {
    case usable
    case loopback
    case multicast
    case unspecified
    case malformed
  }

  private static func kind(of host: String) -> Kind {
    guard !host.utf8.contains(0), host.utf8.count <= maximumNameLength else { return .malformed }
    var v4 = in_addr()
    if inet_pton(AF_INET, host, &v4) == 1 { return kind(ofIPv4: UInt32(bigEndian: v4.s_addr)) }
    var v6 = in6_addr()
    if inet_pton(AF_INET6, host, &v6) == 1 { return withUnsafeBytes(of: v6) { kind(ofIPv6: Array($0)) } }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    // The last label has a letter; otherwise the resolver reads it as a number in an old notation.
    guard labels.allSatisfy(isLabel), labels.last?.utf8.contains(where: isLetter) == true else { return .malformed }
    return host.lowercased() == "localhost" ? .loopback : .usable
  }

  private static func kind(ofIPv4 address: UInt32) -> Kind {
    if address == 0 { return .unspecified }
    if address >> 24 == 127 { return .loopback }
    // 224.0.0.0/4, and the addresses above it, which are reserved or broadcast.
    return address >> 28 >= 14 ? .multicast : .usable
  }

  private static func kind(ofIPv6 bytes: [UInt8]) -> Kind {
    if bytes.first == 0xFF { return .multicast }
    let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10...11].allSatisfy { $0 == 0xFF }
    if isMapped { return kind(ofIPv4: bytes[12...].reduce(0) { $0 << 8 | UInt32($1) }) }
    guard bytes.prefix(15).allSatisfy({ $0 == 0 }) else { return .usable }
    switch bytes.last {
    case 0: return .unspecified
    case 1: return .loopback
    default: return .usable
    }
  }

  private static func isLabel(_ label: Substring) -> Bool {
    let isText = label.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    return isText && (1...63).contains(label.utf8.count)
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
