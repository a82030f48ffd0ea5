import Glibc

/// A TCP port of 127.0.0.1 on which nothing listens, and which no other program gets meanwhile.
package final class RefusingPort {
  package let port: UInt16
  private let descriptor: Int32

  package init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    self.descriptor = descriptor
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutableBytes(of: &address) { bytes in
      guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return Int32(-1) }
      return bind(descriptor, pointer, size) == 0 ? getsockname(descriptor, pointer, &size) : -1
    }
    port = UInt16(bigEndian: address.sin_port)
    guard result == 0 else { throw PortError.listening(errno) }
  }

  deinit {
    close(descriptor)
  }
}
