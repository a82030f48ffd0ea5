import Glibc
import SDLApp
import SDLHeadUnit
import Synchronization
import TestSupport
import Testing

@testable import SDLAppLink
@testable import SDLHeadUnitLink
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

    /// Kernels before Linux 6.15 do not know the option.
    @Test func retransmitsOnceASecondAtLeast() throws {
      let socket = Socket(adopting: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
      socket.configureTCP()
      var timeout: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      let option = Socket.maximumRetransmissionTimeoutOption
      let result = getsockopt(socket.descriptor, Int32(IPPROTO_TCP), option, &timeout, &size)
      #expect(result == 0 ? timeout == 1000 : errno == ENOPROTOOPT)
    }

    /// The failure of a connection that is not accepted. The clock advances whenever a thread waits for it.
    private func failure(
      host: String, port: UInt16, timeout: Duration = .seconds(10), clock: ManualClock = ManualClock()
    ) throws -> LinkError? {
      let observer = ConnectionRecorder()
      let connection = makeConnection(port: port, host: host, connectTimeout: timeout, clock: clock, observer: observer)
      let begin = clock.now
      try connection.start()
      #expect(
        eventually {
          let hasTried = observer.events.contains { if case .connecting = $0 { true } else { false } }
          if hasTried, clock.now - begin < timeout { clock.advance(by: .milliseconds(50)) }
          return observer.endedCount > 0
        })
      connection.join()
      #expect(observer.endedCount == 1)
      guard case .link(let error) = observer.waitForEnd() ?? nil else { return nil }
      return error
    }

    /// Resolving the name may have taken all of a short time-out.
    @Test func triesOnceAfterTheDeadline() throws {
      let silent = try SilentPort()
      let address = try #require(
        try Resolver.addresses(host: "127.0.0.1", port: silent.port, flags: AI_NUMERICHOST).get().first)
      let wakeUp = WakeUp()
      try wakeUp.open()
      let clock = ManualClock()
      var connector = Connector(
        addresses: [address], timeout: .zero, deadline: clock.now, clock: TimeSource(clock))
      guard
        case .failed(.connectingTimedOut(let addresses, _)) = connector.run(
          wakeUp: wakeUp, isWanted: { true }, willTry: { _ in })
      else {
        Issue.record("no time-out")
        return
      }
      #expect(addresses == ["127.0.0.1:\(silent.port)"])
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
      let refusing = try RefusingPort()
      let port = refusing.port
      #expect(try failure(host: "127.0.0.1", port: port) == .refused(addresses: ["127.0.0.1:\(port)"]))
      let both = try failure(host: "localhost", port: port)
      #expect(both?.description.contains("127.0.0.1:\(port)") == true)
    }

    /// An app may be started before its head unit.
    @Test func refusalIsNotFinalBeforeTheTimeout() throws {
      let clock = ManualClock()
      let begin = clock.now
      let refusing = try RefusingPort()
      #expect(try failure(host: "127.0.0.1", port: refusing.port, clock: clock) != nil)
      #expect(clock.now - begin >= .seconds(9))

      let port = try ListeningPort(address: "127.0.0.1", port: 0)
      port.close()
      // That of an earlier call would make the head unit wait until descriptors are free again.
      errno = EMFILE
      let (accepted, error) = (port.accept(), errno)
      #expect(accepted == nil && error == EBADF)
      let observer = ConnectionRecorder()
      let connection = makeConnection(
        port: port.address.port, connectTimeout: .seconds(1000), clock: clock, observer: observer)
      try connection.start()
      #expect(observer.waitFor { if case .connecting = $0 { true } else { nil } } == true)
      #expect(port.reopen())
      let isConnected = eventually {
        clock.advance(by: ConnectionOpener.refusalPause)
        return observer.events.contains { if case .connected = $0 { true } else { false } }
      }
      #expect(isConnected)
      connection.stop(grace: .zero)
      connection.join()
    }

    /// It may be closed and opened again, until the head unit stops.
    @Test func aPortThatIsFreedForGood() throws {
      let port = try ListeningPort(address: "127.0.0.1", port: 0)
      port.close()
      #expect(port.reopen())
      port.close()
      port.shutDown()
      #expect(!port.reopen() && port.descriptor == -1)
    }

    /// The kernel gives it to no other program, neither to listen nor to connect from, until it is freed.
    @Test func aClosedPortIsKept() throws {
      let port = try ListeningPort(address: "127.0.0.1", port: 0)
      port.close()
      func isTaken() -> Bool {
        // Without the option that lets two sockets have an address, as the kernel itself looks for a free one.
        guard let other = Socket.tcp(family: port.address.family) else { return false }
        let result = port.address.withPointer { bind(other.descriptor, $0, $1) }
        return result < 0 && errno == EADDRINUSE
      }
      #expect(isTaken() && port.descriptor == -1)
      let client = try #require(Socket.tcp(family: port.address.family))
      let code = client.connect(to: port.address)
      #expect(eventually { (code == EINPROGRESS ? client.takeError() : code) == ECONNREFUSED })
      port.shutDown()
      #expect(!isTaken())
    }

    /// A car's network comes up with the car; what the system forbids stays forbidden.
    @Test(arguments: [(ENETUNREACH, true), (EHOSTUNREACH, true), (EACCES, false)])
    func missingRouteIsNotFinalBeforeTheTimeout(code: Int32, isTriedAgain: Bool) throws {
      let listener = try RawListener()
      let (clock, observer) = (ManualClock(), ConnectionRecorder())
      var configuration = AppConnection.Configuration(
        endpoint: .tcp(host: "127.0.0.1", port: listener.port), session: testSession,
        connectTimeout: .seconds(100_000), clock: TimeSource(clock))
      let attempts = Mutex(0)
      configuration.makeSocket = { family in
        let count = attempts.withLock {
          $0 += 1
          return $0
        }
        guard count <= 3 else { return Socket.tcp(family: family) }
        errno = code
        return nil
      }
      let connection = AppConnection(configuration: configuration, observer: observer)
      let wakeUp = connection.wakeUp
      clock.onAdvance { wakeUp.signal() }
      try connection.start()
      let isSettled = eventually {
        clock.advance(by: ConnectionOpener.refusalPause)
        return observer.endedCount > 0
          || observer.events.contains { if case .connected = $0 { true } else { false } }
      }
      #expect(isSettled && observer.endedCount == (isTriedAgain ? 0 : 1))
      #expect(attempts.withLock { $0 } == (isTriedAgain ? 4 : 1))
      connection.stop(grace: .zero)
      connection.join()
    }

    @Test func silentPortTimesOut() throws {
      let port = try SilentPort()
      let error = try failure(host: "127.0.0.1", port: port.port)
      #expect(error == .connectingTimedOut(addresses: ["127.0.0.1:\(port.port)"], after: .seconds(10)))
      #expect(error?.description.hasSuffix("within 10 s") == true)
    }

    @Test func nextAddressIsTriedWhenTheFirstIsSilentOrRefuses() throws {
      let silent = try SilentPort()
      let refusing = try RefusingPort()
      let good = try RawListener()
      let addresses = try [silent.port, refusing.port, good.port].map { port in
        try #require(try Resolver.addresses(host: "127.0.0.1", port: port, flags: AI_NUMERICHOST).get().first)
      }
      let wakeUp = WakeUp()
      try wakeUp.open()
      let clock = ManualClock()
      var connector = Connector(
        addresses: addresses, timeout: testTimeout, deadline: clock.now + testTimeout, clock: TimeSource(clock))
      var tried: [UInt16] = []
      let outcome = connector.run(
        wakeUp: wakeUp, isWanted: { true },
        willTry: { address in
          tried.append(address.port)
          clock.advance(by: Connector.attemptDelay)
        })
      guard case .connected(_, let address) = outcome else {
        Issue.record("\(outcome)")
        return
      }
      #expect(address.port == good.port)
      #expect(tried == [silent.port, refusing.port, good.port])
    }

    /// An address needs no name service, and a name wakes whoever waits for it.
    @Test func resolvesNames() throws {
      let wakeUp = WakeUp()
      try wakeUp.open()
      let numeric = try Resolver.start(host: "127.0.0.1", port: 7, wakeUp: wakeUp)
      #expect(try numeric.outcome?.get().map(\.description) == ["127.0.0.1:7"])
      var signal = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
      #expect(poll(&signal, 1, 0) == 0)
      let named = try Resolver.start(host: "localhost", port: 7, wakeUp: wakeUp)
      #expect(poll(&signal, 1, 30_000) == 1 && named.outcome != nil)
      let deadline = MonotonicClock.now + testTimeout
      let outcome = named.wait(until: deadline, clock: .monotonic, wakeUp: wakeUp) { true }
      let addresses = try outcome?.get() ?? []
      #expect(!addresses.isEmpty && addresses.allSatisfy { $0.port == 7 && $0.reach == .thisMachine })
      #expect(named.wait(until: deadline, clock: .monotonic, wakeUp: wakeUp) { false } == nil)
      // It stays there for those who ask late.
      #expect(named.wait(until: .zero, clock: .monotonic, wakeUp: wakeUp) { true } != nil)
    }

    /// What says most of several failures: a refusal comes from a machine that is there. Each address is tried at once.
    @Test(
      arguments: [
        ([ENETUNREACH, EHOSTUNREACH], "no route to"), ([ENETUNREACH, ECONNREFUSED], "refused by"),
        ([ETIMEDOUT, ECONNREFUSED], "refused by"), ([EMFILE, ECONNREFUSED], "refused by"),
        ([ENETUNREACH, ETIMEDOUT], "no answer from"), ([EMFILE, ETIMEDOUT], "no answer from"),
        ([EHOSTUNREACH, EMFILE], "ulimit -n"), ([EADDRNOTAVAIL, EAFNOSUPPORT], "no route to"),
        ([EHOSTDOWN, EACCES], "cannot connect to"),
      ])
    func mostInformativeFailure(codes: [Int32], text: String) throws {
      let rest = Mutex(codes[...])
      let addresses = try codes.indices.map { index in
        try #require(
          try Resolver.addresses(host: "192.0.2.\(index)", port: 80, flags: AI_NUMERICHOST).get().first)
      }
      let clock = ManualClock()
      var connector = Connector(
        addresses: addresses, timeout: .seconds(5), deadline: clock.now + .seconds(5), clock: TimeSource(clock),
        makeSocket: { _ in
          let code = rest.withLock { $0.popFirst() }
          errno = code ?? 0
          return nil
        })
      guard case .failed(let error)? = connector.advance() else {
        Issue.record("not tried")
        return
      }
      let description = error.description
      #expect(description.contains(text) && description.contains("192.0.2.0:80 and 192.0.2.1:80"), "\(description)")
    }

    /// What to do about the limits of a system; other errors have no such advice.
    @Test(arguments: [(EMFILE, "ulimit -n"), (ENFILE, "fs.file-max"), (EAGAIN, "ulimit -u"), (EACCES, nil)])
    func adviceOfALimit(code: Int32, advice: String?) {
      let text = LinkError.system(operation: "socket", errno: code).description
      #expect(text.hasPrefix("socket failed: "))
      #expect(advice.map { text.contains($0) } ?? !text.contains("("), "\(text)")
    }

    @Test func familiesAlternate() throws {
      let four = try Resolver.addresses(host: "127.0.0.1", port: 1, flags: AI_NUMERICHOST).get()
      let six = try Resolver.addresses(host: "::1", port: 1, flags: AI_NUMERICHOST).get()
      let mixed = (six + six + six + four + four).interleavedByFamily
      #expect(mixed.map(\.family) == [AF_INET6, AF_INET, AF_INET6, AF_INET, AF_INET6])
      #expect(six.first?.description == "[::1]:1")
    }
  }
}
