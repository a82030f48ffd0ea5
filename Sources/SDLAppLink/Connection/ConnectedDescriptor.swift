import Glibc
import SDLLink

/// A connected stream socket that the application has made, such as a USB accessory's or one of a socket pair. It owns
/// the descriptor, which is used for one connection, and closed at its end or with this object.
package final class ConnectedDescriptor: Equatable, Sendable {
  /// Why a descriptor is of no use, in a form that can follow its number.
  package enum Fault: Error, Equatable, Sendable, CustomStringConvertible {
    case notOpen
    case notASocket
    case notAStream
    case listening
    case notConnected
    case inUse

    package var description: String {
      switch self {
      case .notOpen: "is not open in this process"
      case .notASocket: "is no socket"
      case .notAStream: "is a datagram or packet socket; a stream socket is needed"
      case .listening: "is a listening socket; a connection that accept() has returned is needed"
      case .notConnected: "is a socket that is not connected"
      case .inUse: "is the connection of another app already"
      }
    }
  }

  /// Descriptors in use: two connections would read each other's bytes.
  private static let adopted = Monitor<Set<Int32>>([])

  /// As the application has passed it.
  package let number: Int32
  /// Whether the head unit is a program on this machine. Nothing about a descriptor tells: a socket pair may lead
  /// through another program to a car.
  package let isLocal: Bool
  private let socket: Monitor<Socket?>

  /// Takes over `descriptor`, unless there is a fault.
  package init(adopting descriptor: Int32, isLocal: Bool = false) throws(Fault) {
    if let fault = Self.fault(of: descriptor) { throw fault }
    guard Self.adopted.withLock({ $0.insert(descriptor).inserted }) else { throw .inUse }
    number = descriptor
    self.isLocal = isLocal
    let adopted = Socket(adopting: descriptor) { descriptor in
      // Another process may have it too, such as the shell that opened it.
      _ = shutdown(descriptor, Int32(SHUT_RDWR))
      Self.adopted.withLock { numbers in
        numbers.remove(descriptor)
        _ = close(descriptor)
      }
    }
    // A child process must not keep the connection open.
    _ = fcntl(descriptor, F_SETFD, fcntl(descriptor, F_GETFD) | FD_CLOEXEC)
    // Does nothing to sockets of other families.
    adopted.configureTCP()
    socket = Monitor(adopted)
  }

  /// The socket, once.
  func take() -> Socket? { socket.withLock { $0.take() } }

  package static func == (left: ConnectedDescriptor, right: ConnectedDescriptor) -> Bool { left === right }

  static func fault(of descriptor: Int32) -> Fault? {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return .notOpen }
    guard status.st_mode & S_IFMT == S_IFSOCK else { return .notASocket }
    guard Socket.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue) else { return .notAStream }
    guard Socket.option(SO_ACCEPTCONN, of: descriptor) == 0 else { return .listening }
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutableBytes(of: &address) { bytes in
      getpeername(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
    }
    return result == 0 ? nil : .notConnected
  }
}
