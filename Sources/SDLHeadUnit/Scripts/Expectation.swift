import SDLMessages

/// What a test demands of an app, or of the head unit: that an event comes in time, or does not come for a time.
///
///     expect EVENT [PATH=VALUE | PATH~EXPRESSION] ... [within SECONDS]
///     never EVENT [PATH=VALUE | PATH~EXPRESSION] ... for SECONDS
package struct Expectation: Equatable, Sendable {
  package enum Kind: String, Sendable {
    case expect
    case never
  }

  static let usualTime = Duration.seconds(10)

  package let kind: Kind
  package let pattern: EventPattern
  /// How long the event is waited for, or must not come.
  package let time: Duration
  /// As written.
  package let text: String

  /// - Parameter words: what follows the kind.
  init(_ kind: Kind, _ words: [String], text: String) throws(HeadUnitCommand.Malformed) {
    var words = words[...]
    let preposition = kind == .expect ? "within" : "for"
    var time: Duration?
    if words.count >= 2, words[words.endIndex - 2] == preposition {
      let last = words.removeLast()
      words.removeLast()
      time = CommandParser.seconds(last)
      if time == nil {
        throw HeadUnitCommand.Malformed(description: "\"\(last)\" is no time in seconds, above 0 and up to 3600")
      }
    }
    guard let time = time ?? (kind == .expect ? Self.usualTime : nil) else {
      throw HeadUnitCommand.Malformed(description: "\"\(text)\" does not say for how long: add \"for SECONDS\"")
    }
    self.kind = kind
    self.time = time
    self.text = text
    pattern = try EventPattern(words)
  }
}

/// What is done with the picture that an app shows.
package struct PictureTask: Equatable, Sendable {
  /// In decibels; what a good encoder keeps is above it, another picture below.
  package static let usualPSNR = 30.0

  /// The file that is written, or compared with.
  package var file: String
  /// The least peak signal-to-noise ratio, in decibels; nil for a file that is written.
  package var minimumPSNR: Double?
  /// How long the picture is waited for.
  package var time = Expectation.usualTime
  /// As written.
  package var text: String
}

/// How an expectation, or a test's own `fail`, has ended.
package struct TestOutcome: Equatable, Sendable {
  /// The line of the script; nil for one that was typed.
  package var line: Int?
  /// The expectation, or the text of `fail`.
  package var text: String
  /// Why it has failed, and what came instead; nil if it was met.
  package var failure: String?
  /// From its beginning to its end.
  package var time: Duration

  package init(line: Int?, text: String, failure: String? = nil, time: Duration = .zero) {
    self.line = line
    self.text = text
    self.failure = failure
    self.time = time
  }

  /// A line for the log.
  package var description: String {
    let place = line.map { "line \($0): " } ?? ""
    return "\(place)\(text): \(failure.map { "failed, \($0)" } ?? "met after \(time.inSeconds)")".printable(limit: 2000)
  }
}

/// Why a test is over.
package enum TestEnd: Equatable, Sendable {
  /// `quit` was reached.
  case quit
  /// All expectations of the script have ended.
  case settled
}

/// The expectations that wait, with what has come since each began.
struct ExpectationRun: Sendable {
  private struct Waiting: Sendable {
    let expectation: Expectation
    let step: HeadUnitScript.Step?
    /// The app whose events count; nil for any.
    let app: UInt8?
    let start: Duration
    /// How often an event of the right name came with other members, and how the last ones differed.
    var differingCount = 0
    var differences: [String] = []
    /// The names of other events, the latest last.
    var others: [String] = []

    var deadline: Duration { start + expectation.time }

    mutating func noteDifference(_ text: String) {
      differingCount += 1
      differences = differences.suffix(ExpectationRun.mostDifferences - 1) + [text]
    }

    mutating func noteOther(_ name: String) {
      others = others.suffix(ExpectationRun.mostOthers - 1) + [name]
    }
  }

  private enum Verdict {
    case waits
    case met
    /// Why.
    case failed(String)
  }

  /// The end of an expectation, for which the next step of its sequence may wait.
  struct Settled: Sendable {
    var outcome: TestOutcome
    var step: HeadUnitScript.Step?
    var app: UInt8?
  }

  static let maximumWaitingCount = 1000
  /// What a failure lists.
  private static let mostDifferences = 3
  private static let mostOthers = 10

  private var waiting: [Waiting] = []

  var isEmpty: Bool { waiting.isEmpty }
  var nextDeadline: Duration? { waiting.map(\.deadline).min() }

  func expects(_ name: String) -> Bool { waiting.contains { $0.expectation.pattern.name == name } }

  /// - Returns: false when too many wait already.
  mutating func begin(_ expectation: Expectation, step: HeadUnitScript.Step?, app: UInt8?, now: Duration) -> Bool {
    guard waiting.count < Self.maximumWaitingCount else { return false }
    waiting.append(Waiting(expectation: expectation, step: step, app: app, start: now))
    return true
  }

  /// An event has come.
  mutating func note(_ record: EventRecord, app: UInt8?, now: Duration) -> [Settled] {
    settle(at: { _ in now }) { waiting in
      guard waiting.app == nil || waiting.app == app else { return .waits }
      switch (waiting.expectation.pattern.compare(record), waiting.expectation.kind) {
      case (.matches, .expect): return .met
      case (.matches, .never): return .failed("it came after \((now - waiting.start).inSeconds): \(record.text)")
      case (.differs(let members), _): waiting.noteDifference(members.joined(separator: ", "))
      case (.otherEvent, _): waiting.noteOther(record.name)
      }
      return .waits
    }
  }

  /// The time of some is over.
  mutating func advance(to now: Duration) -> [Settled] {
    settle(at: \.deadline) { waiting in
      guard waiting.deadline <= now else { return .waits }
      return waiting.expectation.kind == .never
        ? .met : .failed("not within \(waiting.expectation.time.inSeconds); \(Self.instead(waiting))")
    }
  }

  /// The head unit ends before they do.
  mutating func end(now: Duration) -> [Settled] {
    settle(at: { _ in now }) { waiting in
      .failed(
        "the test ended before"
          + (waiting.expectation.kind == .never ? " its time was over" : "; \(Self.instead(waiting))"))
    }
  }

  private static func instead(_ waiting: Waiting) -> String {
    let name = waiting.expectation.pattern.name
    if waiting.differingCount > 0 {
      let times = waiting.differingCount == 1 ? "once" : "\(waiting.differingCount) times"
      return "\(name) came \(times), but \(waiting.differences.joined(separator: "; "))"
    }
    return waiting.others.isEmpty
      ? "nothing came" : "instead came \(waiting.others.joined(separator: ", "))"
  }

  /// - Parameter time: when one has ended.
  private mutating func settle(
    at time: (Waiting) -> Duration, _ verdict: (inout Waiting) -> Verdict
  ) -> [Settled] {
    var settled: [Settled] = []
    waiting = waiting.compactMap { former in
      var one = former
      let failure: String?
      switch verdict(&one) {
      case .waits: return one
      case .met: failure = nil
      case .failed(let text): failure = text
      }
      let outcome = TestOutcome(
        line: one.step?.line, text: one.expectation.text, failure: failure, time: time(one) - one.start)
      settled.append(Settled(outcome: outcome, step: one.step, app: one.app))
      return nil
    }
    return settled
  }
}
