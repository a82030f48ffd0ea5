/// A GstStructure under construction; ``take()`` must end it.
public struct Structure {
  private let pointer: UnsafeMutablePointer<GstStructure>

  /// An empty structure.
  public init(_ name: String) {
    pointer = gst_structure_new_empty(name)
  }

  /// The structure itself, now owned by the caller.
  public consuming func take() -> UnsafeMutablePointer<GstStructure> { pointer }

  /// Sets a field; nil leaves it out.
  public func set(_ field: String, _ value: String?) {
    guard let value else { return }
    set(field, cgst_type_string()) { g_value_set_string(&$0, value) }
  }

  /// Sets a field of type gint.
  public func set(_ field: String, _ value: Int32) {
    set(field, cgst_type_int()) { g_value_set_int(&$0, value) }
  }

  /// Sets a field of type guint64.
  public func set(_ field: String, _ value: UInt64) {
    set(field, cgst_type_uint64()) { g_value_set_uint64(&$0, UInt(value)) }
  }

  /// Sets a field of type gdouble; nil leaves it out.
  public func set(_ field: String, _ value: Double?) {
    guard let value else { return }
    set(field, cgst_type_double()) { g_value_set_double(&$0, value) }
  }

  /// Sets a field of type gboolean; nil leaves it out.
  public func set(_ field: String, _ value: Bool?) {
    guard let value else { return }
    set(field, cgst_type_boolean()) { g_value_set_boolean(&$0, value ? 1 : 0) }
  }

  /// Sets a field of a registered enumeration type.
  public func set(_ field: String, enumeration type: GType, _ value: Int32) {
    set(field, type) { g_value_set_enum(&$0, value) }
  }

  /// Sets a nested structure.
  public func set(_ field: String, _ structure: consuming Structure) {
    let nested = structure.take()
    set(field, cgst_type_structure()) { g_value_take_boxed(&$0, nested) }
  }

  /// Sets an array of nested structures (GstValueArray).
  public func set(_ field: String, _ structures: [Structure]) {
    set(field, cgst_type_array()) { Self.append(structures, to: &$0) }
  }

  /// Appends structures to a value that holds a GstValueArray.
  public static func append(_ structures: [Structure], to array: UnsafeMutablePointer<GValue>) {
    for structure in structures {
      let nested = structure.take()
      var value = GValue()
      g_value_init(&value, cgst_type_structure())
      g_value_take_boxed(&value, nested)
      gst_value_array_append_and_take_value(array, &value)
    }
  }

  private func set(_ field: String, _ type: GType, _ fill: (inout GValue) -> Void) {
    var value = GValue()
    g_value_init(&value, type)
    fill(&value)
    gst_structure_take_value(pointer, field, &value)
  }
}
