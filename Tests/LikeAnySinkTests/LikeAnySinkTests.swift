import GStreamerKit
import SDLLink
import TestSupport
import Testing

@testable import PluginTestSupport

/// An application can put these sinks in the place of any other: whatever it does with a pipeline, and whatever driver
/// and head unit do, nothing takes longer than with GStreamer's fakesink.
@Suite struct LikeAnySinkTests {
  /// How often a case is tried: what is slow on a busy machine is not slow each time.
  private static let tries = 3

  @Test(arguments: PipelineKind.all.indices.map { Subject(index: $0) })
  func nothingTakesLonger(_ subject: Subject) throws {
    var comparisons = subject.cases.map { Comparison(subject.kind, $0) }
    for attempt in 1...Self.tries where !comparisons.isEmpty {
      // At once, since they mostly wait; again one by one, to be disturbed less.
      if attempt == 1 {
        for comparison in comparisons { try comparison.begin() }
      }
      comparisons = try comparisons.filter { comparison in
        if attempt > 1 { try comparison.begin() }
        switch comparison.end() {
        case .asFast: return false
        case .slower(let text):
          if attempt == Self.tries { Issue.record("\(comparison.name): \(text)") }
          return true
        case .failed(let text):
          Issue.record("\(comparison.name): \(text)")
          return false
        }
      }
    }
  }

  /// Pairs and more: see ``Case/all``.
  @Test func everyCombinationIsTried() {
    let cases = Case.all
    #expect(cases.allSatisfy { Set($0.map(\.action)).count == Case.Action.allCases.count })
    #expect(cases.allSatisfy { Set($0.map(\.driver)).count == Case.Driver.allCases.count })
    let combinations = [
      Case.Driver.allCases.count, Case.Application.allCases.count, Case.Caller.allCases.count,
      Case.State.allCases.count, Case.Action.allCases.count,
    ].reduce(1, *)
    #expect(Set(cases.joined().map(\.description)).count == combinations)
  }

  /// A pipeline and what it goes through.
  struct Subject: CustomTestStringConvertible {
    var index: Int

    var kind: PipelineKind { PipelineKind.all[index] }
    var cases: [Case] { Case.all[index] }
    var testDescription: String { kind.name }
  }
}

/// A case with the sinks of this plugin and with fake ones.
final class Comparison {
  enum Result {
    case asFast
    /// What takes longer.
    case slower(String)
    case failed(String)
  }

  private struct Runs {
    var car: Car
    var run: TimedRun
    var fakeRun: TimedRun
    /// Standstills of the machine up to the beginning.
    var standstills: Duration
  }

  /// How much longer than with the fake sinks a step may take.
  private static let tolerance = Duration.milliseconds(100)
  /// How long sinks may wait for the head unit when they leave NULL: the default of `open-timeout`.
  private static let openTimeout = Duration.milliseconds(500)
  /// What is slower than that is so each time.
  private static let beyondNoise = Duration.seconds(2)
  private static let standstills = Standstills()

  let kind: PipelineKind
  let testCase: Case
  private var runs: Runs?
  /// How much longer than allowed each step has taken, at least.
  private var least: [Duration] = []

  init(_ kind: PipelineKind, _ testCase: Case) {
    self.kind = kind
    self.testCase = testCase
  }

  var name: String { "\(kind.name): \(testCase)" }

  func begin() throws {
    let car = try Car(testCase.driver)
    let standstills = Self.standstills.total
    runs = Runs(
      car: car, run: try TimedRun(kind, .smartDeviceLink(car.uri), testCase) { try car.act() },
      fakeRun: try TimedRun(kind, .fake, testCase) {}, standstills: standstills)
  }

  /// Waits for both.
  func end() -> Result {
    guard let runs else { return .failed("not begun") }
    self.runs = nil
    let fake = runs.fakeRun.outcome()
    let outcome = runs.run.outcome()
    if let failure = fake.failure { return .failed("with fakesink: \(failure)") }
    let excesses = zip(outcome.steps, fake.steps).map { step, fakeStep in
      let allowance = step.name == TimedRun.opening ? Self.openTimeout : step.name == "EOS" ? kind.endAllowance : .zero
      return step.time - fakeStep.time - allowance - Self.tolerance
    }
    let standstills = Self.standstills.total - runs.standstills
    least = least.isEmpty ? excesses.map { $0 - standstills } : zip(least, excesses).map { min($0, $1 - standstills) }
    let slow = least.indices.filter { least[$0] > .zero }.map { index in
      let (step, fakeStep) = (outcome.steps[index], fake.steps[index])
      return "\(step.name) takes \(milliseconds(step.time)), with fakesink \(milliseconds(fakeStep.time))"
    }
    if let failure = outcome.failure { return .failed((slow + [failure]).joined(separator: "; ")) }
    if slow.isEmpty { return .asFast }
    let text = slow.joined(separator: "; ")
    return least.contains { $0 > Self.beyondNoise } ? .failed(text) : .slower(text)
  }
}

private func milliseconds(_ time: Duration) -> String { "\(Int(time / .milliseconds(1))) ms" }

/// One run of a case, on a thread of its own, which measures each step.
final class TimedRun: Sendable {
  struct Step: Sendable {
    var name: String
    var time: Duration
  }

  struct Record: Sendable {
    var steps: [Step] = []
    /// The step at hand, and when it began.
    var current = "the start"
    var began = MonotonicClock.now
    /// What went wrong with the pipeline.
    var failure: String?
    var hasEnded = false
  }

  struct Outcome {
    /// Those that have ended.
    var steps: [Step]
    /// What went wrong, other than that something took long.
    var failure: String?
  }

  /// The name of a step in which sinks may leave NULL.
  static let opening = "opening"
  /// The longest that any step may take.
  private static let limit = Duration.seconds(10)

  private let record = Monitor(Record())

  /// - Parameter act: what the driver does, shortly before the action.
  init(_ kind: PipelineKind, _ sinks: Sinks, _ testCase: Case, act: @escaping @Sendable () throws -> Void) throws {
    let description = try kind.description(sinks)
    try WorkerThread.detach(name: "application") { [record] in
      record.change { $0.began = MonotonicClock.now }
      do {
        try withMainContext(testCase.thread == .main) {
          let pipeline = try Pipeline(description)
          let feeder = try kind.feed.map { try Feeder($0, pipeline) }
          defer { feeder?.stop() }
          try Application(pipeline, kind, testCase, record, act).run()
        }
      } catch {
        record.withLock { $0.failure = "\(error)" }
      }
      record.change { $0.hasEnded = true }
    }
  }

  /// Waits until the run is over, or hangs.
  func outcome() -> Outcome {
    while true {
      let ended = record.wait(until: record.withLock { $0.began } + Self.limit) { $0.hasEnded ? $0 : nil }
      if let ended { return Outcome(steps: ended.steps, failure: ended.failure) }
      let current = record.withLock { $0 }
      guard MonotonicClock.now < current.began + Self.limit else {
        return Outcome(steps: current.steps, failure: "\(current.current) hangs")
      }
    }
  }
}

private func withMainContext(_ isMain: Bool, _ body: () throws -> Void) rethrows {
  guard isMain else { return try body() }
  let context = g_main_context_new()
  g_main_context_push_thread_default(context)
  defer {
    g_main_context_pop_thread_default(context)
    g_main_context_unref(context)
  }
  try body()
}
