/// Properties that are only read: each has a closure that makes its value, called on the reader's thread without locks.
extension Property {
  private init(
    readOnly name: PropertyName, _ nick: StaticString, _ blurb: StaticString,
    specification: @escaping @Sendable (PropertyTexts) -> UnsafeMutablePointer<GParamSpec>?,
    read: @escaping @Sendable (Owner, UnsafeMutablePointer<GValue>) -> Void
  ) {
    self.init(
      name: name, nick: nick, blurb: blurb, access: .readOnly, makeSpecification: specification, read: read,
      write: nil, changed: nil)
  }

  /// A whole number (guint).
  public static func unsigned(
    _ name: PropertyName, _ range: ClosedRange<UInt32>, default initial: UInt32, _ nick: StaticString,
    _ blurb: StaticString, get: @escaping @Sendable (Owner) -> UInt32
  ) -> Property {
    Property(
      readOnly: name, nick, blurb,
      specification: {
        g_param_spec_uint($0.name, $0.nick, $0.blurb, range.lowerBound, range.upperBound, initial, $0.flags)
      },
      read: { g_value_set_uint($1, get($0)) })
  }

  /// One case of an enumeration.
  public static func enumeration<Value: ObjectEnumeration>(
    _ name: PropertyName, default initial: Value, _ nick: StaticString, _ blurb: StaticString,
    get: @escaping @Sendable (Owner) -> Value
  ) -> Property {
    Property(
      readOnly: name, nick, blurb,
      specification: {
        g_param_spec_enum($0.name, $0.nick, $0.blurb, Value.objectType.type, initial.row.number, $0.flags)
      },
      read: { g_value_set_enum($1, get($0).row.number) })
  }

  /// A boxed GstStructure; nil is NULL.
  public static func structure(
    _ name: PropertyName, _ nick: StaticString, _ blurb: StaticString,
    get: @escaping @Sendable (Owner) -> Structure?
  ) -> Property {
    Property(
      readOnly: name, nick, blurb,
      specification: { g_param_spec_boxed($0.name, $0.nick, $0.blurb, cgst_type_structure(), $0.flags) },
      read: { owner, value in
        guard let structure = get(owner) else { return g_value_take_boxed(value, nil) }
        g_value_take_boxed(value, structure.take())
      })
  }

  /// A GstValueArray of structures.
  public static func structures(
    _ name: PropertyName, _ nick: StaticString, _ blurb: StaticString,
    get: @escaping @Sendable (Owner) -> StructureArray
  ) -> Property {
    Property(
      readOnly: name, nick, blurb,
      specification: { texts in
        gst_param_spec_array(
          texts.name, texts.nick, texts.blurb,
          g_param_spec_boxed(
            elementName.cString, elementNick.cString, elementBlurb.cString, cgst_type_structure(), texts.flags),
          texts.flags)
      },
      read: { get($0).assign(to: $1) })
  }
}

// Not as literals in a call, whose copies GObject would keep pointers to.
private let elementName: StaticString = "structure"
private let elementNick: StaticString = "Structure"
private let elementBlurb: StaticString = "One of them"
