/// Registers GEnum types.
public enum EnumType {
  /// One value: number, description, nick.
  public typealias Value = (Int32, String, String)

  /// Registers `name` once and marks it as part of the plugin's API; returns the type.
  public static func register(_ name: StaticString, _ values: [Value]) -> GType {
    // GObject keeps the table and its texts for the life of the process.
    let table = UnsafeMutablePointer<GEnumValue>.allocate(capacity: values.count + 1)
    for (index, value) in values.enumerated() {
      (table + index).initialize(
        to: GEnumValue(value: value.0, value_name: g_strdup(value.1), value_nick: g_strdup(value.2)))
    }
    (table + values.count).initialize(to: GEnumValue(value: 0, value_name: nil, value_nick: nil))
    let type = g_enum_register_static(name.cString, table)
    gst_type_mark_as_plugin_api(type, GstPluginAPIFlags(rawValue: 0))
    return type
  }
}
