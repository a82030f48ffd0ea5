import CGIO
import SDLLink

/// Calls to BlueZ.
extension ProfileBus {
  /// Milliseconds. Starting BlueZ takes some seconds, and a phone that is not there keeps ConnectProfile as long.
  private static let callTimeout: Int32 = 30_000
  private static let unregisterTimeout: Int32 = 500

  func perform(_ call: ProfileSession.Call) {
    let arguments: String
    var timeout = Self.callTimeout
    var object = "/org/bluez"
    var interface = "org.bluez.ProfileManager1"
    var destination = Self.service
    let method: String
    switch call {
    case .findService:
      (destination, object, interface) = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
      (method, arguments) = ("GetNameOwner", "('\(Self.service)',)")
    case .register:
      (method, arguments) = ("RegisterProfile", ProfileRegistration.arguments(path: path, role: session.role))
    case .unregister:
      (method, arguments, timeout) = ("UnregisterProfile", "(objectpath '\(path)',)", Self.unregisterTimeout)
    case .listObjects:
      (object, interface) = ("/", "org.freedesktop.DBus.ObjectManager")
      (method, arguments) = ("GetManagedObjects", "()")
    case .connectProfile(let path):
      (object, interface) = (path, "org.bluez.Device1")
      (method, arguments) = ("ConnectProfile", "('\(ProfileRegistration.uuid)',)")
    }
    guard let connection else { return }
    pendingCount += 1
    let parameters = gio.pointee.g_variant_parse(nil, arguments, nil, nil, nil)
    gio.pointee.g_dbus_connection_call(
      connection, destination, object, interface, method, parameters, nil, 0, timeout,
      call == .unregister ? nil : cancellable,
      { source, result, context in
        guard let pending = take(context, as: PendingCall.self) else { return }
        let bus = pending.bus
        bus.pendingCount -= 1
        var error: UnsafeMutablePointer<CGIOError>?
        let answer = Variant(
          owning: bus.gio.pointee.g_dbus_connection_call_finish(source.map { OpaquePointer($0) }, result, &error),
          bus.gio)
        if let answer {
          bus.answered(pending.call, answer)
        } else {
          bus.failed(pending.call, ProfileSession.CallError(error, bus.gio))
        }
      }, Unmanaged.passRetained(PendingCall(bus: self, call: call)).toOpaque())
    // Of g_variant_parse, which gives a full reference; the call has its own.
    if let parameters { gio.pointee.g_variant_unref(parameters) }
  }

  private func answered(_ call: ProfileSession.Call, _ answer: borrowing Variant) {
    switch call {
    case .findService:
      serviceName = answer[0]?.text
      perform { session, _ in session.serviceFound() }
    case .register: perform { session, _ in session.registered() }
    case .listObjects:
      let objects = ProfileSession.Object.list(answer)
      perform { $0.objectsListed(objects, now: $1) }
    case .connectProfile: perform { $0.profileConnected(now: $1) }
    case .unregister: break
    }
  }

  private func failed(_ call: ProfileSession.Call, _ error: ProfileSession.CallError) {
    switch call {
    // It may be started by the call to register.
    case .findService: perform { session, _ in session.serviceFound() }
    case .register: perform { $0.registrationFailed(error, now: $1) }
    case .listObjects: perform { $0.objectsListed([], now: $1) }
    case .connectProfile: perform { $0.profileConnectionFailed(error, now: $1) }
    case .unregister: break
    }
  }
}

/// A call whose answer is still to come.
private final class PendingCall {
  let bus: ProfileBus
  let call: ProfileSession.Call

  init(bus: ProfileBus, call: ProfileSession.Call) {
    self.bus = bus
    self.call = call
  }
}
