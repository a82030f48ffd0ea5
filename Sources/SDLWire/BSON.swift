/// A value of the BSON subset in control frames (bsonspec.org): the seven types that SDL Core's BSON library has.
package indirect enum BSONValue: Equatable, Sendable {
  case double(Double)
  case string(String)
  case document(BSONDocument)
  case array([BSONValue])
  case bool(Bool)
  case int32(Int32)
  case int64(Int64)
}

/// An ordered BSON document. Head units write keys in any order; look values up by key.
package struct BSONDocument: Equatable, Sendable {
  package struct Element: Equatable, Sendable {
    package var key: String
    package var value: BSONValue
  }

  /// In wire order.
  package var elements: [Element]

  /// Creates a document with these elements, in their order; nil values are left out.
  package init(_ elements: [(String, BSONValue?)] = []) {
    self.elements = elements.compactMap { key, value in value.map { Element(key: key, value: $0) } }
  }

  /// The first value for `key`.
  package subscript(key: String) -> BSONValue? {
    elements.first { $0.key == key }?.value
  }

  /// The string for `key`; nil when absent or of another type.
  package func string(_ key: String) -> String? {
    if case .string(let value) = self[key] { value } else { nil }
  }

  /// The 32-bit integer for `key`; nil when absent or of another type, as head units read it.
  package func int32(_ key: String) -> Int32? {
    if case .int32(let value) = self[key] { value } else { nil }
  }

  /// The 64-bit integer for `key`; nil when absent or of another type.
  package func int64(_ key: String) -> Int64? {
    if case .int64(let value) = self[key] { value } else { nil }
  }

  /// The strings in the array for `key`; elements of other types are skipped, an absent key is nil.
  package func strings(_ key: String) -> [String]? {
    guard case .array(let values) = self[key] else { return nil }
    return values.compactMap { if case .string(let value) = $0 { value } else { nil } }
  }

  /// The 32-bit integers in the array for `key`; elements of other types are skipped, an absent key is nil.
  package func int32s(_ key: String) -> [Int32]? {
    guard case .array(let values) = self[key] else { return nil }
    return values.compactMap { if case .int32(let value) = $0 { value } else { nil } }
  }
}

extension BSONDocument {
  package enum Malformed: Error, Equatable, Sendable {
    case truncated
    /// A length field that contradicts the bytes around it.
    case length(Int32)
    case type(UInt8)
    case notUTF8
    case boolean(UInt8)
    /// Nested deeper than four levels, or more than 1024 elements; no control frame comes near.
    case limit
  }

  private static let maximumDepth = 4
  private static let maximumElements = 1024

  /// The document as bytes. Keys must not contain NUL.
  package var bytes: [UInt8] {
    var body: [UInt8] = []
    for element in elements { Self.append(element.key, element.value, to: &body) }
    return Self.littleEndian(Int32(truncatingIfNeeded: body.count + 5)) + body + [0]
  }

  private static func append(_ key: String, _ value: BSONValue, to body: inout [UInt8]) {
    func head(_ type: UInt8) { body += [type] + Array(key.utf8) + [0] }
    switch value {
    case .double(let number):
      head(0x01)
      body += littleEndian(number.bitPattern)
    case .string(let string):
      head(0x02)
      body += littleEndian(Int32(truncatingIfNeeded: string.utf8.count + 1)) + Array(string.utf8) + [0]
    case .document(let document):
      head(0x03)
      body += document.bytes
    case .array(let values):
      head(0x04)
      body += BSONDocument(values.enumerated().map { (String($0.offset), $0.element) }).bytes
    case .bool(let flag):
      head(0x08)
      body.append(flag ? 1 : 0)
    case .int32(let number):
      head(0x10)
      body += littleEndian(number)
    case .int64(let number):
      head(0x12)
      body += littleEndian(number)
    }
  }

  private static func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian, Array.init)
  }

  /// Reads the document that starts `bytes`; bytes after it are ignored.
  package init(decoding bytes: [UInt8]) throws(Malformed) {
    var reader = Reader(bytes: bytes[...])
    self = try reader.document(depth: 0)
  }

  private struct Reader {
    var bytes: ArraySlice<UInt8>
    var remainingElements = BSONDocument.maximumElements

    mutating func take(_ count: Int) throws(Malformed) -> ArraySlice<UInt8> {
      guard count <= bytes.count else { throw .truncated }
      defer { bytes.removeFirst(count) }
      return bytes.prefix(count)
    }

    mutating func integer<T: FixedWidthInteger>(_ type: T.Type) throws(Malformed) -> T {
      var value: T = 0
      for (shift, byte) in try take(T.bitWidth / 8).enumerated() {
        value |= T(truncatingIfNeeded: byte) << (8 * shift)
      }
      return value
    }

    mutating func cString() throws(Malformed) -> String {
      guard let end = bytes.firstIndex(of: 0) else { throw .truncated }
      let text = try take(end - bytes.startIndex)
      _ = try take(1)
      return try utf8(text)
    }

    func utf8(_ bytes: ArraySlice<UInt8>) throws(Malformed) -> String {
      guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
      return text.streamSafe
    }

    mutating func document(depth: Int) throws(Malformed) -> BSONDocument {
      guard depth < BSONDocument.maximumDepth else { throw .limit }
      let length = try integer(Int32.self)
      guard length >= 5, Int(length) - 4 <= bytes.count else { throw .length(length) }
      var body = Reader(bytes: try take(Int(length) - 4), remainingElements: remainingElements)
      var result = BSONDocument()
      while true {
        let type = try body.integer(UInt8.self)
        if type == 0 { break }
        guard body.remainingElements > 0 else { throw .limit }
        body.remainingElements -= 1
        let key = try body.cString()
        result.elements.append(Element(key: key, value: try body.value(type, depth: depth)))
      }
      guard body.bytes.isEmpty else { throw .length(length) }
      remainingElements = body.remainingElements
      return result
    }

    mutating func value(_ type: UInt8, depth: Int) throws(Malformed) -> BSONValue {
      switch type {
      case 0x01: return .double(Double(bitPattern: try integer(UInt64.self)))
      case 0x02: return .string(try string())
      case 0x03: return .document(try document(depth: depth + 1))
      case 0x04: return .array(try document(depth: depth + 1).elements.map(\.value))
      case 0x08:
        let byte = try integer(UInt8.self)
        guard byte <= 1 else { throw .boolean(byte) }
        return .bool(byte == 1)
      case 0x10: return .int32(try integer(Int32.self))
      case 0x12: return .int64(try integer(Int64.self))
      default: throw .type(type)
      }
    }

    mutating func string() throws(Malformed) -> String {
      let length = try integer(Int32.self)
      guard length >= 1, Int(length) <= bytes.count else { throw .length(length) }
      let text = try take(Int(length))
      guard text.last == 0 else { throw .truncated }
      return try utf8(text.dropLast())
    }
  }
}
