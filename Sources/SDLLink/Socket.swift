import CLinux
import Glibc

/// A stream socket, non-blocking; closes its descriptor when it goes away. Every system call of a connection is a
/// member, so that a simulation can replace the kernel.
///
/// `@unchecked Sendable`, because it is not final: it is constant, and a simulation has one thread.
package class Socket: @unchecked Sendable {
  /// The result of one system call.
  package enum Transfer: Equatable {
    case bytes(Int)
    /// Try again when poll(2) says so.
    case wouldBlock
    /// The peer will send no more.
    case endOfStream
    case failed(errno: Int32)
  }

  /// Bytes that the kernel holds unsent: few, so that a slow head unit shows up in our queue, where frames can be
  /// dropped or the encoder slowed down, and not as seconds of video in the kernel. On a link that falls from 8 to 0.6
  /// Mbit/s under 4 Mbit/s of video, pictures are 2.6 s old with 128 KiB and 1.3 s with 32 KiB; smaller values change
  /// nothing, as the rest has been sent already. Bulk data over loopback is as fast with either.
  private static let unsentLimit: Int32 = 32 << 10
  /// TCP_RTO_MAX_MS of linux/tcp.h, since Linux 6.15; older kernels refuse it.
  static let maximumRetransmissionTimeoutOption: Int32 = 44
  /// The shortest that the kernel takes, in milliseconds. Retransmission backs off to 120 s without it.
  private static let maximumRetransmissionTimeout: Int32 = 1000
  /// SO_BUF_LOCK of asm-generic/socket.h.
  private static let bufferLockOption: Int32 = 72
  /// The kernel's own beginning (`tcp_rmem`), which it doubles.
  private static let usualReceiveBuffer: Int32 = 64 << 10
  /// Bytes that a socket pair holds until the peer reads them.
  private static let pairCapacity: Int32 = 128 << 10

  package let descriptor: Int32
  /// Whether SIOCOUTQ is the number of waiting bytes. For Bluetooth it is the free space (`bt_sock_ioctl` of Linux).
  package let countsWaitingBytes: Bool
  private let close: @Sendable (Int32) -> Void

  /// Takes the descriptor over and makes it non-blocking.
  package init(adopting descriptor: Int32, close: @escaping @Sendable (Int32) -> Void = { _ = Glibc.close($0) }) {
    self.descriptor = descriptor
    self.close = close
    countsWaitingBytes = Self.countsWaitingBytes(family: Self.option(SO_DOMAIN, of: descriptor) ?? AF_UNSPEC)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  deinit {
    close(descriptor)
  }

  static func countsWaitingBytes(family: Int32) -> Bool { family != AF_BLUETOOTH }

  /// Nil with errno.
  package static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
    var value: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
  }

  /// An unconnected TCP socket; nil with errno. A ``SocketMaker``.
  package static func tcp(family: Int32) -> Socket? {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(family, kind, Int32(IPPROTO_TCP))
    return descriptor < 0 ? nil : Socket(adopting: descriptor)
  }

  /// Two sockets of this process that are connected with each other.
  static func pair() throws(LinkError) -> (Socket, Socket) {
    let (first, second) = try descriptorPair()
    return (Socket(adopting: first), Socket(adopting: second))
  }

  /// The same as descriptors.
  package static func descriptorPair() throws(LinkError) -> (Int32, Int32) {
    var descriptors: (Int32, Int32) = (-1, -1)
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let result = withUnsafeMutableBytes(of: &descriptors) {
      socketpair(AF_UNIX, kind, 0, $0.baseAddress?.assumingMemoryBound(to: Int32.self))
    }
    guard result == 0 else { throw .system(operation: "socketpair", errno: errno) }
    // The kernel doubles the number for its bookkeeping.
    for descriptor in [descriptors.0, descriptors.1] {
      Socket(adopting: descriptor) { _ in }.set(SOL_SOCKET, SO_SNDBUF, Self.pairCapacity)
    }
    return descriptors
  }

  /// Options of every SDL connection. Failures do no harm: they cost latency, or delay the detection of a dead peer.
  package func configureTCP() {
    // A control frame must not wait for the acknowledgement of video.
    set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    // A head unit that lost its power sends nothing; SDL Core uses the same numbers for lost phones.
    set(SOL_SOCKET, SO_KEEPALIVE, 1)
    set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, 3)
    set(Int32(IPPROTO_TCP), TCP_KEEPINTVL, 1)
    set(Int32(IPPROTO_TCP), TCP_KEEPCNT, 5)
    // Rather than SO_SNDBUF, which also bounds the bytes in flight: so a fast path stays busy.
    set(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, Self.unsentLimit)
    // After 3 s without the peer the next attempt could be another 3 s away.
    set(Int32(IPPROTO_TCP), Self.maximumRetransmissionTimeoutOption, Self.maximumRetransmissionTimeout)
  }

  package func set(_ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Bounds the bytes that the kernel holds for the reader; nil leaves it to the kernel again.
  package func limitReceiveBuffer(_ byteCount: Int32?) {
    set(SOL_SOCKET, SO_RCVBUF, byteCount ?? Self.usualReceiveBuffer)
    // Otherwise the kernel would keep to that. Before Linux 5.14 it does.
    if byteCount == nil { set(SOL_SOCKET, Self.bufferLockOption, 0) }
  }

  /// The error of a connect(2) that has ended, once; 0 for success.
  package func takeError() -> Int32 {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno
  }

  /// Whether the peer sends no more, even if some of its bytes have not been read.
  package var isClosedByPeer: Bool {
    // POLLRDHUP, which Swift's Glibc module lacks.
    var descriptor = pollfd(fd: descriptor, events: 0x2000, revents: 0)
    return poll(&descriptor, 1, 0) > 0
  }

  /// Whether bytes can be received that poll(2) does not see.
  package var holdsInput: Bool { false }

  /// The next complaint about what the peer sends below SDL, in a form that can follow a colon; nil if there is none.
  /// There are a few of a connection at most.
  package func takeComplaint() -> String? { nil }

  package func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    transfer { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
  }

  package func send(_ bytes: UnsafeRawBufferPointer) -> Transfer {
    transfer { Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
  }

  /// Writes from several places at once.
  package func send(_ vectors: UnsafeMutableBufferPointer<iovec>) -> Transfer {
    var message = msghdr()
    message.msg_iov = vectors.baseAddress
    message.msg_iovlen = vectors.count
    return transfer { sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL)) }
  }

  /// Begins to connect; 0, or the error, which is EINPROGRESS while the connection is being made.
  package func connect(to address: SocketAddress) -> Int32 {
    configureTCP()
    return address.withPointer { Glibc.connect(descriptor, $0, $1) } == 0 ? 0 : errno
  }

  /// Takes an address, whose port no other program is given then; connections are refused until it listens. False with
  /// errno.
  package func bind(to address: SocketAddress, acceptsIPv4: Bool) -> Bool {
    set(SOL_SOCKET, SO_REUSEADDR, 1)
    if address.family == AF_INET6 { set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, acceptsIPv4 ? 0 : 1) }
    return address.withPointer { Glibc.bind(descriptor, $0, $1) } == 0
  }

  /// Listens on the address that it is bound to; false with errno.
  package func listen() -> Bool { Glibc.listen(descriptor, SOMAXCONN) == 0 }

  /// The next connection of a listening socket; nil with errno.
  package func accept() -> Socket? {
    let accepted = linux_accept(descriptor)
    guard accepted >= 0 else { return nil }
    let socket = Socket(adopting: accepted)
    socket.configureTCP()
    return socket
  }

  /// Ends both directions: whoever reads finds the end, here and at the peer.
  package func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  package var ownAddress: SocketAddress? { SocketAddress(boundTo: descriptor) }
  package var peerAddress: SocketAddress? { SocketAddress(connectedTo: descriptor) }

  /// Bytes that the kernel holds because the peer has not acknowledged them (TCP) or not read them (socket pair, where
  /// the kernel's own overhead counts as well); nil where the kernel does not say.
  package var unacknowledgedByteCount: UInt64? {
    guard countsWaitingBytes else { return nil }
    var count: Int32 = 0
    // TIOCOUTQ is SIOCOUTQ under its older name.
    guard ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 else { return nil }
    return UInt64(max(count, 0))
  }

  /// How many of those bytes have never been sent; nil where the kernel does not say.
  package var unsentByteCount: UInt64? {
    let count = linux_unsent_bytes(descriptor)
    return count < 0 ? nil : UInt64(count)
  }

  /// TCP's smoothed round-trip time, and the shortest; nil without TCP, and before the first measurement.
  package var roundTrip: (smoothed: Duration, minimum: Duration)? {
    var smoothed: UInt32 = 0
    var minimum: UInt32 = 0
    guard linux_round_trip(descriptor, &smoothed, &minimum) == 0, smoothed > 0 else { return nil }
    return (.microseconds(Int64(smoothed)), .microseconds(Int64(minimum)))
  }

  private func transfer(_ call: () -> Int) -> Transfer {
    while true {
      let count = call()
      if count > 0 { return .bytes(count) }
      if count == 0 { return .endOfStream }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .wouldBlock
      default: return .failed(errno: errno)
      }
    }
  }
}

