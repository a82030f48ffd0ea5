/// One GObject property as data. All texts are literals, so that GObject keeps pointers instead of copies.
public struct PropertySpecification {
  /// Value type, range and default.
  public enum Kind: Sendable {
    case string(default: StaticString?)
    case unsigned(minimum: UInt32, maximum: UInt32, default: UInt32)
    case integer(minimum: Int32, maximum: Int32, default: Int32)
    case double(minimum: Double, maximum: Double, default: Double)
    case boolean(default: Bool)
    /// A GstFraction from 0/1 to `maximum`/1, with the default 0/1.
    case fraction(maximum: Int32)
    case enumeration(GType, default: Int32)
    /// A boxed GstStructure, always read-only.
    case structure
    /// A GstValueArray of GstValueArrays of integers, empty by default; see ``IntegerRows``.
    case integerRows
    /// A GstValueArray of structures, always read-only.
    case structures
  }

  /// When the property may be written.
  public enum Access {
    case readOnly
    /// In NULL and READY.
    case mutableReady
    /// Always; the blurb says when a new value takes effect.
    case mutablePlaying
  }

  let name: StaticString
  let nick: StaticString
  let blurb: StaticString
  let kind: Kind
  /// See ``Access``.
  public let access: Access

  /// Memberwise.
  public init(_ name: StaticString, _ nick: StaticString, _ blurb: StaticString, _ kind: Kind, _ access: Access) {
    self.name = name
    self.nick = nick
    self.blurb = blurb
    self.kind = kind
    self.access = access
  }

  /// The property's name.
  public var nameText: String { "\(name)" }

  /// A new GParamSpec, with a floating reference.
  public func makeParamSpec() -> UnsafeMutablePointer<GParamSpec>? {
    let name = self.name.cString
    let nick = self.nick.cString
    let blurb = self.blurb.cString
    return switch kind {
    case .string(let value): g_param_spec_string(name, nick, blurb, value?.cString, flags)
    case .unsigned(let minimum, let maximum, let value):
      g_param_spec_uint(name, nick, blurb, minimum, maximum, value, flags)
    case .integer(let minimum, let maximum, let value):
      g_param_spec_int(name, nick, blurb, minimum, maximum, value, flags)
    case .double(let minimum, let maximum, let value):
      g_param_spec_double(name, nick, blurb, minimum, maximum, value, flags)
    case .boolean(let value): g_param_spec_boolean(name, nick, blurb, value ? 1 : 0, flags)
    case .fraction(let maximum): gst_param_spec_fraction(name, nick, blurb, 0, 1, maximum, 1, 0, 1, flags)
    case .enumeration(let type, let value): g_param_spec_enum(name, nick, blurb, type, value, flags)
    case .structure: g_param_spec_boxed(name, nick, blurb, cgst_type_structure(), flags)
    case .integerRows:
      gst_param_spec_array(
        name, nick, blurb, IntegerRows.makeRowSpec(name: name, nick: nick, blurb: blurb, flags), flags)
    case .structures:
      gst_param_spec_array(
        name, nick, blurb,
        g_param_spec_boxed(
          Self.elementName.cString, Self.elementNick.cString, Self.elementBlurb.cString, cgst_type_structure(), flags),
        flags)
    }
  }

  // Not as literals in a call, whose copies GObject would keep pointers to.
  private static let elementName: StaticString = "structure"
  private static let elementNick: StaticString = "Structure"
  private static let elementBlurb: StaticString = "One of them"

  private var flags: GParamFlags {
    let access =
      switch self.access {
      case .readOnly: UInt32(G_PARAM_READABLE.rawValue)
      case .mutableReady: UInt32(G_PARAM_READWRITE.rawValue) | UInt32(CGST_PARAM_MUTABLE_READY)
      case .mutablePlaying: UInt32(G_PARAM_READWRITE.rawValue) | UInt32(CGST_PARAM_MUTABLE_PLAYING)
      }
    return GParamFlags(rawValue: Int32(access | UInt32(CGST_PARAM_STATIC_STRINGS)))
  }
}

/// The properties of an element: an enumeration whose raw values are the ids, from 1 on.
public protocol PropertyTable: CaseIterable, RawRepresentable<UInt32>, Sendable {
  /// The table's row for this property.
  var specification: PropertySpecification { get }
}

extension PropertyTable {
  /// Installs every property on the class.
  public static func install(on objectClass: UnsafeMutablePointer<GObjectClass>) {
    for property in allCases {
      g_object_class_install_property(objectClass, property.rawValue, property.specification.makeParamSpec())
    }
  }

  /// Notifies listeners on `object` that the property has changed. Call without locks.
  public func notify(_ object: UnsafeMutableRawPointer) {
    g_object_notify(object.assumingMemoryBound(to: GObject.self), specification.name.cString)
  }
}
