import Glibc

extension SocketAddress {
  /// From where an IP address can be reached.
  package enum Reach: Sendable {
    /// Programs of this machine: loopback, and the unspecified address, which connects there as well.
    case thisMachine
    /// A network around this machine: private, shared and link-local addresses.
    case localNetwork
    case everywhere
    /// Multicast, reserved addresses, and other families.
    case nowhere
  }

  /// The reach by the IANA registries of special-purpose addresses (RFC 6890). IPv4 addresses inside of IPv6 ones count
  /// as what they lead to.
  package var reach: Reach {
    withPointer { address, _ in
      switch family {
      case AF_INET: Self.reach(ofIPv4: address.bytes(4, at: Self.offset(\sockaddr_in.sin_addr)))
      case AF_INET6: Self.reach(ofIPv6: address.bytes(16, at: Self.offset(\sockaddr_in6.sin6_addr)))
      default: .nowhere
      }
    }
  }

  private static func offset<Address>(_ member: KeyPath<Address, some Any>) -> Int {
    MemoryLayout<Address>.offset(of: member) ?? 0
  }

  private static func reach(ofIPv4 bytes: [UInt8]) -> Reach {
    switch (bytes[0], bytes[1], bytes[2]) {
    case (0, _, _), (127, _, _): .thisMachine
    case (10, _, _), (172, 16...31, _), (192, 168, _), (100, 64...127, _), (169, 254, _), (192, 0, 0),
      (198, 18...19, _):
      .localNetwork
    case (224..., _, _): .nowhere
    default: .everywhere
    }
  }

  private static func reach(ofIPv6 bytes: [UInt8]) -> Reach {
    let last = Array(bytes.suffix(4))
    // IPv4-compatible, with :: and ::1 among them, IPv4-mapped, NAT64 and 6to4.
    if bytes.prefix(12).allSatisfy({ $0 == 0 }) { return reach(ofIPv4: last) }
    if bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF { return reach(ofIPv4: last) }
    if bytes.starts(with: [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8)) { return reach(ofIPv4: last) }
    if bytes.starts(with: [0x20, 0x02]) { return reach(ofIPv4: Array(bytes[2..<6])) }
    switch (bytes[0], bytes[1]) {
    case (0xFE, 0x80...), (0xFC...0xFD, _): return .localNetwork
    case (0xFF, _): return .nowhere
    // Of the rest, only 2000::/3 is assigned.
    default: return bytes[0] >> 5 == 1 ? .everywhere : .localNetwork
    }
  }
}

extension UnsafePointer<sockaddr> {
  fileprivate func bytes(_ count: Int, at offset: Int) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: UnsafeRawPointer(self) + offset, count: count))
  }
}
