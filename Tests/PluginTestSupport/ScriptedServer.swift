import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink

/// A head unit that follows a script, without a pipeline; keeps what it reports and when.
final class ScriptedServer {
  struct Report: Sendable {
    var time: Duration
    var event: HeadUnitServerEvent
  }

  private final class Recorder: HeadUnitServerObserver {
    let reports = Monitor<[Report]>([])

    func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
      reports.withLock { $0.append(Report(time: MonotonicClock.now, event: event)) }
      reports.broadcast()
    }
  }

  private let recorder = Recorder()
  let server: HeadUnitServer
  let port: UInt16

  init(_ script: String) throws {
    server = try HeadUnitServer(
      configuration: .small(), address: "127.0.0.1", port: 0, script: HeadUnitScript(script), observer: recorder)
    guard let port = server.port else { throw TestFailure("no port") }
    self.port = port
    try server.start()
  }

  deinit {
    server.stop()
    server.join()
  }

  var reports: [Report] { recorder.reports.withLock { $0 } }

  /// Waits for what `match` finds among the reports.
  @discardableResult
  func wait<Result>(for what: String, _ match: (Report) -> Result?) throws -> Result {
    let deadline = MonotonicClock.now + testTimeout
    guard let result = recorder.reports.wait(until: deadline, for: { $0.lazy.compactMap(match).first }) else {
      throw TestFailure("no \(what) at the head unit, but \(reports.map(\.event))")
    }
    return result
  }

  /// Waits until the step of a line has been carried out; returns its app.
  @discardableResult
  func waitForStep(_ line: Int) throws -> UInt8? {
    try wait(for: "step \(line)") { report -> UInt8?? in
      if case .stepExecuted(let step, let id) = report.event, step.line == line { .some(id) } else { nil }
    }
  }

  /// Waits until the step of a line has been skipped; returns the app that was missing.
  @discardableResult
  func waitForOmission(_ line: Int) throws -> UInt8? {
    try wait(for: "omission of step \(line)") { report -> UInt8?? in
      if case .stepSkipped(let step, let id) = report.event, step.line == line { .some(id) } else { nil }
    }
  }

  func waitForEnd(of id: UInt8) throws {
    try wait(for: "end of app \(id)") { if case .disconnected(id, _, _) = $0.event { true } else { nil } }
  }
}
