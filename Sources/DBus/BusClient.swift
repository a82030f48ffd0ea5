import CGIO
import SDLLink

/// A connection to a bus, and calls that wait for their answer for a limited time.
///
/// Answers and signals come in a main context of its own, which runs while it waits: the application's main loop is not
/// involved.
///
/// `@unchecked Sendable`: one thread at a time uses it; any may call ``cancel()``, which reads only constants.
package final class BusClient: @unchecked Sendable {
  private let gio: UnsafePointer<CGIOFunctions>
  private let context: OpaquePointer
  private let cancellable: UnsafeMutablePointer<GCancellable>
  private let timeout: Duration
  private var connection: OpaquePointer?
  private var isWaiting = false
  private var answer: Variant?
  /// Gets the name and the arguments of each subscribed signal, while a call waits.
  package var onSignal: ((String, borrowing Variant) -> Void)?

  /// Nil without GIO, or if there is no such bus in time.
  ///
  /// - Parameters:
  ///   - address: nil for the system bus.
  ///   - timeout: of the connection, and of each call.
  package init?(address: String?, timeout: Duration) {
    guard let gio = GIO.functions, let address = address ?? Self.systemBus(gio),
      let context = gio.pointee.g_main_context_new(), let cancellable = gio.pointee.g_cancellable_new()
    else { return nil }
    (self.gio, self.context, self.cancellable, self.timeout) = (gio, context, cancellable, timeout)
    wait { client in
      gio.pointee.g_dbus_connection_new_for_address(
        address, CGIO_CLIENT_OF_A_BUS, nil, cancellable,
        { _, result, data in
          BusClient.finish(data) {
            $0.connection = $0.gio.pointee.g_dbus_connection_new_for_address_finish(result, nil)
          }
        }, client)
    }
    guard connection != nil else { return nil }
  }

  deinit {
    onSignal = nil
    if let connection {
      close(connection)
      gio.pointee.g_object_unref(UnsafeMutableRawPointer(connection))
      // What has come meanwhile also holds the connection, which holds the context.
      while gio.pointee.g_main_context_iteration(context, 0) != 0 {}
    }
    gio.pointee.g_object_unref(cancellable)
    gio.pointee.g_main_context_unref(context)
  }

  /// Closes the connection, and waits for the callbacks in which that ends: of the signal, if it has not come already,
  /// and of the call.
  private func close(_ connection: OpaquePointer) {
    gio.pointee.g_main_context_push_thread_default(context)
    defer { gio.pointee.g_main_context_pop_thread_default(context) }
    let pending = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    pending.pointee = 1
    if gio.pointee.g_dbus_connection_is_closed(connection) == 0 {
      pending.pointee += 1
      gio.connectClosed(
        of: connection, to: { _, _, _, data in data?.assumingMemoryBound(to: Int.self).pointee -= 1 }, pending)
    }
    gio.pointee.g_dbus_connection_close(
      connection, nil, { _, _, data in data?.assumingMemoryBound(to: Int.self).pointee -= 1 }, pending)
    iterate { pending.pointee > 0 }
    gio.disconnectClosed(of: connection, pending)
    // A callback that is still to come would write there.
    if pending.pointee == 0 { pending.deallocate() }
  }

  /// Reads the environment, and asks no service.
  private static func systemBus(_ gio: UnsafePointer<CGIOFunctions>) -> String? {
    let text = gio.pointee.g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SYSTEM, nil, nil)
    defer { gio.pointee.g_free(text) }
    return text.map { String(cString: $0) }
  }

  /// The call under way and all others fail from now on. On any thread.
  package func cancel() { gio.pointee.g_cancellable_cancel(cancellable) }

  /// Calls a method of a service that runs; none is started for this.
  ///
  /// - Parameters:
  ///   - service: may come from another program, as `object` may.
  ///   - arguments: as GVariant's text, in which ``quoted(_:)`` text stands for a string.
  /// - Returns: nil for an error, and for an answer that does not come in time.
  package func call(
    _ service: String, _ object: String, _ interface: String, _ method: String, _ arguments: String = "()"
  ) -> Variant? {
    // GIO never answers calls with other names, not even once they are cancelled.
    guard gio.pointee.g_dbus_is_name(service) != 0, gio.pointee.g_variant_is_object_path(object) != 0, let connection,
      let parameters = gio.pointee.g_variant_parse(nil, arguments, nil, nil, nil)
    else { return nil }
    defer { gio.pointee.g_variant_unref(parameters) }
    wait { client in
      gio.pointee.g_dbus_connection_call(
        connection, service, object, interface, method, parameters, nil, cgio_call_flags_no_auto_start(),
        timeout.pollMilliseconds, cancellable,
        { source, result, data in
          BusClient.finish(data) { client in
            let answer = client.gio.pointee.g_dbus_connection_call_finish(source.map { OpaquePointer($0) }, result, nil)
            client.answer = Variant(owning: answer, client.gio)
          }
        }, client)
    }
    return answer.take()
  }

  /// False once the bus has gone, or ``cancel()`` was called.
  package var isOpen: Bool {
    guard let connection else { return false }
    return gio.pointee.g_dbus_connection_is_closed(connection) == 0
      && gio.pointee.g_cancellable_is_cancelled(cancellable) == 0
  }

  /// Signals of an interface of a service reach ``onSignal`` from now on: those of the name `signal`, and those whose
  /// first argument is `argument`, if these are given.
  package func subscribe(to interface: String, of service: String, signal: String? = nil, argument: String? = nil) {
    guard let connection else { return }
    gio.pointee.g_main_context_push_thread_default(context)
    defer { gio.pointee.g_main_context_pop_thread_default(context) }
    _ = gio.pointee.g_dbus_connection_signal_subscribe(
      connection, service, interface, signal, nil, argument, cgio_signal_flags_none(),
      { _, _, _, _, name, arguments, data in
        guard let data, let arguments else { return }
        // The context runs only while the object that it belongs to waits.
        let client = Unmanaged<BusClient>.fromOpaque(data).takeUnretainedValue()
        guard let arguments = Variant(owning: client.gio.pointee.g_variant_ref(arguments), client.gio) else { return }
        client.onSignal?(String(gio: name), arguments)
      }, Unmanaged.passUnretained(self).toOpaque(), nil)
  }

  /// Handles signals until `isDone`, or for as long as a call may last; at least those that have come already.
  package func takeSignals(until isDone: () -> Bool) {
    gio.pointee.g_main_context_push_thread_default(context)
    defer { gio.pointee.g_main_context_pop_thread_default(context) }
    while gio.pointee.g_main_context_iteration(context, 0) != 0 {}
    iterate { !isDone() }
  }

  /// A string as GVariant's text has it.
  package static func quoted(_ text: String) -> String {
    // Scalars, as a quotation mark and a combining mark after it are one character.
    "'" + text.unicodeScalars.reduce(into: "") { $0 += ["'", "\\"].contains($1) ? "\\\($1)" : String($1) } + "'"
  }

  /// Begins something whose callback gets `self`, with a reference, and waits for that.
  private func wait(for begin: (UnsafeMutableRawPointer) -> Void) {
    gio.pointee.g_main_context_push_thread_default(context)
    defer { gio.pointee.g_main_context_pop_thread_default(context) }
    isWaiting = true
    begin(Unmanaged.passRetained(self).toOpaque())
    iterate { isWaiting }
    guard isWaiting else { return }
    cancel()
    // Cancelled calls answer at once.
    iterate { isWaiting }
  }

  private static func finish(_ data: UnsafeMutableRawPointer?, _ body: (BusClient) -> Void) {
    guard let data else { return }
    let client = Unmanaged<BusClient>.fromOpaque(data).takeRetainedValue()
    body(client)
    client.isWaiting = false
  }

  private func iterate(while goesOn: () -> Bool) {
    // GIO ends a call by itself when its time is over.
    let end = MonotonicClock.now + timeout + .milliseconds(50)
    while goesOn(), MonotonicClock.now < end { gio.iterate(context, atMost: 50) }
  }
}
