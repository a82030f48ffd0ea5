import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The messages about a resize, `sdl-stream-stopped`, `sdl-stream-started` and `sdl-resized`.
@Suite struct ResizeMessageTests {
  private static let first = ImageResolution(320, 240)
  private static let second = ImageResolution(480, 320)
  private static let third = ImageResolution(160, 120)

  @Test func onceBehindTheStart() throws {
    let harness = try ResizeHarness()
    try harness.start()
    harness.resize(Self.second)
    let resized = try harness.pipeline.waitForElementMessage("sdl-resized")
    try harness.waitForFrames(20, of: Self.second)
    let duration = try #require(resized["duration"].flatMap { UInt64($0) })
    #expect(duration > 0 && duration < 10_000_000_000)
    #expect(resized["dropped-frames"].flatMap { Int($0) } != nil)
    #expect(resized.count == 6)
    let lifecycle = harness.pipeline.drain().compactMap { message -> String? in
      guard case .element(let name) = message.kind else { return nil }
      return ["sdl-stream-started", "sdl-stream-stopped", "sdl-resized"].contains(name)
        ? "\(name) \(message.fields["reason"] ?? "")\(message.fields["width"] ?? "")" : nil
    }
    #expect(
      lifecycle == [
        "sdl-stream-started first-start320", "sdl-stream-stopped resized", "sdl-stream-started resized480",
        "sdl-resized 480",
      ])
    #expect(harness.resizes == ["320x240 to 480x320"])
    #expect(try harness.statistics["resizes"] == 1)
  }

  /// A live source at 4 frames per second: at most one frame comes between the update and the first in the new size.
  @Test func droppedFramesAreCounted() throws {
    let harness = try ResizeHarness(source: "videotestsrc is-live=true ! video/x-raw,format=I420,framerate=4/1")
    try harness.start()
    let before = try harness.statistics.dropped
    harness.resize(Self.second)
    let resized = try harness.pipeline.waitForElementMessage("sdl-resized")
    let lost = try #require(resized["dropped-frames"].flatMap { Int($0) })
    #expect(try harness.statistics.dropped == before + lost)
    #expect(lost <= 1)
  }

  @Test func burstIsOneResize() throws {
    let harness = try ResizeHarness()
    try harness.start()
    harness.headUnit.server.control(.everyApp) { session, now in
      [Self.third, Self.first, Self.third, Self.second].flatMap { session.resize(to: $0, scale: 1, now: now) }
    }
    try harness.pipeline.waitForElementMessage("sdl-resized")
    try harness.waitForFrames(of: Self.second)
    #expect(harness.resizes == ["320x240 to 480x320"])
    // In one packet, so that upstream is never asked for the sizes in between.
    #expect(harness.headUnit.record.startedSizes == [Self.first, Self.second])
    harness.expectNoComplaint()
    try harness.expectDecodable()
  }

  /// Twice within a frame interval: the source is too slow to send anything in the first size.
  @Test func twoWithinOneInterval() throws {
    let harness = try ResizeHarness(source: "videotestsrc is-live=true ! video/x-raw,format=I420,framerate=2/1")
    try harness.start()
    harness.resize(Self.third)
    // A StartService that crosses a resize is refused, and the app leaves the screen.
    try harness.headUnit.wait(for: "start") { $0.starts.count == 2 ? true : nil }
    harness.resize(Self.second)
    try harness.waitForFrames(1, of: Self.second)
    try harness.pipeline.waitForElementMessage("sdl-resized")
    #expect(harness.resizes == ["320x240 to 480x320"])
    harness.expectNoComplaint()
    try harness.expectDecodable()
  }

  @Test func backToTheOldSizeBeforeUpstreamHasChanged() throws {
    let harness = try ResizeHarness(source: "videotestsrc is-live=true ! video/x-raw,format=I420,framerate=2/1")
    try harness.start()
    harness.resize(Self.second)
    try harness.headUnit.wait(for: "start") { $0.starts.count == 2 ? true : nil }
    harness.resize(Self.first)
    try harness.waitUntilKnown(Self.first)
    try harness.waitForFrames(1, of: Self.first)
    #expect(harness.resizes.isEmpty)
    #expect(try harness.statistics["resizes"] == 0)
    let starts = harness.pipeline.messages.filter { $0.isElement("sdl-stream-started") }
    #expect(starts.dropFirst().allSatisfy { $0.fields["reason"] == "restarted" || $0.fields["width"] == "480" })
    harness.expectNoComplaint()
    try harness.expectDecodable()
  }

  /// A change of size by upstream itself is a resize as well.
  @Test func upstreamChangesByItself() throws {
    let harness = try ResizeHarness(
      .small(480, 320, additional: [(160, 120)]),
      source:
        "videotestsrc is-live=true ! video/x-raw,format=I420,framerate=60/1 ! capsfilter name=filter caps-change-mode=delayed"
    )
    try harness.start()
    try harness.pipeline["filter"].set("caps", "video/x-raw,width=160")
    try harness.pipeline.waitForElementMessage("sdl-resized")
    try harness.waitForFrames(of: Self.third)
    #expect(harness.resizes == ["480x320 to 160x120"])
    harness.expectNoComplaint()
    try harness.expectDecodable()
  }
}
