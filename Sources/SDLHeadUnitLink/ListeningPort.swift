import Glibc
import SDLLink
import Synchronization

/// A TCP port that can be closed and opened again; closes when it goes away.
final class ListeningPort: Sendable {
  let address: SocketAddress
  private let acceptsIPv4: Bool
  private let socket: Mutex<Socket?>
  private let isShutDown = Atomic(false)
  private let makeSocket: SocketMaker
  private let wrap: @Sendable (Socket) -> Socket

  /// `address` is a host name or numeric address, nil for all of this machine's; port 0 takes any that is free.
  ///
  /// - Parameter wrap: makes what is served of each connection.
  init(
    address: String?, port: UInt16, makeSocket: @escaping SocketMaker = Socket.tcp,
    wrap: @escaping @Sendable (Socket) -> Socket = { $0 }
  ) throws(LinkError) {
    self.makeSocket = makeSocket
    self.wrap = wrap
    let socket: Socket
    (socket, self.address) = try Socket.listening(address: address, port: port, makeSocket: makeSocket)
    acceptsIPv4 = address == nil
    self.socket = Mutex(socket)
  }

  /// Another port on the addresses of `first`.
  init(besides first: ListeningPort, port: UInt16) throws(LinkError) {
    makeSocket = first.makeSocket
    wrap = { $0 }
    let socket: Socket
    (socket, address) = try Socket.listening(
      address: first.acceptsIPv4 ? nil : first.address.host, port: port, makeSocket: makeSocket)
    acceptsIPv4 = first.acceptsIPv4
    self.socket = Mutex(socket)
  }

  /// Whether it takes connections on all addresses of this machine.
  var isOnAllAddresses: Bool { acceptsIPv4 || ["0.0.0.0", "::"].contains(address.host) }

  /// The next connection; nil with errno, or while the port is closed.
  func accept() -> Socket? {
    errno = EBADF
    return socket.withLock { $0 }?.accept().map(wrap)
  }

  /// -1, which poll(2) ignores, while the port is closed.
  var descriptor: Int32 { socket.withLock { $0?.descriptor ?? -1 } }

  /// The kernel refuses connections from now on, and resets those that were not accepted.
  func close() {
    socket.withLock { $0 = nil }
  }

  /// Frees the port for good. The descriptor stays, because a thread may be waiting for it.
  func shutDown() {
    isShutDown.store(true, ordering: .relaxed)
    socket.withLock { socket in
      if let socket { _ = shutdown(socket.descriptor, Int32(SHUT_RDWR)) }
    }
  }

  /// Listens again on the same port; false when another socket has taken it meanwhile.
  func reopen() -> Bool {
    socket.withLock { socket in
      if socket == nil, !isShutDown.load(ordering: .relaxed) {
        socket = Socket.listening(on: address, acceptsIPv4: acceptsIPv4, makeSocket: makeSocket)
      }
      return socket != nil
    }
  }
}
