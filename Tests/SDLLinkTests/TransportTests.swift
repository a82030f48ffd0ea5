import Glibc
import SDLHeadUnit
import SDLWire
import Synchronization
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLHeadUnitLink
@testable import SDLLink

/// A transport that does what a test says.
private final class TestTransport: Transport {
  private struct State {
    var report: (@Sendable (TransportEvent) -> Void)?
    var stops = 0
    var starts = 0
  }

  private let state = Mutex(State())
  let transportClass: TransportClass

  init(_ transportClass: TransportClass = .bluetooth) {
    self.transportClass = transportClass
  }

  var stops: Int { state.withLock { $0.stops } }
  var starts: Int { state.withLock { $0.starts } }

  func start(_ report: @escaping @Sendable (TransportEvent) -> Void) throws(LinkError) {
    state.withLock { state in
      state.report = report
      state.starts += 1
    }
  }

  func stop() { state.withLock { $0.stops += 1 } }

  /// Once it has been started.
  func report(_ event: TransportEvent) {
    _ = eventually { starts > 0 }
    state.withLock { $0.report }?(event)
  }

  /// Hands one end of a socket pair over.
  func connect(_ peer: String = "AA:BB:CC:DD:EE:FF", didClose: @escaping @Sendable () -> Void = {}) throws -> Int32 {
    let (ours, theirs) = try Socket.pair()
    defer { withExtendedLifetime((ours, theirs)) {} }
    report(.connected(PeerConnection(adopting: dup(ours.descriptor), peer: peer, didClose: didClose)))
    return dup(theirs.descriptor)
  }

  /// Hands a connection to a head unit over, which ends after `body`.
  func withHeadUnit(_ body: (HeadUnitRecorder) throws -> Void) throws {
    let recorder = HeadUnitRecorder()
    // Its socket is closed when it goes away.
    let server = try HeadUnitServer(
      configuration: quickHeadUnit(), serving: Socket(adopting: connect()), observer: recorder)
    try server.start()
    defer {
      server.stop()
      server.join()
    }
    try body(recorder)
  }
}

extension LinkTests {
  /// Connections that come by themselves.
  @Suite struct TransportTests {
    private let transport = TestTransport()
    private let app = ConnectionRecorder()
    private let clock = ManualClock()
    private let missing = TransportFailure(.serviceMissing, "nothing runs", advice: "Start it.")

    private func makeConnection(reconnects: Bool = true) -> AppConnection {
      let clock = clock
      let connection = AppConnection(
        configuration: AppConnection.Configuration(
          endpoint: .transport(transport), session: testSession, connectTimeout: .seconds(10),
          reconnection: reconnects ? Reconnection.Timing(first: .seconds(100)) : nil, clock: TimeSource { clock.now }),
        observer: app)
      let wakeUp = connection.wakeUp
      clock.onAdvance { wakeUp.signal() }
      connection.setVideoRequest(testRequest)
      return connection
    }

    private func waitFor(_ status: TransportStatus, _ count: Int = 1) -> Bool {
      eventually { app.events.count { if case .waiting(status) = $0 { true } else { false } } == count }
    }

    private func end(_ connection: AppConnection) {
      connection.stop(grace: .seconds(1))
      // Its grace is a time of the test's clock.
      clock.advance(by: .seconds(1))
      connection.join()
      #expect(app.endedCount == 1)
      #expect(transport.starts == 1 && transport.stops == 1)
    }

    /// No car is no error, however long; then a stream, its loss, and the next car.
    @Test func waitsAndStreams() throws {
      let connection = makeConnection()
      try connection.start()
      let waiting = TransportStatus.waiting(for: "a car")
      transport.report(.status(waiting))
      #expect(waitFor(waiting))
      clock.advance(by: .seconds(100_000))
      transport.report(.status(.blocked(TransportFailure(.deviceMissing, "it is off", advice: ""))))
      clock.advance(by: .seconds(100_000))
      transport.report(.status(waiting))
      #expect(waitFor(waiting, 2))
      #expect(app.endedCount == 0)
      for number in 1...2 {
        try transport.withHeadUnit { headUnit in
          let grant = try #require(app.waitForGrant(number: number))
          let payload = noise(50_000)
          #expect(connection.video.submit(TestPayload(payload), grantEpoch: grant.epoch, blocking: true) == .queued)
          #expect(headUnit.waitForMessages(1))
          #expect(headUnit.videoMessages == [payload])
        }
        // The next one need not wait for the end of the pause, of which the clock never comes.
        #expect(app.waitForLoss(number: number), "\(app.events)")
      }
      end(connection)
    }

