import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin

/// The app changes its state at any time, and comes back.
@Suite struct AppStateChangeTests {
  enum Moment: CaseIterable {
    case null, ready, paused, playing, connecting
  }

  @Test(arguments: Moment.allCases)
  func changesAtAnyMoment(moment: Moment) throws {
    let drive = try Drive(.small(activation: nil))
    let sink = try drive.pipeline.sink
    switch moment {
    case .null: break
    case .ready: try drive.pipeline.reach(GST_STATE_READY)
    case .paused:
      // A live source does not preroll.
      drive.pipeline.setState(GST_STATE_PAUSED)
    case .connecting:
      drive.headUnit.server.perform(.stall(.milliseconds(200)))
      try drive.pipeline.play()
      #expect(["connecting", "registering", "resolving"].contains(sink["connection-state"]))
    case .playing: try drive.pipeline.play()
    }
    try drive.setAppState(.background)
    #expect(sink["app-state"] == "background" && sink["stream-state"] == "stopped")
    try drive.prepare()
    try drive.show(.full)
    try drive.settle()
    // L12.
    #expect(sink["stream-state"] == "stopped" && drive.headUnit.record.starts.isEmpty)
    try drive.setAppState(.foreground)
    #expect(try drive.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "first-start")
    try drive.deliver(2)
    drive.pipeline.stop()
    #expect(sink["stream-state"] == "stopped" && sink["app-state"] == "foreground")
  }

  /// L9.
  @Test(arguments: [AppState.foreground, .regaining])
  func resumesTheServiceWithAKeyFrame(way: AppState) throws {
    let drive = try Drive()
    try drive.start()
    try drive.deliver(3)
    try drive.setAppState(.background)
    try drive.wait(forStreamState: "suspended")
    let began = MonotonicClock.now
    try drive.setAppState(way)
    try drive.wait(forStreamState: "streaming")
    try drive.deliver(2)
    #expect(MonotonicClock.now - began < .seconds(1))
    let record = drive.headUnit.record
    #expect(record.starts.count == 1 && record.stopReasons == [])
    #expect(record.video[3].startsStream && record.video.map(isKeyFrame) == [true, false, false, true, false])
    #expect(drive.streamMessages == ["started first-start", "suspended app-state", "started resumed"])
    try drive.setAppState(.foreground)
    try drive.settle()
    try drive.deliver(1)
    #expect(isKeyFrame(drive.headUnit.record.video[5]) == false && drive.streamMessages.count == 3)
    #expect(try decode(drive.headUnit.record.video, width: 320, height: 240).count == 6)
  }

  /// L10.
  @Test func restartsTheServiceIfAsked() throws {
    let drive = try Drive(properties: "sync=false restart-on-foreground=true")
    try drive.start()
    try drive.deliver(2)
    try drive.setAppState(.background)
    try drive.wait(forStreamState: "suspended")
    try drive.setAppState(.foreground)
    try drive.headUnit.wait(for: "second start") { $0.starts.count == 2 ? true : nil }
    try drive.wait(forStreamState: "streaming")
    try drive.deliver(2)
    let record = drive.headUnit.record
    #expect(record.stopReasons == [.endedByApp])
    #expect(record.video[try #require(record.starts.last)].startsStream)
    #expect(
      drive.streamMessages == [
        "started first-start", "suspended app-state", "stopped restarted", "started restarted",
      ])
    #expect(record.violations == [])
  }

  /// L11.
  @Test func driverLeavesWhileSuspended() throws {
    let drive = try Drive()
    try drive.start()
    try drive.deliver(2)
    try drive.setAppState(.background)
    try drive.wait(forStreamState: "suspended")
    try drive.show(HMILevel.none)
    #expect(try drive.pipeline.waitForElementMessage("sdl-stream-stopped")["reason"] == "hmi-status")
    try drive.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : true }
    // The app alone can't bring it back.
    try drive.setAppState(.foreground)
    try drive.settle()
    #expect(try drive.streamState == "stopped" && drive.headUnit.record.starts.count == 1)
    try drive.show(.full)
    #expect(try drive.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "restarted")
  }

  /// L19.
  @Test func nothingIsSentAfterNotStreamable() throws {
    let drive = try Drive()
    try drive.start()
    try drive.deliver(2)
    try drive.show(HMIStatus(level: .full, videoStreamingState: .notStreamable))
    try drive.settle()
    let sent = try drive.statistics["video-bytes-sent"]
    drive.watch(for: .milliseconds(10))
    drive.pushPictures(2)
    #expect(eventually { (try? drive.statistics["frames-dropped-suspended"]) == 2 })
    #expect(try drive.statistics["video-bytes-sent"] == sent && drive.headUnit.record.violations == [])
    #expect(drive.streamMessages.last == "stopped hmi-status")
  }

  /// L20.
  @Test func frameInTheStartedHandlerIsTaken() throws {
    let drive = try Drive()
    let bus = try #require(gst_element_get_bus(drive.pipeline.element.pointer))
    defer {
      gst_bus_set_sync_handler(bus, nil, nil, nil)
      gst_object_unref(bus)
    }
    gst_bus_set_sync_handler(
      bus,
      { _, message, drive in
        if let message, let drive, BusMessage(message).isElement("sdl-stream-started") {
          Unmanaged<Drive>.fromOpaque(drive)._withUnsafeGuaranteedRef { _ = $0.pushPicture() }
        }
        return GST_BUS_PASS
      }, Unmanaged.passUnretained(drive).toOpaque(), nil)
    try drive.start()
    #expect(try drive.headUnit.waitForFrames(1)[0].startsStream)
    #expect(try drive.statistics["frames-dropped-not-streaming"] == 0)
  }

  @Test func manyChangesEndInTheLast() throws {
    let drive = try Drive(properties: "sync=false background-notice=false")
    try drive.start()
    for round in 0..<40 {
      try drive.setAppState(AppState.allCases[round % 4])
      if round % 3 == 0 { try drive.show(round % 2 == 0 ? .background : .full) }
      drive.pushPicture()
    }
    try drive.show(.full)
    try drive.setAppState(.foreground)
    try drive.settle()
    try drive.wait(forStreamState: "streaming")
    _ = try drive.deliverFirst()
    let messages = drive.streamMessages
    #expect(zip(messages, messages.dropFirst()).allSatisfy { $0.0.prefix(5) != $0.1.prefix(5) }, "\(messages)")
    #expect(try drive.statistics.areFramesConserved && drive.headUnit.record.violations == [])
  }
}
