import SDLLink
import SDLWire

/// The dialogue with BlueZ, from connecting to the bus to the end: a state machine without input and output. Each input
/// returns actions.
///
/// It registers SmartDeviceLink's profile (`org.bluez.ProfileManager1`), again after each restart of BlueZ, and hands
/// over one connection at a time. As a head unit it tries to connect to the phone until it succeeds.
struct ProfileSession {
  /// Which end of the connection this is.
  enum Role: Equatable {
    /// As a phone: cars connect to us. Nil lets any car in.
    case app(only: BluetoothAddress?)
    /// As a car: we connect to this phone.
    case headUnit(BluetoothAddress)
  }

  /// A method of BlueZ. Its answer is an input of its own.
  enum Call: Equatable {
    /// `org.freedesktop.DBus.GetNameOwner` of BlueZ; only calls from that owner are accepted.
    case findService
    case register
    case unregister
    /// `org.freedesktop.DBus.ObjectManager.GetManagedObjects`
    case listObjects
    /// `org.bluez.Device1.ConnectProfile` of the object
    case connectProfile(path: String)
  }

  enum Action: Equatable {
    case call(Call)
    /// Hand the descriptor with this number over, and answer its NewConnection call.
    case accept(connection: Int, peer: BluetoothAddress)
    /// Close the descriptor, and answer with an error.
    case refuse(connection: Int)
    /// End the connection that was accepted.
    case disconnect(connection: Int)
    case report(TransportStatus)
    /// The last action: give up.
    case fail(TransportFailure)
    case log(String)
  }

  /// An error that a call has returned.
  struct CallError: Error, Equatable {
    /// Such as org.bluez.Error.NotPermitted.
    let name: String
    let message: String

    /// Makes another program's text safe to show: users and tools read it line by line.
    init(name: String, message: String) {
      self.name = name.printable(limit: 100)
      self.message = message.printable()
    }
  }

  /// An object of BlueZ.
  struct Object: Equatable {
    var path: String
    /// Of an adapter; nil of others.
    var isPowered: Bool?
    /// Of a device; nil of others.
    var address: BluetoothAddress?
  }

  private enum Registration: Equatable {
    case noBus
    /// BlueZ does not run.
    case noService
    case underWay
    case done
    /// It is tried again later.
    case postponed(until: Duration)
    case over
  }

  /// Connecting to the bus takes this long at most.
  static let busTimeout = Duration.seconds(5)
  /// How long another registration is waited for, perhaps of a program that is ending, and how often it is tried again.
  static let takenTimeout = Duration.seconds(2)
  static let takenPause = Duration.milliseconds(200)
  /// The most devices that are remembered.
  static let maximumObjectCount = 1000

  let role: Role
  /// Between two attempts to connect to the phone, and before the registration that follows a release.
  private let retryPause: Duration
  private var registration = Registration.noBus
  private let began: Duration
  private var takenSince: Duration?
  /// Whether adapters are switched on, by their paths.
  private var adapters: [String: Bool] = [:]
  /// The phone's paths, one for each adapter that knows it.
  private var phonePaths: Set<String> = []
  private var areObjectsKnown = false
  private(set) var connection: (number: Int, peer: BluetoothAddress, path: String)?
  private var isConnecting = false
  private var nextAttempt = Duration.zero
  /// Why the phone could not be connected to.
  private var connectProblem: TransportFailure?
  private var lastStatus: TransportStatus?

  init(role: Role, retryPause: Duration = .seconds(5), now: Duration) {
    self.role = role
    self.retryPause = retryPause
    began = now
  }

  /// When to call ``advance(to:)``; nil for never.
  var nextDeadline: Duration? {
    switch registration {
    case .noBus: return began + Self.busTimeout
    case .postponed(let time): return time
    case .done: return phonePath == nil || isConnecting || connection != nil ? nil : nextAttempt
    case .noService, .underWay, .over: return nil
    }
  }