    /// What has to be installed may never come; but once it was there, it comes back.
    @Test func missingServiceIsWaitedForUntilTheTimeOut() throws {
      let connection = makeConnection()
      try connection.start()
      transport.report(.status(.blocked(missing)))
      #expect(waitFor(.blocked(missing)))
      clock.advance(by: .milliseconds(9999))
      #expect(app.endedCount == 0)
      clock.advance(by: .milliseconds(1))
      #expect(try #require(app.waitForEnd()) == .link(.transport(missing)))
      connection.join()
      #expect(transport.stops == 1)
    }

    @Test func missingServiceLater() throws {
      let connection = makeConnection()
      try connection.start()
      try transport.withHeadUnit { _ in
        _ = try #require(app.waitForGrant())
        transport.report(.status(.blocked(missing)))
      }
      #expect(app.waitForLoss())
      clock.advance(by: .seconds(1000))
      #expect(waitFor(.blocked(missing)))
      clock.advance(by: .seconds(1000))
      try transport.withHeadUnit { _ in
        _ = try #require(app.waitForGrant(number: 2))
        end(connection)
      }
    }

    @Test func failure() throws {
      let connection = makeConnection()
      try connection.start()
      let denied = TransportFailure(.notAuthorized, "no", advice: "Ask.")
      transport.report(.failed(denied))
      #expect(try #require(app.waitForEnd()) == .link(.transport(denied)))
      connection.join()
    }

    /// A car that goes before the app is registered is no reason to end: it may come back.
    @Test func lossBeforeTheRegistration() throws {
      let connection = makeConnection()
      try connection.start()
      transport.report(.status(.waiting(for: "a car")))
      #expect(waitFor(.waiting(for: "a car")))
      clock.advance(by: .seconds(100))
      close(try transport.connect())
      #expect(app.waitForLoss())
      try transport.withHeadUnit { _ in
        _ = try #require(app.waitForGrant())
        end(connection)
      }
    }

    @Test func lossWithoutReconnection() throws {
      let connection = makeConnection(reconnects: false)
      try connection.start()
      close(try transport.connect("the car"))
      let failure = try #require(app.waitForEnd())
      #expect("\(try #require(failure))".contains("the car"))
      connection.join()
      #expect(transport.stops == 1)
    }

    /// RequestDisconnection of BlueZ.
    @Test func transportEndsTheConnection() throws {
      let connection = makeConnection(reconnects: false)
      try connection.start()
      let (ours, theirs) = try Socket.pair()
      let isClosed = Monitor(false)
      let peer = PeerConnection(adopting: dup(ours.descriptor), peer: "car") { isClosed.withLock { $0 = true } }
      transport.report(.connected(peer))
      #expect(app.waitFor { if case .connected("car") = $0 { true } else { nil } } == true)
      peer.disconnect()
      _ = try #require(app.waitForEnd())
      connection.join()
      #expect(isClosed.withLock { $0 })
      withExtendedLifetime((ours, theirs)) {}
    }

    /// One whose socket is of a kind of its own, as a WebSocket's.
    @Test func transportEndsAConnectionOfItsOwnKind() throws {
      let (ours, theirs) = try Socket.pair()
      let peer = PeerConnection(ours, peer: "car")
      #expect(!theirs.isClosedByPeer)
      peer.disconnect()
      #expect(theirs.isClosedByPeer)
      #expect(peer.takeSocket() === ours && peer.takeSocket() == nil)
    }

    /// Its owner ends it then.
    @Test func aConnectionThatWasTakenIsNotEnded() throws {
      let (ours, theirs) = try Socket.pair()
      let peer = PeerConnection(ours, peer: "car")
      let taken = peer.takeSocket()
      peer.disconnect()
      #expect(!theirs.isClosedByPeer)
      withExtendedLifetime(taken) {}
    }

