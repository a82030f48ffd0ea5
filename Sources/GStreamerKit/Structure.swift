/// An owner of a GstStructure under construction: a message, the fields of a query, one entry of ``Caps``. It is freed
/// when it goes out of scope, unless ``take()`` has handed it over.
///
///     let message = Structure("sdl-resized")
///     message.set("width", Int32(800))
///     post(message)
public struct Structure: ~Copyable {
  /// Valid as long as the owner is.
  public let pointer: UnsafeMutablePointer<GstStructure>

  /// An empty structure.
  public init(_ name: String) {
    pointer = gst_structure_new_empty(name)
  }

  /// Takes over a structure that belongs to nobody else, if there is one.
  public init?(owning pointer: UnsafeMutablePointer<GstStructure>?) {
    guard let pointer else { return nil }
    self.pointer = pointer
  }

  deinit {
    gst_structure_free(pointer)
  }

  /// The structure itself, now owned by the caller.
  public consuming func take() -> UnsafeMutablePointer<GstStructure> {
    let pointer = self.pointer
    discard self
    return pointer
  }

  /// What was set, to be read as long as the structure is there.
  public var view: StructureView { StructureView(UnsafePointer(pointer)) }

  /// Sets a field; nil leaves it out.
  public borrowing func set(_ field: String, _ value: String?) {
    guard let value else { return }
    set(field, cgst_type_string()) { g_value_set_string(&$0, value) }
  }

  /// Sets a field of type gint.
  public borrowing func set(_ field: String, _ value: Int32) {
    set(field, cgst_type_int()) { g_value_set_int(&$0, value) }
  }

  /// Sets a field of type guint64.
  public borrowing func set(_ field: String, _ value: UInt64) {
    set(field, cgst_type_uint64()) { g_value_set_uint64(&$0, UInt(value)) }
  }

  /// Sets a field of type gdouble; nil leaves it out.
  public borrowing func set(_ field: String, _ value: Double?) {
    guard let value else { return }
    set(field, cgst_type_double()) { g_value_set_double(&$0, value) }
  }

  /// Sets a field of type gboolean; nil leaves it out.
  public borrowing func set(_ field: String, _ value: Bool?) {
    guard let value else { return }
    set(field, cgst_type_boolean()) { g_value_set_boolean(&$0, value ? 1 : 0) }
  }

  /// Sets a field of a registered enumeration type.
  public borrowing func set(_ field: String, enumeration type: GType, _ value: Int32) {
    set(field, type) { g_value_set_enum(&$0, value) }
  }

  /// Sets a field of an enumeration.
  public borrowing func set<Value: ObjectEnumeration>(_ field: String, _ value: Value) {
    set(field, enumeration: Value.objectType.type, value.row.number)
  }

  /// Sets a nested structure.
  public borrowing func set(_ field: String, _ structure: consuming Structure) {
    let nested = structure.take()
    set(field, cgst_type_structure()) { g_value_take_boxed(&$0, nested) }
  }

  /// Sets an array of nested structures (GstValueArray).
  public borrowing func set(_ field: String, _ structures: consuming StructureArray) {
    var value = structures.take()
    gst_structure_take_value(pointer, field, &value)
  }

  borrowing func set(_ field: String, _ type: GType, _ fill: (inout GValue) -> Void) {
    var value = GValue()
    g_value_init(&value, type)
    fill(&value)
    gst_structure_take_value(pointer, field, &value)
  }
}

/// Fields as caps have them.
extension Structure {
  /// A numerator and a denominator.
  public typealias FractionTerms = (numerator: Int32, denominator: Int32)

  /// Sets a field to any of several strings (GstValueList).
  public borrowing func set(_ field: String, oneOf texts: [String]) {
    set(field, cgst_type_list()) { list in
      for text in texts {
        var element = GValue()
        g_value_init(&element, cgst_type_string())
        g_value_set_string(&element, text)
        gst_value_list_append_and_take_value(&list, &element)
      }
    }
  }

  /// Sets a field to one integer, or to a range of them (GstIntRange).
  public borrowing func set(_ field: String, _ range: ClosedRange<Int32>) {
    guard range.lowerBound < range.upperBound else { return set(field, range.lowerBound) }
    set(field, cgst_type_int_range()) { gst_value_set_int_range(&$0, range.lowerBound, range.upperBound) }
  }

  /// Sets a field of type GstFraction. The denominator must not be 0.
  public borrowing func setFraction(_ field: String, _ fraction: FractionTerms) {
    set(field, gst_fraction_get_type()) { gst_value_set_fraction(&$0, fraction.numerator, fraction.denominator) }
  }

  /// Sets a field of type GstFractionRange; `lower` must be below `upper`.
  public borrowing func setFractionRange(_ field: String, from lower: FractionTerms, to upper: FractionTerms) {
    set(field, gst_fraction_range_get_type()) {
      gst_value_set_fraction_range_full(&$0, lower.numerator, lower.denominator, upper.numerator, upper.denominator)
    }
  }

  /// Reduces a field to what it has in common with `range`; a field that is not there becomes the range.
  ///
  /// - Returns: whether anything is left. If not, the field is as it was.
  public borrowing func restrict(_ field: String, to range: ClosedRange<Int32>) -> Bool {
    guard let present = gst_structure_get_value(pointer, field) else {
      set(field, range)
      return true
    }
    let wanted = Structure("range")
    wanted.set(field, range)
    var common = GValue()
    guard let wantedValue = gst_structure_get_value(wanted.pointer, field),
      gst_value_intersect(&common, present, wantedValue) != 0
    else { return false }
    gst_structure_take_value(pointer, field, &common)
    return true
  }
}
