import CGIO
import DBus

extension ProfileSession.CallError {
  /// Takes `error` over; nil counts as an error without a name.
  init(_ error: UnsafeMutablePointer<GError>?, _ gio: UnsafePointer<CGIOFunctions>) {
    guard let error else {
      self.init(name: "", message: "no answer")
      return
    }
    defer { gio.pointee.g_error_free(error) }
    let name = gio.pointee.g_dbus_error_get_remote_error(error)
    defer { gio.pointee.g_free(name) }
    // Otherwise the text begins with the name.
    _ = gio.pointee.g_dbus_error_strip_remote_error(error)
    self.init(
      name: name.map { String(cString: $0) } ?? "", message: error.pointee.message.map { String(cString: $0) } ?? "")
  }
}

extension ProfileSession.Object {
  /// An object with its interfaces, `a{sa{sv}}`; nil for one that is of no interest.
  init?(path: String, interfaces: borrowing Variant) {
    let isPowered = interfaces["org.bluez.Adapter1"]?["Powered"]?.boolean
    let address = interfaces["org.bluez.Device1"]?["Address"]?.text.flatMap { BluetoothAddress($0) }
    guard isPowered != nil || address != nil else { return nil }
    self.init(path: path, isPowered: isPowered, address: address)
  }

  /// The objects in the answer of GetManagedObjects, `(a{oa{sa{sv}}})`.
  static func list(_ answer: borrowing Variant) -> [Self] {
    guard let dictionary = answer[0] else { return [] }
    return (0..<dictionary.count).compactMap { index in
      guard let entry = dictionary[index], let path = entry[0]?.text, let interfaces = entry[1] else { return nil }
      return Self(path: path, interfaces: interfaces)
    }
  }
}
