/// The last lines that a program has written.
struct OutputTail: Sendable {
  private static let maximumLineCount = 10
  /// In bytes; a longer line continues as another one.
  private static let maximumLineLength = 400

  private var complete: [String] = []
  private var rest: [UInt8] = []

  /// Takes bytes; returns the lines that they have completed.
  mutating func append(_ bytes: some Sequence<UInt8>) -> [String] {
    var lines: [String] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") || rest.count >= Self.maximumLineLength {
        lines.append(Self.text(rest))
        rest = []
      }
      if byte != UInt8(ascii: "\n") { rest.append(byte) }
    }
    complete = Array((complete + lines).suffix(Self.maximumLineCount))
    return lines
  }

  /// The last of them, with the one that is not complete yet.
  var lines: [String] {
    (complete + (rest.isEmpty ? [] : [Self.text(rest)])).filter { !$0.isEmpty }.suffix(Self.maximumLineCount)
  }

  private static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self).filter { !($0.unicodeScalars.first?.properties.generalCategory == .control) }
  }
}
