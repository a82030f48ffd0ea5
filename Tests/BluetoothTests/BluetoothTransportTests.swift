import Foundation
import SDLLink
import Testing

@testable import Bluetooth

/// With a D-Bus and a stand-in for BlueZ: what is really sent, and what becomes of descriptors.
@Suite(.serialized, .timeLimit(.minutes(3))) struct BluetoothTransportTests {
  /// What cars and BlueZ need to find the service.
  @Test func registration() throws {
    let bluez = try BlueZStandIn()
    let bench = try Bench(busAddress: bluez.bus.address)
    let event = try bluez.wait(for: "register")
    #expect(event["uuid"] == "936da01f-9abd-4d9d-80c7-02af85c822a8")
    let options = try #require(event.fields["options"] as? [String: NSObject])
    let expected: [String: NSObject] = [
      "Name": "SmartDeviceLink" as NSString, "Role": "server" as NSString, "Channel": 0 as NSNumber,
      "RequireAuthentication": true as NSNumber, "RequireAuthorization": false as NSNumber,
      "AutoConnect": false as NSNumber,
    ]
    #expect(options == expected)
    // BlueZ ignores an option of another type.
    let types = try #require(event.fields["types"] as? [String: String])
    #expect(types["Channel"] == "q" && types["AutoConnect"] == "b" && types["Role"] == "s")
    try bench.recorder.waitForWaiting()
    bench.transport.stop()
    #expect(try bluez.wait(for: "unregister")["path"] == event["path"])
  }

  /// The descriptor arrives, and is closed at both ends when its owner lets it go, although BlueZ has a copy.
  @Test func connection() throws {
    let bluez = try BlueZStandIn()
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    try bench.recorder.waitForWaiting()
    let listener = try UnixListener(in: bluez.bus.folder)
    try bluez.command("connect", car, listener.path)
    let far = try listener.accept()
    defer { close(far) }
    var connection: PeerConnection? = try bench.recorder.takeConnection()
    #expect(connection?.peer == car)
    #expect(try bluez.wait(for: "answer")["error"] == "<null>")
    connection = nil
    #expect(isAtEnd(far))
    // And the next car is waited for.
    try bench.recorder.waitForWaiting(2)
    try bluez.command("connect", otherCar, listener.path)
    #expect(try bench.recorder.takeConnection().peer == otherCar)
  }

  /// Whether the other end has closed.
  private func isAtEnd(_ descriptor: Int32) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    var byte: UInt8 = 0
    return poll(&waiting, 1, Int32(testTimeout.components.seconds) * 1000) > 0 && read(descriptor, &byte, 1) == 0
  }

  @Test func secondCar() throws {
    let bluez = try BlueZStandIn()
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    try bench.recorder.waitForWaiting()
    let listener = try UnixListener(in: bluez.bus.folder)
    try bluez.command("connect", car, listener.path)
    let first = try listener.accept()
    let connection = try bench.recorder.takeConnection()
    #expect(try bluez.wait(for: "answer")["error"] == "<null>")
    try bluez.command("connect", otherCar, listener.path)
    let second = try listener.accept()
    #expect(try bluez.wait(for: "answer")["error"] == "org.bluez.Error.Rejected")
    #expect(isAtEnd(second))
    #expect(try bench.recorder.waitForLine(otherCar).contains("connected already"))
    var waiting = pollfd(fd: first, events: Int16(POLLIN), revents: 0)
    #expect(poll(&waiting, 1, 0) == 0, "the first is not disturbed")
    withExtendedLifetime(connection) {}
    for descriptor in [first, second] { close(descriptor) }
  }

  @Test func wrongCar() throws {
    let bluez = try BlueZStandIn()
    let bench = try Bench(busAddress: bluez.bus.address, .app(only: address(car)))
    defer { bench.transport.stop() }
    try bench.recorder.waitForWaiting()
    let listener = try UnixListener(in: bluez.bus.folder)
    try bluez.command("connect", otherCar, listener.path)
    let far = try listener.accept()
    defer { close(far) }
    #expect(isAtEnd(far))
    #expect(try bench.recorder.waitForLine(otherCar).contains("only \(car)"))
    try bluez.command("connect", car, listener.path)
    #expect(try bench.recorder.takeConnection().peer == car)
  }

  /// The user disconnects the car in the desktop's settings.
  @Test func requestedDisconnection() throws {
    let bluez = try BlueZStandIn()
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    try bench.recorder.waitForWaiting()
    let listener = try UnixListener(in: bluez.bus.folder)
    try bluez.command("connect", car, listener.path)
    let far = try listener.accept()
    defer { close(far) }
    let connection = try bench.recorder.takeConnection()
    _ = try bluez.wait(for: "answer")
    try bluez.command("request-disconnection", car)
    #expect(try bluez.wait(for: "answer")["error"] == "<null>")
    #expect(isAtEnd(far))
    withExtendedLifetime(connection) {}
  }

  @Test func connectionWithoutDescriptor() throws {
    let bluez = try BlueZStandIn()
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    try bench.recorder.waitForWaiting()
    try bluez.command("connect-without-descriptor", car)
    #expect(try bluez.wait(for: "answer")["error"] == "org.bluez.Error.Rejected")
    // There is one descriptor.
    for number in ["-1", "-1000000", "1"] {
      try bluez.command("connect-with-descriptor-number", car, number)
      #expect(try bluez.wait(for: "answer")["error"] == "org.bluez.Error.Rejected")
    }
    let listener = try UnixListener(in: bluez.bus.folder)
    try bluez.command("connect", car, listener.path)
    #expect(try bench.recorder.takeConnection().peer == car)
  }

  @Test func serviceComesAndGoes() throws {
    let bluez = try BlueZStandIn(isOnBus: false)
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    #expect(try bench.recorder.waitForHindrance(.serviceMissing).advice.contains("systemctl start bluetooth"))
    try bluez.command("own")
    _ = try bluez.wait(for: "register")
    try bench.recorder.waitForWaiting()
    try bluez.command("leave")
    #expect(eventually { bench.recorder.statuses.count == 3 })
    try bluez.command("own")
    _ = try bluez.wait(for: "register")
    try bench.recorder.waitForWaiting(2)
    #expect(bench.recorder.failures == [])
  }

  @Test func released() throws {
    let bluez = try BlueZStandIn()
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    _ = try bluez.wait(for: "register")
    try bench.recorder.waitForWaiting()
    for method in ["cancel", "release"] {
      try bluez.command(method)
      #expect(try bluez.wait(for: "answer")["error"] == "<null>")
    }
    #expect(try bench.recorder.waitForLine("released").contains("again"))
    _ = try bluez.wait(for: "register")
  }

  @Test func adapterOffAndGone() throws {
    let bluez = try BlueZStandIn()
    try bluez.command("power", "off")
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    #expect(try bench.recorder.waitForHindrance(.deviceMissing).reason.contains("switched off"))
    try bluez.command("power", "on")
    try bench.recorder.waitForWaiting()
    try bluez.command("unplug")
    #expect(eventually { bench.recorder.statuses.last == .blocked(.noAdapter) })
    try bluez.command("plug")
    try bench.recorder.waitForWaiting(2)
  }

  @Test func accessDenied() throws {
    let bluez = try BlueZStandIn(policy: "<deny send_interface=\"org.bluez.ProfileManager1\"/>")
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    let failure = try bench.recorder.waitForFailure()
    #expect(failure.kind == .notAuthorized && failure.advice.contains("group bluetooth"), "\(failure)")
  }

  @Test func taken() throws {
    let bluez = try BlueZStandIn()
    try bluez.command("refuse", "org.bluez.Error.NotPermitted")
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    let failure = try bench.recorder.waitForFailure()
    #expect(failure.kind == .busy && failure.reason.contains("refused by the test"), "\(failure)")
  }

  /// A program that ends has the service for a moment longer.
  @Test func takenForAMoment() throws {
    let bluez = try BlueZStandIn()
    try bluez.command("refuse", "org.bluez.Error.NotPermitted")
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    _ = try bluez.wait(for: "register")
    try bluez.command("refuse")
    try bench.recorder.waitForWaiting()
    #expect(bench.recorder.failures == [])
  }

  @Test(arguments: ["unix:path=/nonexistent/bus", "nonsense", "tcp:host=127.0.0.1,port=1"])
  func noBus(address: String) throws {
    let bench = try Bench(busAddress: address)
    defer { bench.transport.stop() }
    let failure = try bench.recorder.waitForFailure()
    #expect(failure.reason.contains("system D-Bus") && failure.advice.contains("DBUS_SYSTEM_BUS_ADDRESS"))
  }

  @Test func busEnds() throws {
    let bluez = try BlueZStandIn()
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    try bench.recorder.waitForWaiting()
    bluez.bus.stop()
    #expect(try bench.recorder.waitForFailure() == .busClosed)
  }

  /// Another program on the bus must not hand us anything.
  @Test func otherProgramsAreRefused() throws {
    let bluez = try BlueZStandIn()
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    try bench.recorder.waitForWaiting()
    try bluez.command("release-as-another-program")
    #expect(try bluez.wait(for: "answer")["error"] == "org.freedesktop.DBus.Error.AccessDenied")
    #expect(bench.recorder.lines.isEmpty)
  }

  /// As a car: the phone's service is connected to, and again after its end.
  @Test func phone() throws {
    let bluez = try BlueZStandIn()
    let bench = try Bench(busAddress: bluez.bus.address, .headUnit(connectingTo: address(car)))
    defer { bench.transport.stop() }
    let options = try #require(bluez.wait(for: "register").fields["options"] as? [String: NSObject])
    #expect(options["Role"] == "client" as NSString && options["Channel"] == nil)
    _ = try bench.recorder.waitForHindrance(.unknownPeer)
    try bluez.command("pair", car)
    let event = try bluez.wait(for: "connect-profile")
    #expect(event["uuid"] == ProfileRegistration.uuid && event["path"] == "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF")
    #expect(try bench.recorder.waitForHindrance(.unreachable).reason.contains("NotAvailable"))
    let listener = try UnixListener(in: bluez.bus.folder)
    try bluez.command("phone", listener.path)
    for _ in 0..<2 {
      var connection: PeerConnection? = try bench.recorder.takeConnection()
      let far = try listener.accept()
      #expect(connection?.peer == car)
      connection = nil
      #expect(isAtEnd(far))
      close(far)
    }
  }

  /// The end of the registration is waited for: whoever registers next gets the service.
  @Test func waitsForTheAnswerAtTheEnd() throws {
    let bluez = try BlueZStandIn()
    try bluez.command("slow")
    // On a busy machine the stand-in may answer too late.
    let isWaitedFor = try (0..<5).contains { _ in
      let bench = try Bench(busAddress: bluez.bus.address)
      try bench.recorder.waitForWaiting()
      bench.transport.stop()
      return try bluez.wait(for: "unregister").fields["isThere"] as? Bool == true
    }
    #expect(isWaitedFor)
  }

  /// Answers that BlueZ may never give are not waited for: the clock stands still, so that wait would not end.
  @Test func doesNotWaitForOtherAnswersAtTheEnd() throws {
    let bluez = try BlueZStandIn()
    try bluez.command("hold")
    let clock = ManualClock()
    var configuration = BluetoothTransport.Configuration.app()
    configuration.clock = TimeSource { clock.now }
    let bench = try Bench(busAddress: bluez.bus.address, configuration)
    try bluez.wait(for: "list-objects")
    let isStopped = Monitor(false)
    let transport = bench.transport
    try WorkerThread.detach(name: "test") {
      transport.stop()
      isStopped.change { $0 = true }
    }
    #expect(isStopped.wait(atLatest: MonotonicClock.now + .seconds(20)) { $0 })
    #expect(eventually { bluez.count(of: "unregister") == 1 })
  }

  /// Stopping is quick in every state, and leaves neither thread nor descriptor.
  @Test func stops() throws {
    let bluez = try BlueZStandIn()
    let began = MonotonicClock.now
    for _ in 0..<5 {
      let bench = try Bench(busAddress: bluez.bus.address)
      bench.transport.stop()
    }
    #expect(MonotonicClock.now - began < .seconds(15))
    let bench = try Bench(busAddress: bluez.bus.address)
    try bench.recorder.waitForWaiting()
    bench.transport.stop()
    bench.transport.stop()
    let registrations = bluez.count(of: "register")
    #expect(eventually { bluez.count(of: "unregister") == registrations })
  }
}

