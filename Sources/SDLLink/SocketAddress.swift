import Glibc

/// An IPv4 or IPv6 address with its port.
package struct SocketAddress: Sendable, CustomStringConvertible {
  private var storage: sockaddr_storage
  private var length: socklen_t

  /// A copy of what the system returned; nil for an impossible length.
  package init?(copying address: UnsafePointer<sockaddr>, length: socklen_t) {
    guard Int(length) <= MemoryLayout<sockaddr_storage>.size else { return nil }
    storage = sockaddr_storage()
    self.length = length
    withUnsafeMutableBytes(of: &storage) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length)))
    }
  }

  /// The local address of a bound socket.
  package init?(boundTo descriptor: Int32) {
    self.init { getsockname(descriptor, $0, $1) }
  }

  /// The address of a connected socket's peer.
  package init?(connectedTo descriptor: Int32) {
    self.init { getpeername(descriptor, $0, $1) }
  }

  private init?(filledBy call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
    storage = sockaddr_storage()
    length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
    }
    guard result == 0 else { return nil }
  }

  /// An address at which others reach this machine: of the first network interface that has one, IPv4 before IPv6; nil
  /// without a network.
  package static var ofThisMachine: SocketAddress? {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0, let first = list else { return nil }
    defer { freeifaddrs(first) }
    var addresses: [SocketAddress] = []
    var next: UnsafeMutablePointer<ifaddrs>? = first
    while let interface = next?.pointee {
      next = interface.ifa_next
      let flags = Int32(bitPattern: interface.ifa_flags)
      guard flags & Int32(IFF_LOOPBACK) == 0, flags & Int32(IFF_UP) != 0, let address = interface.ifa_addr else {
        continue
      }
      let size: Int
      switch Int32(address.pointee.sa_family) {
      case AF_INET: size = MemoryLayout<sockaddr_in>.size
      case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
      default: continue
      }
      if let address = SocketAddress(copying: address, length: socklen_t(size)) { addresses.append(address) }
    }
    return addresses.first { $0.family == AF_INET } ?? addresses.first { !$0.host.hasPrefix("fe80:") }
  }

  /// AF_INET or AF_INET6.
  package var family: Int32 { Int32(storage.ss_family) }

  package var isIP: Bool { family == AF_INET || family == AF_INET6 }

  package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: storage) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }

  package var port: UInt16 { UInt16(names.port) ?? 0 }

  /// "192.0.2.1:12345" or "[2001:db8::1]:12345".
  package var description: String {
    let (host, port) = names
    return family == AF_INET6 ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// The address without the port, such as "192.0.2.1". An IPv4 peer of a socket for both families has its IPv4
  /// address.
  package var host: String {
    let host = names.host
    return host.hasPrefix("::ffff:") && host.contains(".") ? String(host.dropFirst(7)) : host
  }

  /// The machine that it belongs to: ``host``, and 127.0.0.1 for ::1, which is the same machine.
  package var device: String { host == "::1" ? "127.0.0.1" : host }

  /// What one owner usually has of the Internet: an IPv4 address, or the first 64 bits of an IPv6 one. Of link-local
  /// addresses, which all begin alike, the whole.
  package var network: String {
    let device = device
    guard family == AF_INET6, device.contains(":"), !device.hasPrefix("fe80:") else { return device }
    let prefix = withPointer { pointer, _ in
      pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
        withUnsafeBytes(of: address.pointee.sin6_addr) { Array($0.prefix(8)) }
      }
    }
    return stride(from: 0, to: 8, by: 2).map { String(Int(prefix[$0]) << 8 | Int(prefix[$0 + 1]), radix: 16) }
      .joined(separator: ":") + "::/64"
  }

  private var names: (host: String, port: String) {
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let result = withPointer { address, length in
      getnameinfo(
        address, length, &host, socklen_t(host.count), &port, socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
    }
    guard result == 0 else { return ("unknown", "0") }
    return (host.text, port.text)
  }
}

extension [CChar] {
  fileprivate var text: String {
    String(decoding: prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }
}

extension [SocketAddress] {
  /// IPv6 and IPv4 in turns, beginning with the family that the resolver put first (RFC 8305, section 4).
  package var interleavedByFamily: [SocketAddress] {
    guard let first else { return [] }
    let preferred = filter { $0.family == first.family }
    let others = filter { $0.family != first.family }
    return (0..<Swift.max(preferred.count, others.count)).flatMap { index in
      [preferred, others].compactMap { index < $0.count ? $0[index] : nil }
    }
  }
}
