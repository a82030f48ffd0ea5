/// A JSON object. RPC parameters are always one.
package typealias JSONObject = [String: JSONValue]

/// Any JSON value. RPCs are read from this tree member by member, so that an unknown key, an unknown enum value or a
/// member of the wrong type does not spoil the rest of the message.
package enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  /// A number without fraction and exponent that fits.
  case integer(Int)
  /// Any other number; infinite when it is too large for a `Double`.
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// The flag; nil for other types.
  package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The nearest whole number, also when written as 15.0; nil for other types and for what exceeds 2⁵³ in that form.
  package var integer: Int? {
    switch self {
    case .integer(let value): value
    case .number(let value) where value.magnitude < 0x1p53: Self.nearestInteger(value)
    default: nil
    }
  }

  private static func nearestInteger(_ value: Double) -> Int {
    let whole = Int(value)
    let fraction = value - Double(whole)
    return whole + (fraction >= 0.5 ? 1 : fraction <= -0.5 ? -1 : 0)
  }

  /// A finite number; nil for other types.
  package var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value.isFinite ? value : nil
    default: nil
    }
  }

  /// The text; nil for other types.
  package var string: String? { if case .string(let value) = self { value } else { nil } }

  /// The elements; nil for other types.
  package var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

  /// The members; nil for other types.
  package var object: JSONObject? { if case .object(let value) = self { value } else { nil } }
}

extension JSONObject {
  /// The whole number; nil when absent, of another type, or out of range.
  func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    self[key]?.integer.flatMap { range.contains($0) ? $0 : nil }
  }

  /// The number; nil when absent, of another type, or out of range.
  func number(_ key: String, in range: PartialRangeFrom<Double>) -> Double? {
    self[key]?.number.flatMap { range.contains($0) ? $0 : nil }
  }

  /// The value of a string enumeration; nil when absent, of another type, or unknown.
  func enumeration<T: RawRepresentable<String>>(_ key: String, as type: T.Type = T.self) -> T? {
    self[key]?.string.flatMap(T.init(rawValue:))
  }

  /// The known values in an array of a string enumeration; nil when absent or of another type.
  func enumerations<T: RawRepresentable<String>>(_ key: String, as type: T.Type = T.self) -> [T]? {
    self[key]?.array?.compactMap { $0.string.flatMap(T.init(rawValue:)) }
  }

  /// An object without the members that are nil.
  package init(present members: [String: JSONValue?]) {
    self = members.compactMapValues { $0 }
  }
}

/// Parameters of one RPC as a Swift value. Reading never fails: missing or unusable members are nil or the default of
/// the RPC specification.
package protocol RPCParameters: Equatable, Sendable {
  init(json: JSONObject)
  var json: JSONObject { get }
}

extension JSONObject {
  /// UTF-8 JSON without white space and with sorted keys, so that equal parameters give equal bytes.
  package var serialized: [UInt8] {
    var bytes: [UInt8] = []
    JSONValue.object(self).write(to: &bytes)
    return bytes
  }
}

extension JSONValue {
  /// UTF-8 JSON, like that of an object.
  package var serialized: [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return bytes
  }

  fileprivate func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .integer(let value): bytes += String(value).utf8
    case .number(let value): Self.write(value, to: &bytes)
    case .string(let value): Self.write(value, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        element.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.write(member.key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Whole numbers without ".0"; null for infinity and NaN, which JSON does not have.
  private static func write(_ number: Double, to bytes: inout [UInt8]) {
    if number.magnitude < 0x1p53, Double(Int(number)) == number {
      bytes += String(Int(number)).utf8
    } else {
      bytes += (number.isFinite ? number.description : "null").utf8
    }
  }

  private static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        bytes += "\\u00\(digits.count == 1 ? "0" : "")\(digits)".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
