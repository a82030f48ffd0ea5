import CGIO

/// GIO, loaded on first use.
enum GIO {
  /// Nil when it is not installed.
  ///
  /// Allocated once for the life of the process, because a structure whose members are not nullable can't be made
  /// empty; never changed after that.
  nonisolated(unsafe) static let functions: UnsafePointer<CGIOFunctions>? = {
    let table = UnsafeMutablePointer<CGIOFunctions>.allocate(capacity: 1)
    guard cgio_load(table) else {
      table.deallocate()
      return nil
    }
    return UnsafePointer(table)
  }()

  static var library: String { String(cString: cgio_library()) }
}

extension ProfileSession.CallError {
  /// Takes `error` over; nil counts as an error without a name.
  init(_ error: UnsafeMutablePointer<CGIOError>?, _ gio: UnsafePointer<CGIOFunctions>) {
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

extension String {
  /// Empty for NULL.
  init(gio text: UnsafePointer<CChar>?) {
    self = text.map { String(cString: $0) } ?? ""
  }
}

/// A value of a message, which this owns.
struct Variant: ~Copyable {
  let pointer: OpaquePointer
  private let gio: UnsafePointer<CGIOFunctions>

  /// Takes a reference over; nil for none.
  init?(owning pointer: OpaquePointer?, _ gio: UnsafePointer<CGIOFunctions>) {
    guard let pointer else { return nil }
    self.pointer = pointer
    self.gio = gio
  }

  deinit {
    gio.pointee.g_variant_unref(pointer)
  }

  /// As D-Bus writes types, such as "a{sv}".
  var type: String { String(gio: gio.pointee.g_variant_get_type_string(pointer)) }

  private var isContainer: Bool { ["a", "(", "{"].contains { type.hasPrefix($0) } }

  var count: Int { isContainer ? Int(gio.pointee.g_variant_n_children(pointer)) : 0 }

  /// Nil for what has no such part.
  subscript(index: Int) -> Variant? {
    guard index >= 0, index < count else { return nil }
    return Variant(owning: gio.pointee.g_variant_get_child_value(pointer, index), gio)
  }

  /// What a variant holds; nil for another type.
  var content: Variant? {
    type == "v" ? Variant(owning: gio.pointee.g_variant_get_variant(pointer), gio) : nil
  }

  /// A string or the path of an object; nil for another type.
  var text: String? {
    guard ["s", "o"].contains(type) else { return nil }
    return String(gio: gio.pointee.g_variant_get_string(pointer, nil))
  }

  /// Nil for another type.
  var boolean: Bool? { type == "b" ? gio.pointee.g_variant_get_boolean(pointer) != 0 : nil }

  /// Nil for another type.
  var unsigned: UInt32? { type == "u" ? gio.pointee.g_variant_get_uint32(pointer) : nil }

  /// The place of a descriptor in its message; nil for another type.
  var handle: Int32? { type == "h" ? gio.pointee.g_variant_get_handle(pointer) : nil }

  /// The value of a dictionary's key; nil if there is none.
  subscript(key: String) -> Variant? {
    for index in 0..<count {
      guard let entry = self[index], entry.type.hasPrefix("{"), entry[0]?.text == key, let value = entry[1] else {
        continue
      }
      if value.type == "v" { return value.content }
      return value
    }
    return nil
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
