import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Changes of `app-state` at any moment, and back.
@Suite struct AppStateChangeTests {
  enum Moment: CaseIterable {
    case null, ready, paused, playing, connecting
  }

  @Test(arguments: Moment.allCases)
  func changesAtAnyMoment(moment: Moment) throws {
    let harness = try SinkHarness(.small(activation: nil))
    let sink = try harness.pipeline.sink
    switch moment {
    case .null: break
    case .ready: try harness.pipeline.reach(GST_STATE_READY)
    case .paused:
      // A live source does not preroll.
      harness.pipeline.setState(GST_STATE_PAUSED)
    case .connecting:
      harness.headUnit.server.perform(.stall(.seconds(3)))
      try harness.pipeline.play()
      #expect(["connecting", "registering", "resolving"].contains(sink["connection-state"]))
    case .playing: try harness.pipeline.play()
    }
    try harness.setAppState(.background)
    #expect(sink["app-state"] == "background" && sink["stream-state"] == "stopped")
    try harness.prepare()
    try harness.show(.full)
    try harness.settle()
    #expect(sink["stream-state"] == "stopped" && harness.headUnit.record.starts.isEmpty)
    try harness.setAppState(.foreground)
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "first-start")
    try harness.deliver(2)
    harness.pipeline.stop()
    #expect(sink["stream-state"] == "stopped" && sink["app-state"] == "foreground")
  }

  @Test(arguments: [AppState.foreground, .regaining])
  func resumesTheServiceWithAKeyFrame(way: AppState) throws {
    let harness = try SinkHarness()
    try harness.start()
    try harness.deliver(3)
    try harness.setAppState(.background)
    try harness.wait(forStreamState: "suspended")
    let standstills = Standstills()
    let began = MonotonicClock.now
    try harness.setAppState(way)
    try harness.wait(forStreamState: "streaming")
    try harness.deliver(2)
    #expect(MonotonicClock.now - began < .seconds(5) + standstills.total)
    let record = harness.headUnit.record
    #expect(record.starts.count == 1 && record.stopReasons == [])
    #expect(record.video[3].startsStream)
    harness.expectKeyFrames([true, false, false, true, false])
    try harness.settle()
    #expect(harness.streamMessages == ["started first-start", "suspended app-state", "started resumed"])
    try harness.setAppState(.foreground)
    try harness.settle()
    try harness.deliver(1)
    #expect(isKeyFrame(harness.headUnit.record.video[5]) == false && harness.streamMessages.count == 3)
    #expect(try decode(harness.headUnit.record.video, width: 320, height: 240).count == 6)
  }

  @Test func restartsTheServiceIfAsked() throws {
    let harness = try SinkHarness(properties: "sync=false keep-alive-interval=0 restart-on-foreground=true")
    try harness.start()
    try harness.deliver(2)
    try harness.setAppState(.background)
    try harness.wait(forStreamState: "suspended")
    try harness.setAppState(.foreground)
    try harness.headUnit.wait(for: "second start") { $0.starts.count == 2 ? true : nil }
    try harness.wait(forStreamState: "streaming")
    try harness.deliver(2)
    let record = harness.headUnit.record
    #expect(record.stopReasons == [.endedByApp])
    #expect(record.video[try #require(record.starts.last)].startsStream)
    try harness.settle()
    #expect(
      harness.streamMessages == [
        "started first-start", "suspended app-state", "stopped restarted", "started restarted",
      ])
    #expect(record.violations == [])
  }

  @Test func nothingIsSentAfterNotStreamable() throws {
    let harness = try SinkHarness()
    try harness.start()
    try harness.deliver(2)
    #expect(eventually { (try? harness.statistics["frames-sent"]) == 2 })
    try harness.show(HMIStatus(level: .full, videoStreamingState: .notStreamable))
    try harness.settle()
    let sent = try harness.statistics["video-bytes-sent"]
    harness.watch(for: .milliseconds(10))
    harness.pushPictures(2)
    #expect(eventually { (try? harness.statistics["frames-dropped-suspended"]) == 2 })
    #expect(try harness.statistics["video-bytes-sent"] == sent)
    #expect(harness.headUnit.record.violations == [])
    #expect(harness.streamMessages.last == "stopped hmi-status")
  }

  @Test func frameInTheStartedHandlerIsTaken() throws {
    let harness = try SinkHarness()
    let bus = try nonNull(gst_element_get_bus(harness.pipeline.element.pointer))
    defer {
      gst_bus_set_sync_handler(bus, nil, nil, nil)
      gst_object_unref(bus)
    }
    gst_bus_set_sync_handler(
      bus,
      { _, message, harness in
        if let message, let harness, BusMessage(message).isElement("sdl-stream-started") {
          Unmanaged<SinkHarness>.fromOpaque(harness)._withUnsafeGuaranteedRef { _ = $0.pushPicture() }
        }
        return GST_BUS_PASS
      }, Unmanaged.passUnretained(harness).toOpaque(), nil)
    try harness.start()
    #expect(try harness.headUnit.waitForFrames(1)[0].startsStream)
    #expect(try harness.statistics["frames-dropped-not-streaming"] == 0)
  }
}