/// What is counted in the whole process.
@Suite(.serialized, .timeLimit(.minutes(3))) struct DescriptorsWholeProcessTests {
  private func expectNoneMore(than before: Int) {
    #expect(
      eventually { ProcessCounts.descriptors <= before },
      "\(before) before, and now \(ProcessCounts.descriptorTargets)")
  }

  /// GIO keeps a connection, and the descriptor of its main context, until the last callback has run.
  @Test(arguments: [true, false]) func stopping(waits: Bool) throws {
    let bluez = try BlueZStandIn()
    func run() throws {
      let bench = try Bench(busAddress: bluez.bus.address)
      if waits { try bench.recorder.waitForWaiting() }
      bench.transport.stop()
    }
    for _ in 0..<3 { try run() }
    let before = ProcessCounts.descriptors
    for _ in 0..<25 { try run() }
    expectNoneMore(than: before)
  }

  @Test func busThatIsNotThere() throws {
    func run() throws {
      let bench = try Bench(busAddress: "unix:path=/nonexistent/bus")
      _ = try bench.recorder.waitForFailure()
      bench.transport.stop()
    }
    for _ in 0..<3 { try run() }
    let before = ProcessCounts.descriptors
    for _ in 0..<25 { try run() }
    expectNoneMore(than: before)
  }

  /// Anybody in the neighbourhood may connect.
  @Test func refusedConnections() throws {
    let bluez = try BlueZStandIn()
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    try bench.recorder.waitForWaiting()
    let listener = try UnixListener(in: bluez.bus.folder)
    func connect(_ address: String) throws {
      try bluez.command("connect", address, listener.path)
      close(try listener.accept())
      _ = try bluez.wait(for: "answer")
    }
    try connect(car)
    let connection = try bench.recorder.takeConnection()
    try connect(otherCar)
    let before = ProcessCounts.descriptors
    for _ in 0..<25 { try connect(otherCar) }
    expectNoneMore(than: before)
    withExtendedLifetime(connection) {}
  }

  /// Those of connections that were accepted, one after the other.
  @Test func connectionsThatEnd() throws {
    let bluez = try BlueZStandIn()
    let bench = try Bench(busAddress: bluez.bus.address)
    defer { bench.transport.stop() }
    let listener = try UnixListener(in: bluez.bus.folder)
    func connect(_ number: Int) throws {
      try bench.recorder.waitForWaiting(number)
      try bluez.command("connect", car, listener.path)
      close(try listener.accept())
      _ = try bench.recorder.takeConnection()
      _ = try bluez.wait(for: "answer")
    }
    for number in 1...3 { try connect(number) }
    let before = ProcessCounts.descriptors
    for number in 4...28 { try connect(number) }
    expectNoneMore(than: before)
  }
}
