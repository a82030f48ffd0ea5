import CGIO
import Glibc
import SDLLink

/// Connecting to the bus, and leaving it.
extension ProfileBus {
  /// For the answers that are still to come when the end is asked for.
  private static let closeTimeout = Duration.milliseconds(800)

  func open() {
    var error: UnsafeMutablePointer<CGIOError>?
    var address = owner.configuration.busAddress
    if address == nil {
      // Reads the environment, and asks nobody.
      let text = gio.pointee.g_dbus_address_get_for_bus_sync(CGIO_BUS_TYPE_SYSTEM, nil, &error)
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
        var error: UnsafeMutablePointer<CGIOError>?
        bus.opened(bus.gio.pointee.g_dbus_connection_new_for_address_finish(result, &error), error)
      }, Unmanaged.passRetained(self).toOpaque())
  }

  private func opened(_ connection: OpaquePointer?, _ error: UnsafeMutablePointer<CGIOError>?) {
    guard let connection else {
      let message = ProfileSession.CallError(error, gio).message
      return perform { session, _ in session.busFailed(message) }
    }
    self.connection = connection
    export(connection)
    subscribe(connection)
    // Not retained: ``close()`` takes the handler away.
    _ = gio.pointee.g_signal_connect_data(
      UnsafeMutableRawPointer(connection), "closed",
      { _, _, _, context in borrow(context, as: ProfileBus.self)?.noteBusClosed() },
      Unmanaged.passUnretained(self).toOpaque(), nil,
      0)
    perform { session, _ in session.busConnected() }
  }

  private func export(_ connection: OpaquePointer) {
    var error: UnsafeMutablePointer<CGIOError>?
    node = gio.pointee.g_dbus_node_info_new_for_xml(ProfileRegistration.interface, &error)
    var table = CGIOInterfaceVTable()
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

  func close() {
    perform { session, _ in session.stop() }
    if let arrival { _ = Glibc.close(arrival.descriptor) }
    // Whatever else is not answered yet is of no interest any more.
    gio.pointee.g_cancellable_cancel(cancellable)
    let end = clock.now + Self.closeTimeout
    while pendingCount > 0, clock.now < end { iterate(until: end) }
    if let connection {
      _ = gio.pointee.g_signal_handlers_disconnect_matched(
        UnsafeMutableRawPointer(connection), CGIO_SIGNAL_MATCH_DATA, 0, 0, nil, nil,
        Unmanaged.passUnretained(self).toOpaque())
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
    if let cancellable { gio.pointee.g_object_unref(UnsafeMutableRawPointer(cancellable)) }
    // What the objects that are gone had left to do on this thread.
    while gio.pointee.g_main_context_iteration(context, 0) != 0 {}
    if let node { gio.pointee.g_dbus_node_info_unref(node) }
  }
}