  mutating func advance(to now: Duration) -> [Action] {
    switch registration {
    case .noBus where now >= began + Self.busTimeout: return fail(.noAnswerFromBus)
    case .postponed(let time) where now >= time: return register()
    case .done: return settle(now: now)
    default: return []
    }
  }

  /// The program ends: takes everything back. No other input may follow.
  mutating func stop() -> [Action] {
    let wasRegistered = registration == .done || registration == .underWay
    registration = .over
    return wasRegistered ? [.call(.unregister)] : []
  }

  private mutating func fail(_ failure: TransportFailure) -> [Action] {
    guard registration != .over else { return [] }
    registration = .over
    return [.fail(failure)]
  }

  private mutating func register() -> [Action] {
    registration = .underWay
    areObjectsKnown = false
    return [.call(.register)]
  }
}

/// The bus and the registration.
extension ProfileSession {
  mutating func busConnected() -> [Action] {
    guard registration == .noBus else { return [] }
    registration = .underWay
    return [.call(.findService)]
  }

  mutating func busFailed(_ message: String) -> [Action] { fail(.noBus(message)) }

  mutating func busClosed() -> [Action] { fail(.busClosed) }

  /// The answer to ``Call/findService``. The call to register starts BlueZ where the bus can do that.
  mutating func serviceFound() -> [Action] {
    registration == .underWay ? register() : []
  }

  /// BlueZ has appeared on the bus, or gone.
  mutating func serviceChanged(isThere: Bool, now: Duration) -> [Action] {
    guard registration != .over, registration != .noBus else { return [] }
    if isThere { return registration == .noService ? register() : [] }
    registration = .noService
    takenSince = nil
    adapters = [:]
    phonePaths = []
    isConnecting = false
    return settle(now: now)
  }
}

/// The registration.
extension ProfileSession {
  mutating func registered() -> [Action] {
    // BlueZ may have gone meanwhile.
    guard registration == .underWay else { return [] }
    registration = .done
    takenSince = nil
    return [.call(.listObjects)]
  }

  mutating func registrationFailed(_ error: CallError, now: Duration) -> [Action] {
    guard registration == .underWay else { return [] }
    switch error.name {
    case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
      "org.freedesktop.DBus.Error.NoReply":
      registration = .noService
      return settle(now: now)
    case "org.freedesktop.DBus.Error.TimedOut",
      _
    where error.name.hasPrefix("org.freedesktop.DBus.Error.Spawn")
      || error.name.hasPrefix("org.freedesktop.systemd1."):
      // It could not be started: it is switched off, or there is no adapter.
      registration = .noService
      return settle(now: now)
    case "":
      // It has not answered, and may do so later.
      registration = .postponed(until: now + retryPause)
      return settle(now: now)
    case "org.freedesktop.DBus.Error.AccessDenied": return fail(.accessDenied(error))
    // A former call of this program has been handled after all, later than its answer was waited for.
    case "org.bluez.Error.AlreadyExists": return registered()
    case "org.bluez.Error.NotPermitted":
      let since = takenSince ?? now
      takenSince = since
      guard now - since < Self.takenTimeout else { return fail(.taken(error)) }
      registration = .postponed(until: now + Self.takenPause)
      return []
    default: return fail(.refused(error))
    }
  }

  /// BlueZ has released the profile, usually because it ends.
  mutating func released(now: Duration) -> [Action] {
    guard registration == .done else { return [] }
    registration = .postponed(until: now + retryPause)
    isConnecting = false
    return [.log("BlueZ has released the profile; it is registered again")] + settle(now: now)
  }
}

/// Adapters and devices.
extension ProfileSession {
  /// The answer to ``Call/listObjects``; an error is as good as an empty list.
  mutating func objectsListed(_ objects: [Object], now: Duration) -> [Action] {
    guard registration == .done else { return [] }
    adapters = [:]
    phonePaths = []
    areObjectsKnown = true
    for object in objects { note(object) }
    return settle(now: now)
  }

  mutating func objectChanged(_ object: Object, now: Duration) -> [Action] {
    guard registration == .done else { return [] }
    note(object)
    return settle(now: now)
  }

