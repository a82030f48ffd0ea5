import SDLLink
import Testing

@testable import Bluetooth

/// What is asked of BlueZ, and what is made of its answers.
@Suite struct ProfileSessionTests {
  private static let adapter = "/org/bluez/hci0"
  private static let path = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF"
  private static let otherPath = "/org/bluez/hci0/dev_00_11_22_33_44_55"
  private let waiting = TransportStatus.waiting(for: "a car over Bluetooth")

  private func on(_ isPowered: Bool = true) -> ProfileSession.Object {
    ProfileSession.Object(path: Self.adapter, isPowered: isPowered)
  }

  /// One that is registered, with an adapter that is switched on.
  private func registered(_ role: ProfileSession.Role = .app(only: nil)) -> ProfileSession {
    var session = ProfileSession(role: role, now: .zero)
    _ = session.busConnected()
    _ = session.serviceFound()
    _ = session.registered()
    _ = session.objectsListed([on()], now: .zero)
    return session
  }

  private func error(_ name: String) -> ProfileSession.CallError { .init(name: name, message: "because") }

  /// BlueZ, and phones by way of it, write what the user is told.
  @Test func errorsArePrintable() {
    let error = ProfileSession.CallError(
      name: "\u{1B}[2J", message: "a\nb" + String(repeating: "\u{301}", count: 10_000))
    #expect(error.name == "\\u{1B}[2J" && error.message.hasPrefix("a\\u{A}") && error.message.utf8.count < 3000)
  }

  @Test func beginning() {
    var session = ProfileSession(role: .app(only: nil), now: .zero)
    #expect(session.busConnected() == [.call(.findService)])
    #expect(session.serviceFound() == [.call(.register)])
    #expect(session.registered() == [.call(.listObjects)])
    #expect(session.objectsListed([on()], now: .zero) == [.report(waiting)])
    #expect(session.nextDeadline == nil, "a car may take any time")
    #expect(session.stop() == [.call(.unregister)])
    #expect(session.stop() == [])
  }

  @Test func busThatDoesNotAnswer() {
    var session = ProfileSession(role: .app(only: nil), now: .seconds(7))
    #expect(session.nextDeadline == .seconds(12))
    #expect(session.advance(to: .seconds(11)) == [])
    #expect(session.advance(to: .seconds(12)) == [.fail(.noAnswerFromBus)])
    #expect(session.busConnected() == [], "too late")
    #expect(session.nextDeadline == nil)
  }

  /// Each refusal of RegisterProfile.
  @Test(arguments: [
    ("org.freedesktop.DBus.Error.AccessDenied", TransportFailure.Kind.notAuthorized),
    ("org.bluez.Error.InvalidArguments", .failed), ("org.bluez.Error.Failed", .failed),
  ])
  func refusals(name: String, kind: TransportFailure.Kind) {
    var session = ProfileSession(role: .app(only: nil), now: .zero)
    _ = session.busConnected()
    _ = session.serviceFound()
    guard case .fail(let failure)? = session.registrationFailed(error(name), now: .zero).first else {
      Issue.record("\(name) is no failure")
      return
    }
    #expect(failure.kind == kind && failure.reason.contains("because") && !failure.advice.isEmpty)
    #expect(session.registered() == [])
  }

  /// What a program that is just ending has registered is soon free.
  @Test func takenService() {
    var session = ProfileSession(role: .app(only: nil), now: .zero)
    _ = session.busConnected()
    _ = session.serviceFound()
    var now = Duration.zero
    var attempts = 0
    while true {
      let actions = session.registrationFailed(error("org.bluez.Error.NotPermitted"), now: now)
      if case .fail(let failure)? = actions.first {
        #expect(failure.kind == .busy)
        break
      }
      #expect(actions == [] && session.advance(to: now) == [])
      now += ProfileSession.takenPause
      #expect(session.advance(to: now) == [.call(.register)])
      attempts += 1
      guard attempts < 100 else { break }
    }
    #expect(attempts == 10)
    #expect(now == ProfileSession.takenTimeout)
  }

