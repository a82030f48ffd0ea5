import CGIO
import DBus
import Glibc
import SDLLink

/// Carries out the actions of ``ProfileSession`` with GDBus, on one thread with a main context of its own: callbacks
/// come from ``run()``, never from the application's main loop.
///
/// The connection to the bus is its own too: when it closes, BlueZ forgets the profile.
final class ProfileBus {
  private static let service = "org.bluez"

  private let gio: UnsafePointer<CGIOFunctions>
  private let owner: BluetoothTransport
  private let context: OpaquePointer
  private let cancellable: UnsafeMutablePointer<GCancellable>?
  private let path: String
  private let clock: TimeSource
  private let report: @Sendable (TransportEvent) -> Void
  private var session: ProfileSession
  private var connection: OpaquePointer?
  private var node: UnsafeMutablePointer<GDBusNodeInfo>?
  /// BlueZ's unique name; calls from other names are refused.
  private var serviceName: String?
  /// Calls whose answers are still to come.
  private var pendingCount = 0
  private var lastNumber = 0
  /// The descriptor of NewConnection, until the session decides.
  private var arrival: (number: Int, descriptor: Int32)?
  private var accepted: (number: Int, connection: WeakConnection)?
  private var isOver = false

  private struct WeakConnection {
    weak var connection: PeerConnection?
  }

  init(
    _ gio: UnsafePointer<CGIOFunctions>, context: OpaquePointer, path: String, owner: BluetoothTransport,
    report: @escaping @Sendable (TransportEvent) -> Void
  ) {
    self.gio = gio
    self.context = context
    self.path = path
    self.owner = owner
    self.report = report
    clock = owner.configuration.clock
    session = ProfileSession(
      role: owner.configuration.role, retryPause: owner.configuration.retryPause, now: clock.now)
    cancellable = gio.pointee.g_cancellable_new()
  }

  /// Returns after ``BluetoothTransport/stop()``, or when it can't go on.
  func run() {
    gio.pointee.g_main_context_push_thread_default(context)
    open()
    while !isOver, !owner.isStopRequested {
      iterate(until: session.nextDeadline)
      for number in owner.takeClosed() {
        perform { $0.connectionClosed(number: number, now: $1) }
      }
      perform { $0.advance(to: $1) }
    }
    close()
    gio.pointee.g_main_context_pop_thread_default(context)
  }

  private func perform(_ input: (inout ProfileSession, Duration) -> [ProfileSession.Action]) {
    for action in input(&session, clock.now) { perform(action) }
  }

  private func perform(_ action: ProfileSession.Action) {
    switch action {
    case .call(let call): perform(call)
    case .accept(let number, let peer):
      guard let descriptor = takeArrival(number) else { return }
      let owner = owner
      let connection = PeerConnection(adopting: descriptor, peer: "\(peer)") { owner.noteClosed(number) }
      accepted = (number, WeakConnection(connection: connection))
      report(.connected(connection))
    case .refuse(let number):
      guard let descriptor = takeArrival(number) else { return }
      _ = shutdown(descriptor, Int32(SHUT_RDWR))
      _ = Glibc.close(descriptor)
    case .disconnect(let number):
      if let accepted, accepted.number == number { accepted.connection.connection?.disconnect() }
    case .report(let status): report(.status(status))
    case .fail(let failure):
      isOver = true
      report(.failed(failure))
    case .log(let text): owner.configuration.log(text)
    }
  }

  private func takeArrival(_ number: Int) -> Int32? {
    guard let arrival, arrival.number == number else { return nil }
    self.arrival = nil
    return arrival.descriptor
  }

  /// Waits for the next event.
  private func iterate(until deadline: Duration?) {
    if let deadline {
      gio.iterate(context, atMost: (deadline - clock.now).roundedMilliseconds)
    } else {
      _ = gio.pointee.g_main_context_iteration(context, 1)
    }
  }
}

/// Connecting to the bus, and leaving it.
extension ProfileBus {
  /// How long the end waits for answers that are still to come.
  private static let closeTimeout = Duration.milliseconds(800)

