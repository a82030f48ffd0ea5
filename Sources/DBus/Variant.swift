import CGIO

/// A value of a message, which this owns.
package struct Variant: ~Copyable {
  package let pointer: OpaquePointer
  private let gio: UnsafePointer<CGIOFunctions>

  /// Takes a reference over; nil for none.
  package init?(owning pointer: OpaquePointer?, _ gio: UnsafePointer<CGIOFunctions>) {
    guard let pointer else { return nil }
    self.pointer = pointer
    self.gio = gio
  }

  deinit {
    gio.pointee.g_variant_unref(pointer)
  }

  /// As D-Bus writes types, such as "a{sv}".
  package var type: String { String(gio: gio.pointee.g_variant_get_type_string(pointer)) }

  private var isContainer: Bool { ["a", "(", "{"].contains { type.hasPrefix($0) } }

  package var count: Int { isContainer ? Int(gio.pointee.g_variant_n_children(pointer)) : 0 }

  /// Nil if there is no such child.
  package subscript(index: Int) -> Variant? {
    guard index >= 0, index < count else { return nil }
    return Variant(owning: gio.pointee.g_variant_get_child_value(pointer, gsize(index)), gio)
  }

  /// The value in a variant; nil for another type.
  package var content: Variant? {
    type == "v" ? Variant(owning: gio.pointee.g_variant_get_variant(pointer), gio) : nil
  }

  /// A string or the path of an object; nil for another type.
  package var text: String? {
    guard ["s", "o"].contains(type) else { return nil }
    return String(gio: gio.pointee.g_variant_get_string(pointer, nil))
  }

  /// Nil for another type.
  package var boolean: Bool? { type == "b" ? gio.pointee.g_variant_get_boolean(pointer) != 0 : nil }

  /// Nil for another type.
  package var short: UInt16? { type == "q" ? gio.pointee.g_variant_get_uint16(pointer) : nil }

  /// Nil for another type.
  package var unsigned: UInt32? { type == "u" ? gio.pointee.g_variant_get_uint32(pointer) : nil }

  /// Nil for another type.
  package var integer: Int32? { type == "i" ? gio.pointee.g_variant_get_int32(pointer) : nil }

  /// The place of a descriptor in its message; nil for another type.
  package var handle: Int32? { type == "h" ? gio.pointee.g_variant_get_handle(pointer) : nil }

  /// The value of a dictionary's key; nil if there is none.
  package subscript(key: String) -> Variant? {
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
