/// A GstStructure that somebody else owns, to be read while that somebody keeps it: caps, a query, an event.
public struct StructureView {
  /// What is read.
  public let pointer: UnsafePointer<GstStructure>

  /// Reads `pointer`.
  public init(_ pointer: UnsafePointer<GstStructure>) {
    self.pointer = pointer
  }

  /// Reads `pointer`, if there is one.
  public init?(_ pointer: UnsafePointer<GstStructure>?) {
    guard let pointer else { return nil }
    self.pointer = pointer
  }

  /// One of the structures of caps that somebody else owns; nil if there is none at `index`.
  public init?(caps: UnsafePointer<GstCaps>, _ index: Int) {
    guard index >= 0, index < Int(gst_caps_get_size(caps)) else { return nil }
    self.init(gst_caps_get_structure(caps, guint(index)).map { UnsafePointer($0) })
  }

  /// Its name.
  public var name: String { gst_structure_get_name(pointer).map { String(cString: $0) } ?? "" }

  /// Whether that is its name; cheaper than comparing ``name``.
  public func hasName(_ name: String) -> Bool { gst_structure_has_name(pointer, name) != 0 }

  /// Whether there is a field.
  public func has(_ field: String) -> Bool { gst_structure_has_field(pointer, field) != 0 }

  /// The value of a field, whatever its type.
  public func value(_ field: String) -> UnsafePointer<GValue>? { gst_structure_get_value(pointer, field) }

  /// A field of type gint; nil for others and for ranges.
  public func integer(_ field: String) -> Int32? {
    var value: gint = 0
    return gst_structure_get_int(pointer, field, &value) != 0 ? value : nil
  }

  /// A field of type guint64.
  public func unsigned64(_ field: String) -> UInt64? {
    var value: guint64 = 0
    return gst_structure_get_uint64(pointer, field, &value) != 0 ? UInt64(value) : nil
  }

  /// A field of type gdouble.
  public func double(_ field: String) -> Double? {
    var value: gdouble = 0
    return gst_structure_get_double(pointer, field, &value) != 0 ? value : nil
  }

  /// A field of type gchararray; nil for lists of them.
  public func string(_ field: String) -> String? {
    gst_structure_get_string(pointer, field).map { String(cString: $0) }
  }

  /// A field of type GstFraction.
  public func fraction(_ field: String) -> Structure.FractionTerms? {
    var (numerator, denominator): (gint, gint) = (0, 1)
    guard gst_structure_get_fraction(pointer, field, &numerator, &denominator) != 0 else { return nil }
    return (numerator, denominator)
  }

  /// Lends the bytes of a field of type GstBuffer; nil if there is no such field or it can't be mapped.
  public func withBytes<Result>(_ field: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
    guard let value = value(field), g_type_check_value_holds(value, gst_buffer_get_type()) != 0,
      let buffer = g_value_get_boxed(value)?.assumingMemoryBound(to: GstBuffer.self)
    else { return nil }
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return nil }
    defer { gst_buffer_unmap(buffer, &map) }
    return body(UnsafeRawBufferPointer(start: map.data, count: Int(map.size)))
  }

  /// The structures in an array (GstValueArray), at most `limit`; nil if there is no such array.
  public func structures(_ field: String, limit: Int) -> [StructureView]? {
    guard let array = value(field), g_type_check_value_holds(array, cgst_type_array()) != 0 else { return nil }
    return (0..<min(Int(gst_value_array_get_size(array)), limit)).compactMap { index in
      guard let entry = gst_value_array_get_value(array, guint(index)),
        g_type_check_value_holds(entry, cgst_type_structure()) != 0
      else { return nil }
      return StructureView(gst_value_get_structure(entry))
    }
  }

  /// A copy to be changed.
  public func copy() -> Structure? { Structure(owning: gst_structure_copy(pointer)) }
}

/// An owner of an array of structures (GstValueArray) under construction.
public struct StructureArray: ~Copyable {
  private var value = GValue()

  /// An empty array.
  public init() {
    g_value_init(&value, cgst_type_array())
  }

  /// One structure for each of `items`; nil leaves one out.
  public init<Items: Sequence>(_ items: Items, _ make: (Items.Element) -> Structure?) {
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

  /// Appends a structure.
  public mutating func append(_ structure: consuming Structure) {
    var element = GValue()
    g_value_init(&element, cgst_type_structure())
    g_value_take_boxed(&element, structure.take())
    gst_value_array_append_and_take_value(&value, &element)
  }

  /// Copies the array into a value that holds a GstValueArray.
  public borrowing func assign(to other: UnsafeMutablePointer<GValue>) {
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
  public func set(_ field: String, _ structures: consuming StructureArray) {
    var value = structures.take()
    gst_structure_take_value(self, field, &value)
  }
}
