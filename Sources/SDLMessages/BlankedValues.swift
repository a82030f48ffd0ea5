import SDLWire

/// The values that a ``Blanking`` has replaced, and their words. Bounded: what comes after the limits gets its word
/// without a number.
struct BlankedValues: Sendable {
  /// The raw value is the word.
  enum Kind: String {
    case name
    case id
    case vin
    case position
    case phone
    case device
    /// Typed by a person.
    case text
    /// Of the network or of Bluetooth.
    case address
  }

  /// The most words of a kind.
  static let mostWords = 4096
  /// Longer values get their word without a number.
  static let longestValue = 1000
  /// The bytes of all values together.
  private static let maximumByteCount = 1 << 20
  /// Values that are shorter, in bytes of UTF-8, are replaced in quotation marks only: such texts are parts of others.
  private static let shortestRepeat = 3
  /// The most values with the same beginning that are looked for in texts, which bounds the work for each byte.
  private static let mostAlike = 32
  /// For each byte of a text, on average: ordinary ones need less than one.
  private static let comparisonsPerByte = 64
  private static let ellipsis = Array("…".utf8)

  private struct Repeat {
    let bytes: [UInt8]
    let word: [UInt8]
  }

  private var words: [String: String] = [:]
  private var counts: [Kind: Int] = [:]
  private var byteCount = 0
  /// By their first bytes, the longest first.
  private var repeats: [UInt32: [Repeat]] = [:]

  /// Takes a value that is to be replaced. One that has a word already keeps it.
  mutating func add(_ value: String, _ kind: Kind) {
    let (count, size) = (counts[kind, default: 0], value.utf8.count)
    guard size > 0, size <= Self.longestValue, words[value] == nil, count < Self.mostWords,
      byteCount + size <= Self.maximumByteCount
    else { return }
    byteCount += size
    counts[kind] = count + 1
    let word = "\(kind.rawValue)-\(count + 1)"
    words[value] = word
    // Coordinates are written in many ways, and are parts of other numbers.
    guard kind != .position || Double(value) == nil else { return }
    let quoted = value.quoted
    // As texts for people have it, too.
    for form in Set([value, value.printable(), String(quoted.dropFirst().dropLast())]) {
      addRepeat(form, word)
    }
  }

  private mutating func addRepeat(_ form: String, _ word: String) {
    var (bytes, word) = (Array(form.utf8), Array(word.utf8))
    if bytes.count < Self.shortestRepeat {
      bytes = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
      word = [UInt8(ascii: "\"")] + word + [UInt8(ascii: "\"")]
    }
    guard let beginning = Self.beginning(of: bytes[...]) else { return }
    var alike = repeats[beginning] ?? []
    // The word that came first stays.
    guard alike.count < Self.mostAlike, !alike.contains(where: { $0.bytes == bytes }) else { return }
    alike.insert(
      Repeat(bytes: bytes, word: word), at: alike.firstIndex { $0.bytes.count < bytes.count } ?? alike.endIndex)
    repeats[beginning] = alike
  }

  private static func beginning(of bytes: ArraySlice<UInt8>) -> UInt32? {
    guard bytes.count >= shortestRepeat else { return nil }
    return bytes.prefix(shortestRepeat).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The word of a value that was taken.
  func word(for value: String, _ kind: Kind) -> String {
    value.isEmpty ? value : words[value] ?? kind.rawValue
  }

  /// A text in which the values that were taken are replaced, also one whose end is cut off. What is left of one that is
  /// made to cost much has the word of a value that was not taken.
  func replaced(in text: String) -> String {
    guard !repeats.isEmpty else { return text }
    let bytes = Array(text.utf8)
    let end = bytes.suffix(Self.ellipsis.count) == Self.ellipsis[...] ? bytes.count - Self.ellipsis.count : nil
    var comparisons = bytes.count * Self.comparisonsPerByte + Self.longestValue * Self.mostAlike
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if comparisons < 0 {
        result += Kind.text.rawValue.utf8
        break
      }
      if let (word, length) = replacement(at: bytes[index...], cutAt: end, &comparisons) {
        result += word
        index += length
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// - Parameters:
  ///   - end: where the text is cut off; nil for a whole text.
  ///   - comparisons: of bytes that are left.
  private func replacement(
    at rest: ArraySlice<UInt8>, cutAt end: Int?, _ comparisons: inout Int
  ) -> (word: [UInt8], length: Int)? {
    guard let alike = Self.beginning(of: rest).flatMap({ repeats[$0] }) else { return nil }
    let last = end.flatMap { $0 - rest.startIndex >= Self.shortestRepeat ? rest[..<$0] : nil }
    var cut: [UInt8]?
    for one in alike {
      var count = 0
      while count < min(one.bytes.count, rest.count), one.bytes[count] == rest[rest.startIndex + count] { count += 1 }
      comparisons -= count
      if count == one.bytes.count { return (one.word, count) }
      if cut == nil, let last, count >= last.count { cut = one.word }
    }
    return cut.flatMap { word in last.map { (word, $0.count) } }
  }
}
