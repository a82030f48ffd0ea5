import CGIO
import Glibc

/// What BlueZ calls: `org.bluez.Profile1`.
extension ProfileBus {
  func called(_ invocation: OpaquePointer) {
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
      guard take(descriptorOf: invocation, at: parameters[1]?.handle, device: device) else {
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
  private func take(descriptorOf invocation: OpaquePointer, at handle: Int32?, device: String) -> Bool {
    let message = gio.pointee.g_dbus_method_invocation_get_message(invocation)
    guard let handle, let list = gio.pointee.g_dbus_message_get_unix_fd_list(message) else { return false }
    var error: UnsafeMutablePointer<CGIOError>?
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
