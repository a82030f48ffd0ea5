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

  /// `address` is a host name or numeric address, nil for all of this machine's; port 0 takes any that is free.
  init(address: String?, port: UInt16, makeSocket: @escaping SocketMaker = Socket.tcp) throws(LinkError) {
    self.makeSocket = makeSocket
    let socket: Socket
    (socket, self.address) = try Socket.listening(address: address, port: port, makeSocket: makeSocket)
    acceptsIPv4 = address == nil
    self.socket = Mutex(socket)
  }

  /// Another port on the addresses of `first`.
  init(besides first: ListeningPort, port: UInt16) throws(LinkError) {
    makeSocket = first.makeSocket
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
    return socket.withLock { $0 }?.accept()
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

extension Socket {
  /// A listening socket and the address that it got.
  static func listening(
    address: String?, port: UInt16, makeSocket: SocketMaker = Socket.tcp
  ) throws(LinkError) -> (Socket, SocketAddress) {
    // IPv6 first: without an address given it takes IPv4 connections as well.
    let candidates = try Resolver.addresses(host: address, port: port, flags: AI_PASSIVE).get()
      .sorted { $0.family == AF_INET6 && $1.family != AF_INET6 }
    var failure = LinkError.cannotResolve(host: address ?? "*", reason: "no address")
    for candidate in candidates {
      if let socket = listening(on: candidate, acceptsIPv4: address == nil, makeSocket: makeSocket),
        let bound = socket.ownAddress
      {
        return (socket, bound)
      }
      failure = .cannotListen(address: candidate.description, errno: errno)
    }
    throw failure
  }

  /// Nil with errno.
  fileprivate static func listening(
    on address: SocketAddress, acceptsIPv4: Bool, makeSocket: SocketMaker
  ) -> Socket? {
    guard let socket = makeSocket(address.family) else { return nil }
    guard socket.listen(on: address, acceptsIPv4: acceptsIPv4) else {
      // Closing the socket may change errno.
      let code = errno
      defer { errno = code }
      return nil
    }
    return socket
  }
}
