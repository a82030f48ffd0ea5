import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin

/// HMI status × app state, the table that SDL-0033 began.
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
      (.none, .background, "stopped", "stopped"),
      (.none, .regaining, "stopped", "stopped"),
      (.none, .foreground, "stopped", "stopped"),
      (.none, .resigning, "stopped", "stopped"),
      (.background, .background, "stopped", "stopped"),
      (.background, .regaining, "stopped", "stopped"),
      (.background, .foreground, "stopped", "stopped"),
      (.background, .resigning, "stopped", "stopped"),
      (.limited, .background, "stopped", "suspended"),
      (.limited, .regaining, "streaming", "streaming"),
      (.limited, .foreground, "streaming", "streaming"),
      (.limited, .resigning, "stopped", "suspended"),
      (.full, .background, "stopped", "suspended"),
      (.full, .regaining, "streaming", "streaming"),
      (.full, .foreground, "streaming", "streaming"),
      (.full, .resigning, "stopped", "suspended"),
    ]
    let streamable = outcomes.map { Row(level: $0.0, appState: $0.1, fromClosed: $0.2, fromOpen: $0.3) }
    // Without the right to stream, every level is like BACKGROUND.
    let others = [HMILevel.limited, .full].flatMap { level in
      AppState.allCases.map {
        Row(level: level, isStreamable: false, appState: $0, fromClosed: "stopped", fromOpen: "stopped")
      }
    }
    return streamable + others
  }()

  @Test(arguments: rows)
  func opens(row: Row) throws {
    let drive = try Drive(.small(activation: nil))
    try drive.prepare()
    try drive.setAppState(row.appState)
    try drive.settle()
    try drive.show(row.status)
    if row.fromClosed == "streaming" { try drive.wait(forStreamState: "streaming") }
    try drive.settle()
    #expect(try drive.streamState == row.fromClosed)
    #expect(drive.headUnit.record.starts.count == (row.fromClosed == "streaming" ? 1 : 0))
    #expect(drive.streamMessages == (row.fromClosed == "streaming" ? ["started first-start"] : []))
    // Whatever was refused so far comes as soon as driver and app both want it.
    try drive.show(.full)
    try drive.setAppState(.foreground)
    try drive.wait(forStreamState: "streaming")
    try drive.deliver(1)
    #expect(drive.headUnit.record.video.first?.startsStream == true)
    #expect(drive.headUnit.record.starts.count == 1 && drive.streamMessages == ["started first-start"])
    #expect(drive.headUnit.record.violations == [])
  }

  @Test(arguments: rows, [true, false])
  func keepsOrCloses(row: Row, appComesFirst: Bool) throws {
    let drive = try Drive(properties: "sync=false background-notice=false")
    try drive.start()
    try drive.deliver(2)
    #expect(eventually { (try? drive.statistics["frames-sent"]) == 2 })
    if appComesFirst {
      try drive.setAppState(row.appState)
      try drive.settle()
      try drive.show(row.status)
    } else {
      try drive.show(row.status)
      try drive.settle()
      try drive.setAppState(row.appState)
    }
    try drive.settle()
    try drive.wait(forStreamState: row.fromOpen)
    let isClosed = row.fromOpen == "stopped"
    let record =
      isClosed ? try drive.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : $0 } : drive.headUnit.record
    #expect(record.starts.count == 1 && record.stopReasons.count == (isClosed ? 1 : 0))
    var messages = ["started first-start"]
    if !row.appState.isInForeground, appComesFirst || !isClosed { messages.append("suspended app-state") }
    if isClosed { messages.append("stopped hmi-status") }
    #expect(drive.streamMessages == messages)

    if row.fromOpen == "streaming" {
      try drive.deliver(2)
    } else {
      drive.pushPictures(3)
      #expect(eventually { (try? drive.statistics["frames-dropped-suspended"]) == 3 })
      #expect(try drive.statistics["frames-sent"] == 2 && drive.headUnit.record.video.count == 2)
    }
    try comeBack(drive, row, after: messages)
  }

  private func comeBack(_ drive: Drive, _ row: Row, after messages: [String]) throws {
    try drive.show(.full)
    try drive.setAppState(.foreground)
    try drive.wait(forStreamState: "streaming")
    let first = drive.headUnit.record.video.count
    try drive.deliver(2)
    let record = drive.headUnit.record
    #expect(record.starts.count == (row.fromOpen == "stopped" ? 2 : 1))
    #expect(record.violations == [])
    switch row.fromOpen {
    case "stopped": #expect(drive.streamMessages == messages + ["started restarted"])
    case "suspended": #expect(drive.streamMessages == messages + ["started resumed"])
    default: #expect(drive.streamMessages == messages)
    }
    if row.fromOpen != "streaming" { #expect(record.video[first].startsStream) }
    #expect(try drive.statistics.areFramesConserved)
  }
}
