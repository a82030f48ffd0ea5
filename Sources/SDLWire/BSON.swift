/// A value of the BSON subset in control frames (bsonspec.org): the seven types that SDL Core's BSON library has.
public indirect enum BSONValue: Equatable, Sendable {
  case double(Double)
  case string(String)
  case document(BSONDocument)
  case array([BSONValue])
  case bool(Bool)
  case int32(Int32)
  case int64(Int64)
}

/// An ordered BSON document. Head units write keys in any order; look values up by key.
public struct BSONDocument: Equatable, Sendable {
  /// One key and its value.
  public struct Element: Equatable, Sendable {
    public var key: String
    public var value: BSONValue
  }

  /// In wire order.
  public var elements: [Element]

  /// Creates a document with these elements, in their order; nil values are left out.
  public init(_ elements: [(String, BSONValue?)] = []) {
    self.elements = elements.compactMap { key, value in value.map { Element(key: key, value: $0) } }
  }

  /// The first value for `key`.
  public subscript(key: String) -> BSONValue? {
    elements.first { $0.key == key }?.value
  }

  /// The string for `key`; nil when absent or of another type.
  public func string(_ key: String) -> String? {
    if case .string(let value) = self[key] { value } else { nil }
  }

  /// The 32-bit integer for `key`; nil when absent or of another type, as head units read it.
  public func int32(_ key: String) -> Int32? {
    if case .int32(let value) = self[key] { value } else { nil }
  }

  /// The 64-bit integer for `key`; nil when absent or of another type.
  public func int64(_ key: String) -> Int64? {
    if case .int64(let value) = self[key] { value } else { nil }
  }

  /// The strings in the array for `key`; elements of other types are skipped, an absent key is nil.
  public func strings(_ key: String) -> [String]? {
    guard case .array(let values) = self[key] else { return nil }
    return values.compactMap { if case .string(let value) = $0 { value } else { nil } }
  }

  /// The 32-bit integers in the array for `key`; elements of other types are skipped, an absent key is nil.
  public func int32s(_ key: String) -> [Int32]? {
    guard case .array(let values) = self[key] else { return nil }
    return values.compactMap { if case .int32(let value) = $0 { value } else { nil } }
  }
}
