import Foundation
import SDLLink

/// The program `Simulate`: runs scenarios for a time, or one of them, and says what it has found.
package struct SimulateTool {
  private var seconds = 60.0
  private var seed = UInt64.random(in: 1...UInt64(UInt32.max)) << 20
  private var isSingle = false
  private var file: String?
  private var onlyConversations = false
  private var writesConversations = false

  /// `--time SECONDS`, `--from SEED`, `--seed SEED` for one alone, with a trace; `--case FILE`,
  /// a scenario or a recorded drive (`.jsonl`); `--conversations compare|write` for these alone.
  package init(_ arguments: some Sequence<String>) {
    var iterator = arguments.makeIterator()
    while let name = iterator.next(), let value = iterator.next() {
      switch name {
      case "--time": seconds = Double(value) ?? seconds
      case "--from": seed = UInt64(value) ?? seed
      case "--seed":
        seed = UInt64(value) ?? seed
        isSingle = true
      case "--case": file = value
      case "--conversations":
        onlyConversations = true
        writesConversations = value == "write"
      default: print("unknown option \(name)")
      }
    }
  }

  /// The exit status: 1 if something was found.
  package func run() -> Int32 {
    if let file { return runCase(file) }
    if onlyConversations { return runConversations() }
    return isSingle ? runSingle(Scenario(seed: seed)) : runMany()
  }

  private func runMany() -> Int32 {
    var tally = Tally()
    let began = Date()
    guard runConversations() == 0 else { return 1 }
    print("from seed \(seed)")
    // A crash would lose it.
    fflush(nil)
    var next = seed
    let watch = RunWatch()
    while -began.timeIntervalSinceNow < seconds {
      let scenario = Scenario(seed: next)
      watch.begin(next)
      let outcome = Simulation.outcome(of: scenario)
      tally.add(outcome.tally)
      watch.end()
      if let finding = outcome.finding {
        print("seed \(next), after \(-began.timeIntervalSinceNow) s: \(finding.rule.rawValue): \(finding.text)")
        report(Simulation.shrunk(scenario, finding.rule))
        print("Again: make simulate SEED=\(next)")
        return 1
      }
      next += 1
    }
    print(tally.text)
    return 0
  }

  private func runConversations() -> Int32 {
    let differences = Conversation.names.compactMap { name in
      do {
        return try Conversation.difference(from: name, isWritten: writesConversations)
      } catch {
        return "\(name):\n\(error)"
      }
    }
    for difference in differences { print(difference) }
    return differences.isEmpty || writesConversations ? 0 : 1
  }

  private func runSingle(_ scenario: Scenario) -> Int32 {
    let outcome = Simulation.outcome(of: scenario) { print($0) }
    guard let finding = outcome.finding else {
      print("nothing found")
      return 0
    }
    print("\(finding.rule.rawValue): \(finding.text)")
    return 1
  }

  private func runCase(_ file: String) -> Int32 {
    guard let data = FileManager.default.contents(atPath: file),
      let scenario = Scenario(data, isRecording: file.hasSuffix(".jsonl"))
    else {
      print("\(file) can't be read")
      return 2
    }
    return runSingle(scenario)
  }

  private func report(_ scenario: Scenario) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    if let data = try? encoder.encode(scenario) { print(String(decoding: data, as: UTF8.self)) }
  }
}

extension Tally {
  /// For people.
  package var text: String {
    let years = Double(simulated.components.seconds) / 86_400 / 365
    func list(_ counts: [String: Int]) -> String {
      counts.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
    return """
      simulated: \(String(format: "%.3f", years)) years, \(sessions) scenarios, \(steps) steps, \(pictures) pictures
      states: \(states.count), events: \(events.count), together \(eventsInStates.count) of \(states.count * events.count)
      faults: \(list(faults))
      events: \(list(events))
      """
  }
}

/// `@unchecked Sendable`: a simulation has one thread.
struct TraceLines: MessageTrace, @unchecked Sendable {
  let name: String
  let line: (String) -> Void
  var isEnabled: Bool { true }
  func trace(_ message: String) { line("      \(name) \(message)") }
}
