import SDLMessages

/// What a value in an RPC may be (MOBILE_API.xml).
///
/// SDL Core compares every request with it before anything else. Unknown values of enumerations, which newer apps send, are
/// left out with a warning; everything else that does not fit makes the request invalid.
indirect enum RPCSchema: Sendable {
  case flag
  case integer(ClosedRange<Int>)
  case number(ClosedRange<Double>)
  /// A text for people, with so many Unicode scalars: see ``isPlain(_:)``.
  case text(ClosedRange<Int>)
  /// Any other text.
  case raw(ClosedRange<Int>)
  case enumeration(Set<String>)
  case list(RPCSchema, ClosedRange<Int>)
  case object([Member])

  static let anyInteger = RPCSchema.integer(Int(Int32.min)...Int(Int32.max))
  static let anyNumber = RPCSchema.number(-Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude)

  /// A member of an object.
  struct Member: Sendable {
    let name: String
    let schema: RPCSchema
    let isNeeded: Bool

    static func needed(_ name: String, _ schema: RPCSchema) -> Member {
      Member(name: name, schema: schema, isNeeded: true)
    }

    static func optional(_ name: String, _ schema: RPCSchema) -> Member {
      Member(name: name, schema: schema, isNeeded: false)
    }
  }

  /// Unknown values that were left out.
  struct Report: Sendable {
    /// More are not named.
    private static let mostNamed = 3
    private static let longestName = 50
    private(set) var names: [String] = []

    mutating func note(_ name: String) {
      if names.count < Self.mostNamed { names.append(String(name.unicodeScalars.prefix(Self.longestName))) }
    }

    /// For the `info` of the response; nil if nothing was left out.
    var text: String? { names.isEmpty ? nil : "Ignored invalid value - " + names.joined(separator: ", ") }
  }

  /// The parameters without unknown members, and without unknown values of enumerations.
  /// - Returns: nil for parameters that do not fit.
  static func checked(_ parameters: JSONObject, _ members: [Member], _ report: inout Report) -> JSONObject? {
    let schema = RPCSchema.object(members)
    guard let known = schema.known(.object(parameters), &report), schema.accepts(known) else { return nil }
    return known.object
  }

  /// The value without what is unknown; nil if that leaves nothing of use.
  private func known(_ value: JSONValue, _ report: inout Report) -> JSONValue? {
    switch (self, value) {
    case (.enumeration(let names), .string(let name)):
      guard !names.contains(name) else { return value }
      report.note(name)
      return nil
    case (.list(let element, let count), .array(let values)):
      let rest = values.compactMap { element.known($0, &report) }
      return rest.count < values.count && rest.count < count.lowerBound ? nil : .array(rest)
    case (.object(let members), .object(let object)):
      var rest: JSONObject = [:]
      for member in members {
        guard let former = object[member.name] else { continue }
        rest[member.name] = member.schema.known(former, &report)
        if member.isNeeded, rest[member.name] == nil { return nil }
      }
      return .object(rest)
    default: return value
    }
  }

  private func accepts(_ value: JSONValue) -> Bool {
    switch (self, value) {
    case (.flag, .bool): true
    // Not one that is written with a fraction, whatever its value.
    case (.integer(let range), .integer(let number)): range.contains(number)
    case (.number(let range), _): value.number.map(range.contains) ?? false
    case (.text(let length), .string(let text)):
      Self.fits(text, length) && Self.isPlain(text, allowsBlanks: length.lowerBound == 0)
    case (.raw(let length), .string(let text)): Self.fits(text, length)
    case (.enumeration, .string): true
    case (.list(let element, let count), .array(let values)):
      count.contains(values.count) && values.allSatisfy(element.accepts)
    case (.object(let members), .object(let object)):
      members.allSatisfy { member in object[member.name].map(member.schema.accepts) ?? !member.isNeeded }
    default: false
    }
  }

  private static func fits(_ text: String, _ length: ClosedRange<Int>) -> Bool {
    // A scalar has at most four bytes: long texts are not counted.
    text.utf8.count <= length.upperBound * 4 && length.contains(text.unicodeScalars.count)
  }

  /// SDL Core takes no texts with tabs or line breaks, also if they are spelled as in C, and few that are blank.
  private static func isPlain(_ text: String, allowsBlanks: Bool) -> Bool {
    guard allowsBlanks || text.utf8.contains(where: { $0 != UInt8(ascii: " ") }) else { return false }
    var isEscaped = false
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\t"), UInt8(ascii: "\n"): return false
      case UInt8(ascii: "t"), UInt8(ascii: "n"): if isEscaped { return false }
      default: break
      }
      isEscaped = byte == UInt8(ascii: "\\")
    }
    return true
  }
}