  mutating func objectRemoved(path: String, now: Duration) -> [Action] {
    guard registration == .done else { return [] }
    adapters[path] = nil
    phonePaths.remove(path)
    return settle(now: now)
  }

  private mutating func note(_ object: Object) {
    if let isPowered = object.isPowered, adapters.count < Self.maximumObjectCount || adapters[object.path] != nil {
      adapters[object.path] = isPowered
    }
    if case .headUnit(let phone) = role, object.address == phone, phonePaths.count < Self.maximumObjectCount {
      phonePaths.insert(object.path)
    }
  }

  /// The phone's path on an adapter that is switched on.
  private var phonePath: String? {
    phonePaths.filter { path in adapters.contains { $0.value && path.hasPrefix($0.key + "/") } }.min()
  }
}

/// Connections.
extension ProfileSession {
  /// `NewConnection`: a device has connected, or ``Call/connectProfile(path:)`` has.
  ///
  /// - Parameter number: names the connection from now on.
  mutating func newConnection(number: Int, path: String) -> [Action] {
    guard registration == .done, let peer = BluetoothAddress(objectPath: path) else {
      return [.log("a connection from \(path) is refused"), .refuse(connection: number)]
    }
    if let connection {
      return [
        .log("\(peer) is disconnected: \(connection.peer) is connected already"), .refuse(connection: number),
      ]
    }
    switch role {
    case .app(let only?) where only != peer, .headUnit(let only) where only != peer:
      return [.log("\(peer) is disconnected: only \(only) may connect"), .refuse(connection: number)]
    case .app, .headUnit: break
    }
    connection = (number, peer, path)
    connectProblem = nil
    lastStatus = nil
    return [.accept(connection: number, peer: peer)]
  }

  /// `RequestDisconnection`: the user has disconnected the device, or it has left.
  mutating func disconnectionRequested(path: String) -> [Action] {
    guard let connection, connection.path == path else { return [] }
    return [.log("\(connection.peer) is being disconnected"), .disconnect(connection: connection.number)]
  }

  mutating func connectionClosed(number: Int, now: Duration) -> [Action] {
    guard let connection, connection.number == number else { return [] }
    self.connection = nil
    nextAttempt = now + retryPause
    return settle(now: now)
  }

  /// ``Call/connectProfile(path:)`` has been answered; `NewConnection` comes before that.
  mutating func profileConnected(now: Duration) -> [Action] {
    isConnecting = false
    nextAttempt = now + retryPause
    return settle(now: now)
  }

  mutating func profileConnectionFailed(_ error: CallError, now: Duration) -> [Action] {
    isConnecting = false
    nextAttempt = now + retryPause
    if case .headUnit(let phone) = role { connectProblem = .unreachable(phone, error) }
    return settle(now: now)
  }

  /// Returns the actions that the present state needs.
  private mutating func settle(now: Duration) -> [Action] {
    guard registration != .over, connection == nil else { return [] }
    var actions: [Action] = []
    if registration == .done, let path = phonePath, !isConnecting, nextAttempt <= now {
      isConnecting = true
      actions.append(.call(.connectProfile(path: path)))
    }
    if let status, status != lastStatus {
      lastStatus = status
      actions.append(.report(status))
    }
    return actions
  }

  /// Nil while it is not known yet.
  private var status: TransportStatus? {
    switch registration {
    case .noService: return .blocked(.noService)
    case .noBus, .underWay, .postponed, .over: return nil
    case .done: break
    }
    guard areObjectsKnown else { return nil }
    if adapters.isEmpty { return .blocked(.noAdapter) }
    guard adapters.values.contains(true) else { return .blocked(.switchedOff) }
    switch role {
    case .app(only: nil): return .waiting(for: "a car over Bluetooth")
    case .app(let car?): return .waiting(for: "the car \(car) over Bluetooth")
    case .headUnit(let phone):
      guard phonePath != nil else { return .blocked(.unknownPhone(phone)) }
      return connectProblem.map { .blocked($0) } ?? .waiting(for: "the phone \(phone) over Bluetooth")
    }
  }
}
