import CGIO

/// GIO, loaded on first use.
package enum GIO {
  /// Nil when it is not installed.
  package nonisolated(unsafe) static let functions = cgio_load(nil)

  package static let library = CGIO_LIBRARY
}

/// The handler of GDBusConnection's signal "closed".
package typealias BusClosedHandler =
  @convention(c) (
    _ connection: OpaquePointer?, _ vanished: gboolean, UnsafeMutablePointer<GError>?, _ data: UnsafeMutableRawPointer?
  ) -> Void

extension UnsafePointer<CGIOFunctions> {
  /// Has `handler` called when `connection` is closed.
  package func connectClosed(
    of connection: OpaquePointer, to handler: BusClosedHandler, _ data: UnsafeMutableRawPointer
  ) {
    _ = pointee.g_signal_connect_data(
      UnsafeMutableRawPointer(connection), "closed", unsafeBitCast(handler, to: GCallback.self), data, nil,
      GConnectFlags(rawValue: 0))
  }

  /// Waits for the next event of a main context, so many milliseconds at most.
  package func iterate(_ context: OpaquePointer?, atMost milliseconds: UInt32) {
    let source = pointee.g_timeout_source_new(milliseconds)
    // It only has to end the wait.
    pointee.g_source_set_callback(source, { _ in 0 }, nil, nil)
    _ = pointee.g_source_attach(source, context)
    _ = pointee.g_main_context_iteration(context, 1)
    pointee.g_source_destroy(source)
    pointee.g_source_unref(source)
  }

  /// Takes all handlers with `data` away.
  package func disconnectClosed(of connection: OpaquePointer, _ data: UnsafeMutableRawPointer) {
    _ = pointee.g_signal_handlers_disconnect_matched(
      UnsafeMutableRawPointer(connection), cgio_signal_match_data(), 0, 0, nil, nil, data)
  }
}

extension String {
  /// Empty for NULL.
  package init(gio text: UnsafePointer<CChar>?) {
    self = text.map { String(cString: $0) } ?? ""
  }
}
