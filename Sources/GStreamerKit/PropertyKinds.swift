/// Writable properties, by the type of their value. The default is the value at the key path in new settings.
///
/// For texts, NULL and an empty text are the same: they restore the default, and a value that is empty reads as NULL.
///
/// In all of them `changed` is called after a change, on the thread that made it, without locks.
extension Property {
  /// The action after a change of a property.
  package typealias ChangeHandler = @Sendable (Owner) -> Void
  /// Where a property's value stands in the settings.
  package typealias SettingsPath<Value> = WritableKeyPath<Owner.Settings, Value> & Sendable

  private init<Value: Sendable>(
    _ name: PropertyName, _ path: SettingsPath<Value>, _ nick: StaticString, _ blurb: StaticString,
    _ access: PropertyAccess, changed: ChangeHandler?,
    specification: @escaping @Sendable (PropertyTexts, Value) -> UnsafeMutablePointer<GParamSpec>?,
    get: @escaping @Sendable (UnsafeMutablePointer<GValue>, Value) -> Void,
    set: @escaping @Sendable (UnsafePointer<GValue>) throws(InvalidPropertyValue) -> Value,
    reading: (@Sendable (Owner) -> Value)? = nil
  ) {
    self.init(
      name: name, nick: nick, blurb: blurb, access: access,
      makeSpecification: { specification($0, Owner.Settings()[keyPath: path]) },
      read: { owner, value in
        get(value, reading?(owner) ?? owner.settings.current[keyPath: path])
      },
      write: { settings, value throws(InvalidPropertyValue) in settings[keyPath: path] = try set(value) },
      changed: changed)
  }

  /// A text that has a value or is empty.
  package static func string(
    _ name: PropertyName, _ path: SettingsPath<String>, _ nick: StaticString, _ blurb: StaticString,
    _ access: PropertyAccess, changed: ChangeHandler? = nil
  ) -> Property {
    text(
      name, path, nick, blurb, access, parse: { $0 ?? Owner.Settings()[keyPath: path] }, text: { $0 },
      changed: changed)
  }

  /// A text that may be NULL.
  package static func string(
    _ name: PropertyName, _ path: SettingsPath<String?>, _ nick: StaticString, _ blurb: StaticString,
    _ access: PropertyAccess, changed: ChangeHandler? = nil
  ) -> Property {
    text(name, path, nick, blurb, access, parse: { $0 }, text: { $0 }, changed: changed)
  }

  /// A text that can only be written, in NULL and READY, so that no tool can show it.
  package static func secret(
    _ name: PropertyName, _ path: SettingsPath<String?>, _ nick: StaticString, _ blurb: StaticString
  ) -> Property {
    Property(
      name, path, nick, blurb, .writeOnlyReady, changed: nil,
      specification: { texts, _ in g_param_spec_string(texts.name, texts.nick, texts.blurb, nil, texts.flags) },
      get: { value, _ in g_value_set_string(value, nil) }, set: { $0.string })
  }

  /// A text that is parsed into a value of another type.
  ///
  /// - Parameters:
  ///   - parse: makes a value of the text, which is nil to restore the default, or throws the reason why it is invalid.
  ///   - text: the value as it is read; nil or empty is NULL.
  package static func text<Value: Sendable>(
    _ name: PropertyName, _ path: SettingsPath<Value>, _ nick: StaticString, _ blurb: StaticString,
    _ access: PropertyAccess, parse: @escaping @Sendable (String?) throws(InvalidPropertyValue) -> Value,
    text: @escaping @Sendable (Value) -> String?, changed: ChangeHandler? = nil
  ) -> Property {
    Property(
      name, path, nick, blurb, access, changed: changed,
      specification: { g_param_spec_string($0.name, $0.nick, $0.blurb, text($1).flatMap(nonEmpty), $0.flags) },
      get: { g_value_set_string($0, text($1).flatMap(nonEmpty)) },
      set: { value throws(InvalidPropertyValue) in try parse(value.string) })
  }

  /// A whole number of at most 32 bits, from 0 on (guint).
  package static func unsigned<Value: FixedWidthInteger & UnsignedInteger & Sendable>(
    _ name: PropertyName, _ path: SettingsPath<Value>, _ range: ClosedRange<Value>, _ nick: StaticString,
    _ blurb: StaticString, _ access: PropertyAccess, changed: ChangeHandler? = nil
  ) -> Property {
    Property(
      name, path, nick, blurb, access, changed: changed,
      specification: {
        g_param_spec_uint(
          $0.name, $0.nick, $0.blurb, guint(clamping: range.lowerBound), guint(clamping: range.upperBound),
          guint(clamping: $1), $0.flags)
      },
      get: { g_value_set_uint($0, guint(clamping: $1)) }, set: { Value(clamping: g_value_get_uint($0)) })
  }

