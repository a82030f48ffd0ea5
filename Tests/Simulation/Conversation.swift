import Foundation

/// A scenario that is written down with all that happens in it, as one text: what it is about, who takes part, and then
/// the steps of the script (`> milliseconds action`), each with what follows from it.
package struct Conversation {
  /// A text that is no conversation: what is wrong, for people.
  struct Malformed: Error, CustomStringConvertible {
    let description: String
  }

  private static let mark = "> "
  /// Longer lines are cut off: other tests look at what messages hold.
  private static let longestLine = 130

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../SimulationTests/Conversations")

  /// The files of all that are written down.
  package static let names =
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.filter { $0.hasSuffix(".txt") }.sorted() ?? []

  private let description: String
  private let settings: String
  private let scenario: Scenario

  init(_ text: String) throws {
    let parts = text.split(separator: "\n\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3 else { throw Malformed(description: "not three paragraphs") }
    (description, settings) = (parts[0], parts[1])
    scenario = try Scenario(
      settings: settings.split(separator: "\n"),
      steps: parts[2].split(separator: "\n").filter { $0.hasPrefix(Self.mark) }.map { $0.dropFirst(Self.mark.count) })
  }

  /// How what happens differs from what a file says; nil if it does not.
  ///
  /// - Parameter isWritten: whether the file is to say so from now on.
  package static func difference(from name: String, isWritten: Bool = false) throws -> String? {
    let file = folder.appendingPathComponent(name)
    let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    let (played, fault) = try Conversation(text).played()
    if isWritten { try Data(played.utf8).write(to: file) }
    let changes = played.split(separator: "\n").difference(from: text.split(separator: "\n")).map { change in
      switch change {
      case .insert(let line, let text, _): (line: line, text: "line \(line + 1) is new: \(text)")
      case .remove(let line, let text, _): (line: line, text: "line \(line + 1) is gone: \(text)")
      }
    }
    let all = (fault.map { [$0] } ?? []) + changes.sorted { $0.line < $1.line }.map(\.text)
    return all.isEmpty ? nil : "\(name):\n\(all.joined(separator: "\n"))"
  }

  /// The text as it would have to be, and the rule that was broken.
  private func played() -> (text: String, fault: String?) {
    var lines: [String] = []
    var steps = scenario.steps[...]
    let outcome = Simulation.outcome(of: scenario, provesLiveness: false) { line in
      if let step = steps.first, line.hasSuffix(" \(Self.mark)\(step.action)") {
        steps = steps.dropFirst()
        lines.append("\(Self.mark)\(step.after) \(step.action)")
      } else {
        let end = line.lastIndex { $0 != " " } ?? line.startIndex
        lines.append(line.count > Self.longestLine ? line.prefix(Self.longestLine) + "…" : String(line[...end]))
      }
    }
    let text = "\(description)\n\n\(settings)\n\n" + lines.map { "\($0)\n" }.joined()
    return (text, outcome.finding.map { "\($0.rule.rawValue): \($0.text)" })
  }
}

extension Scenario {
  /// - Parameters:
  ///   - settings: `preset NAME`, `command COMMAND` of the head unit before the first app connects, `app JSON` with the
  ///     members of a plan that differ from the usual ones, and others.
  ///   - steps: milliseconds after the step before, and the action.
  fileprivate init(settings: [Substring], steps: [Substring]) throws {
    (seed, preset, apps) = (1, "standard", [])
    for line in settings {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      switch (words[0], words.dropFirst().first) {
      case ("preset", let name?): preset = name
      case ("command", let command?): commands.append(command)
      case ("app", let members?): apps.append(try SimulatedApp.Plan(Data(members.utf8)))
      case ("encrypts", nil): carEncrypts = true
      case ("requires-encryption", nil): requiresEncryption = true
      case ("offers-secondary", nil): offersSecondary = true
      default: throw Conversation.Malformed(description: "unknown setting: \(line)")
      }
    }
    self.steps = try steps.map { line in
      let words = line.split(separator: " ", maxSplits: 1)
      guard words.count == 2, let time = Int(words[0]) else {
        throw Conversation.Malformed(description: "no step: \(line)")
      }
      return Step(after: time, action: String(words[1]))
    }
  }
}

extension SimulatedApp.Plan {
  /// The usual plan, with these members in place of the usual ones.
  fileprivate init(_ members: Data) throws {
    guard let members = try JSONSerialization.jsonObject(with: members) as? [String: Any] else {
      throw Conversation.Malformed(description: "no object")
    }
    var usual = SimulatedApp.Plan()
    usual.heartbeat = 10
    if members["video"] != nil { usual.video = SimulatedVideo.Plan() }
    if members["sound"] != nil { usual.sound = SimulatedSound.Plan() }
    let all = try JSONSerialization.jsonObject(with: JSONEncoder().encode(usual)) as? [String: Any] ?? [:]
    let merged = all.merging(members) { usual, member in
      guard let usual = usual as? [String: Any], let member = member as? [String: Any] else { return member }
      return usual.merging(member) { $1 }
    }
    self = try JSONDecoder().decode(Self.self, from: JSONSerialization.data(withJSONObject: merged))
  }
}
