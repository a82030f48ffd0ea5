import Glibc
import SDLMessages

/// What an expectation waits for: an event of scripts or an RPC, and what its members are.
///
///     Show mainField1="Hello SDL!" softButtons.0.text~"^(OK|ROCK)$"
///
/// A name is one of ``HeadUnitScript/Event``, or an RPC's, by either side; with `/response` it is the RPC's response. A
/// path leads through objects by their keys and through arrays by their indexes. `=` compares with a string, or with the
/// JSON of another value; `~` searches a POSIX extended regular expression in it.
package struct EventPattern: Equatable, Sendable {
  static let responseSuffix = "/response"
  /// The most bytes of a member in which an expression is searched: its time grows with them.
  private static let longestSearch = 1 << 16

  /// In bytes.
  private static let longestExpression = 500

  private struct Condition: Equatable, Sendable {
    /// As written before the operator, and split at its dots.
    let path: String
    let keys: [String]
    let isExpression: Bool
    let value: String
  }

  package let name: String
  private let conditions: [Condition]

  /// - Parameter words: the name, and then the conditions.
  init(_ words: some Sequence<String>) throws(HeadUnitCommand.Malformed) {
    var words = words.makeIterator()
    guard let name = words.next() else {
      throw HeadUnitCommand.Malformed(description: "there is no event; \(Self.form)")
    }
    let function = name.hasSuffix(Self.responseSuffix) ? String(name.dropLast(Self.responseSuffix.count)) : name
    guard HeadUnitScript.Event(rawValue: name) != nil || FunctionID(name: function) != nil else {
      let names = HeadUnitScript.Event.allCases.map(\.rawValue).joined(separator: ", ")
      throw HeadUnitCommand.Malformed(
        description: "there is no event and no RPC \"\(name)\"; RPCs are written as in SDL's specification, such as "
          + "Show, and events are \(names)")
    }
    self.name = name
    var conditions: [Condition] = []
    while let word = words.next() { conditions.append(try Self.condition(word)) }
    self.conditions = conditions
  }

  private static let form = "write EVENT [PATH=VALUE | PATH~EXPRESSION] ..."

  private static func condition(_ word: String) throws(HeadUnitCommand.Malformed) -> Condition {
    guard let place = word.firstIndex(where: { $0 == "=" || $0 == "~" }), place != word.startIndex else {
      throw HeadUnitCommand.Malformed(description: "\"\(word)\" is no condition; \(form)")
    }
    let keys = word[..<place].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard !keys.contains("") else {
      throw HeadUnitCommand.Malformed(
        description: "\"\(word[..<place])\" is no path: between dots there are names or numbers")
    }
    let condition = Condition(
      path: String(word[..<place]), keys: keys,
      isExpression: word[place] == "~", value: String(word[word.index(after: place)...]))
    // Back-references, which POSIX does not have either, take a time that nothing bounds.
    let hasReference = zip(condition.value, condition.value.dropFirst()).contains {
      $0 == "\\" && ("1"..."9").contains($1)
    }
    if condition.isExpression,
      hasReference || condition.value.utf8.count > longestExpression || search(condition.value, in: "") == nil
    {
      throw HeadUnitCommand.Malformed(description: "\"\(condition.value)\" is no POSIX extended regular expression")
    }
    return condition
  }

  /// Whether the expression is found; nil if it is none.
  private static func search(_ expression: String, in text: String) -> Bool? {
    var compiled = regex_t()
    guard regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB) == 0 else { return nil }
    defer { regfree(&compiled) }
    let bounded =
      text.utf8.count > longestSearch ? String(decoding: text.utf8.prefix(longestSearch), as: UTF8.self) : text
    return regexec(&compiled, bounded, 0, nil, 0) == 0
  }

  /// How an event differs from the pattern.
  enum Comparison: Equatable {
    case matches
    case otherEvent
    /// The event is the one, but these members differ: "mainField1 was "Hello"".
    case differs([String])
  }

  func compare(_ record: EventRecord) -> Comparison {
    guard record.name == name else { return .otherEvent }
    let differences = conditions.compactMap { difference(of: record.members, from: $0) }
    return differences.isEmpty ? .matches : .differs(differences)
  }

  private func difference(of members: JSONObject, from condition: Condition) -> String? {
    guard let value = Self.value(at: condition.keys, in: .object(members)) else {
      return "\(condition.path) was absent"
    }
    let text = value.string ?? String(decoding: value.serialized, as: UTF8.self)
    let isMet = condition.isExpression ? Self.search(condition.value, in: text) == true : text == condition.value
    return isMet ? nil : "\(condition.path) was \(text.quoted)"
  }

  private static func value(at keys: [String], in value: JSONValue) -> JSONValue? {
    keys.reduce(JSONValue?.some(value)) { value, key in
      if let object = value?.object { return object[key] }
      guard let array = value?.array, key.allSatisfy(\.isWholeNumber), let index = Int(key),
        array.indices.contains(index)
      else { return nil }
      return array[index]
    }
  }
}
