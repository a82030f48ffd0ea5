import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Touches on a head unit's screen as navigation events for upstream, and as gestures.
@Suite struct TouchTests {
  /// A stream without frames, and a recorder at the sink's pad.
  private struct TouchFixture {
    let harness: SinkHarness
    let recorder: NavigationRecorder

    init(
      _ configuration: HeadUnitConfiguration = .small(), properties: String = "synced-panning=false",
      consumesEvents: Bool = true, callback: @escaping @Sendable () -> Void = {}
    ) throws {
      harness = try SinkHarness(configuration, properties: "sync=false \(properties)")
      recorder = NavigationRecorder(
        at: try harness.pipeline.sink.pad("sink"), consumesEvents: consumesEvents, callback: callback)
      try harness.start()
    }

    /// As the head unit's remote control.
    func perform(_ lines: String...) throws {
      for line in lines {
        let command = try #require(try HeadUnitCommand.parse(line))
        harness.headUnit.server.perform(command)
      }
    }

    func wait(forLast text: String) throws -> [String] {
      try recorder.wait(for: text) { $0.last == text }
    }
  }

  private static func scaled(_ scale: Double) -> HeadUnitConfiguration {
    .small(400, 300).with { $0.videoCapability?.scale = scale }
  }

  @Test("Scale 1.25") func scale() throws {
    let fixture = try TouchFixture(Self.scaled(1.25))
    let before = MonotonicClock.now
    try fixture.perform(
      "touch begin 0 100 200", "touch move 0 110 200 0 120 210", "touch begin 3 399 299", "touch end 3 399 299",
      "touch end 0 120 210")
    _ = try fixture.recorder.wait(for: "the end") { $0.count { $0 == "touch-frame" } == 5 }
    #expect(
      fixture.recorder.texts == [
        "touch-down 0 (80.0, 160.0)", "touch-frame", "touch-motion 0 (88.0, 160.0)", "touch-motion 0 (96.0, 168.0)",
        "touch-frame", "touch-down 3 (319.0, 239.0)", "touch-frame", "touch-up 3 (319.0, 239.0)", "touch-frame",
        "touch-up 0 (96.0, 168.0)", "touch-frame",
      ])
    let times = fixture.recorder.entries.withLock { $0.map(\.time) }
    let range = UInt64(before.nanoseconds)...UInt64(MonotonicClock.now.nanoseconds)
    // The first touch synchronises the clocks, whose offset includes the transmission time.
    #expect(times.allSatisfy { $0 != .max && $0 <= range.upperBound && $0 + 1_000_000_000 >= range.lowerBound })
    // The head unit and the sink count the same.
    #expect(eventually { (try? fixture.harness.statistics["navigation-events"]) == 11 })
    #expect(fixture.harness.headUnit.record.touches == 5)
    #expect(try fixture.harness.statistics["touches"] == 5)
  }

  /// The times of a touch are by the head unit's clock, which shows what it likes; navigation events have ours.
  @Test func timesOfAnotherClock() throws {
    let fixture = try TouchFixture()
    let before = MonotonicClock.now
    fixture.harness.headUnit.server.control(.everyApp) { session, now in
      [OnTouchEvent.Kind.begin, .end].enumerated().flatMap { index, kind in
        let sample = OnTouchEvent.Sample(x: 1, y: 1, time: 1_900_000_000 + 30 * index)
        return session.touch(OnTouchEvent(kind: kind, fingers: [.init(id: 0, samples: [sample])]), now: now)
      }
    }
    _ = try fixture.recorder.wait(for: "the end") { $0.count { $0 == "touch-frame" } == 2 }
    let times = fixture.recorder.entries.withLock { $0.map(\.time) }
    let range = UInt64(before.nanoseconds)...UInt64(MonotonicClock.now.nanoseconds)
    #expect(times.allSatisfy { range.contains($0) }, "\(times)")
  }

  @Test func motionComesWithTheFrame() throws {
    let fixture = try TouchFixture(properties: "")
    try fixture.perform("touch begin 0 1 1")
    _ = try fixture.wait(forLast: "touch-frame")
    let moves = (2...60).map { "touch move 0 \($0) 1" }
    for move in moves { try fixture.perform(move) }
    try fixture.harness.settle()
    fixture.harness.pushPicture()
    try fixture.recorder.wait(for: "last place") { $0.suffix(2) == ["touch-motion 0 (60.0, 1.0)", "touch-frame"] }
    let motions = fixture.recorder.texts.count { $0.hasPrefix("touch-motion") }
    #expect(motions < moves.count)
    #expect(fixture.recorder.texts.count { $0 == "touch-frame" } == motions + 1)
    // The end of a touch does not overtake its last motion.
    try fixture.perform("touch move 0 70 1", "touch end 0 71 1")
    _ = try fixture.recorder.wait(for: "end") { $0.suffix(2) == ["touch-up 0 (71.0, 1.0)", "touch-frame"] }
    #expect(
      fixture.recorder.texts.suffix(4) == [
        "touch-motion 0 (70.0, 1.0)", "touch-frame", "touch-up 0 (71.0, 1.0)", "touch-frame",
      ])
  }

  /// A source that draws only when it is touched.
  @Test func motionWithoutFrames() throws {
    let fixture = try TouchFixture(properties: "")
    try fixture.perform("touch begin 0 1 1", "touch move 0 5 5")
    _ = try fixture.recorder.wait(for: "motion") { $0.contains("touch-motion 0 (5.0, 5.0)") }
  }

  @Test func mouse() throws {
    let fixture = try TouchFixture(properties: "synced-panning=false emulate-mouse=true")
    try fixture.perform(
      "touch begin 0 10 20", "touch begin 1 5 5", "touch move 0 11 21 1 6 6", "touch end 1 6 6", "touch end 0 12 22")
    _ = try fixture.recorder.wait(for: "the end") { $0.count { $0 == "touch-frame" } == 5 }
    #expect(
      fixture.recorder.texts.filter { $0.hasPrefix("mouse") } == [
        "mouse-press 1 (10.0, 20.0)", "mouse-move (11.0, 21.0)", "mouse-release 1 (12.0, 22.0)",
      ])
    #expect(fixture.recorder.texts.count { $0.hasPrefix("touch-down") } == 2)
  }

  @Test(arguments: [true, false]) func unhandledEventsAreMessages(consumesEvents: Bool) throws {
    let fixture = try TouchFixture(consumesEvents: consumesEvents)
    try fixture.perform("touch begin 0 10 20", "touch end 0 10 20")
    _ = try fixture.recorder.wait(for: "the end") { $0.count { $0 == "touch-frame" } == 2 }
    try fixture.harness.settle()
    let messages = fixture.harness.pipeline.drain().filter { $0.isElement("GstNavigationMessage") }
    #expect(messages.count == (consumesEvents ? 0 : 4))
    #expect(messages.allSatisfy { $0.source == "sink" && $0.fields["type"] == "event" }, "\(messages)")
  }

  enum Interruption: String, CaseIterable {
    case background
    case driverLeaves
    case endOfService
    case loss
    case stop
  }

  @Test(arguments: Interruption.allCases) func openTouchesAreCancelled(by interruption: Interruption) throws {
    let fixture = try TouchFixture()
    try fixture.perform("touch begin 0 1 1")
    _ = try fixture.wait(forLast: "touch-frame")
    switch interruption {
    case .background: try fixture.harness.setAppState(.background)
    case .driverLeaves: try fixture.harness.show(.background)
    case .endOfService: try fixture.perform("end-video")
    case .loss: try fixture.perform("cut")
    case .stop: fixture.harness.pipeline.stop()
    }
    let texts = try fixture.wait(forLast: "touch-cancel")
    #expect(texts == ["touch-down 0 (1.0, 1.0)", "touch-frame", "touch-cancel"])
  }

  @Test func resize() throws {
    let headUnit = try TestHeadUnit(.small(320, 240))
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! videoconvertscale ! "
        + "sdlvideosink name=sink sync=false synced-panning=false uri=\(headUnit.uri)")
    let recorder = NavigationRecorder(at: try pipeline.sink.pad("sink"))
    try pipeline.play()
    try pipeline.waitForElementMessage("sdl-stream-started")
    headUnit.server.perform(try #require(try HeadUnitCommand.parse("touch begin 0 319 239")))
    try recorder.wait(for: "touch") { $0 == ["touch-down 0 (319.0, 239.0)", "touch-frame"] }
    headUnit.server.perform(.resize(VideoSize(600, 450), scale: 1.5))
    try recorder.wait(for: "cancel") { $0.last == "touch-cancel" }
    try pipeline.waitForElementMessage("sdl-stream-started")
    headUnit.server.perform(try #require(try HeadUnitCommand.parse("touch begin 0 150 300")))
    try recorder.wait(for: "second touch") { $0.suffix(2) == ["touch-down 0 (100.0, 200.0)", "touch-frame"] }
  }

  @Test func gestures() throws {
    let fixture = try TouchFixture(properties: "synced-panning=false gestures=true")
    try fixture.perform("touch begin 0 100 100", "touch end 0 100 100")
    let tap = try fixture.harness.pipeline.waitForElementMessage("sdl-gesture")
    #expect(tap == ["type": "tap", "x": "100", "y": "100"])
    try fixture.perform("touch begin 0 100 100", "touch move 0 120 100", "touch move 0 130 100", "touch end 0 130 100")
    var messages: [[String: String]] = []
    for _ in 0..<3 { messages.append(try fixture.harness.pipeline.waitForElementMessage("sdl-gesture")) }
    #expect(
      messages == [
        ["type": "pan-start", "x": "120", "y": "100"],
        ["type": "pan", "from-x": "120", "from-y": "100", "x": "130", "y": "100"],
        ["type": "pan-end", "x": "130", "y": "100"],
      ])
    try fixture.perform("touch begin 0 0 0 1 10 0", "touch move 1 20 0", "touch cancel 0 0 0")
    messages = []
    for _ in 0..<3 { messages.append(try fixture.harness.pipeline.waitForElementMessage("sdl-gesture")) }
    #expect(
      messages == [
        ["type": "pinch-start", "x": "5", "y": "0"], ["type": "pinch", "x": "10", "y": "0", "scale": "2"],
        ["type": "pinch-cancel", "x": "10", "y": "0"],
      ])
  }

  @Test func noGesturesUnlessAskedFor() throws {
    let fixture = try TouchFixture()
    try fixture.perform("touch begin 0 0 0", "touch move 0 50 50", "touch end 0 50 50")
    _ = try fixture.recorder.wait(for: "the end") { $0.count { $0 == "touch-frame" } == 3 }
    try fixture.harness.settle()
    #expect(!fixture.harness.pipeline.drain().contains { $0.isElement("sdl-gesture") })
  }

  /// Handlers of navigation events may read any property.
  @Test func handlersMayCallBack() throws {
    let caller = Monitor<GetterCaller?>(nil)
    let fixture = try TouchFixture(callback: { caller.withLock { $0 }?.readEverything() })
    let sink = try fixture.harness.pipeline.sink
    caller.withLock { $0 = GetterCaller(sink.pointer) }
    try fixture.perform("touch begin 0 1 1", "touch end 0 1 1")
    _ = try fixture.recorder.wait(for: "the end") { $0.count { $0 == "touch-frame" } == 2 }
    #expect(eventually { caller.withLock { $0 }?.calls.withLock { $0 } == 4 })
  }
}
