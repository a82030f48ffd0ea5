import GStreamerKit
import SDLApp
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// HMI status × app state: rows of each kind; the whole table is that of `VideoNegotiationFramesTests`.
@Suite struct AppStateTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var level: HMILevel
    var isStreamable = true
    var appState: AppState
    /// What `stream-state` becomes when there was no service.
    var fromClosed: String
    /// What it becomes when frames were being sent.
    var fromOpen: String

    var status: HMIStatus {
      HMIStatus(level: level, videoStreamingState: isStreamable ? .streamable : .notStreamable)
    }

    var testDescription: String { "\(level) \(isStreamable ? "" : "not streamable ")\(appState)" }
  }

  static let rows: [Row] = {
    let outcomes: [(HMILevel, AppState, String, String)] = [
      (.none, .foreground, "stopped", "stopped"),
      (.background, .background, "stopped", "stopped"),
      (.limited, .regaining, "streaming", "streaming"),
      (.limited, .resigning, "stopped", "suspended"),
      (.full, .background, "stopped", "suspended"),
    ]
    let streamable = outcomes.map { Row(level: $0.0, appState: $0.1, fromClosed: $0.2, fromOpen: $0.3) }
    // With video NOT_STREAMABLE, every level is like BACKGROUND.
    let others = [
      Row(level: .full, isStreamable: false, appState: .foreground, fromClosed: "stopped", fromOpen: "stopped")
    ]
    return streamable + others
  }()

  @Test(arguments: rows)
  func opens(row: Row) throws {
    let harness = try SinkHarness(.small(activation: nil))
    try harness.prepare()
    try harness.setAppState(row.appState)
    try harness.settle()
    try harness.show(row.status)
    if row.fromClosed == "streaming" { try harness.wait(forStreamState: "streaming") }
    try harness.settle()
    #expect(try harness.streamState == row.fromClosed)
    #expect(harness.headUnit.record.starts.count == (row.fromClosed == "streaming" ? 1 : 0))
    #expect(harness.streamMessages == (row.fromClosed == "streaming" ? ["started first-start"] : []))
    // The stream starts as soon as HMI status and app state both allow it.
    try harness.show(.full)
    try harness.setAppState(.foreground)
    try harness.wait(forStreamState: "streaming")
    try harness.deliver(1)
    #expect(harness.headUnit.record.video.first?.startsStream == true)
    #expect(harness.headUnit.record.starts.count == 1 && harness.streamMessages == ["started first-start"])
    #expect(harness.headUnit.record.violations == [])
  }

  @Test(arguments: rows, [true, false])
  func keepsOrCloses(row: Row, appComesFirst: Bool) throws {
    let harness = try SinkHarness(properties: "sync=false background-notice=false")
    try harness.start()
    try harness.deliver(2)
    #expect(eventually { (try? harness.statistics["frames-sent"]) == 2 })
    if appComesFirst {
      try harness.setAppState(row.appState)
      try harness.settle()
      try harness.show(row.status)
    } else {
      try harness.show(row.status)
      try harness.settle()
      try harness.setAppState(row.appState)
    }
    try harness.settle()
    try harness.wait(forStreamState: row.fromOpen)
    let isClosed = row.fromOpen == "stopped"
    let record =
      isClosed ? try harness.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : $0 } : harness.headUnit.record
    #expect(record.starts.count == 1 && record.stopReasons.count == (isClosed ? 1 : 0))
    var messages = ["started first-start"]
    if !row.appState.isInForeground, appComesFirst || !isClosed { messages.append("suspended app-state") }
    if isClosed { messages.append("stopped hmi-status") }
    #expect(harness.streamMessages == messages)

    if row.fromOpen == "streaming" {
      try harness.deliver(2)
    } else {
      harness.pushPictures(3)
      #expect(eventually { (try? harness.statistics["frames-dropped-suspended"]) == 3 })
      #expect(try harness.statistics["frames-sent"] == 2 && harness.headUnit.record.video.count == 2)
    }
    try comeBack(harness, row, after: messages)
  }

  private func comeBack(_ harness: SinkHarness, _ row: Row, after messages: [String]) throws {
    try harness.show(.full)
    try harness.setAppState(.foreground)
    try harness.wait(forStreamState: "streaming")
    let first = harness.headUnit.record.video.count
    try harness.deliver(2)
    let record = harness.headUnit.record
    #expect(record.starts.count == (row.fromOpen == "stopped" ? 2 : 1))
    #expect(record.violations == [])
    switch row.fromOpen {
    case "stopped": #expect(harness.streamMessages == messages + ["started restarted"])
    case "suspended": #expect(harness.streamMessages == messages + ["started resumed"])
    default: #expect(harness.streamMessages == messages)
    }
    if row.fromOpen != "streaming" { #expect(record.video[first].startsStream) }
    #expect(try harness.statistics.areFramesConserved)
  }
}