  private func open() {
    var error: UnsafeMutablePointer<GError>?
    var address = owner.configuration.busAddress
    if address == nil {
      // Reads the environment, and asks no service.
      let text = gio.pointee.g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SYSTEM, nil, &error)
      address = text.map { String(cString: $0) }
      gio.pointee.g_free(text)
    }
    guard let address else {
      let message = ProfileSession.CallError(error, gio).message
      return perform { session, _ in session.busFailed(message) }
    }
    pendingCount += 1
    gio.pointee.g_dbus_connection_new_for_address(
      address, CGIO_CLIENT_OF_A_BUS, nil, cancellable,
      { _, result, context in
        guard let bus = take(context, as: ProfileBus.self) else { return }
        bus.pendingCount -= 1
        var error: UnsafeMutablePointer<GError>?
        bus.opened(bus.gio.pointee.g_dbus_connection_new_for_address_finish(result, &error), error)
      }, Unmanaged.passRetained(self).toOpaque())
  }

  private func opened(_ connection: OpaquePointer?, _ error: UnsafeMutablePointer<GError>?) {
    guard let connection else {
      let message = ProfileSession.CallError(error, gio).message
      return perform { session, _ in session.busFailed(message) }
    }
    self.connection = connection
    export(connection)
    subscribe(connection)
    // Not retained: ``close()`` takes the handler away.
    gio.connectClosed(
      of: connection, to: { _, _, _, context in borrow(context, as: ProfileBus.self)?.noteBusClosed() },
      Unmanaged.passUnretained(self).toOpaque())
    perform { session, _ in session.busConnected() }
  }

  private func export(_ connection: OpaquePointer) {
    var error: UnsafeMutablePointer<GError>?
    node = gio.pointee.g_dbus_node_info_new_for_xml(ProfileRegistration.interface, &error)
    var table = GDBusInterfaceVTable()
    table.method_call = { _, _, _, _, _, _, invocation, context in
      guard let bus = borrow(context, as: ProfileBus.self) else { return }
      if let invocation { bus.called(invocation) }
    }
    // GDBus copies the table. The reference is let go with the registration, which ends with the connection.
    _ = gio.pointee.g_dbus_connection_register_object(
      connection, path, node?.pointee.interfaces?[0], &table, Unmanaged.passRetained(self).toOpaque(),
      { releaseBus($0) }, &error)
    if let error { gio.pointee.g_error_free(error) }
  }

  private func noteBusClosed() {
    perform { session, _ in session.busClosed() }
  }

  private func close() {
    perform { session, _ in session.stop() }
    if let arrival { _ = Glibc.close(arrival.descriptor) }
    // Other answers are of no interest any more.
    gio.pointee.g_cancellable_cancel(cancellable)
    let end = clock.now + Self.closeTimeout
    while pendingCount > 0, clock.now < end { iterate(until: end) }
    if let connection {
      gio.disconnectClosed(of: connection, Unmanaged.passUnretained(self).toOpaque())
      pendingCount += 1
      gio.pointee.g_dbus_connection_close(
        connection, nil,
        { source, result, context in
          guard let bus = take(context, as: ProfileBus.self) else { return }
          bus.pendingCount -= 1
          _ = bus.gio.pointee.g_dbus_connection_close_finish(source.map { OpaquePointer($0) }, result, nil)
        }, Unmanaged.passRetained(self).toOpaque())
    }
    while pendingCount > 0, clock.now < end { iterate(until: end) }
    if let connection { gio.pointee.g_object_unref(UnsafeMutableRawPointer(connection)) }
    connection = nil
    if let cancellable { gio.pointee.g_object_unref(cancellable) }
    // Callbacks that released objects have left on this thread.
    while gio.pointee.g_main_context_iteration(context, 0) != 0 {}
    if let node { gio.pointee.g_dbus_node_info_unref(node) }
  }
}

/// Calls to BlueZ.
extension ProfileBus {
  /// In milliseconds. Starting BlueZ takes some seconds, and so does ConnectProfile of an absent phone.
  private static let callTimeout: Int32 = 30_000
  private static let unregisterTimeout: Int32 = 500

