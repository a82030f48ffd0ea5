import Foundation
import Testing

@testable import SDLHeadUnit

/// The parser of scripts.
@Suite struct ScriptTextTests {
  @Test(
    arguments: [
      ("at 0: cut", .time(.zero)),
      ("  at  2.5 :  cut  # no more", .time(.milliseconds(2500))),
      ("on connected: cut", .event(.connected, number: nil, delay: .zero)),
      ("on frame 30: cut", .event(.frame, number: 30, delay: .zero)),
      ("on hmi-none after 1.5: cut\r", .event(.hmiNone, number: nil, delay: .milliseconds(1500))),
      ("on stream-started 2 after 0:cut", .event(.streamStarted, number: 2, delay: .zero)),
      ("\u{FEFF}at 1: cut", .time(.seconds(1))),
    ] as [(String, HeadUnitScript.Trigger)])
  func triggers(line: String, trigger: HeadUnitScript.Trigger) throws {
    let steps = try HeadUnitScript(line).steps
    #expect(steps.map(\.trigger) == [trigger] && steps.map(\.command) == [.cut])
  }

  @Test func everyEventHasAName() throws {
    for event in HeadUnitScript.Event.allCases {
      let script = try HeadUnitScript("on \(event.rawValue) 7 after 1: end-video")
      #expect(script.steps.map(\.trigger) == [.event(event, number: 7, delay: .seconds(1))])
      #expect(HeadUnitScript.Event.allCases.filter(script.reacts(to:)) == [event])
    }
  }

  @Test func linesAndComments() throws {
    let script = try HeadUnitScript(
      "# A head\n\n   # of comments\r\nat 1: level none # why\n\ton frame: distraction on #1\n")
    #expect(script.steps.map(\.line) == [4, 5])
    #expect(script.steps.map(\.text) == ["at 1: level none", "on frame: distraction on"])
    #expect(try HeadUnitScript("").steps == [] && HeadUnitScript("\n# nothing").steps == [])
    // Only the first colon separates, and a comment needs a space.
    #expect(
      try HeadUnitScript("at 1: distraction on At 7:30 use#5").steps.map(\.text)
        == ["at 1: distraction on At 7:30 use#5"])
  }

  /// A mark behind a backslash does not end the text, and one behind two does.
  @Test(arguments: [
    (#"at 1: notify OnCommand {"a":"b  #  c"}  # why"#, #"at 1: notify OnCommand {"a":"b  #  c"}"#),
    (#"at 1: notify OnCommand {"a":"b \"  #  c"}  # why"#, #"at 1: notify OnCommand {"a":"b \"  #  c"}"#),
    (#"at 1: notify OnCommand {"a":"b \\"}   # why"#, #"at 1: notify OnCommand {"a":"b \\"}"#),
  ])
  func texts(line: String, expected: String) throws {
    #expect(try HeadUnitScript(line).steps.map(\.text) == [expected])
  }

  /// The page on behaviour scripts: it lists all events and commands, and its examples are valid.
  private static func documentation() throws -> String {
    let package = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    return try String(contentsOf: package.appending(path: "docs/behaviour-scripts.md"), encoding: .utf8)
  }

  @Test func documentation() throws {
    let page = try Self.documentation()
    for event in HeadUnitScript.Event.allCases { #expect(page.contains("`\(event.rawValue)`")) }
    for line in HeadUnitCommand.usage.split(separator: "\n") where line != "help" {
      // The first word, and the second if it is a keyword.
      let name = line.split(separator: " ").prefix(2).filter { $0.allSatisfy { $0.isLowercase || $0 == "-" } }
      #expect(page.contains("`\(name.joined(separator: " "))"), "\(line)")
    }
    // Steps are in code blocks, which are indented or between fences.
    var isFenced = false
    var steps: [Substring] = []
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") { isFenced.toggle() }
      let text = line.drop { $0 == " " }
      let isCode = isFenced || line.count - text.count >= 4
      if isCode, ["at ", "on ", "then:"].contains(where: text.hasPrefix), text.contains(":") { steps.append(text) }
    }
    #expect(steps.count >= 5)
    #expect(try HeadUnitScript(steps.joined(separator: "\n")).steps.count == steps.count)
  }

  @Test(arguments: [
    ("cut", 1, "\"cut\" has no colon; write \"at SECONDS: COMMAND\""),
    ("\n\nat 1: lvel none", 3, "unknown command \"lvel\""),
    ("at 1: level high", 1, "\"level high\" is not of the form level full|limited|background|none"),
    ("at 1:", 1, "there is no command after the colon"),
    ("at 1: help", 1, "there is no command after the colon"),
    (": cut", 1, "\"\" is no time and no event"),
    ("at: cut", 1, "\"at\" is no time and no event; write"),
    ("at soon: cut", 1, "\"soon\" is no time in seconds, 0 to 86400"),
    ("at -1: cut", 1, "\"-1\" is no time"), ("at nan: cut", 1, "\"nan\" is no time"),
    ("at 1e9: cut", 1, "\"1e9\" is no time"), ("at 1 after 2: cut", 1, "\"at 1 after 2\" is no time and no event"),
    ("on: cut", 1, "\"on\" is no time and no event"),
    ("on conected: cut", 1, "there is no event \"conected\", but connected, registered, hmi-full,"),
    ("on frame 0: cut", 1, "\"0\" is no number of an event, from 1 on"),
    ("on frame 1 2: cut", 1, "\"on frame 1 2\" is no time and no event"),
    ("on frame after: cut", 1, "\"on frame after\" is no time and no event"),
    ("on frame after x: cut", 1, "\"x\" is no time"),
    ("on frame after 1 2: cut", 1, "\"on frame after 1 2\" is no time"),
  ])
  func errors(text: String, line: Int, message: String) {
    let error = #expect(throws: MalformedLine.self) { try HeadUnitScript(text) }
    #expect(error?.line == line)
    #expect(error?.description.hasPrefix("line \(line): \(message)") == true, "\(error?.description ?? "")")
  }

  @Test func bounds() throws {
    let step = "at 1: cut\n"
    #expect(try HeadUnitScript(String(repeating: step, count: 1000)).steps.count == 1000)
    #expect(throws: MalformedLine(line: 1001, text: "a script has at most 1000 steps")) {
      try HeadUnitScript(String(repeating: step, count: 1001))
    }
    let comment = "#" + String(repeating: "x", count: 1022) + "\n"
    #expect(try HeadUnitScript(String(repeating: comment, count: 64)).steps == [])
    #expect(throws: MalformedLine(line: 65, text: "a script has at most 64 KiB")) {
      try HeadUnitScript(String(repeating: comment, count: 64) + "\n")
    }
    #expect(throws: MalformedLine(line: 2, text: "this is no UTF-8")) {
      try HeadUnitScript([0x23, 0x0A, 0x23, 0xFF, 0x0A])
    }
  }

  @Test(arguments: [
    ("at 86400", true), ("at 86400.1", false), ("on frame 1000000", true), ("on frame 1000001", false),
    ("on frame after 86400", true), ("on frame after 86401", false),
  ])
  func largestNumbers(trigger: String, isTaken: Bool) {
    #expect(((try? HeadUnitScript("\(trigger): cut")) != nil) == isTaken)
  }
}
