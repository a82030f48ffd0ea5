import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  /// Connections that the application brings.
  @Suite struct ConnectedDescriptorTests {
    /// Whether `descriptor` is open; one that was closed may have been opened anew for something else.
    private func isSocket(_ descriptor: Int32) -> Bool {
      var status = stat()
      return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    private func connection(
      _ descriptor: Int32, _ observer: ConnectionRecorder
    ) throws -> AppConnection {
      AppConnection(
        configuration: AppConnection.Configuration(
          endpoint: .descriptor(try ConnectedDescriptor(adopting: descriptor)), session: testSession),
        observer: observer)
    }

    /// A TCP connection that the application has made.
    @Test func streams() throws {
      let recorder = HeadUnitRecorder()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: recorder)
      try server.start()
      let socket = try #require(Socket.tcp(family: AF_INET))
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = try #require(server.port).bigEndian
      address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
      _ = withUnsafeBytes(of: &address) { bytes in
        connect(
          socket.descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
      }
      #expect(eventually { ConnectedDescriptor.fault(of: socket.descriptor) == nil })
      let app = ConnectionRecorder()
      let connection = try connection(dup(socket.descriptor), app)
      func option(_ name: Int32, _ level: Int32 = Int32(IPPROTO_TCP)) -> Int32 {
        var value: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        _ = getsockopt(socket.descriptor, level, name, &value, &size)
        return value
      }
      #expect(option(TCP_NODELAY) == 1 && option(TCP_NOTSENT_LOWAT) == 32 << 10)
      // A peer that has gone is noticed after 8 s, as by SDL Core.
      #expect(option(SO_KEEPALIVE, SOL_SOCKET) == 1)
      #expect([TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT].map { option($0) } == [3, 1, 5])
      connection.setVideoRequest(testRequest)
      try connection.start()
      let grant = try #require(app.waitForGrant())
      let payload = noise(100_000)
      #expect(connection.video.submit(TestPayload(payload), grantEpoch: grant.epoch, blocking: true) == .queued)
      #expect(recorder.waitForMessages(1))
      #expect(recorder.videoMessages == [payload])
      connection.stop(grace: .seconds(1))
      connection.join()
      server.stop()
      server.join()
    }

    /// The head unit that closes it ends everything, with its name in the words.
    @Test func endsWithItsPeer() throws {
      let (ours, theirs) = try Socket.pair()
      let app = ConnectionRecorder()
      let connection = try connection(dup(ours.descriptor), app)
      try connection.start()
      _ = shutdown(theirs.descriptor, Int32(SHUT_RDWR))
      let end = try #require(app.waitForEnd())
      #expect("\(try #require(end))".contains("descriptor "))
      connection.join()
    }

    /// What is not used is closed all the same, and what is not taken over stays open.
    @Test func ownership() throws {
      let (ours, theirs) = try Socket.pair()
      // Far above the numbers that other tests get, so that it stays free once it is closed.
      let number = fcntl(ours.descriptor, F_DUPFD, 900)
      var descriptor: ConnectedDescriptor? = try ConnectedDescriptor(adopting: number)
      #expect(isSocket(number) && descriptor != nil)
      #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
      #expect(throws: ConnectedDescriptor.Fault.inUse) { try ConnectedDescriptor(adopting: number) }
      descriptor = nil
      // Although there is a second descriptor of the same socket.
      #expect(theirs.readAll().isEmpty)
      #expect(!isSocket(number))
    }

    @Test func faults() throws {
      #expect(throws: ConnectedDescriptor.Fault.notOpen) { try ConnectedDescriptor(adopting: 9999) }
      #expect(throws: ConnectedDescriptor.Fault.notOpen) { try ConnectedDescriptor(adopting: -1) }
      let file = open("/dev/null", O_RDWR)
      #expect(throws: ConnectedDescriptor.Fault.notASocket) { try ConnectedDescriptor(adopting: file) }
      #expect(fcntl(file, F_GETFD) >= 0, "what is refused stays the application's")
      close(file)
      let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
      #expect(throws: ConnectedDescriptor.Fault.notAStream) { try ConnectedDescriptor(adopting: datagrams) }
      close(datagrams)
      let listener = try RawListener()
      #expect(throws: ConnectedDescriptor.Fault.listening) {
        try ConnectedDescriptor(adopting: listener.socket.descriptor)
      }
      let unconnected = try #require(Socket.tcp(family: AF_INET))
      #expect(throws: ConnectedDescriptor.Fault.notConnected) {
        try ConnectedDescriptor(adopting: unconnected.descriptor)
      }
    }
  }
}
