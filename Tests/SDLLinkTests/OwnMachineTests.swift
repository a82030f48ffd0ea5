import Glibc
import SDLHeadUnit
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLHeadUnitLink
@testable import SDLLink

extension LinkTests {
  /// Addresses of this machine, which a head unit on another one has no business with.
  @Suite struct OwnMachineTests {
    private static func address(_ host: String) throws -> SocketAddress {
      try #require(try Resolver.addresses(host: host, port: 80, flags: AI_NUMERICHOST).get().first)
    }

    /// Whatever the notation: what the resolver makes of it counts.
    @Test(arguments: [
      "127.0.0.1", "127.255.0.1", "0.0.0.0", "0x7f000001", "2130706433", "017700000001", "127.1", "::1", "::",
      "::ffff:127.0.0.1", "::ffff:7f00:1", "64:ff9b::127.0.0.1", "2002:7f00:1::", "::127.0.0.1",
    ])
    func thisMachine(host: String) throws {
      #expect(try Self.address(host).reach == .thisMachine)
    }

    @Test(arguments: [
      "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0xc0a80101",
      "::ffff:10.0.0.1", "fe80::1", "fc00::1", "fd12:3456::1", "fec0::1", "64:ff9b::192.168.1.1", "2002:a00:1::",
      "64:ff9b:1::1",
    ])
    func localNetwork(host: String) throws {
      #expect(try Self.address(host).reach == .localNetwork)
    }

    @Test(arguments: ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"])
    func everywhere(host: String) throws {
      #expect(try Self.address(host).reach == .everywhere)
    }

    @Test(arguments: ["224.0.0.1", "255.255.255.255", "ff02::1"]) func nowhere(host: String) throws {
      #expect(try Self.address(host).reach == .nowhere)
    }

    private static func secondary(_ host: String, _ port: UInt16, acceptsThisMachine: Bool) throws -> SecondaryLink {
      let configuration = AppConnection.Configuration(
        endpoint: .tcp(host: "127.0.0.1", port: 1), session: testSession, connectTimeout: .seconds(5))
      let wakeUp = WakeUp()
      try wakeUp.open()
      // As a name, for which all of these may be taken.
      let address = try TransportAddress(host: host, port: Int32(port), acceptsLoopback: true)
      return SecondaryLink(
        address, attempt: 1, configuration, acceptsThisMachine: acceptsThisMachine, wakeUp: wakeUp)
    }

    private func outcome(_ link: inout SecondaryLink) -> SecondaryLink.Progress? {
      for _ in 0..<5000 {
        if let progress = link.advance() { return progress }
        var descriptors = link.descriptors
        _ = poll(&descriptors, nfds_t(descriptors.count), 1)
        if let progress = link.handle(descriptors[...]) { return progress }
      }
      return nil
    }

    /// The head unit's second transport is not connected to on this machine, unless the head unit is there too.
    @Test(arguments: ["127.0.0.1", "0x7f000001", "localhost"]) func secondaryTransport(host: String) throws {
      let listener = try ListeningPort(address: "127.0.0.1", port: 0)
      var refused = try Self.secondary(host, listener.address.port, acceptsThisMachine: false)
      guard case .failed(let reason) = outcome(&refused) else {
        Issue.record("\(refused.stage)")
        return
      }
      #expect(reason == SecondaryLink.ownAddress)
      var accepted = try Self.secondary(host, listener.address.port, acceptsThisMachine: true)
      guard case .connected = outcome(&accepted) else {
        Issue.record("\(accepted.stage)")
        return
      }
    }

    /// Where the head unit is, which decides what it may name. A descriptor's other end may be anywhere: a socket pair
    /// or a port of this machine may be one end of a tunnel.
    @Test func endpoints() throws {
      let (ours, theirs) = try Socket.pair()
      for isLocal in [false, true] {
        let descriptor = try ConnectedDescriptor(adopting: fcntl(ours.descriptor, F_DUPFD, 910), isLocal: isLocal)
        #expect(AppConnection.Endpoint.descriptor(descriptor).isOnThisMachine(ours) == isLocal)
      }
      #expect(!AppConnection.Endpoint.tcp(host: "car", port: 1).isOnThisMachine(theirs))
      let builtIn = BuiltInHeadUnit(HeadUnitPreset.standard.configuration)
      #expect(AppConnection.Endpoint.transport(builtIn).isOnThisMachine(ours))
    }

    /// It ends with its transport, also while a connection lasts.
    @Test func theBuiltInHeadUnitEnds() throws {
      let builtIn = BuiltInHeadUnit(quickHeadUnit())
      let connection = try #require(try builtIn.connect())
      let server = try #require(builtIn.server)
      builtIn.stop()
      server.join()
      #expect(builtIn.server == nil)
      withExtendedLifetime(connection) {}
    }

    /// The connection has it from its endpoint.
    @Test(arguments: [false, true]) func descriptor(isLocal: Bool) throws {
      let (ours, theirs) = try Socket.pair()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), serving: theirs, observer: HeadUnitRecorder())
      try server.start()
      let app = ConnectionRecorder()
      let descriptor = try ConnectedDescriptor(adopting: dup(ours.descriptor), isLocal: isLocal)
      let connection = AppConnection(
        configuration: AppConnection.Configuration(endpoint: .descriptor(descriptor), session: testSession),
        observer: app)
      connection.setVideoRequest(testRequest)
      try connection.start()
      _ = try #require(app.waitForGrant())
      #expect(connection.isPeerOnThisMachine == isLocal)
      connection.stop(grace: .seconds(1))
      connection.join()
      server.stop()
      server.join()
    }
  }
}