  /// A whole number (gint).
  package static func integer(
    _ name: PropertyName, _ path: SettingsPath<Int32>, _ range: ClosedRange<Int32>, _ nick: StaticString,
    _ blurb: StaticString, _ access: PropertyAccess, changed: ChangeHandler? = nil
  ) -> Property {
    Property(
      name, path, nick, blurb, access, changed: changed,
      specification: {
        g_param_spec_int($0.name, $0.nick, $0.blurb, range.lowerBound, range.upperBound, $1, $0.flags)
      },
      get: { g_value_set_int($0, $1) }, set: { g_value_get_int($0) })
  }

  package static func double(
    _ name: PropertyName, _ path: SettingsPath<Double>, _ range: ClosedRange<Double>, _ nick: StaticString,
    _ blurb: StaticString, _ access: PropertyAccess, changed: ChangeHandler? = nil
  ) -> Property {
    Property(
      name, path, nick, blurb, access, changed: changed,
      specification: {
        g_param_spec_double($0.name, $0.nick, $0.blurb, range.lowerBound, range.upperBound, $1, $0.flags)
      },
      get: { g_value_set_double($0, $1) }, set: { g_value_get_double($0) })
  }

  package static func boolean(
    _ name: PropertyName, _ path: SettingsPath<Bool>, _ nick: StaticString, _ blurb: StaticString,
    _ access: PropertyAccess, changed: ChangeHandler? = nil
  ) -> Property {
    Property(
      name, path, nick, blurb, access, changed: changed,
      specification: { g_param_spec_boolean($0.name, $0.nick, $0.blurb, $1 ? 1 : 0, $0.flags) },
      get: { g_value_set_boolean($0, $1 ? 1 : 0) }, set: { g_value_get_boolean($0) != 0 })
  }

  /// A GstFraction from 0/1, which stands for nil, to `maximum`/1.
  package static func fraction<Value: FractionConvertible>(
    _ name: PropertyName, _ path: SettingsPath<Value?>, upTo maximum: Int32, _ nick: StaticString,
    _ blurb: StaticString, _ access: PropertyAccess, changed: ChangeHandler? = nil
  ) -> Property {
    Property(
      name, path, nick, blurb, access, changed: changed,
      specification: { texts, value in
        let terms: Structure.FractionTerms = value?.terms ?? (0, 1)
        return gst_param_spec_fraction(
          texts.name, texts.nick, texts.blurb, 0, 1, maximum, 1, terms.numerator, terms.denominator, texts.flags)
      },
      get: { value, fraction in
        let terms: Structure.FractionTerms = fraction?.terms ?? (0, 1)
        gst_value_set_fraction(value, terms.numerator, terms.denominator)
      },
      set: { Value(terms: (gst_value_get_fraction_numerator($0), gst_value_get_fraction_denominator($0))) })
  }

  /// One case of an enumeration.
  ///
  /// - Parameter reading: the value as it is read, if that is not the one in the settings.
  package static func enumeration<Value: ObjectEnumeration>(
    _ name: PropertyName, _ path: SettingsPath<Value>, _ nick: StaticString, _ blurb: StaticString,
    _ access: PropertyAccess, reading: (@Sendable (Owner) -> Value)? = nil, changed: ChangeHandler? = nil
  ) -> Property {
    Property(
      name, path, nick, blurb, access, changed: changed,
      specification: {
        g_param_spec_enum($0.name, $0.nick, $0.blurb, Value.objectType.type, $1.row.number, $0.flags)
      },
      get: { g_value_set_enum($0, $1.row.number) },
      set: { value throws(InvalidPropertyValue) in
        let number = g_value_get_enum(value)
        guard let value = Value(number: number) else { throw InvalidPropertyValue("\(number) is none of its values") }
        return value
      },
      reading: reading)
  }

  /// Rows of whole numbers, empty by default; see ``IntegerRows``.
  ///
  /// - Parameters:
  ///   - parse: makes a value of the rows, which are nil if the written value does not consist of rows of integers.
  ///   - rows: the value as it is read.
  package static func integerRows<Value: Sendable>(
    _ name: PropertyName, _ path: SettingsPath<Value>, _ nick: StaticString, _ blurb: StaticString,
    _ access: PropertyAccess, parse: @escaping @Sendable ([[Int32]]?) throws(InvalidPropertyValue) -> Value,
    rows: @escaping @Sendable (Value) -> [[Int32]], changed: ChangeHandler? = nil
  ) -> Property {
    Property(
      name, path, nick, blurb, access, changed: changed,
      specification: { texts, _ in
        gst_param_spec_array(
          texts.name, texts.nick, texts.blurb,
          IntegerRows.makeRowSpec(name: texts.name, nick: texts.nick, blurb: texts.blurb, texts.flags), texts.flags)
      },
      get: { IntegerRows.append(rows($1), to: $0) },
      set: { value throws(InvalidPropertyValue) in try parse(IntegerRows.read(value)) })
  }
}

