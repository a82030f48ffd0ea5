import Glibc
import SDLApp
import SDLHeadUnit
import Testing

@testable import SDLLink

extension LinkTests {
  @Suite struct ConnectorTests {
    @Test(arguments: ["127.0.0.1", "::1", "localhost"]) func reachesHeadUnit(host: String) throws {
      let recorder = HeadUnitRecorder()
      let server = try HeadUnitServer(configuration: quickHeadUnit(), address: nil, port: 0, observer: recorder)
      try server.start()
      let observer = ConnectionRecorder()
      let connection = makeConnection(port: try #require(server.port), host: host, observer: observer)
      try connection.start()
      #expect(observer.waitFor { if case .session(.registered(let info)) = $0 { info } else { nil } } != nil)
      connection.stop(grace: .seconds(1))
      connection.join()
      #expect(observer.waitForEnd() == .some(nil))
      server.stop()
      server.join()
      let names = observer.events.map { "\($0)".prefix { $0 != "(" } }
      #expect(names.prefix(3) == ["attempting", "resolving", "connecting"])
      #expect(names.last == "ended")
      #expect(names.filter { $0 == "ended" }.count == 1)
    }

    private func failure(host: String, port: UInt16, timeout: Duration = .seconds(10)) throws -> LinkError? {
      let observer = ConnectionRecorder()
      let connection = makeConnection(port: port, host: host, connectTimeout: timeout, observer: observer)
      try connection.start()
      connection.join()
      #expect(observer.endedCount == 1)
      guard case .link(let error) = observer.waitForEnd() ?? nil else { return nil }
      return error
    }

    @Test func saysThatNameIsUnknown() throws {
      guard case .cannotResolve("no-such-host.invalid", let reason) = try failure(host: "no-such-host.invalid", port: 1)
      else {
        Issue.record("resolved a name of the reserved domain .invalid")
        return
      }
      #expect(!reason.isEmpty)
    }

    @Test func refusalNamesAllAddresses() throws {
      let port = try RawListener().port
      #expect(try failure(host: "127.0.0.1", port: port) == .refused(addresses: ["127.0.0.1:\(port)"]))
      let both = try failure(host: "localhost", port: port)
      #expect(both?.description.contains("127.0.0.1:\(port)") == true)
    }

    @Test func silentPortTimesOut() throws {
      let port = try SilentPort()
      let error = try failure(host: "127.0.0.1", port: port.port, timeout: .milliseconds(300))
      #expect(error == .connectingTimedOut(addresses: ["127.0.0.1:\(port.port)"], after: .milliseconds(300)))
    }

    @Test func nextAddressIsTriedWhenTheFirstIsSilentOrRefuses() throws {
      let silent = try SilentPort()
      let dead = try RawListener().port
      let good = try RawListener()
      let addresses = try [silent.port, dead, good.port].map { port in
        try #require(try Resolver.addresses(host: "127.0.0.1", port: port, flags: AI_NUMERICHOST).get().first)
      }
      let wakeUp = WakeUp()
      try wakeUp.open()
      let now = MonotonicClock.now
      var connector = Connector(addresses: addresses, timeout: testTimeout, deadline: now + testTimeout, now: now)
      var tried: [UInt16] = []
      let outcome = connector.run(wakeUp: wakeUp, isWanted: { true }, willTry: { tried.append($0.port) })
      guard case .connected(_, let address) = outcome else {
        Issue.record("\(outcome)")
        return
      }
      #expect(address.port == good.port)
      #expect(tried == [silent.port, dead, good.port])
    }

    @Test func familiesTakeTurns() throws {
      let four = try Resolver.addresses(host: "127.0.0.1", port: 1, flags: AI_NUMERICHOST).get()
      let six = try Resolver.addresses(host: "::1", port: 1, flags: AI_NUMERICHOST).get()
      let mixed = (six + six + six + four + four).interleavedByFamily
      #expect(mixed.map(\.family) == [AF_INET6, AF_INET, AF_INET6, AF_INET, AF_INET6])
      #expect(six.first?.description == "[::1]:1")
    }
  }
}

/// A port that answers no SYN, because its backlog is full.
final class SilentPort {
  let port: UInt16
  private let listener: RawListener
  private var fillers: [Socket] = []

  init() throws {
    listener = try RawListener()
    port = listener.port
    listen(listener.socket.descriptor, 0)
    let address = try #require(SocketAddress(boundTo: listener.socket.descriptor))
    // The kernel takes one more than the backlog says; the first that stays pending shows that it is full.
    for _ in 0..<8 {
      let filler = try #require(Socket.tcp(family: AF_INET))
      _ = address.withPointer { connect(filler.descriptor, $0, $1) }
      fillers.append(filler)
      var descriptor = pollfd(fd: filler.descriptor, events: Int16(POLLOUT), revents: 0)
      if poll(&descriptor, 1, 100) == 0 { return }
    }
    Issue.record("the backlog does not fill up")
  }
}
