import GStreamerKit
import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The scripts of `pipelines/scripts`, each with an app that streams: what the driver does, and how video is refused.
@Suite struct ReadyScriptTests {
  /// Every file is in one of the tests.
  @Test func allAreTried() throws {
    let folder = try nonNull(opendir(ScriptedHeadUnit.folder))
    defer { closedir(folder) }
    var names: Set<String> = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if !name.hasPrefix(".") { names.insert(name) }
    }
    let tried = [
      "suspend", "interruptions", "nak-ladder", "refusal-without-a-cause", "silent-start", "silent-end",
      "odd-acknowledgements", "own-end", "resize", "partial-updates", "broken-connection", "ignition-off",
      "registration", "no-capability", "alerts", "touches", "buttons", "distraction", "late-player", "heartbeat",
      "secondary-transport", "moving-transports",
    ]
    #expect(names == Set(tried.map { "\($0).txt" }))
    for name in names { _ = try HeadUnitScriptFile.read("\(ScriptedHeadUnit.folder)/\(name)") }
  }

  @Test func suspend() throws {
    let harness = try ScriptedHeadUnit("suspend", "screen-size=320x240")
    let reports = try harness.wait(
      for: "sdl-stream-started", "sdl-stream-stopped", "sdl-stream-started", "sdl-stream-stopped", "sdl-stream-started")
    #expect(reports.map { $0["reason"] } == ["first-start", "hmi-status", "restarted", "hmi-status", "restarted"])
    #expect(harness.sink["hmi-level"] == "limited" && harness.sink.statistics["suspensions"] == 2)
    for _ in 0..<3 { try harness.expectStart() }
    harness.expectNoViolation()
  }

  @Test func interruptions() throws {
    let harness = try ScriptedHeadUnit("interruptions", "screen-size=320x240")
    let reports = try harness.wait(
      for: "sdl-stream-started", "sdl-stream-stopped", "sdl-stream-started", "sdl-stream-stopped", "sdl-stream-started")
    #expect(reports.map { $0["reason"] } == ["first-start", "hmi-status", "restarted", "hmi-status", "restarted"])
    let statuses = harness.app.messages.filter { $0.isElement("sdl-hmi-status") }.map(\.fields)
    let levels = statuses.compactMap { $0["level"] }
    #expect(levels == ["none", "full", "full", "full", "full", "full", "background", "full"], "\(statuses)")
    // The call changes the audio state alone.
    #expect(statuses[2]["audio-streaming-state"] == "not-audible")
    #expect(
      statuses[2]["video-streaming-state"] == "streamable" && statuses[4]["video-streaming-state"] == "not-streamable")
    harness.expectNoViolation()
  }

  /// The driver presses the alert's soft button long before the alert's time is over.
  @Test func alerts() throws {
    let screen = try HeadUnitPipeline("script=\"\(ScriptedHeadUnit.folder)/alerts.txt\"")
    let app = try RawApp.active(port: screen.port)
    let button: JSONObject = [
      "type": .string("TEXT"), "text": .string("Yes"), "softButtonID": .integer(1),
      "systemAction": .string("DEFAULT_ACTION"),
    ]
    let began = MonotonicClock.now
    let result = try app.request(
      .alert, ["alertText1": .string("Now?"), "duration": .integer(10_000), "softButtons": .array([.object(button)])])
    #expect(result.success && (.seconds(1) ..< .seconds(9)).contains(MonotonicClock.now - began), "\(result)")
  }

  @Test func nakLadder() throws {
    let harness = try ScriptedHeadUnit(
      "nak-ladder", "preset=core", source: "videotestsrc is-live=true pattern=ball ! videoconvertscale")
    let refusals = try (0..<2).map { _ in try harness.screen.pipeline.waitForElementMessage("sdl-stream-refused") }
    #expect(refusals.map { $0["rejected"] } == ["videoProtocol", "width, height"])
    #expect(refusals.map { $0["reason"] } == ["this protocol is out of order", "the display is too small"])
    let started = try harness.app.waitForElementMessage("sdl-stream-started")
    #expect(started["protocol"] == "RTP" && (started["width"], started["height"]) == ("320", "200"), "\(started)")
    #expect(harness.app.messages.filter { $0.isElement("sdl-hmi-status") }.count == 2)
    #expect(harness.sink.statistics["stream-start-failures"] == 2)
    try harness.expectStart(width: 320, height: 200)
    harness.expectNoViolation()
  }

  @Test func refusalWithoutACause() throws {
    let harness = try ScriptedHeadUnit("refusal-without-a-cause", "screen-size=320x240")
    #expect(try harness.app.waitForWarning().isResource(GST_RESOURCE_ERROR_NOT_AUTHORIZED))
    _ = try harness.wait(for: "sdl-stream-started")
    #expect(harness.sink.statistics["stream-start-failures"] == 1 && harness.screen.statistics["stream-refusals"] == 1)
    try harness.expectStart()
    harness.expectNoViolation()
  }

  @Test func silentStart() throws {
    let harness = try ScriptedHeadUnit("silent-start", "screen-size=320x240", sink: "start-timeout=1000")
    let began = MonotonicClock.now
    #expect(try harness.app.waitForWarning().text.contains("did not answer"))
    _ = try harness.wait(for: "sdl-stream-started")
    #expect(MonotonicClock.now - began >= .milliseconds(2500))
    #expect(harness.sink.statistics["stream-start-failures"] == 1)
    try harness.expectStart()
    harness.expectNoViolation()
  }

  @Test func silentEnd() throws {
    let harness = try ScriptedHeadUnit("silent-end", "screen-size=320x240")
    let reports = try harness.wait(for: "sdl-stream-started", "sdl-stream-stopped", "sdl-stream-started")
    #expect(reports.map { $0["reason"] } == ["first-start", "hmi-status", "restarted"])
    for _ in 0..<2 { try harness.expectStart() }
    harness.expectNoViolation()
  }

  @Test func oddAcknowledgements() throws {
    let harness = try ScriptedHeadUnit(
      "odd-acknowledgements", "screen-size=320x240",
      source: "videotestsrc is-live=true pattern=ball ! videoconvertscale")
    for _ in 0..<2 { try harness.expectStart(width: 320, height: 240) }
    try harness.expectStart(width: 160, height: 120)
    harness.expectNoViolation()
  }

  @Test func ownEnd() throws {
    let harness = try ScriptedHeadUnit("own-end", "screen-size=320x240")
    let reports = try harness.wait(for: "sdl-stream-started", "sdl-stream-stopped", "sdl-stream-started")
    #expect(reports[1]["reason"] == "head-unit")
    let stopped = try harness.screen.pipeline.waitForElementMessage("sdl-stream-stopped")
    #expect(stopped["reason"] == "head-unit" && stopped["frames-out"].flatMap { Int($0) }.map { $0 <= 20 } == true)
    for _ in 0..<2 { try harness.expectStart() }
    harness.expectNoViolation()
  }
}
