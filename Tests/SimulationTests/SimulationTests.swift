import Foundation
import Testing

@testable import Simulation

/// Both sides in virtual time, against faults: see docs/reliability.md.
@Suite struct SimulationTests {
  /// Seeds that nothing has tried before, for so many seconds; without that, always the same ones.
  private static let seconds = ProcessInfo.processInfo.environment["SIMULATE_SECONDS"].flatMap(Double.init)

  @Test func seeds() {
    let first = Self.seconds == nil ? 1 : UInt64.random(in: 1...UInt64(UInt32.max)) << 20
    let began = Date()
    var seed = first
    while Self.seconds.map({ -began.timeIntervalSinceNow < $0 }) ?? (seed <= 30) {
      let finding = Simulation.outcome(of: Scenario(seed: seed)).finding
      guard finding == nil else {
        Issue.record("make simulate SEED=\(seed): \(String(describing: finding))")
        return
      }
      seed += 1
    }
  }

  /// Findings of former days, whose defects are mended.
  @Test(arguments: cases) func keptCase(name: String) throws {
    let file = Self.folder.appendingPathComponent(name)
    let scenario = try JSONDecoder().decode(Scenario.self, from: Data(contentsOf: file))
    #expect(Simulation.outcome(of: scenario).finding == nil)
  }

  /// What a driver did on a recorded drive, to an app of the simulation.
  @Test func recordedDrive() throws {
    let data = try Data(contentsOf: Self.folder.appendingPathComponent("recorded-drive.jsonl"))
    let scenario = try #require(Scenario(data, isRecording: true))
    let actions = scenario.steps.map(\.action)
    for action in [
      "car level background not-streamable not-audible", "car touch begin 0 100 200", "car resize 640x360", "car cut",
      "car end-video",
    ] {
      #expect(actions.contains(action), "\(actions)")
    }
    #expect(scenario.steps.reduce(0) { $0 + $1.after } > 3000)
    #expect(Simulation.outcome(of: scenario).finding == nil)
    #expect(Scenario(Data("{}".utf8), isRecording: true) == nil && Scenario(Data("{}".utf8), isRecording: false) == nil)
  }

  /// What people do, with each message and each event that follows.
  ///
  /// With SDL_UPDATE_GOLDEN set the conversations are written instead of compared.
  @Test(arguments: Conversation.names) func conversation(name: String) throws {
    let isWritten = ProcessInfo.processInfo.environment["SDL_UPDATE_GOLDEN"] != nil
    #expect(try Conversation.difference(from: name, isWritten: isWritten) == nil)
  }

  @Test func thereAreCases() {
    #expect(Self.cases.count > 10 && Conversation.names.count > 10)
  }

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Cases")
  private static let cases =
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }.sorted()) ?? []

  /// Without that a seed would be of no use.
  @Test(arguments: [1, 2, 3] as [UInt64]) func sameSeedSameCourse(seed: UInt64) {
    func trace() -> [String] {
      var lines: [String] = []
      _ = Simulation.outcome(of: Scenario(seed: seed)) { lines.append($0) }
      return lines
    }
    #expect(trace() == trace())
  }
}
