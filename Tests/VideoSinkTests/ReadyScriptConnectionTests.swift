import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The scripts of `pipelines/scripts`: connections, capabilities, touches, and what shows the video.
@Suite struct ReadyScriptConnectionTests {
  private static let scaled = "videotestsrc is-live=true pattern=ball ! videoconvertscale"

  @Test func resize() throws {
    let harness = try ScriptedHeadUnit("resize", source: Self.scaled)
    let resizes = try (0..<3).map { _ in try harness.app.waitForElementMessage("sdl-resized") }
    #expect(resizes.map { $0["width"] } == ["400", "320", "800"])
    #expect(resizes.map { $0["height"] } == ["240", "192", "480"])
    for (width, height) in [(800, 480), (400, 240), (320, 192), (800, 480)] {
      try harness.expectStart(width: width, height: height)
    }
    harness.expectNoViolation()
  }

  @Test func partialUpdates() throws {
    let harness = try ScriptedHeadUnit("partial-updates", source: Self.scaled)
    let sink = harness.sink
    #expect(
      eventually { sink.statistics["framerate-target"] == 10 || sink.statistics.fields["framerate-target"] == "10/1" })
    #expect(eventually { sink.statistics["bitrate-target-kbps"] == 200 })
    let resizes = try (0..<2).map { _ in try harness.app.waitForElementMessage("sdl-resized") }
    // The rates have not started it anew.
    let untilResized = harness.app.messages.prefix { !$0.isElement("sdl-resized") }
    #expect(untilResized.count { $0.isElement("sdl-stream-started") } == 2)
    #expect(resizes.map { $0["width"] } == ["640", "512"] && resizes.map { $0["height"] } == ["384", "288"])
    harness.expectNoViolation()
  }

  @Test func brokenConnection() throws {
    let harness = try ScriptedHeadUnit("broken-connection", "screen-size=320x240")
    let messages = try harness.wait(
      for: "sdl-stream-started", "sdl-disconnected", "sdl-connected", "sdl-stream-started")
    #expect(messages[1]["will-reconnect"] == "true" && messages[3]["reason"] == "reconnected")
    // The head unit refuses connections in between.
    #expect(harness.sink.statistics["connect-attempts"] > 2 && harness.sink.statistics["connections"] == 2)
    for _ in 0..<2 { try harness.expectStart() }
    // The stream goes on after the stall, which the app can only notice by its full send buffer.
    let sent = harness.sink.statistics["frames-sent"]
    #expect(eventually { harness.sink.statistics["frames-sent"] > sent + 60 })
    #expect(harness.sink["connection-state"] == "streaming" && harness.sink.statistics["connections"] == 2)
    harness.expectNoViolation()
  }

  @Test func ignitionOff() throws {
    let harness = try ScriptedHeadUnit("ignition-off", "screen-size=320x240")
    let gone = try harness.screen.pipeline.waitForElementMessage("sdl-app-unregistered")
    #expect(gone["reason"] == "ignition-off")
    let messages = try harness.wait(for: "sdl-stream-started", "sdl-disconnected", "sdl-stream-started")
    #expect(messages[1]["will-reconnect"] == "true" && messages[2]["reason"] == "reconnected")
    harness.expectNoViolation()
  }

  @Test func registration() throws {
    let harness = try ScriptedHeadUnit("registration", "screen-size=320x240")
    let messages = try harness.wait(
      for: "sdl-stream-started", "sdl-disconnected", "sdl-connected", "sdl-stream-started")
    #expect(messages[3]["reason"] == "reconnected")
    #expect(harness.screen.statistics["connections"] == 3 && harness.screen.statistics["registrations"] == 2)
    harness.expectNoViolation()
  }

  @Test func noCapability() throws {
    let harness = try ScriptedHeadUnit("no-capability", "screen-size=320x240", source: Self.scaled)
    try harness.expectStart(width: 320, height: 240)
    #expect(harness.sink.structure("head-unit")?["video-capability"] == nil)
    harness.expectNoViolation()
  }

  @Test func touches() throws {
    let harness = try ScriptedHeadUnit("touches", "screen-size=320x240", sink: "gestures=true synced-panning=false")
    let (source, sink) = (harness.screen.source, harness.sink)
    try harness.app.wait(for: "pinch-end") {
      $0.isElement("sdl-gesture") && $0.fields["type"] == "pinch-end" ? true : nil
    }
    // A tap, a swipe in steps of 20 ms, two fingers, and one that is cancelled.
    #expect(eventually { source.statistics["touches"] == 2 + 22 + 4 + 2 })
    #expect(eventually { sink.statistics["touches"] == 30 })
    let gestures = harness.app.drain().filter { $0.isElement("sdl-gesture") }.map(\.fields)
    let kinds = gestures.compactMap { $0["type"] }
    #expect(kinds.first == "tap" && gestures[0]["x"] == "100" && gestures[0]["y"] == "80", "\(gestures)")
    for kind in ["pan-start", "pan-end", "pinch-start", "pinch-end"] {
      #expect(kinds.count { $0 == kind } == 1, "\(kind) in \(kinds)")
    }
    harness.expectNoViolation()
  }

  @Test func buttons() throws {
    let harness = try ScriptedHeadUnit("buttons", "screen-size=320x240")
    try harness.app.wait(for: "long press") {
      $0.isElement("sdl-button") && $0.fields["type"] == "long-press" ? true : nil
    }
    let messages = harness.app.drain().filter { $0.isElement("sdl-button") }.map(\.fields)
    #expect(messages.map { $0["button"] }.filter { $0 == "NAV_PAN_LEFT" }.count == 3)
    #expect(messages.compactMap { $0["key"] } == ["Return", "plus", "Left"].flatMap { [$0, $0, $0] }, "\(messages)")
    #expect(eventually { harness.screen.statistics["buttons"] == 4 })
    harness.expectNoViolation()
  }

  @Test func distraction() throws {
    let harness = try ScriptedHeadUnit("distraction", "screen-size=320x240")
    let messages = try harness.wait(for: "sdl-driver-distraction", "sdl-driver-distraction")
    #expect(messages.map { $0["limited"] } == ["true", "false"] && messages[0]["text"] == "Swipe up to dismiss")
  }

  @Test func latePlayer() throws {
    let harness = try ScriptedHeadUnit("late-player", "screen-size=320x240")
    try harness.expectStart()
    let (sent, shown) = (harness.sink.statistics["frames-sent"], harness.screen.statistics["frames-in"])
    #expect(sent > shown + 5)
    // Off and on again: a key frame comes first, although the app is not informed.
    let next = try harness.screen.pull { $0.isDiscontinuous }
    #expect(!next.isDelta && harness.sink.statistics["stream-starts"] == 1)
    #expect(harness.sink.statistics["frames-sent"] > harness.screen.statistics["frames-in"] + 15)
    harness.expectNoViolation()
  }

  @Test func heartbeat() throws {
    let harness = try ScriptedHeadUnit("heartbeat", "screen-size=320x240", sink: "heartbeat-interval=500")
    let messages = try harness.wait(for: "sdl-stream-started", "sdl-disconnected", "sdl-stream-started")
    #expect(
      messages[1]["reason"]?.contains("heartbeat") == true && messages[2]["reason"] == "reconnected", "\(messages)")
    harness.expectNoViolation()
  }

  /// There, lost, there again at another port, and withdrawn.
  @Test func movingTransports() throws {
    let harness = try ScriptedHeadUnit("moving-transports", "screen-size=320x240")
    let transports = try (0..<5).map { _ in
      try harness.screen.pipeline.waitForElementMessage("sdl-stream-started")["transport"]
    }
    #expect(transports == ["primary", "secondary", "primary", "secondary", "primary"])
    _ = try harness.screen.pull(60)
    #expect(harness.sink.statistics["connections"] == 1 && harness.screen.statistics["connections"] == 1)
    harness.expectNoViolation()
  }

  @Test func secondaryTransport() throws {
    let harness = try ScriptedHeadUnit("secondary-transport", "screen-size=320x240")
    _ = try harness.wait(for: "sdl-stream-started")
    _ = try harness.screen.pull(60)
    #expect(harness.sink.statistics["connections"] == 1 && harness.screen.statistics["connections"] == 1)
    harness.expectNoViolation()
  }
}
