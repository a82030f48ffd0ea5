import SDLWire

extension JSONObject {
  /// Why bytes are not RPC parameters.
  public enum Malformed: Error, Equatable, Sendable {
    /// JSON, but not an object.
    case notAnObject
    /// Not JSON, at this offset.
    case syntax(offset: Int)
    /// More than ``maximumByteCount``.
    case tooLong(Int)
    /// Nested deeper than ``maximumDepth``.
    case tooDeep
  }

  /// The longest text that is read, in bytes. The largest texts of head units (permissions, capabilities) are a tenth
  /// of it; a value takes up to thirty times its text in memory.
  public static let maximumByteCount = 1 << 20
  /// How deep objects and arrays may be nested; no RPC needs ten levels. Bounds the stack.
  public static let maximumDepth = 64

  /// Reads UTF-8 JSON as head units write it: no bytes at all mean no parameters, white space and NUL may follow, bytes
  /// that are not UTF-8 are replaced by U+FFFD, raw control characters may be in strings, and of equal keys the last
  /// counts.
  public init(parsing bytes: some Collection<UInt8>) throws(Malformed) {
    let count = bytes.count
    guard count <= Self.maximumByteCount else { throw .tooLong(count) }
    var parser = JSONParser(bytes: Array(bytes))
    guard let value = try parser.document() else {
      self = [:]
      return
    }
    guard let object = value.object else { throw .notAnObject }
    self = object
  }
}

/// Reads JSON (RFC 8259) in one pass.
///
/// Foundation's decoder is not used, because it refuses a whole message for one number out of range, and needs a second
/// for a kilobyte of nested arrays.
struct JSONParser {
  typealias Malformed = JSONObject.Malformed

  private let bytes: [UInt8]
  private var position = 0

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The only value in the text; nil when there is none.
  mutating func document() throws(Malformed) -> JSONValue? {
    skipSpace()
    guard let first = peek(), first != 0 else { return try atEnd(nil) }
    return try atEnd(value(depth: 0))
  }

  private mutating func atEnd(_ value: JSONValue?) throws(Malformed) -> JSONValue? {
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

  private mutating func value(depth: Int) throws(Malformed) -> JSONValue {
    skipSpace()
    switch peek() {
    case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
    case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
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

  private mutating func object(depth: Int) throws(Malformed) -> JSONObject {
    guard depth <= JSONObject.maximumDepth else { throw .tooDeep }
    position += 1
    var members: JSONObject = [:]
    skipSpace()
    if take("}") { return members }
    repeat {
      skipSpace()
      guard peek() == UInt8(ascii: "\"") else { throw .syntax(offset: position) }
      let key = try string()
      skipSpace()
      guard take(":") else { throw .syntax(offset: position) }
      members[key] = try value(depth: depth)
      skipSpace()
    } while take(",")
    guard take("}") else { throw .syntax(offset: position) }
    return members
  }

  private mutating func array(depth: Int) throws(Malformed) -> [JSONValue] {
    guard depth <= JSONObject.maximumDepth else { throw .tooDeep }
    position += 1
    var elements: [JSONValue] = []
    skipSpace()
    if take("]") { return elements }
    repeat {
      elements.append(try value(depth: depth))
      skipSpace()
    } while take(",")
    guard take("]") else { throw .syntax(offset: position) }
    return elements
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
    guard let value = Double(text) else { throw .syntax(offset: start) }
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
