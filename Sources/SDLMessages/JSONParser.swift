import SDLWire

extension JSONObject {
  /// Why bytes are not RPC parameters.
  package enum Malformed: Error, Equatable, Sendable, CustomStringConvertible {
    /// JSON, but not an object.
    case notAnObject
    /// Not JSON, at this offset.
    case syntax(offset: Int)
    /// More than ``maximumByteCount``.
    case tooLong(Int)
    case tooDeep

    package var description: String {
      switch self {
      case .notAnObject: "it is JSON, but no object: { … }"
      case .syntax(let offset): "it is no JSON from byte \(offset) on"
      case .tooLong(let count): "it has \(count) bytes, more than \(JSONObject.maximumByteCount)"
      case .tooDeep: "it has more than \(JSONObject.maximumDepth) levels"
      }
    }
  }

  /// The longest text that is read, in bytes. The largest texts of head units (permissions, capabilities) are a tenth
  /// of it; a value takes up to thirty times its text in memory.
  package static let maximumByteCount = 1 << 20
  /// How deep objects and arrays are kept; no RPC needs ten levels. Bounds the stack of everybody who walks through the
  /// values, and of their release.
  package static let maximumDepth = 64

  /// Reads UTF-8 JSON: no bytes at all mean no parameters, NUL may follow, bytes that are not UTF-8 are replaced by
  /// U+FFFD, raw control characters may be in strings, and of equal keys the last counts.
  package init(parsing bytes: some Collection<UInt8>, as dialect: JSONDialect = .lenient) throws(Malformed) {
    let count = bytes.count
    guard count <= Self.maximumByteCount else { throw .tooLong(count) }
    var parser = JSONParser(bytes: Array(bytes), dialect)
    guard let value = try parser.document() else {
      self = [:]
      return
    }
    guard let object = value.object else { throw .notAnObject }
    self = object
  }
}

/// What else than JSON is read, and what is not.
package enum JSONDialect: Sendable {
  /// As much as possible of what head units write: numbers that are too large or not finite. Only white space may follow,
  /// and nothing may be nested deeper than ``Swift/Dictionary/maximumDepth``.
  case lenient
  /// As SDL Core reads what apps write: any text may follow, numbers have to fit a `Double`, and what is nested deeper
  /// than ``Swift/Dictionary/maximumDepth`` counts as null, up to a thousand levels.
  case sdlCore

  /// More are an error (the limit of JsonCpp, which SDL Core uses).
  fileprivate var mostLevels: Int { self == .sdlCore ? 1000 : JSONObject.maximumDepth }
}

/// Reads JSON (RFC 8259) in one pass, without recursion: the stack does not grow with the text.
///
/// Foundation's decoder is not used, because it refuses a whole message for one number out of range, and needs a second
/// for a kilobyte of nested arrays.
struct JSONParser {
  typealias Malformed = JSONObject.Malformed

  /// An object or array whose end has not been read yet.
  private struct Container {
    let isObject: Bool
    /// Of the next member.
    var key = ""
    private var members: JSONObject = [:]
    private var elements: [JSONValue] = []

    init(isObject: Bool) {
      self.isObject = isObject
    }

    var end: Unicode.Scalar { isObject ? "}" : "]" }
    var value: JSONValue { isObject ? .object(members) : .array(elements) }

    mutating func add(_ value: JSONValue) {
      if isObject { members[key] = value } else { elements.append(value) }
    }
  }

  private let bytes: [UInt8]
  private let dialect: JSONDialect
  private var position = 0

  init(bytes: [UInt8], _ dialect: JSONDialect = .lenient) {
    self.bytes = bytes
    self.dialect = dialect
  }

  /// The first value in the text; nil when there is none.
  mutating func document() throws(Malformed) -> JSONValue? {
    skipSpace()
    let isEmpty = peek() == nil || peek() == 0
    let value = isEmpty ? nil : try value()
    if dialect == .sdlCore { return value }
    skipSpace()
    while peek() == 0 { position += 1 }
    guard position == bytes.count else { throw .syntax(offset: position) }
    return value
  }

  private func peek() -> UInt8? {
    position < bytes.count ? bytes[position] : nil
  }

  private mutating func skipSpace() {
    while let byte = peek(), byte == UInt8(ascii: " ") || (9...13).contains(byte) { position += 1 }
  }

  /// Consumes the next byte if it is `byte`; whether it is.
  private mutating func take(_ byte: Unicode.Scalar) -> Bool {
    guard peek() == UInt8(ascii: byte) else { return false }
    position += 1
    return true
  }

