/// The head of an HTTP message (RFC 9112, section 2): its first line and its fields, as far as an upgrade needs them.
struct HTTPHead {
  /// In bytes, with the empty line.
  static let maximumByteCount = 8 << 10

  let firstLine: String
  private var fields: [(name: String, value: String)] = []

  /// How many of the bytes are the head; nil while it is not complete.
  ///
  /// - Parameter start: where the last call found nothing yet.
  static func byteCount(in bytes: [UInt8], from start: Int) -> Int? {
    let end: [UInt8] = [13, 10, 13, 10]
    guard bytes.count >= end.count else { return nil }
    return (max(start - end.count, 0)...(bytes.count - end.count)).first { bytes[$0..<($0 + end.count)] == end[...] }
      .map { $0 + end.count }
  }

  /// Nil for bytes that are no such head.
  init?(_ bytes: ArraySlice<UInt8>) {
    var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map { $0.last == 13 ? $0.dropLast() : $0 }
    while lines.last?.isEmpty == true { lines.removeLast() }
    guard let first = lines.first, lines.allSatisfy({ $0.allSatisfy { $0 >= 32 || $0 == 9 } }) else { return nil }
    firstLine = String(decoding: first, as: UTF8.self)
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { return nil }
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      guard !name.contains(where: \.isWhitespace) else { return nil }
      let value = line[(colon + 1)...].trimmingBlanks
      fields.append((name, String(decoding: value, as: UTF8.self)))
    }
  }

  /// The only field of that name, in lower case; nil if there is none, or are several.
  func value(_ name: String) -> String? {
    let values = fields.filter { $0.name == name }
    return values.count == 1 ? values[0].value : nil
  }

  func has(_ name: String) -> Bool { fields.contains { $0.name == name } }

  /// Whether a list of words, in one field or several, has this one in any case.
  func lists(_ word: String, in name: String) -> Bool {
    fields.contains { field in
      field.name == name
        && field.value.utf8.split(separator: UInt8(ascii: ",")).contains {
          String(decoding: Array($0)[...].trimmingBlanks, as: UTF8.self).lowercased() == word
        }
    }
  }
}

extension ArraySlice<UInt8> {
  fileprivate var trimmingBlanks: ArraySlice<UInt8> {
    let isBlank: (UInt8) -> Bool = { $0 == 32 || $0 == 9 }
    var rest = drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return rest
  }
}
