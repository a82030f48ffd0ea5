/// An owner of a GstStructure under construction: a message, the fields of a query, one entry of ``Caps``. It is freed
/// when it goes out of scope, unless ``take()`` has transferred it.
///
///     let message = Structure("sdl-resized")
///     message.set("width", Int32(800))
///     post(message)
package struct Structure: ~Copyable {
  /// Valid as long as the owner is.
  package let pointer: UnsafeMutablePointer<GstStructure>

  package init(_ name: String) {
    pointer = gst_structure_new_empty(name)
  }

  /// Takes over a structure that has no other owner, if there is one.
  package init?(owning pointer: UnsafeMutablePointer<GstStructure>?) {
    guard let pointer else { return nil }
    self.pointer = pointer
  }

  deinit {
    gst_structure_free(pointer)
  }

  /// The structure itself, now owned by the caller.
  package consuming func take() -> UnsafeMutablePointer<GstStructure> {
    let pointer = self.pointer
    discard self
    return pointer
  }

  /// The present fields, to be read as long as the structure exists.
  package var view: StructureView { StructureView(UnsafePointer(pointer)) }

  /// Sets a field; nil leaves it out.
  package borrowing func set(_ field: String, _ value: String?) {
    guard let value else { return }
    set(field, cgst_type_string()) { g_value_set_string(&$0, value) }
  }

  package borrowing func set(_ field: String, _ value: Int32) {
    set(field, cgst_type_int()) { g_value_set_int(&$0, value) }
  }

  package borrowing func set(_ field: String, _ value: UInt32) {
    set(field, cgst_type_uint()) { g_value_set_uint(&$0, value) }
  }

  /// Sets a field of type GBytes.
  package borrowing func set(_ field: String, bytes: [UInt8]) {
    set(field, g_bytes_get_type()) {
      g_value_take_boxed(&$0, UnsafeMutableRawPointer(g_bytes_new(bytes, gsize(bytes.count))))
    }
  }

  package borrowing func set(_ field: String, _ value: UInt64) {
    set(field, cgst_type_uint64()) { g_value_set_uint64(&$0, UInt(value)) }
  }

  /// Sets a field of type gdouble; nil leaves it out.
  package borrowing func set(_ field: String, _ value: Double?) {
    guard let value else { return }
    set(field, cgst_type_double()) { g_value_set_double(&$0, value) }
  }

  /// Sets a field of type gboolean; nil leaves it out.
  package borrowing func set(_ field: String, _ value: Bool?) {
    guard let value else { return }
    set(field, cgst_type_boolean()) { g_value_set_boolean(&$0, value ? 1 : 0) }
  }

  package borrowing func set(_ field: String, enumeration type: GType, _ value: Int32) {
    set(field, type) { g_value_set_enum(&$0, value) }
  }

  package borrowing func set<Value: ObjectEnumeration>(_ field: String, _ value: Value) {
    set(field, enumeration: Value.objectType.type, value.row.number)
  }

  package borrowing func set(_ field: String, _ structure: consuming Structure) {
    let nested = structure.take()
    set(field, cgst_type_structure()) { g_value_take_boxed(&$0, nested) }
  }

  /// Sets an array of nested structures (GstValueArray).
  package borrowing func set(_ field: String, _ structures: consuming StructureArray) {
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

/// Fields of caps.
extension Structure {
  package typealias FractionTerms = (numerator: Int32, denominator: Int32)

  /// Sets a field to any of several strings (GstValueList).
  package borrowing func set(_ field: String, oneOf texts: [String]) {
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
  package borrowing func set(_ field: String, _ range: ClosedRange<Int32>) {
    guard range.lowerBound < range.upperBound else { return set(field, range.lowerBound) }
    set(field, cgst_type_int_range()) { gst_value_set_int_range(&$0, range.lowerBound, range.upperBound) }
  }

  /// Sets a field of type GstFraction. The denominator must not be 0.
  package borrowing func setFraction(_ field: String, _ fraction: FractionTerms) {
    set(field, gst_fraction_get_type()) { gst_value_set_fraction(&$0, fraction.numerator, fraction.denominator) }
  }

  /// Sets a field of type GstFractionRange; `lower` must be below `upper`.
  package borrowing func setFractionRange(_ field: String, from lower: FractionTerms, to upper: FractionTerms) {
    set(field, gst_fraction_range_get_type()) {
      gst_value_set_fraction_range_full(&$0, lower.numerator, lower.denominator, upper.numerator, upper.denominator)
    }
  }

  /// Intersects a field with `range`; a missing field becomes the range.
  ///
  /// - Returns: whether anything is left. If not, the field is as it was.
  package borrowing func restrict(_ field: String, to range: ClosedRange<Int32>) -> Bool {
    let wanted = Structure("range")
    wanted.set(field, range)
    return restrict(field, wanted)
  }

  /// The same with a fraction, whose denominator must not be 0.
  package borrowing func restrict(_ field: String, to fraction: FractionTerms) -> Bool {
    let wanted = Structure("fraction")
    wanted.setFraction(field, fraction)
    return restrict(field, wanted)
  }

  private borrowing func restrict(_ field: String, _ wanted: borrowing Structure) -> Bool {
    guard let wantedValue = gst_structure_get_value(wanted.pointer, field) else { return false }
    guard let present = gst_structure_get_value(pointer, field) else {
      gst_structure_set_value(pointer, field, wantedValue)
      return true
    }
    var common = GValue()
    guard gst_value_intersect(&common, present, wantedValue) != 0 else { return false }
    gst_structure_take_value(pointer, field, &common)
    return true
  }
}

/// A GstStructure that others own, to be read while they keep it: caps, a query, an event.
package struct StructureView {
  package let pointer: UnsafePointer<GstStructure>

  package init(_ pointer: UnsafePointer<GstStructure>) {
    self.pointer = pointer
  }

  package init?(_ pointer: UnsafePointer<GstStructure>?) {
    guard let pointer else { return nil }
    self.pointer = pointer
  }

  /// One of the structures of caps that others own; nil if there is none at `index`.
  package init?(caps: UnsafePointer<GstCaps>, _ index: Int) {
    guard index >= 0, index < Int(gst_caps_get_size(caps)) else { return nil }
    self.init(gst_caps_get_structure(caps, guint(index)).map { UnsafePointer($0) })
  }

  package var name: String { gst_structure_get_name(pointer).map { String(cString: $0) } ?? "" }

  /// Whether this is its name; cheaper than comparing ``name``.
  package func hasName(_ name: String) -> Bool { gst_structure_has_name(pointer, name) != 0 }

  /// The names of its fields, in their order.
  package var fieldNames: [String] {
    (0..<max(gst_structure_n_fields(pointer), 0)).compactMap { index in
      gst_structure_nth_field_name(pointer, guint(index)).map { String(cString: $0) }
    }
  }

  package func has(_ field: String) -> Bool { gst_structure_has_field(pointer, field) != 0 }

  /// The value of a field, whatever its type.
  package func value(_ field: String) -> UnsafePointer<GValue>? { gst_structure_get_value(pointer, field) }

  package func boolean(_ field: String) -> Bool? {
    var value: gboolean = 0
    return gst_structure_get_boolean(pointer, field, &value) != 0 ? value != 0 : nil
  }

  /// A field of type gint; nil for others and for ranges.
  package func integer(_ field: String) -> Int32? {
    var value: gint = 0
    return gst_structure_get_int(pointer, field, &value) != 0 ? value : nil
  }

  package func double(_ field: String) -> Double? {
    var value: gdouble = 0
    return gst_structure_get_double(pointer, field, &value) != 0 ? value : nil
  }

  /// A field of type gchararray; nil for lists of them.
  package func string(_ field: String) -> String? {
    gst_structure_get_string(pointer, field).map { String(cString: $0) }
  }

  package func fraction(_ field: String) -> Structure.FractionTerms? {
    var (numerator, denominator): (gint, gint) = (0, 1)
    guard gst_structure_get_fraction(pointer, field, &numerator, &denominator) != 0 else { return nil }
    return (numerator, denominator)
  }

  /// Lends the bytes of a field of type GstBuffer; nil if there is no such field or it can't be mapped.
  package func withBytes<Result>(_ field: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
    guard let value = value(field), g_type_check_value_holds(value, gst_buffer_get_type()) != 0,
      let buffer = g_value_get_boxed(value)?.assumingMemoryBound(to: GstBuffer.self)
    else { return nil }
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return nil }
    defer { gst_buffer_unmap(buffer, &map) }
    return body(UnsafeRawBufferPointer(start: map.data, count: Int(map.size)))
  }

  /// The structures in an array (GstValueArray), at most `limit`; nil if there is no such array.
  package func structures(_ field: String, limit: Int) -> [StructureView]? {
    guard let array = value(field), g_type_check_value_holds(array, cgst_type_array()) != 0 else { return nil }
    return (0..<min(Int(gst_value_array_get_size(array)), limit)).compactMap { index in
      guard let entry = gst_value_array_get_value(array, guint(index)),
        g_type_check_value_holds(entry, cgst_type_structure()) != 0
      else { return nil }
      return StructureView(gst_value_get_structure(entry))
    }
  }

  /// A copy that can be changed.
  package func copy() -> Structure? { Structure(owning: gst_structure_copy(pointer)) }
}

/// An owner of an array of structures (GstValueArray) under construction.
package struct StructureArray: ~Copyable {
  private var value = GValue()

  package init() {
    g_value_init(&value, cgst_type_array())
  }

  /// One structure for each of `items`; nil leaves one out.
  package init<Items: Sequence>(_ items: Items, _ make: (Items.Element) -> Structure?) {
    self.init()
    for item in items {
      guard let structure = make(item) else { continue }
      append(structure)
    }
  }

  deinit {
    var value = self.value
    g_value_unset(&value)
  }

  package mutating func append(_ structure: consuming Structure) {
    var element = GValue()
    g_value_init(&element, cgst_type_structure())
    g_value_take_boxed(&element, structure.take())
    gst_value_array_append_and_take_value(&value, &element)
  }

  /// Copies the array into a value that holds a GstValueArray.
  package borrowing func assign(to other: UnsafeMutablePointer<GValue>) {
    var value = self.value
    g_value_copy(&value, other)
  }

  /// The value, now owned by the caller.
  consuming func take() -> GValue {
    let value = self.value
    discard self
    return value
  }
}

extension UnsafeMutablePointer<GstStructure> {
  /// Replaces a field of a structure that a query owns by an array of structures.
  package func set(_ field: String, _ structures: consuming StructureArray) {
    var value = structures.take()
    gst_structure_take_value(self, field, &value)
  }
}