// MARK: Listening

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
    made(makeSocket, for: address) { $0.bind(to: address, acceptsIPv4: acceptsIPv4) && $0.listen() }
  }

  /// A socket that has an address and does not listen; nil with errno.
  package static func bound(
    to address: SocketAddress, acceptsIPv4: Bool, makeSocket: SocketMaker
  ) -> Socket? {
    made(makeSocket, for: address) { $0.bind(to: address, acceptsIPv4: acceptsIPv4) }
  }

  private static func made(
    _ makeSocket: SocketMaker, for address: SocketAddress, _ prepare: (Socket) -> Bool
  ) -> Socket? {
    guard let socket = makeSocket(address.family) else { return nil }
    guard prepare(socket) else {
      // Closing the socket may change errno.
      let code = errno
      defer { errno = code }
      return nil
    }
    return socket
  }
}

extension Socket {
  /// Whether the other end of a TCP connection is a process of this machine.
  package var isPeerOnThisMachine: Bool {
    // If both ends are on this machine, they have the same address also in a network.
    guard let peer = peerAddress, peer.isIP, let own = ownAddress else { return false }
    return peer.host == own.host || peer.reach == .thisMachine
  }
}

/// Makes an unconnected socket of a family: ``Socket/tcp(family:)``, except in a simulation. Nil with errno.
package typealias SocketMaker = @Sendable (_ family: Int32) -> Socket?

/// Waits for any of `descriptors` (poll(2) semantics), until `deadline` of `clock` (nil: none). Signals do not end the
/// wait; nor does a test that advances its clock, which therefore has to wake the thread by one of the descriptors.
package func pollDescriptors(
  _ descriptors: UnsafeMutableBufferPointer<pollfd>, until deadline: Duration?, clock: TimeSource
) {
  while true {
    let timeout = deadline.map { ($0 - clock.now).pollMilliseconds } ?? -1
    guard poll(descriptors.baseAddress, nfds_t(descriptors.count), timeout) < 0, errno == EINTR else { return }
  }
}
