import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin

/// What the application is told of a resize.
@Suite struct ResizeMessageTests {
  private static let first = ImageResolution(320, 240)
  private static let second = ImageResolution(480, 320)
  private static let third = ImageResolution(160, 120)

  @Test func onceBehindTheStart() throws {
    let drive = try ResizeDrive()
    try drive.start()
    drive.resize(Self.second)
    let resized = try drive.pipeline.waitForElementMessage("sdl-resized")
    try drive.waitForFrames(20, of: Self.second)
    let duration = try #require(resized["duration"].flatMap { UInt64($0) })
    #expect(duration > 0 && duration < 10_000_000_000)
    #expect(resized["dropped-frames"].flatMap { Int($0) } != nil)
    #expect(resized.count == 6)
    let news = drive.pipeline.drain().compactMap { message -> String? in
      guard case .element(let name) = message.kind else { return nil }
      return ["sdl-stream-started", "sdl-stream-stopped", "sdl-resized"].contains(name)
        ? "\(name) \(message.fields["reason"] ?? "")\(message.fields["width"] ?? "")" : nil
    }
    #expect(
      news == [
        "sdl-stream-started first-start320", "sdl-stream-stopped resized", "sdl-stream-started resized480",
        "sdl-resized 480",
      ])
    #expect(drive.resizes == ["320x240 to 480x320"])
    #expect(try drive.statistics["resizes"] == 1)
  }

  /// A live source at 4 frames per second: what comes between the news and the first new frame is lost, at most one.
  @Test func droppedFramesAreCounted() throws {
    let drive = try ResizeDrive(source: "videotestsrc is-live=true ! video/x-raw,format=I420,framerate=4/1")
    try drive.start()
    let before = try drive.statistics.dropped
    drive.resize(Self.second)
    let resized = try drive.pipeline.waitForElementMessage("sdl-resized")
    let lost = try #require(resized["dropped-frames"].flatMap { Int($0) })
    #expect(try drive.statistics.dropped == before + lost)
    #expect(lost <= 1)
  }

  @Test func burstIsOneResize() throws {
    let drive = try ResizeDrive()
    try drive.start()
    drive.headUnit.server.steer(.everyApp) { session, now in
      [Self.third, Self.first, Self.third, Self.second].flatMap { session.resize(to: $0, scale: 1, now: now) }
    }
    try drive.pipeline.waitForElementMessage("sdl-resized")
    try drive.waitForFrames(of: Self.second)
    #expect(drive.resizes == ["320x240 to 480x320"])
    // In one packet, so that none of the others was asked for.
    #expect(drive.headUnit.record.startedSizes == [Self.first, Self.second])
    drive.expectNoComplaint()
    try drive.expectDecodable()
  }

  /// Twice within a frame interval: the source is too slow to send anything in the first size.
  @Test func twoWithinOneInterval() throws {
    let drive = try ResizeDrive(source: "videotestsrc is-live=true ! video/x-raw,format=I420,framerate=2/1")
    try drive.start()
    drive.resize(Self.third)
    // A start that crosses a resize is refused, and the app put aside.
    try drive.headUnit.wait(for: "start") { $0.starts.count == 2 ? true : nil }
    drive.resize(Self.second)
    try drive.waitForFrames(1, of: Self.second)
    try drive.pipeline.waitForElementMessage("sdl-resized")
    #expect(drive.resizes == ["320x240 to 480x320"])
    drive.expectNoComplaint()
    try drive.expectDecodable()
  }

  @Test func backToTheOldSizeBeforeUpstreamHasChanged() throws {
    let drive = try ResizeDrive(source: "videotestsrc is-live=true ! video/x-raw,format=I420,framerate=2/1")
    try drive.start()
    drive.resize(Self.second)
    try drive.headUnit.wait(for: "start") { $0.starts.count == 2 ? true : nil }
    drive.resize(Self.first)
    try drive.waitUntilKnown(Self.first)
    try drive.waitForFrames(1, of: Self.first)
    #expect(drive.resizes.isEmpty)
    #expect(try drive.statistics["resizes"] == 0)
    let starts = drive.pipeline.messages.filter { $0.isElement("sdl-stream-started") }
    #expect(starts.dropFirst().allSatisfy { $0.fields["reason"] == "restarted" || $0.fields["width"] == "480" })
    drive.expectNoComplaint()
    try drive.expectDecodable()
  }

  /// The app's own doing is a resize as well.
  @Test func upstreamChangesByItself() throws {
    let drive = try ResizeDrive(
      .small(480, 320, additional: [(160, 120)]),
      source:
        "videotestsrc is-live=true ! video/x-raw,format=I420,framerate=60/1 ! capsfilter name=filter caps-change-mode=delayed"
    )
    try drive.start()
    try drive.pipeline["filter"].set("caps", "video/x-raw,width=160")
    try drive.pipeline.waitForElementMessage("sdl-resized")
    try drive.waitForFrames(of: Self.third)
    #expect(drive.resizes == ["480x320 to 160x120"])
    drive.expectNoComplaint()
    try drive.expectDecodable()
  }
}