extension Property {
  /// A boxed GstStructure.
  ///
  /// - Parameters:
  ///   - parse: makes a value of the structure, which is nil for NULL, or throws the reason why it is invalid.
  ///   - structure: the value as it is read; nil is NULL.
  package static func structure<Value: Sendable>(
    _ name: PropertyName, _ path: SettingsPath<Value>, _ nick: StaticString, _ blurb: StaticString,
    _ access: PropertyAccess, parse: @escaping @Sendable (StructureView?) throws(InvalidPropertyValue) -> Value,
    structure: @escaping @Sendable (Value) -> Structure?, changed: ChangeHandler? = nil
  ) -> Property {
    Property(
      name, path, nick, blurb, access, changed: changed,
      specification: { texts, _ in
        g_param_spec_boxed(texts.name, texts.nick, texts.blurb, cgst_type_structure(), texts.flags)
      },
      get: { value, structureValue in
        guard let made = structure(structureValue) else { return g_value_take_boxed(value, nil) }
        g_value_take_boxed(value, made.take())
      },
      set: { value throws(InvalidPropertyValue) in
        try parse(StructureView(g_value_get_boxed(value)?.assumingMemoryBound(to: GstStructure.self)))
      })
  }
}

/// A number that is a GstFraction.
package protocol FractionConvertible: Sendable {
  var terms: Structure.FractionTerms { get }
  /// Nil for the fraction that means "none", such as 0/1.
  init?(terms: Structure.FractionTerms)
}

private func nonEmpty(_ text: String) -> String? { text.isEmpty ? nil : text }

extension UnsafePointer<GValue> {
  /// The text of a value of type gchararray; nil for NULL, and if it is empty.
  package var string: String? { g_value_get_string(self).flatMap { nonEmpty(String(cString: $0)) } }
}

/// Read-only properties: each has a closure that makes its value, called on the reader's thread without locks.
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
  package static func unsigned(
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

  /// A whole number (gint).
  package static func integer(
    _ name: PropertyName, _ range: ClosedRange<Int32>, default initial: Int32, _ nick: StaticString,
    _ blurb: StaticString, get: @escaping @Sendable (Owner) -> Int32
  ) -> Property {
    Property(
      readOnly: name, nick, blurb,
      specification: {
        g_param_spec_int($0.name, $0.nick, $0.blurb, range.lowerBound, range.upperBound, initial, $0.flags)
      },
      read: { g_value_set_int($1, get($0)) })
  }

  /// A text; nil is NULL.
  package static func string(
    _ name: PropertyName, _ nick: StaticString, _ blurb: StaticString, get: @escaping @Sendable (Owner) -> String?
  ) -> Property {
    Property(
      readOnly: name, nick, blurb,
      specification: { g_param_spec_string($0.name, $0.nick, $0.blurb, nil, $0.flags) },
      read: { g_value_set_string($1, get($0)) })
  }

  package static func enumeration<Value: ObjectEnumeration>(
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
  package static func structure(
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
  package static func structures(
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

// Not literals in a call, because GObject would keep pointers to temporary copies.
private let elementName: StaticString = "structure"
private let elementNick: StaticString = "Structure"
private let elementBlurb: StaticString = "Element of the array"

/// Values such as `<<10,10,100,50>,<10,80,100,50>>`: a GstValueArray of GstValueArrays of integers.
package enum IntegerRows {
  /// The specification of a row and its elements, with a floating reference.
  static func makeRowSpec(
    name: UnsafePointer<CChar>, nick: UnsafePointer<CChar>, blurb: UnsafePointer<CChar>, _ flags: GParamFlags
  ) -> UnsafeMutablePointer<GParamSpec>? {
    let element = g_param_spec_int(name, nick, blurb, .min, .max, 0, flags)
    return gst_param_spec_array(name, nick, blurb, element, flags)
  }

  /// The rows in `value`; nil when it is anything else.
  package static func read(_ value: UnsafePointer<GValue>) -> [[Int32]]? {
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
  package static func append(_ rows: [[Int32]], to value: UnsafeMutablePointer<GValue>) {
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
