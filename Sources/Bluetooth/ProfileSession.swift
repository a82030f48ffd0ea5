import SDLLink

/// What is asked of BlueZ, and what is made of its answers, from connecting to the bus to the end: a state machine without input
/// and output. Each input returns what to do.
///
/// It registers SmartDeviceLink's profile (`org.bluez.ProfileManager1`), again whenever BlueZ has been restarted, and hands over one
/// connection at a time. As a head unit it asks the phone for one, again and again.
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
    /// `org.freedesktop.DBus.GetNameOwner` of BlueZ, whose only use is to know whose calls to take.
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
    /// Hand the descriptor with this number over, and answer the call that has brought it.
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
    var name: String
    var message: String
  }

  /// An object of BlueZ.
  struct Object: Equatable {
    var path: String
    /// Of an adapter; nil of others.
    var isPowered: Bool?
    /// Of a device; nil of others.
    var address: BluetoothAddress?
  }

  enum Registration: Equatable {
    case noBus
    /// BlueZ does not run.
    case noService
    case underWay
    case done
    /// It is to be tried again.
    case postponed(until: Duration)
    case over
  }

  /// Connecting to the bus takes this long at most.
  static let busTimeout = Duration.seconds(5)
  /// A registration that is still there, perhaps of a program that is ending, is waited for.
  static let takenTimeout = Duration.seconds(2)
  static let takenPause = Duration.milliseconds(200)
  /// More devices than that are not remembered.
  static let maximumObjectCount = 1000

  let role: Role
  /// Between two attempts to connect to the phone, and before the registration that follows a release.
  let retryPause: Duration
  var registration = Registration.noBus
  private let began: Duration
  var takenSince: Duration?
  /// Whether adapters are switched on, by their paths.
  var adapters: [String: Bool] = [:]
  /// The phone's paths, one for each adapter that knows it.
  var phonePaths: Set<String> = []
  var areObjectsKnown = false
  var connection: (number: Int, peer: BluetoothAddress, path: String)?
  var isConnecting = false
  var nextAttempt = Duration.zero
  /// Why the phone could not be connected to.
  var connectProblem: TransportFailure?
  var lastStatus: TransportStatus?

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

  /// The program ends: takes everything back. Nothing else is to be done after that.
  mutating func stop() -> [Action] {
    let wasRegistered = registration == .done || registration == .underWay
    registration = .over
    return wasRegistered ? [.call(.unregister)] : []
  }

  mutating func fail(_ failure: TransportFailure) -> [Action] {
    guard registration != .over else { return [] }
    registration = .over
    return [.fail(failure)]
  }

  mutating func register() -> [Action] {
    registration = .underWay
    areObjectsKnown = false
    return [.call(.register)]
  }
}
