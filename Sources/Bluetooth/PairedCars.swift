import CGIO
import DBus
import SDLLink

/// A car that is paired with this machine, as BlueZ knows it.
public struct PairedCar: Hashable, Sendable {
  public var address: BluetoothAddress
  /// For people; the address if it has none.
  public var name: String

  /// A car of this address.
  public init(address: BluetoothAddress, name: String) {
    self.address = address
    self.name = name
  }

  /// Cars on the bus now, in the order of their names. Empty without BlueZ, or if it does not answer in time.
  ///
  /// BlueZ is not started for this.
  ///
  /// - Parameters:
  ///   - busAddress: of the bus on which BlueZ is; nil for the system bus.
  ///   - timeout: of the whole question.
  public static func list(busAddress: String? = nil, timeout: Duration = .milliseconds(500)) -> [PairedCar] {
    guard let gio = GIO.functions, let query = PairedCarQuery(gio) else { return [] }
    return query.run(busAddress: busAddress, timeout: timeout).sorted {
      ($0.name, $0.address.description) < ($1.name, $1.address.description)
    }
  }

  /// Nil for a device that is not paired, or no car.
  init?(interfaces: borrowing Variant) {
    guard let device = interfaces["org.bluez.Device1"], device["Paired"]?.boolean == true,
      let address = device["Address"]?.text.flatMap({ BluetoothAddress($0) }),
      Self.offersService(device) || device["Class"]?.unsigned.map(Self.isCar) == true
    else { return nil }
    self.address = address
    name = device["Alias"]?.text ?? address.description
  }

  private static func offersService(_ device: borrowing Variant) -> Bool {
    guard let uuids = device["UUIDs"] else { return false }
    for index in 0..<uuids.count where uuids[index]?.text?.lowercased() == ProfileRegistration.uuid { return true }
    return false
  }

  /// By the class of device (Bluetooth Assigned Numbers, 2.8): audio and video, as a hands-free device or a car's
  /// audio. A car need not offer SmartDeviceLink's service, for it looks for that of a phone.
  private static func isCar(_ deviceClass: UInt32) -> Bool { [0x0408, 0x0420].contains(deviceClass & 0x1FFC) }
}

/// One question to BlueZ, on the calling thread, which runs a main context of its own meanwhile.
private final class PairedCarQuery {
  private let gio: UnsafePointer<CGIOFunctions>
  private let context: OpaquePointer
  private let cancellable: OpaquePointer?
  /// Calls whose answers are still to come.
  private var pendingCount = 0
  private var connection: OpaquePointer?
  private var cars: [PairedCar] = []

  init?(_ gio: UnsafePointer<CGIOFunctions>) {
    guard let context = gio.pointee.g_main_context_new() else { return nil }
    self.gio = gio
    self.context = context
    cancellable = gio.pointee.g_cancellable_new()
  }

  deinit {
    if let cancellable { gio.pointee.g_object_unref(UnsafeMutableRawPointer(cancellable)) }
    gio.pointee.g_main_context_unref(context)
  }

  func run(busAddress: String?, timeout: Duration) -> [PairedCar] {
    gio.pointee.g_main_context_push_thread_default(context)
    defer { gio.pointee.g_main_context_pop_thread_default(context) }
    open(busAddress)
    iterate(for: timeout)
    gio.pointee.g_cancellable_cancel(cancellable)
    // What was cancelled answers at once.
    iterate(for: timeout)
    close()
    iterate(for: timeout)
    return cars
  }

  /// Until there is nothing to wait for.
  private func iterate(for timeout: Duration) {
    let end = MonotonicClock.now + timeout
    while pendingCount > 0, MonotonicClock.now < end {
      let source = gio.pointee.g_timeout_source_new(50)
      // It only has to end the wait.
      gio.pointee.g_source_set_callback(source, { _ in 0 }, nil, nil)
      _ = gio.pointee.g_source_attach(source, context)
      _ = gio.pointee.g_main_context_iteration(context, 1)
      gio.pointee.g_source_destroy(source)
      gio.pointee.g_source_unref(source)
    }
  }

  private func open(_ busAddress: String?) {
    var address = busAddress
    if address == nil {
      // Reads the environment, and asks no service.
      let text = gio.pointee.g_dbus_address_get_for_bus_sync(CGIO_BUS_TYPE_SYSTEM, nil, nil)
      address = text.map { String(cString: $0) }
      gio.pointee.g_free(text)
    }
    guard let address else { return }
    pendingCount += 1
    gio.pointee.g_dbus_connection_new_for_address(
      address, CGIO_CLIENT_OF_A_BUS, nil, cancellable,
      { _, result, context in
        guard let query = PairedCarQuery.take(context) else { return }
        query.opened(query.gio.pointee.g_dbus_connection_new_for_address_finish(result, nil))
      }, Unmanaged.passRetained(self).toOpaque())
  }

  private func opened(_ connection: OpaquePointer?) {
    self.connection = connection
    guard let connection else { return }
    pendingCount += 1
    gio.pointee.g_dbus_connection_call(
      connection, "org.bluez", "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", nil, nil,
      CGIO_NO_AUTO_START, -1, cancellable,
      { source, result, context in
        guard let query = PairedCarQuery.take(context) else { return }
        let answer = query.gio.pointee.g_dbus_connection_call_finish(source.map { OpaquePointer($0) }, result, nil)
        guard let answer = Variant(owning: answer, query.gio), let objects = answer[0] else { return }
        query.cars = (0..<objects.count).compactMap { index in
          guard let interfaces = objects[index]?[1] else { return nil }
          return PairedCar(interfaces: interfaces)
        }
      }, Unmanaged.passRetained(self).toOpaque())
  }

  private func close() {
    guard let connection else { return }
    pendingCount += 1
    gio.pointee.g_dbus_connection_close(
      connection, nil,
      { source, result, context in
        guard let query = PairedCarQuery.take(context) else { return }
        _ = query.gio.pointee.g_dbus_connection_close_finish(source.map { OpaquePointer($0) }, result, nil)
      }, Unmanaged.passRetained(self).toOpaque())
    gio.pointee.g_object_unref(UnsafeMutableRawPointer(connection))
    self.connection = nil
  }

  /// The query that a callback was given together with a reference; one answer less is to come.
  private static func take(_ context: UnsafeMutableRawPointer?) -> PairedCarQuery? {
    guard let context else { return nil }
    let query = Unmanaged<PairedCarQuery>.fromOpaque(context).takeRetainedValue()
    query.pendingCount -= 1
    return query
  }
}