  /// BlueZ has handled a call whose answer was no longer waited for.
  @Test func registeredByAFormerCall() {
    var session = ProfileSession(role: .app(only: nil), now: .zero)
    _ = session.busConnected()
    _ = session.serviceFound()
    #expect(session.registrationFailed(error(""), now: .zero) == [])
    #expect(session.advance(to: .seconds(5)) == [.call(.register)])
    #expect(
      session.registrationFailed(error("org.bluez.Error.AlreadyExists"), now: .seconds(5)) == [.call(.listObjects)])
  }

  @Test(arguments: [
    "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
    "org.freedesktop.DBus.Error.Spawn.ChildExited", "org.freedesktop.DBus.Error.NoReply",
    "org.freedesktop.DBus.Error.TimedOut", "org.freedesktop.systemd1.NoSuchUnit",
  ])
  func missingService(name: String) {
    var session = ProfileSession(role: .app(only: nil), now: .zero)
    _ = session.busConnected()
    _ = session.serviceFound()
    #expect(session.registrationFailed(error(name), now: .zero) == [.report(.blocked(.noService))])
    #expect(session.serviceChanged(isThere: true, now: .zero) == [.call(.register)])
    #expect(session.registered() == [.call(.listObjects)])
    #expect(session.objectsListed([on()], now: .zero) == [.report(waiting)])
  }

  @Test func restartOfTheService() {
    var session = registered()
    #expect(session.serviceChanged(isThere: false, now: .zero) == [.report(.blocked(.noService))])
    #expect(session.stop() == [], "nothing is registered")
    session = registered()
    _ = session.serviceChanged(isThere: false, now: .zero)
    #expect(session.newConnection(number: 1, path: Self.path).last == .refuse(connection: 1))
    #expect(session.serviceChanged(isThere: true, now: .zero) == [.call(.register)])
    #expect(session.registered() == [.call(.listObjects)])
    #expect(session.objectsListed([on()], now: .zero) == [.report(waiting)])
  }

  /// The kernel keeps the connection, which BlueZ has only made.
  @Test func connectionOutlivesTheService() {
    var session = registered()
    _ = session.newConnection(number: 1, path: Self.path)
    #expect(session.serviceChanged(isThere: false, now: .zero) == [])
    #expect(session.connection?.number == 1)
    #expect(session.connectionClosed(number: 1, now: .zero) == [.report(.blocked(.noService))])
  }

  @Test func release() {
    var session = registered()
    let actions = session.released(now: .seconds(1))
    #expect(actions.count == 1, "a line in the log, and no report: it will be registered again")
    #expect(session.nextDeadline == .seconds(6))
    #expect(session.advance(to: .seconds(6)) == [.call(.register)])
    // BlueZ that ends releases first.
    session = registered()
    _ = session.released(now: .zero)
    #expect(session.serviceChanged(isThere: false, now: .zero) == [.report(.blocked(.noService))])
  }

  /// What was known before is not reported, and what was under way begins anew.
  @Test func beginsAnew() throws {
    var session = registered()
    _ = session.serviceChanged(isThere: false, now: .zero)
    _ = session.serviceChanged(isThere: true, now: .zero)
    _ = session.registered()
    #expect(session.advance(to: .seconds(1)) == [], "the objects are not known yet")
    #expect(session.objectsListed([on()], now: .seconds(1)) == [.report(waiting)])
    _ = session.released(now: .seconds(2))
    #expect(session.advance(to: .seconds(7)) == [.call(.register)])
    _ = session.registered()
    #expect(session.objectsListed([], now: .seconds(7)) == [.report(.blocked(.noAdapter))])
  }

  /// A phone that was being connected to is connected to again after BlueZ's restart, and after a release.
  @Test(arguments: [true, false]) func connectsAnew(isRestart: Bool) throws {
    let device = try ProfileSession.Object(path: Self.path, address: address(car))
    let connect = ProfileSession.Action.call(.connectProfile(path: Self.path))
    var session = registered(.headUnit(try address(car)))
    #expect(session.objectChanged(device, now: .zero).first == connect)
    if isRestart {
      _ = session.serviceChanged(isThere: false, now: .seconds(1))
      #expect(session.serviceChanged(isThere: true, now: .seconds(2)) == [.call(.register)])
    } else {
      _ = session.released(now: .seconds(1))
      #expect(session.advance(to: .seconds(6)) == [.call(.register)])
    }
    _ = session.registered()
    #expect(session.objectsListed([on(), device], now: .seconds(6)).first == connect)
  }

  /// Of a phone that was unpaired meanwhile nothing is known after BlueZ's restart, and after a release.
  @Test(arguments: [true, false]) func forgetsThePhone(isRestart: Bool) throws {
    let phone = try address(car)
    var session = registered(.headUnit(phone))
    _ = session.objectChanged(ProfileSession.Object(path: Self.path, address: phone), now: .zero)
    if isRestart {
      _ = session.serviceChanged(isThere: false, now: .seconds(1))
      _ = session.serviceChanged(isThere: true, now: .seconds(6))
    } else {
      _ = session.released(now: .seconds(1))
      _ = session.advance(to: .seconds(6))
    }
    _ = session.registered()
    #expect(session.objectsListed([on()], now: .seconds(6)) == [.report(.blocked(.unknownPhone(phone)))])
  }

  /// The service of another program that is ending is waited for anew each time.
  @Test(arguments: [true, false]) func takenServiceLater(isRestart: Bool) {
    var session = ProfileSession(role: .app(only: nil), now: .zero)
    _ = session.busConnected()
    _ = session.serviceFound()
    let taken = error("org.bluez.Error.NotPermitted")
    #expect(session.registrationFailed(taken, now: .zero) == [])
    #expect(session.advance(to: ProfileSession.takenPause) == [.call(.register)])
    if isRestart {
      _ = session.serviceChanged(isThere: false, now: .seconds(10))
      #expect(session.serviceChanged(isThere: true, now: .seconds(20)) == [.call(.register)])
    } else {
      _ = session.registered()
      _ = session.released(now: .seconds(15))
      #expect(session.advance(to: .seconds(20)) == [.call(.register)])
    }
    #expect(session.registrationFailed(taken, now: .seconds(20)) == [])
    #expect(session.nextDeadline == .seconds(20) + ProfileSession.takenPause)
  }

  /// A call to register that is under way may still be carried out.
  @Test func endOfARegistrationUnderWay() {
    var session = ProfileSession(role: .app(only: nil), now: .zero)
    #expect(session.stop() == [], "without a bus")
    session = ProfileSession(role: .app(only: nil), now: .zero)
    _ = session.busConnected()
    _ = session.serviceFound()
    #expect(session.stop() == [.call(.unregister)])
  }

  /// Any program may own BlueZ's name on a bus without rules.
  @Test func moreAdaptersThanAreRemembered() {
    func adapter(_ number: Int, _ isPowered: Bool) -> ProfileSession.Object {
      ProfileSession.Object(path: "/org/bluez/hci\(number)", isPowered: isPowered)
    }
    var session = registered()
    let all = (0..<ProfileSession.maximumObjectCount).map { adapter($0, false) }
    #expect(session.objectsListed(all, now: .zero) == [.report(.blocked(.switchedOff))])
    #expect(session.objectChanged(adapter(all.count, true), now: .zero) == [])
    #expect(session.objectChanged(adapter(all.count - 1, true), now: .zero) == [.report(waiting)])
  }

  @Test func moreObjectsOfAPhoneThanAreRemembered() throws {
    let phone = try address(car)
    func device(_ path: String) -> ProfileSession.Object { ProfileSession.Object(path: path, address: phone) }
    let others = (0..<ProfileSession.maximumObjectCount).map { device("/other/dev\($0)") }
    for (count, isKnown) in [(others.count, false), (others.count - 1, true)] {
      var session = registered(.headUnit(phone))
      let actions = session.objectsListed([on()] + others.prefix(count) + [device(Self.path)], now: .zero)
      #expect(actions.contains(.call(.connectProfile(path: Self.path))) == isKnown)
    }
  }

  @Test func adapters() {
    var session = registered()
    #expect(session.objectChanged(on(false), now: .zero) == [.report(.blocked(.switchedOff))])
    #expect(session.objectChanged(on(false), now: .zero) == [], "once")
    #expect(session.objectRemoved(path: Self.adapter, now: .zero) == [.report(.blocked(.noAdapter))])
    let second = ProfileSession.Object(path: "/org/bluez/hci1", isPowered: true)
    #expect(session.objectChanged(second, now: .zero) == [.report(waiting)])
    #expect(session.objectChanged(on(false), now: .zero) == [], "one that is on is enough")
  }

  /// The list of adapters has not come yet: nothing is known.
  @Test func noHastyReport() {
    var session = ProfileSession(role: .app(only: nil), now: .zero)
    _ = session.busConnected()
    _ = session.serviceFound()
    _ = session.registered()
    #expect(session.advance(to: .seconds(1)) == [])
    #expect(session.objectsListed([], now: .seconds(2)) == [.report(.blocked(.noAdapter))])
  }

  @Test func connections() throws {
    var session = registered()
    let peer = try address(car)
    #expect(session.newConnection(number: 1, path: Self.path) == [.accept(connection: 1, peer: peer)])
    #expect(session.newConnection(number: 2, path: Self.otherPath).last == .refuse(connection: 2))
    #expect(session.newConnection(number: 3, path: Self.path).last == .refuse(connection: 3))
    #expect(session.disconnectionRequested(path: Self.otherPath) == [])
    #expect(session.disconnectionRequested(path: Self.path).last == .disconnect(connection: 1))
    #expect(session.connectionClosed(number: 2, now: .zero) == [], "that was none")
    #expect(session.connectionClosed(number: 1, now: .zero) == [.report(waiting)])
    #expect(
      try session.newConnection(number: 4, path: Self.otherPath) == [.accept(connection: 4, peer: address(otherCar))])
    #expect(session.disconnectionRequested(path: Self.path) == [], "not connected any more")
  }

  @Test(arguments: [true, false]) func onlyOnePeer(isApp: Bool) throws {
    var session = registered(isApp ? .app(only: try address(car)) : .headUnit(try address(car)))
    let refused = session.newConnection(number: 1, path: Self.otherPath)
    #expect(refused.last == .refuse(connection: 1))
    guard case .log(let text)? = refused.first else {
      Issue.record("no line in the log")
      return
    }
    #expect(text.contains(otherCar) && text.contains(car))
    #expect(try session.newConnection(number: 2, path: Self.path) == [.accept(connection: 2, peer: address(car))])
  }

  @Test(arguments: ["/", "", "/org/bluez/hci0", "/org/bluez/hci0/dev_AA_BB", "/a/dev_GG_BB_CC_DD_EE_FF"])
  func pathsOfNoDevice(path: String) {
    var session = registered()
    #expect(session.newConnection(number: 1, path: path).last == .refuse(connection: 1))
  }

  @Test func phones() throws {
    let phone = try address(car)
    var session = ProfileSession(role: .headUnit(phone), retryPause: .seconds(5), now: .zero)
    _ = session.busConnected()
    _ = session.serviceFound()
    _ = session.registered()
    #expect(session.objectsListed([on()], now: .zero) == [.report(.blocked(.unknownPhone(phone)))])
    let device = ProfileSession.Object(path: Self.path, address: phone)
    let status = TransportStatus.waiting(for: "the phone \(phone) over Bluetooth")
    #expect(
      session.objectChanged(device, now: .zero) == [.call(.connectProfile(path: Self.path)), .report(status)])
    #expect(session.nextDeadline == nil, "one call at a time")
    let failure = error("org.bluez.Error.NotAvailable")
    #expect(
      session.profileConnectionFailed(failure, now: .seconds(1)) == [.report(.blocked(.unreachable(phone, failure)))])
    #expect(session.nextDeadline == .seconds(6))
    #expect(session.advance(to: .seconds(5)) == [])
    #expect(session.advance(to: .seconds(6)) == [.call(.connectProfile(path: Self.path))])
    #expect(session.profileConnectionFailed(failure, now: .seconds(7)) == [], "reported once")
    _ = session.advance(to: .seconds(12))
    #expect(session.newConnection(number: 1, path: Self.path) == [.accept(connection: 1, peer: phone)])
    #expect(session.profileConnected(now: .seconds(13)) == [])
    #expect(session.nextDeadline == nil)
    #expect(session.connectionClosed(number: 1, now: .seconds(20)) == [.report(status)])
    #expect(session.advance(to: .seconds(25)) == [.call(.connectProfile(path: Self.path))])
    _ = session.profileConnectionFailed(failure, now: .seconds(26))
    #expect(
      session.objectRemoved(path: Self.path, now: .seconds(27)) == [.report(.blocked(.unknownPhone(phone)))], "unpaired"
    )
    #expect(session.advance(to: .seconds(60)) == [])
  }

  /// While Bluetooth is off, no phone is called.
  @Test func phoneWithoutAdapter() throws {
    var session = registered(.headUnit(try address(car)))
    _ = session.objectChanged(on(false), now: .zero)
    let device = try ProfileSession.Object(path: Self.path, address: address(car))
    #expect(session.objectChanged(device, now: .zero) == [])
    #expect(session.objectChanged(on(), now: .zero).first == .call(.connectProfile(path: Self.path)))
  }

  /// Each adapter has an object of its own for the phone: one of those that are switched on counts.
  @Test func phoneOfSeveralAdapters() throws {
    let phone = try address(car)
    func objects(_ adapters: [(Int, Bool)]) -> [ProfileSession.Object] {
      adapters.flatMap { number, isPowered in
        let path = "/org/bluez/hci\(number)"
        return [
          ProfileSession.Object(path: path, isPowered: isPowered),
          ProfileSession.Object(path: "\(path)/dev_AA_BB_CC_DD_EE_FF", address: phone),
        ]
      }
    }
    func connected(_ adapters: [(Int, Bool)]) -> ProfileSession.Action? {
      var session = registered(.headUnit(phone))
      return session.objectsListed(objects(adapters), now: .zero).first
    }
    func call(_ number: Int) -> ProfileSession.Action {
      .call(.connectProfile(path: "/org/bluez/hci\(number)/dev_AA_BB_CC_DD_EE_FF"))
    }
    #expect(connected([(0, false), (1, true)]) == call(1))
    #expect(connected([(2, true), (0, true), (1, true)]) == call(0))
    // The name of one begins like that of another.
    #expect(connected([(10, false), (1, true)]) == call(1))
    var session = registered(.headUnit(phone))
    let other = objects([(10, false)]) + [ProfileSession.Object(path: "/org/bluez/hci1", isPowered: true)]
    #expect(session.objectsListed(other, now: .zero) == [])
  }

  /// BlueZ has connected, and says so, but hands nothing over: it is tried again.
  @Test func connectedToNothing() throws {
    var session = registered(.headUnit(try address(car)))
    let device = try ProfileSession.Object(path: Self.path, address: address(car))
    _ = session.objectChanged(device, now: .zero)
    #expect(session.profileConnected(now: .seconds(1)) == [])
    #expect(session.nextDeadline == .seconds(6))
    #expect(session.advance(to: .seconds(6)) == [.call(.connectProfile(path: Self.path))])
  }

  /// After the end nothing is done, for all that still comes.
  @Test func nothingAfterTheEnd() {
    var session = registered()
    _ = session.stop()
    #expect(session.serviceChanged(isThere: false, now: .zero) == [])
    #expect(session.serviceChanged(isThere: true, now: .zero) == [])
    #expect(session.objectChanged(on(false), now: .zero) == [])
    #expect(session.newConnection(number: 1, path: Self.path).last == .refuse(connection: 1))
    #expect(session.released(now: .zero) == [])
    #expect(session.busClosed() == [])
    #expect(session.advance(to: .seconds(100)) == [])
  }
}

@Suite struct BluetoothAddressTests {
  @Test(arguments: [car, "aa:bb:cc:dd:ee:ff", "00:00:00:00:00:00"]) func good(text: String) {
    #expect(BluetoothAddress(text)?.description == text.uppercased())
  }

  @Test(arguments: [
    "", "AA", "AA:BB:CC:DD:EE", "AA:BB:CC:DD:EE:FF:00", "AA-BB-CC-DD-EE-FF", "AA:BB:CC:DD:EE:F", "AA:BB:CC:DD:EE:+F",
    "AA:BB:CC:DD:EE:GG", "AA:BB:CC:DD:EE:FFF", ":::::", "ÄÄ:BB:CC:DD:EE:FF", "１１:BB:CC:DD:EE:FF",
  ])
  func bad(text: String) {
    #expect(BluetoothAddress(text) == nil)
  }
}
