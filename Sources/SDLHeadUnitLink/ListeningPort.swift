import Glibc
import SDLLink
import Synchronization

/// A TCP port that can be closed and opened again; closes when it goes away.
final class ListeningPort: Sendable {
  let address: SocketAddress
  private let acceptsIPv4: Bool
  private let state: Mutex<State>
  private let makeSocket: SocketMaker
  private let wrap: @Sendable (Socket) -> Socket

  private enum State {
    case listening(Socket)
    /// The socket keeps the port, which the kernel would give to another program; nil if another one was faster.
    case closed(reserving: Socket?)
    /// The socket is shut down; a thread may still wait for its descriptor.
    case freed(Socket?)
  }

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
    state = Mutex(.listening(socket))
  }

  /// Another port on the addresses of `first`.
  init(besides first: ListeningPort, port: UInt16) throws(LinkError) {
    makeSocket = first.makeSocket
    wrap = { $0 }
    let socket: Socket
    (socket, address) = try Socket.listening(
      address: first.acceptsIPv4 ? nil : first.address.host, port: port, makeSocket: makeSocket)
    acceptsIPv4 = first.acceptsIPv4
    state = Mutex(.listening(socket))
  }

  /// Whether it takes connections on all addresses of this machine.
  var isOnAllAddresses: Bool { acceptsIPv4 || ["0.0.0.0", "::"].contains(address.host) }

  /// The next connection; nil with errno, or while the port is closed.
  func accept() -> Socket? {
    errno = EBADF
    return listener?.accept().map(wrap)
  }

  /// -1, which poll(2) ignores, while the port is closed.
  var descriptor: Int32 { listener?.descriptor ?? -1 }

  private var listener: Socket? {
    state.withLock { state in
      switch state {
      case .listening(let socket): socket
      case .closed: nil
      case .freed(let socket): socket
      }
    }
  }

  /// The kernel refuses connections from now on, and resets those that were not accepted.
  func close() {
    state.withLock { state in
      guard case .listening = state else { return }
      // The listening socket goes first: the port can't be taken twice.
      state = .closed(reserving: nil)
      state = .closed(reserving: Socket.bound(to: address, acceptsIPv4: acceptsIPv4, makeSocket: makeSocket))
    }
  }

  /// Frees the port for good. The descriptor stays, because a thread may be waiting for it.
  func shutDown() {
    state.withLock { state in
      if case .listening(let socket) = state {
        socket.shutDown()
        state = .freed(socket)
      } else if case .closed = state {
        state = .freed(nil)
      }
    }
  }

  /// Listens again on the same port; false when another socket has taken it meanwhile.
  func reopen() -> Bool {
    state.withLock { state in
      switch state {
      case .listening: return true
      case .freed: return false
      case .closed(let reserved):
        let socket = reserved ?? Socket.bound(to: address, acceptsIPv4: acceptsIPv4, makeSocket: makeSocket)
        guard let socket, socket.listen() else { return false }
        state = .listening(socket)
        return true
      }
    }
  }
}
