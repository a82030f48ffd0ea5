import Glibc

/// A port of 127.0.0.1 that answers no attempt to connect, because its backlog is full.
package final class SilentPort {
  package let port: UInt16
  private let listener: Int32
  private var fillers: [Int32] = []

  package init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    self.listener = listener
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 0) == 0 && getsockname(listener, address, &length) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    guard isListening else { throw PortError.listening(errno) }
    try fill(address)
  }

  /// The kernel accepts one more than the backlog; the first that stays pending shows that it is full.
  private func fill(_ address: sockaddr_in) throws {
    for _ in 0..<8 {
      let filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
      fillers.append(filler)
      withUnsafePointer(to: address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          _ = connect(filler, address, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      var descriptor = pollfd(fd: filler, events: Int16(POLLOUT), revents: 0)
      if poll(&descriptor, 1, 100) == 0 { return }
    }
    throw PortError.backlogDoesNotFillUp
  }

  deinit {
    for descriptor in fillers + [listener] { close(descriptor) }
  }

  package var uri: String { "sdl://127.0.0.1:\(port)" }
}

enum PortError: Error {
  case listening(Int32)
  case backlogDoesNotFillUp
}
