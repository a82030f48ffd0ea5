/// The parser of scripts.
extension HeadUnitScript {
  /// A script is written by hand; what is longer is something else.
  public static let maximumByteCount = 64 << 10
  /// More steps are refused.
  public static let maximumStepCount = 1000
  /// A day, in seconds.
  private static let longestTime = 86_400.0
  private static let highestNumber = 1_000_000

  /// What is wrong with a text, and what would be right.
  public struct Malformed: Error, Equatable, CustomStringConvertible {
    /// From 1 on.
    public var line: Int
    public var text: String

    /// "line 7: …".
    public var description: String { "line \(line): \(text)" }
  }

  /// Reads a whole file.
  public init(_ bytes: [UInt8]) throws(Malformed) {
    self.init()
    guard bytes.count <= Self.maximumByteCount else {
      let line = bytes[..<Self.maximumByteCount].count { $0 == UInt8(ascii: "\n") } + 1
      throw Malformed(line: line, text: "a script has at most \(Self.maximumByteCount >> 10) KiB")
    }
    for (index, lineBytes) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
    {
      let line = index + 1
      guard var text = String(validating: lineBytes, as: UTF8.self) else {
        throw Malformed(line: line, text: "this is no UTF-8")
      }
      // Some editors begin a file with it.
      if line == 1, text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
      guard let step = try Self.step(Self.withoutComment(text), line: line) else { continue }
      guard steps.count < Self.maximumStepCount else {
        throw Malformed(line: line, text: "a script has at most \(Self.maximumStepCount) steps")
      }
      steps.append(step)
    }
  }

  /// Reads a text.
  public init(_ text: String) throws(Malformed) {
    try self.init(Array(text.utf8))
  }

  /// Without the space around it, too.
  private static func withoutComment(_ text: String) -> String {
    var words: [Substring] = []
    for word in text.split(whereSeparator: \.isWhitespace) {
      if word.hasPrefix("#") { break }
      words.append(word)
    }
    return words.joined(separator: " ")
  }

  /// Nil where there is nothing.
  private static func step(_ text: String, line: Int) throws(Malformed) -> Step? {
    if text.isEmpty { return nil }
    guard let colon = text.firstIndex(of: ":") else {
      throw Malformed(line: line, text: "\"\(text)\" has no colon; \(form)")
    }
    let trigger = try trigger(text[..<colon].split(separator: " ").map(String.init), line: line)
    let command: HeadUnitCommand?
    do throws(HeadUnitCommand.Malformed) {
      command = try HeadUnitCommand.parse(String(text[text.index(after: colon)...]))
    } catch {
      throw Malformed(line: line, text: error.description)
    }
    guard let command, command != .help else {
      throw Malformed(line: line, text: "there is no command behind the colon; \(form)")
    }
    return Step(line: line, trigger: trigger, command: command, text: text)
  }

  private static let form =
    "write \"at SECONDS: COMMAND\" or \"on EVENT [NUMBER] [after SECONDS]: COMMAND\""

  private static func trigger(_ words: [String], line: Int) throws(Malformed) -> Trigger {
    switch (words.first, words.count) {
    case ("at", 2): return .time(try time(words[1], line: line))
    case ("on", 2...):
      guard let event = Event(rawValue: words[1]) else {
        let names = Event.allCases.map(\.rawValue).joined(separator: ", ")
        throw Malformed(line: line, text: "there is no event \"\(words[1])\", but \(names)")
      }
      var rest = words.dropFirst(2)
      var number: Int?
      if let word = rest.first, word != "after" {
        guard let value = Int(word), (1...highestNumber).contains(value) else {
          throw Malformed(line: line, text: "\"\(word)\" is no number of an event, from 1 on; \(form)")
        }
        number = value
        rest.removeFirst()
      }
      if rest.isEmpty { return .event(event, number: number, delay: .zero) }
      guard rest.count == 2, rest.first == "after", let last = rest.last else { break }
      return .event(event, number: number, delay: try time(last, line: line))
    default: break
    }
    throw Malformed(line: line, text: "\"\(words.joined(separator: " "))\" is no time and no event; \(form)")
  }

  private static func time(_ text: String, line: Int) throws(Malformed) -> Duration {
    guard let seconds = Double(text), (0...longestTime).contains(seconds) else {
      throw Malformed(line: line, text: "\"\(text)\" is no time in seconds, 0 to \(Int(longestTime))")
    }
    return .seconds(seconds)
  }
}
