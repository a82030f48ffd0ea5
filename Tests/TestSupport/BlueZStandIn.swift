import Foundation

/// A process that is BlueZ on a private bus, and hands out Unix sockets instead of RFCOMM connections:
/// `Programs/bluez.py` says what it understands and tells.
package final class BlueZStandIn: StandIn {
  /// - Parameters:
  ///   - policy: see ``PrivateBus``.
  ///   - isOnBus: whether it owns BlueZ's name from the start.
  package init(policy: String = "", isOnBus: Bool = true) throws {
    try super.init("bluez.py", policy: policy)
    if isOnBus { try command("own") }
  }
}

/// The other end of the connections that ``BlueZStandIn`` hands out.
package final class UnixListener {
  package let path: String
  private let descriptor: Int32

  /// Listens in `folder`.
  package init(in folder: URL) throws {
    path = "\(folder.path)/\(UUID().uuidString.prefix(8))"
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      bytes.copyBytes(from: path.utf8.prefix(bytes.count - 1))
    }
    let result = withUnsafeBytes(of: &address) { bytes in
      bind(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
    guard result == 0, listen(descriptor, 8) == 0 else { throw BusFailure(description: "\(path): \(errno)") }
  }

  deinit {
    close(descriptor)
  }

  /// The next connection, whose descriptor the caller owns.
  package func accept() throws -> Int32 {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, Int32(testTimeout.components.seconds) * 1000) > 0 else {
      throw BusFailure(description: "no phone connects")
    }
    return Glibc.accept(descriptor, nil, nil)
  }
}
