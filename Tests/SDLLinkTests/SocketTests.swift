import Glibc
import TestSupport
import Testing

@testable import SDLLink

/// What is asked of the kernel for each connection.
@Suite struct SocketTests {
  /// Media are written on a thread of the application, which gets no signal for a head unit that has gone.
  @Test(arguments: [true, false]) func writingToAPeerThatHasGone(inOnePiece: Bool) throws {
    // Pool threads block the signal, which would end the process.
    var (signals, former) = (sigset_t(), sigset_t())
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_UNBLOCK, &signals, &former)
    defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
    let (ours, theirs) = try Socket.pair()
    theirs.shutDown()
    var bytes: [UInt8] = [1, 2, 3]
    let transfer = bytes.withUnsafeMutableBytes { bytes in
      if inOnePiece { return ours.send(UnsafeRawBufferPointer(bytes)) }
      var vectors = [iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)]
      return vectors.withUnsafeMutableBufferPointer { ours.send($0) }
    }
    #expect(transfer == .failed(errno: EPIPE))
  }

  @Test func piecesInTheirOrder() throws {
    let (ours, theirs) = try Socket.pair()
    var (first, second): ([UInt8], [UInt8]) = ([1, 2], [3])
    let transfer = first.withUnsafeMutableBytes { first in
      second.withUnsafeMutableBytes { second in
        var vectors = [first, second].map { iovec(iov_base: $0.baseAddress, iov_len: $0.count) }
        return vectors.withUnsafeMutableBufferPointer { ours.send($0) }
      }
    }
    var buffer = [UInt8](repeating: 0, count: 10)
    let received = buffer.withUnsafeMutableBytes { theirs.receive(into: $0) }
    #expect(transfer == .bytes(3) && received == .bytes(3) && buffer.prefix(3) == [1, 2, 3])
    // Nothing waits for more, as long as the peer may send it.
    #expect(buffer.withUnsafeMutableBytes { theirs.receive(into: $0) } == .wouldBlock)
    #expect(!theirs.isClosedByPeer && theirs.takeError() == 0)
    // The end is seen before what comes in front of it is read.
    #expect([4, 5 as UInt8].withUnsafeBytes { ours.send($0) } == .bytes(2))
    ours.shutDown()
    #expect(theirs.isClosedByPeer)
  }

  /// Neither end waits in a call, and programs that the application starts get none of them.
  @Test func descriptorsOfAPair() throws {
    let (ours, theirs) = try Socket.pair()
    for socket in [ours, theirs] {
      #expect(fcntl(socket.descriptor, F_GETFL) & O_NONBLOCK != 0)
      #expect(fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0)
      // Twice what it is told, for the kernel's own needs.
      #expect(Socket.option(SO_SNDBUF, of: socket.descriptor) == 256 << 10)
    }
    let number = dup(ours.descriptor)
    _ = fcntl(number, F_SETFL, 0)
    let adopted = Socket(adopting: number)
    #expect(fcntl(adopted.descriptor, F_GETFL) & O_NONBLOCK != 0)
  }

  /// The kernel enlarges the buffer of a connection as it needs to, but not one whose size it was told.
  @Test func receiveBuffer() throws {
    let bufferLock: Int32 = 72
    let socket = try #require(Socket.tcp(family: AF_INET))
    socket.limitReceiveBuffer(8192)
    #expect(Socket.option(SO_RCVBUF, of: socket.descriptor) == 16_384)
    // Linux 5.14 says whether it may.
    #expect([nil, 2].contains(Socket.option(bufferLock, of: socket.descriptor)))
    socket.limitReceiveBuffer(nil)
    #expect(Socket.option(SO_RCVBUF, of: socket.descriptor) == 128 << 10)
    #expect([nil, 0].contains(Socket.option(bufferLock, of: socket.descriptor)))
  }

  /// A control frame waits for no acknowledgement, whichever end has connected.
  @Test func bothEndsOfAConnection() throws {
    let (listener, address) = try Socket.listening(address: "127.0.0.1", port: 0)
    let client = try #require(Socket.tcp(family: AF_INET))
    #expect([0, EINPROGRESS].contains(client.connect(to: address)))
    var accepted: Socket?
    #expect(
      eventually {
        accepted = listener.accept()
        return accepted != nil
      })
    for socket in [client, try #require(accepted)] {
      var value: Int32 = -1
      var size = socklen_t(MemoryLayout<Int32>.size)
      getsockopt(socket.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &value, &size)
      #expect(value == 1 && Socket.option(SO_KEEPALIVE, of: socket.descriptor) == 1)
      // A peer without power is lost after 8 s, and little waits in the kernel where it would be too late to drop it.
      let options = [TCP_KEEPIDLE: 3, TCP_KEEPINTVL: 1, TCP_KEEPCNT: 5, TCP_NOTSENT_LOWAT: 32 << 10]
      for (option, expected) in options {
        getsockopt(socket.descriptor, Int32(IPPROTO_TCP), option, &value, &size)
        #expect(value == expected, "\(option)")
      }
      #expect(fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0)
      #expect(fcntl(socket.descriptor, F_GETFL) & O_NONBLOCK != 0 && socket.isPeerOnThisMachine)
    }
    #expect(accepted?.peerAddress?.description == client.ownAddress?.description)
    // Nobody else gets the port meanwhile.
    let other = Socket.listening(on: address, acceptsIPv4: false, makeSocket: Socket.tcp)
    let code = errno
    #expect(other == nil && code == EADDRINUSE)
  }

  /// Addresses of other kinds, and lengths that the kernel never says.
  @Test func addressesThatAreNone() throws {
    var storage = sockaddr_storage()
    storage.ss_family = sa_family_t(AF_INET)
    withUnsafePointer(to: &storage) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        let size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        #expect(SocketAddress(copying: address, length: size + 1) == nil)
        #expect(SocketAddress(copying: address, length: size)?.host == "0.0.0.0")
      }
    }
    #expect(SocketAddress(boundTo: -1) == nil && SocketAddress(connectedTo: -1) == nil)
    let (ours, _) = try Socket.pair()
    #expect(ours.ownAddress?.isIP == false && !ours.isPeerOnThisMachine)
  }
}