    /// It is closed once, and that is said once: another may have its number then.
    @Test(arguments: [true, false]) func closesOnce(isUsed: Bool) throws {
      let (ours, theirs) = try Socket.pair()
      let count = Monitor(0)
      var peer: PeerConnection? = PeerConnection(adopting: dup(ours.descriptor), peer: "car") {
        count.withLock { $0 += 1 }
      }
      if isUsed {
        var socket = peer?.takeSocket()
        #expect(socket != nil && count.withLock { $0 } == 0)
        socket = nil
        #expect(count.withLock { $0 } == 1)
        #expect(peer?.takeSocket() == nil)
        peer?.disconnect()
      }
      peer = nil
      #expect(count.withLock { $0 } == 1)
      // Whoever has a copy of the descriptor notices it, too.
      #expect(theirs.isClosedByPeer)
      withExtendedLifetime(ours) {}
    }

    /// A connection that comes when none is wanted any more is closed.
    @Test func lateConnection() throws {
      let connection = makeConnection()
      try connection.start()
      transport.report(.status(.waiting(for: "a car")))
      #expect(waitFor(.waiting(for: "a car")))
      connection.stop(grace: .seconds(1))
      connection.join()
      let far = Socket(adopting: try transport.connect())
      #expect(far.readAll().isEmpty)
    }

    /// So is one that has come while another was in use, although the application keeps the object.
    @Test func unusedConnection() throws {
      let connection = makeConnection()
      try connection.start()
      try transport.withHeadUnit { _ in
        _ = try #require(app.waitForGrant())
        let far = Socket(adopting: try transport.connect())
        end(connection)
        var byte: [UInt8] = [0]
        #expect(byte.withUnsafeMutableBytes { far.receive(into: $0) } == .endOfStream)
      }
      withExtendedLifetime(connection) {}
    }

    /// The head unit's side: apps to which a transport connects, one after the other.
    @Test func headUnit() throws {
      let headUnit = HeadUnitRecorder()
      let server = try HeadUnitServer(configuration: quickHeadUnit(), transport: transport, observer: headUnit)
      try server.start()
      #expect(server.port == nil && server.address == nil)
      let waiting = TransportStatus.waiting(for: "the phone")
      transport.report(.status(waiting))
      #expect(headUnit.waitFor { if case .transport(.status(waiting)) = $0 { true } else { nil } } == true)
      for number in 1...2 {
        let app = ConnectionRecorder()
        let descriptor = try ConnectedDescriptor(adopting: transport.connect("phone \(number)"))
        let connection = AppConnection(
          configuration: AppConnection.Configuration(endpoint: .descriptor(descriptor), session: testSession),
          observer: app)
        connection.setVideoRequest(testRequest)
        try connection.start()
        let grant = try #require(app.waitForGrant())
        let payload = noise(50_000, seed: UInt64(number))
        #expect(connection.video.submit(TestPayload(payload), grantEpoch: grant.epoch, blocking: true) == .queued)
        #expect(headUnit.waitForMessages(number))
        #expect(headUnit.videoMessages.last == payload)
        #expect(
          headUnit.waitFor { if case .connected(_, "phone \(number)") = $0 { true } else { nil } } == true)
        connection.stop(grace: .seconds(1))
        connection.join()
      }
      server.stop()
      server.join()
      #expect(transport.stops == 1)
    }

    /// Names are taken within a phone, whose address differs from another's by its last byte alone.
    @Test func phonesBySimilarAddresses() throws {
      let headUnit = HeadUnitRecorder()
      let server = try HeadUnitServer(configuration: quickHeadUnit(), transport: transport, observer: headUnit)
      try server.start()
      let phones = try ["F1", "F2", "F1"].map {
        PhoneConnection(Socket(adopting: try transport.connect("AA:BB:CC:DD:EE:\($0)")))
      }
      let answers = phones.enumerated().map { index, phone in
        phone.start().map { phone.register("Map", "1234", session: $0.id) }
      }
      #expect(answers == ["SUCCESS", "SUCCESS", "APPLICATION_REGISTERED_ALREADY"])
      server.stop()
      server.join()
    }

    /// Linux answers SIOCOUTQ of Bluetooth sockets with the room that is left (`bt_sock_ioctl`), which would hold video
    /// back without end.
    @Test func waitingBytesOfBluetooth() throws {
      #expect(!Socket.countsWaitingBytes(family: AF_BLUETOOTH))
      let (ours, _) = try Socket.pair()
      #expect(ours.countsWaitingBytes && ours.unacknowledgedByteCount != nil)
    }

    @Test func classes() {
      #expect(AppConnection.Endpoint.transport(TestTransport(.usb)).transportClass == .usb)
      #expect(AppConnection.Endpoint.tcp(host: "", port: 1).transportClass == .tcpWiFi)
    }
  }
}
