import SDLMessages
import SDLWire

/// The valid values of a parameter (MOBILE_API.xml).
///
/// SDL Core validates every request with it first. Unknown values of enumerations, as from newer apps, are left out
/// with a warning; every other mismatch makes the request invalid.
indirect enum RPCSchema: Sendable {
  case flag
  case integer(ClosedRange<Int>)
  case number(ClosedRange<Double>)
  /// A text for users, with so many Unicode scalars: see ``isPlain(_:)``.
  case text(ClosedRange<Int>)
  /// Any other text.
  case raw(ClosedRange<Int>)
  case enumeration(Set<String>)
  case list(RPCSchema, ClosedRange<Int>)
  case object([Member])

  static let anyInteger = RPCSchema.integer(Int(Int32.min)...Int(Int32.max))
  static let anyNumber = RPCSchema.number(-Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude)

  static func enumeration<Name: RawRepresentable<String> & CaseIterable>(of names: Name.Type) -> RPCSchema {
    .enumeration(Set(names.allCases.map(\.rawValue)))
  }

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

  /// The parameters without unknown members, and without unknown values of enumerations, which are noted.
  static func checked(
    _ parameters: JSONObject, _ members: [Member], _ check: inout RPCCheck
  ) throws(RPCFault) -> JSONObject {
    let schema = RPCSchema.object(members)
    guard let known = schema.known(.object(parameters), &check) else { throw check.fault }
    try schema.check(known, &check)
    return known.object ?? [:]
  }

  /// Whether a value is valid, with nothing to leave out.
  func contains(_ value: JSONValue) -> Bool {
    var check = RPCCheck()
    return known(value, &check) == value && (try? self.check(value, &check)) != nil
  }

  /// The value without unknown parts; nil if nothing valid is left.
  private func known(_ value: JSONValue, _ check: inout RPCCheck) -> JSONValue? {
    switch (self, value) {
    case (.enumeration(let names), .string(let name)):
      guard !names.contains(name) else { return value }
      check.note(name)
      return nil
    case (.list(let element, let count), .array(let values)):
      var rest: [JSONValue] = []
      for (index, value) in values.enumerated() {
        check.path.append(.element(index))
        if let value = element.known(value, &check) { rest.append(value) }
        check.path.removeLast()
      }
      return rest.count < values.count && rest.count < count.lowerBound ? nil : .array(rest)
    case (.object(let members), .object(let object)):
      var rest: JSONObject = [:]
      for member in members {
        guard let former = object[member.name] else { continue }
        check.path.append(.member(member.name))
        rest[member.name] = member.schema.known(former, &check)
        check.path.removeLast()
        if member.isNeeded, rest[member.name] == nil { return nil }
      }
      return .object(rest)
    default: return value
    }
  }
}

extension RPCSchema {
  /// Checks a value whose unknown parts have been left out.
  func check(_ value: JSONValue, _ check: inout RPCCheck) throws(RPCFault) {
    switch (self, value) {
    // Not a number written with a fraction, even if that is 0.
    case (.flag, .bool), (.enumeration, .string): break
    case (.integer(let range), .integer(let number)):
      guard range.contains(number) else { throw check.fault(Self.outside(range, "is \(number)")) }
    case (.number(let range), .integer), (.number(let range), .number):
      guard value.number.map(range.contains) ?? false else {
        throw check.fault(Self.outside(range, "is \(value.number.map { "\($0)" } ?? "infinite")"))
      }
    case (.text(let length), .string(let text)):
      try Self.checkLength(of: text, length, check)
      if let fault = Self.unreadable(text) { throw check.fault(fault) }
    case (.raw(let length), .string(let text)): try Self.checkLength(of: text, length, check)
    case (.list(let element, let count), .array(let values)):
      guard count.contains(values.count) else { throw check.fault(Self.outside(count, "has \(values.count) elements")) }
      for (index, value) in values.enumerated() {
        check.path.append(.element(index))
        try element.check(value, &check)
        check.path.removeLast()
      }
    case (.object(let members), .object(let object)):
      for member in members {
        check.path.append(.member(member.name))
        if let value = object[member.name] {
          try member.schema.check(value, &check)
        } else if member.isNeeded {
          throw check.fault("is missing")
        }
        check.path.removeLast()
      }
    default: throw check.fault("is \(Self.kind(of: value)), but has to be \(kind)")
    }
  }

  private static func outside<Bound>(_ range: ClosedRange<Bound>, _ fact: String) -> String {
    "\(fact), but \(range.lowerBound) to \(range.upperBound) are allowed"
  }

  private static func checkLength(
    of text: String, _ length: ClosedRange<Int>, _ check: RPCCheck
  ) throws(RPCFault) {
    let count = text.unicodeScalars.count
    guard length.contains(count) else { throw check.fault(outside(length, "has \(count) characters")) }
  }

  /// SDL Core refuses texts with tabs or line breaks, even escaped as in C, and those of blanks alone.
  private static func unreadable(_ text: String) -> String? {
    guard text.isEmpty || text.utf8.contains(where: { $0 != UInt8(ascii: " ") }) else { return "has blanks alone" }
    var isEscaped = false
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\t"), UInt8(ascii: "\n"): return "has a tab or a line break"
      case UInt8(ascii: "t"), UInt8(ascii: "n"): if isEscaped { return "has an escaped tab or line break" }
      default: break
      }
      isEscaped = byte == UInt8(ascii: "\\")
    }
    return nil
  }

  private var kind: String {
    switch self {
    case .flag: "true or false"
    case .integer: "a whole number"
    case .number: "a number"
    case .text, .raw, .enumeration: "a text"
    case .list: "a list"
    case .object: "an object"
    }
  }

  private static func kind(of value: JSONValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let flag): "\(flag)"
    case .integer: "a whole number"
    case .number: "a number with a fraction or an exponent"
    case .string: "a text"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

/// Why the parameters of a request are invalid.
struct RPCFault: Error, Equatable {
  /// A sentence for the app's developer, which names the member.
  let text: String
}

/// The place of a check in the parameters, and the unknown values of enumerations found so far.
struct RPCCheck {
  /// A member of an object, or an element of a list, from 0.
  enum Step {
    case member(String)
    case element(Int)
  }

  /// The most unknown values that are named.
  private static let mostNotes = 3

  var path: [Step] = []
  private var notes: [String] = []

  /// Such as `softButtons[1].image.value`. No longer than the names in the schemas.
  private var place: String {
    path.reduce(into: "") { place, step in
      switch step {
      case .member(let name): place += place.isEmpty ? name : ".\(name)"
      case .element(let index): place += "[\(index)]"
      }
    }
  }

  /// - Parameter fault: the rest of a sentence that begins with the member.
  func fault(_ fault: String) -> RPCFault {
    RPCFault(text: "\(place.isEmpty ? "The parameters" : place) \(fault)")
  }

  /// An unknown value is left out.
  mutating func note(_ name: String) {
    guard notes.count < Self.mostNotes else { return }
    notes.append(fault("has the unknown value \(name.quoted)").text)
  }

  /// The unknown values were needed.
  var fault: RPCFault { RPCFault(text: notes.joined(separator: "; ")) }

  /// For the `info` of a response; nil if nothing was left out.
  var warning: String? { notes.isEmpty ? nil : "Ignored: " + notes.joined(separator: "; ") }
}
