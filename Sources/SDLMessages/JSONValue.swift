import FoundationEssentials

/// A JSON object. RPC parameters are always one.
public typealias JSONObject = [String: JSONValue]

/// Any JSON value. RPCs are read from this tree member by member, so that an unknown key, an unknown enum value or a
/// member of the wrong type never costs the rest of the message.
public enum JSONValue: Equatable, Sendable, Codable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// Takes the first representation that fits.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode(JSONObject.self))
    }
  }

  /// Writes the plain value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// The flag; nil for other types.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// A whole number, also when written as 15.0; nil for other types and for what an `Int` can't hold.
  public var integer: Int? {
    switch self {
    case .integer(let value): value
    case .number(let value): Int(exactly: value.rounded())
    default: nil
    }
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
  /// Why bytes are not RPC parameters.
  public enum Malformed: Error, Equatable, Sendable {
    case notAnObject
  }

  /// Reads UTF-8 JSON; no bytes at all mean no parameters.
  public init(parsing bytes: some Collection<UInt8>) throws(Malformed) {
    if bytes.isEmpty {
      self = [:]
      return
    }
    guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)), let object = value.object else {
      throw .notAnObject
    }
    self = object
  }

  /// UTF-8 JSON with sorted keys, so that equal parameters give equal bytes. Numbers that JSON can't write become
  /// an empty object's worth of nothing: callers never put NaN or infinity into parameters.
  public var serialized: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(JSONValue.object(self))).map { Array($0) } ?? Array("{}".utf8)
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
