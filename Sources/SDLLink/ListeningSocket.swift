import Glibc

extension Socket {
  /// A listening socket and the address that it got.
  package static func listening(
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
  package static func listening(
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
