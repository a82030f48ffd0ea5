/// A JSON object. RPC parameters are always one.
public typealias JSONObject = [String: JSONValue]

/// Any JSON value. RPCs are read from this tree member by member, so that an unknown key, an unknown enum value or a
/// member of the wrong type does not spoil the rest of the message.
public enum JSONValue: Equatable, Sendable {
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
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The nearest whole number, also when written as 15.0; nil for other types and for what exceeds 2⁵³ in that form.
  public var integer: Int? {
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
  public var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value.isFinite ? value : nil
    default: nil
    }
  }

  /// The text; nil for other types.
  public var string: String? { if case .string(let value) = self { value } else { nil } }

  /// The elements; nil for other types.
  public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

  /// The members; nil for other types.
  public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }
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
  init(present members: [String: JSONValue?]) {
    self = members.compactMapValues { $0 }
  }
}

/// Parameters of one RPC as a Swift value. Reading never fails: what is missing or unusable is nil or the default
/// that the RPC specification names.
public protocol RPCParameters: Equatable, Sendable {
  /// Reads the parameters object.
  init(json: JSONObject)
  /// The parameters object.
  var json: JSONObject { get }
}
