/// A Swift enumeration that is a GObject enumeration too. Everything that GObject knows about it is in one place:
///
///     extension HMILevel: ObjectEnumeration {
///       static let objectType = EnumerationType<HMILevel>("GstSdlHMILevel")
///       var row: EnumerationRow {
///         switch self {
///         case .none: .init(0, "none", "The app is not in use")
///         case .full: .init(3, "full", "The app is in front")
///         …
///         }
///       }
///     }
package protocol ObjectEnumeration: CaseIterable, Sendable {
  /// The registered type; registered when it is first used.
  static var objectType: EnumerationType<Self> { get }
  /// GObject's description of this case.
  var row: EnumerationRow { get }
}

/// One value of a GObject enumeration. Both texts are literals, because GObject keeps pointers to them.
package struct EnumerationRow: Sendable {
  /// The number in a GValue; part of the interface that applications see.
  package let number: Int32
  /// As gst-launch writes it.
  package let nick: StaticString
  /// A sentence for users.
  package let description: StaticString

  package init(_ number: Int32, _ nick: StaticString, _ description: StaticString) {
    self.number = number
    self.nick = nick
    self.description = description
  }
}

package struct EnumerationType<Value: ObjectEnumeration>: Sendable {
  /// For values and specifications.
  package let type: GType

  /// Registers the enumeration under `name`, which must be unique in the process, as part of the plugin's API.
  package init(_ name: StaticString) {
    // GObject keeps the table for the life of the process.
    let rows = Value.allCases.map(\.row).sorted { $0.number < $1.number }
    let table = UnsafeMutablePointer<GEnumValue>.allocate(capacity: rows.count + 1)
    for (index, row) in rows.enumerated() {
      (table + index).initialize(
        to: GEnumValue(value: row.number, value_name: row.description.cString, value_nick: row.nick.cString))
    }
    (table + rows.count).initialize(to: GEnumValue(value: 0, value_name: nil, value_nick: nil))
    type = g_enum_register_static(name.cString, table)
    gst_type_mark_as_plugin_api(type, GstPluginAPIFlags(rawValue: 0))
  }

  /// A type of GStreamer's, of whose values ``ObjectEnumeration/row`` has those that are taken.
  package init(existing type: GType) {
    self.type = type
  }
}

extension ObjectEnumeration {
  /// The case with that number; nil if there is none, which GObject rules out for values that it has validated.
  package init?(number: Int32) {
    guard let value = Self.allCases.first(where: { $0.row.number == number }) else { return nil }
    self = value
  }
}