  private func perform(_ call: ProfileSession.Call) {
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
      connection, destination, object, interface, method, parameters, nil, cgio_call_flags_none(), timeout,
      call == .unregister ? nil : cancellable,
      { source, result, context in
        guard let pending = take(context, as: PendingCall.self) else { return }
        let bus = pending.bus
        bus.pendingCount -= 1
        var error: UnsafeMutablePointer<GError>?
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

/// The interface that BlueZ calls: `org.bluez.Profile1`.
extension ProfileBus {
  private func called(_ invocation: OpaquePointer) {
    let method = String(gio: gio.pointee.g_dbus_method_invocation_get_method_name(invocation))
    let sender = gio.pointee.g_dbus_method_invocation_get_sender(invocation).map { String(cString: $0) }
    guard sender != nil, sender == serviceName else {
      return gio.pointee.g_dbus_method_invocation_return_dbus_error(
        invocation, "org.freedesktop.DBus.Error.AccessDenied", "This is for BlueZ only")
    }
    // Of the invocation, which lives until it is answered.
    let parameters = gio.pointee.g_dbus_method_invocation_get_parameters(invocation)
    guard let parameters = Variant(owning: parameters.flatMap { gio.pointee.g_variant_ref($0) }, gio) else { return }
    let device = parameters[0]?.text ?? ""
    switch method {
    case "NewConnection":
      guard takeDescriptor(of: invocation, at: parameters[1]?.handle, device: device) else {
        return gio.pointee.g_dbus_method_invocation_return_dbus_error(
          invocation, "org.bluez.Error.Rejected", "No connection is wanted from this device now")
      }
    case "RequestDisconnection": perform { session, _ in session.disconnectionRequested(path: device) }
    case "Release": perform { $0.released(now: $1) }
    // Of a NewConnection that is not answered: each is answered at once.
    default: break
    }
    gio.pointee.g_dbus_method_invocation_return_value(invocation, nil)
  }

  /// - Returns: whether the connection was accepted.
  private func takeDescriptor(of invocation: OpaquePointer, at handle: Int32?, device: String) -> Bool {
    let message = gio.pointee.g_dbus_method_invocation_get_message(invocation)
    guard let handle, let list = gio.pointee.g_dbus_message_get_unix_fd_list(message),
      (0..<gio.pointee.g_unix_fd_list_get_length(list)).contains(handle)
    else { return false }
    var error: UnsafeMutablePointer<GError>?
    let descriptor = gio.pointee.g_unix_fd_list_get(list, handle, &error)
    guard descriptor >= 0 else {
      if let error { gio.pointee.g_error_free(error) }
      return false
    }
    lastNumber += 1
    let number = lastNumber
    arrival = (number, descriptor)
    perform { session, _ in session.newConnection(number: number, path: device) }
    return session.connection?.number == number
  }
}

/// Signals of BlueZ.
extension ProfileBus {
  private func subscribe(_ connection: OpaquePointer) {
    let objectManager = "org.freedesktop.DBus.ObjectManager"
    subscribe(
      connection, "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", argument: Self.service)
    subscribe(connection, Self.service, objectManager, "InterfacesAdded")
    subscribe(connection, Self.service, objectManager, "InterfacesRemoved")
    subscribe(
      connection, Self.service, "org.freedesktop.DBus.Properties", "PropertiesChanged", argument: "org.bluez.Adapter1")
  }

  private func subscribe(
    _ connection: OpaquePointer, _ sender: String, _ interface: String, _ signal: String, argument: String? = nil
  ) {
    // As the exported object, it holds a reference until the connection has ended.
    _ = gio.pointee.g_dbus_connection_signal_subscribe(
      connection, sender, interface, signal, nil, argument, cgio_signal_flags_none(),
      { _, _, path, _, signal, parameters, context in
        guard let bus = borrow(context, as: ProfileBus.self) else { return }
        guard let path, let signal, let parameters else { return }
        bus.signalled(String(cString: signal), path: String(cString: path), parameters)
      }, Unmanaged.passRetained(self).toOpaque(), { releaseBus($0) })
  }

  private func signalled(_ signal: String, path: String, _ pointer: OpaquePointer) {
    // The caller keeps its reference.
    guard let parameters = Variant(owning: gio.pointee.g_variant_ref(pointer), gio) else { return }
    switch signal {
    case "NameOwnerChanged":
      let name = parameters[2]?.text ?? ""
      // A new owner without a gap is a new BlueZ all the same.
      if serviceName != nil, !name.isEmpty { perform { $0.serviceChanged(isThere: false, now: $1) } }
      serviceName = name.isEmpty ? nil : name
      perform { $0.serviceChanged(isThere: !name.isEmpty, now: $1) }
    case "InterfacesAdded":
      guard let path = parameters[0]?.text, let interfaces = parameters[1],
        let object = ProfileSession.Object(path: path, interfaces: interfaces)
      else { return }
      perform { $0.objectChanged(object, now: $1) }
    case "InterfacesRemoved":
      guard let path = parameters[0]?.text, let interfaces = parameters[1] else { return }
      let names = (0..<interfaces.count).compactMap { interfaces[$0]?.text }
      guard names.contains("org.bluez.Adapter1") || names.contains("org.bluez.Device1") else { return }
      perform { $0.objectRemoved(path: path, now: $1) }
    case "PropertiesChanged":
      guard let isPowered = parameters[1]?["Powered"]?.boolean else { return }
      perform { $0.objectChanged(ProfileSession.Object(path: path, isPowered: isPowered), now: $1) }
    default: break
    }
  }
}

/// The description of the service for BlueZ (`org.bluez.ProfileManager1.RegisterProfile`).
enum ProfileRegistration {
  /// SmartDeviceLink's service on phones, by which cars find it (sdl_core, `bluetooth_device_scanner.cc`).
  static let uuid = "936da01f-9abd-4d9d-80c7-02af85c822a8"

  /// The arguments as GVariant's text.
  ///
  /// Channel 0 is any free one: without the option, BlueZ listens on none. Authentication means that devices have to be
  /// paired; authorization would also ask the user for each connection.
  static func arguments(path: String, role: ProfileSession.Role) -> String {
    let options =
      switch role {
      case .app: "'Role': <'server'>, 'Channel': <uint16 0>, 'RequireAuthorization': <false>"
      case .headUnit: "'Role': <'client'>"
      }
    return """
      (objectpath '\(path)', '\(uuid)', {'Name': <'SmartDeviceLink'>, \(options), \
      'RequireAuthentication': <true>, 'AutoConnect': <false>})
      """
  }

  /// The methods that BlueZ calls.
  static let interface = """
    <node>
      <interface name='org.bluez.Profile1'>
        <method name='Release'/>
        <method name='NewConnection'>
          <arg type='o' direction='in'/><arg type='h' direction='in'/><arg type='a{sv}' direction='in'/>
        </method>
        <method name='RequestDisconnection'><arg type='o' direction='in'/></method>
        <method name='Cancel'/>
      </interface>
    </node>
    """
}

/// The object that a callback was given together with a reference.
private func take<Object: AnyObject>(_ context: UnsafeMutableRawPointer?, as type: Object.Type) -> Object? {
  context.map { Unmanaged<Object>.fromOpaque($0).takeRetainedValue() }
}

/// The object that a callback was given, whose reference stays.
private func borrow<Object: AnyObject>(_ context: UnsafeMutableRawPointer?, as type: Object.Type) -> Object? {
  context.map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
}

/// Lets a reference go that a registration has held.
private func releaseBus(_ context: UnsafeMutableRawPointer?) {
  if let context { Unmanaged<ProfileBus>.fromOpaque(context).release() }
}

extension Duration {
  /// For GLib, which takes times that are not negative; rounded up.
  fileprivate var roundedMilliseconds: UInt32 {
    let (seconds, attoseconds) = max(self, .zero).components
    let milliseconds = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return UInt32(clamping: min(seconds, 1_000_000) * 1000 + milliseconds)
  }
}