  private mutating func value() throws(Malformed) -> JSONValue {
    var open: [Container] = []
    reading: while true {
      skipSpace()
      var value: JSONValue
      if peek() == UInt8(ascii: "{") || peek() == UInt8(ascii: "[") {
        guard open.count < dialect.mostLevels else { throw .tooDeep }
        var container = Container(isObject: peek() == UInt8(ascii: "{"))
        position += 1
        skipSpace()
        guard take(container.end) else {
          if container.isObject { container.key = try key() }
          open.append(container)
          continue
        }
        value = open.count < JSONObject.maximumDepth ? container.value : .null
      } else {
        value = try scalar()
      }
      while let last = open.indices.last {
        if open.count <= JSONObject.maximumDepth { open[last].add(value) }
        skipSpace()
        if take(",") {
          if open[last].isObject { open[last].key = try key() }
          continue reading
        }
        guard take(open[last].end) else { throw .syntax(offset: position) }
        let container = open.removeLast()
        value = open.count < JSONObject.maximumDepth ? container.value : .null
      }
      return value
    }
  }

  /// The key of a member, with the colon.
  private mutating func key() throws(Malformed) -> String {
    skipSpace()
    guard peek() == UInt8(ascii: "\"") else { throw .syntax(offset: position) }
    let key = try string()
    skipSpace()
    guard take(":") else { throw .syntax(offset: position) }
    return key
  }

  private mutating func scalar() throws(Malformed) -> JSONValue {
    switch peek() {
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case _ where dialect == .sdlCore: return try number()
    // Not JSON, but what some libraries write for numbers that are not finite.
    case UInt8(ascii: "N"): return try literal("NaN", .null)
    case UInt8(ascii: "I"): return try literal("Infinity", .null)
    case UInt8(ascii: "-") where bytes[position...].dropFirst().first == UInt8(ascii: "I"):
      return try literal("-Infinity", .null)
    default: return try number()
    }
  }

  private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(Malformed) -> JSONValue {
    let matches = text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    guard matches else { throw .syntax(offset: position) }
    position += text.utf8CodeUnitCount
    return value
  }

  private mutating func number() throws(Malformed) -> JSONValue {
    let start = position
    _ = take("-")
    let integerStart = position
    try digits()
    guard bytes[integerStart] != UInt8(ascii: "0") || position == integerStart + 1 else {
      throw .syntax(offset: integerStart)
    }
    var isInteger = true
    if take(".") {
      isInteger = false
      try digits()
    }
    if take("e") || take("E") {
      isInteger = false
      if !take("-") { _ = take("+") }
      try digits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, let value = Int(text) { return .integer(value) }
    guard let value = Double(text), value.isFinite || dialect == .lenient else { throw .syntax(offset: start) }
    return .number(value)
  }

  /// At least one digit.
  private mutating func digits() throws(Malformed) {
    let start = position
    while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw .syntax(offset: position) }
  }

  private mutating func string() throws(Malformed) -> String {
    position += 1
    var decoded: [UInt8] = []
    var runStart = position
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "\""):
        let run = bytes[runStart..<position]
        position += 1
        return String(decoding: decoded.isEmpty ? run : decoded + run, as: UTF8.self).streamSafe
      case UInt8(ascii: "\\"):
        decoded += bytes[runStart..<position]
        position += 1
        decoded += try escaped().utf8
        runStart = position
      default:
        position += 1
      }
    }
    throw .syntax(offset: position)
  }

  /// The character after a backslash.
  private mutating func escaped() throws(Malformed) -> Unicode.Scalar {
    guard let byte = peek() else { throw .syntax(offset: position) }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try escapedUTF16()
    default: throw .syntax(offset: position - 1)
    }
  }

  /// Four digits, or twice that for a character outside the basic plane; half of such a pair is U+FFFD.
  private mutating func escapedUTF16() throws(Malformed) -> Unicode.Scalar {
    let unit = try fourHexDigits()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    let afterUnit = position
    if UTF16.isLeadSurrogate(unit), take("\\"), take("u") {
      let trail = try fourHexDigits()
      if UTF16.isTrailSurrogate(trail) {
        return UTF16.decode(UTF16.EncodedScalar([unit, trail]))
      }
    }
    position = afterUnit
    return "\u{FFFD}"
  }

  private mutating func fourHexDigits() throws(Malformed) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw .syntax(offset: position)
      }
      value = value << 4 | UInt16(digit)
      position += 1
    }
    return value
  }
}
