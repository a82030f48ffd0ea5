/// Values such as `<<10,10,100,50>,<10,80,100,50>>`: a GstValueArray of GstValueArrays of integers.
public enum IntegerRows {
  /// The specification of a row and its elements, with a floating reference.
  static func makeRowSpec(
    name: UnsafePointer<CChar>, nick: UnsafePointer<CChar>, blurb: UnsafePointer<CChar>, _ flags: GParamFlags
  ) -> UnsafeMutablePointer<GParamSpec>? {
    let element = g_param_spec_int(name, nick, blurb, .min, .max, 0, flags)
    return gst_param_spec_array(name, nick, blurb, element, flags)
  }

  /// The rows in `value`; nil when it is anything else.
  public static func read(_ value: UnsafePointer<GValue>) -> [[Int32]]? {
    var rows: [[Int32]] = []
    guard g_type_check_value_holds(value, cgst_type_array()) != 0 else { return nil }
    for index in 0..<gst_value_array_get_size(value) {
      guard let row = gst_value_array_get_value(value, index), let integers = readRow(row) else { return nil }
      rows.append(integers)
    }
    return rows
  }

  private static func readRow(_ value: UnsafePointer<GValue>) -> [Int32]? {
    var integers: [Int32] = []
    guard g_type_check_value_holds(value, cgst_type_array()) != 0 else { return nil }
    for index in 0..<gst_value_array_get_size(value) {
      guard let element = gst_value_array_get_value(value, index),
        g_type_check_value_holds(element, cgst_type_int()) != 0
      else { return nil }
      integers.append(g_value_get_int(element))
    }
    return integers
  }

  /// Appends `rows` to `value`, an initialized GstValueArray.
  public static func append(_ rows: [[Int32]], to value: UnsafeMutablePointer<GValue>) {
    for row in rows {
      var array = GValue()
      g_value_init(&array, cgst_type_array())
      for integer in row {
        var element = GValue()
        g_value_init(&element, cgst_type_int())
        g_value_set_int(&element, integer)
        gst_value_array_append_and_take_value(&array, &element)
      }
      gst_value_array_append_and_take_value(value, &array)
    }
  }
}
