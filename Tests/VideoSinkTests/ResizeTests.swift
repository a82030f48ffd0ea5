import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Resizes through pipeline, sink and head unit, and what the application hears of them. `VideoNegotiationResizeTests`
/// has them all.
@Suite struct ResizeTests {
  private static let first = VideoSize(320, 240)
  private static let second = VideoSize(480, 320)
  private static let third = VideoSize(160, 120)

  @Test func onceBehindTheStart() throws {
    // Slow enough that no frame is dropped after the message.
    let harness = try ResizeHarness(
      source: "videotestsrc is-live=true ! video/x-raw,format=I420,framerate=4/1",
      properties: "keep-alive-interval=0 max-lateness=-1")
    try harness.start()
    let before = try harness.statistics.dropped
    harness.resize(Self.second)
    let resized = try harness.pipeline.waitForElementMessage("sdl-resized")
    let duration = try #require(resized["duration"].flatMap { UInt64($0) })
    #expect(duration > 0 && duration < 10_000_000_000)
    // Those between the update and the first in the new size.
    let lost = try #require(resized["dropped-frames"].flatMap { Int($0) })
    #expect(try harness.statistics.dropped == before + lost)
    #expect(resized.count == 6)
    try harness.waitForFrames(3, of: Self.second)
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

  @Test("Upstream can't follow", arguments: ["", " ! queue"]) func upstreamIsFixed(_ between: String) throws {
    let harness = try ResizeHarness(
      source: "videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240,framerate=30/1\(between)")
    try harness.start()
    harness.resize(VideoSize(480, 320))
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT), "\(error)")
    for part in ["320×240", "480×320", "put videoconvertscale before sdlvideosink"] {
      #expect(error.text.contains(part), "\(error.text)")
    }
    try harness.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : true }
    harness.expectNoOtherError()
    harness.pipeline.stop()
    #expect(harness.headUnit.record.startedSizes == [Self.first])
    try harness.expectDecodable()
    #expect(try harness.statistics.areFramesConserved)
  }

  // MARK: resize-policy

  @Test func keepGoesOn() throws {
    let harness = try ResizeHarness(properties: "keep-alive-interval=0 background-notice=false resize-policy=keep")
    try harness.start()
    harness.resize(Self.second)
    let ignored = try harness.pipeline.waitForElementMessage("sdl-resize-ignored")
    #expect(
      ignored == [
        "old-width": "320", "old-height": "240", "width": "480", "height": "320", "reason": "resize-policy",
      ])
    try harness.waitForFrames(harness.headUnit.record.video.count + 10, of: Self.first)
    #expect(try harness.statistics["resizes"] == 0)
    #expect(harness.pipeline.messages.count { $0.isElement("sdl-resize-ignored") } == 1)
    harness.expectNoComplaint()
    try harness.expectDecodable()
  }

  @Test func errorNamesBothSizes() throws {
    let harness = try ResizeHarness(properties: "keep-alive-interval=0 background-notice=false resize-policy=error")
    try harness.start()
    harness.resize(Self.first)
    harness.resize(Self.second)
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT), "\(error)")
    #expect(error.text.contains("320×240") && error.text.contains("480×320"), "\(error)")
    try harness.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : true }
    #expect(harness.headUnit.record.startedSizes == [Self.first])
  }

  // MARK: Another preferred size, while the present one is still taken

  private func prefer(_ harness: ResizeHarness, _ size: VideoSize, additional: VideoSize) throws {
    var update = VideoStreamingCapability()
    update.preferredResolution = size
    var other = VideoStreamingCapability()
    other.preferredResolution = additional
    update.additionalCapabilities = [other]
    try harness.update(update)
  }

  @Test func encoderThatCanFollow() throws {
    let harness = try ResizeHarness(
      .small(320, 240, additional: [(480, 320)]),
      source: "videotestsrc is-live=true ! video/x-raw,format=I420,framerate=30/1"
        + " ! x264enc tune=zerolatency key-int-max=15 speed-preset=ultrafast")
    try harness.start()
    #expect(harness.headUnit.record.startedSizes == [Self.first])
    try prefer(harness, Self.second, additional: Self.first)
    try harness.waitForFrames(of: Self.second)
    try harness.pipeline.waitForElementMessage("sdl-resized")
    #expect(!harness.pipeline.messages.contains { $0.isElement("sdl-resize-ignored") })
    harness.expectNoComplaint()
    try harness.expectDecodable()
  }

  @Test func rawSourceThatCannotFollow() throws {
    let harness = try ResizeHarness(
      .small(320, 240, additional: [(480, 320)]),
      source: "videotestsrc is-live=true ! video/x-raw,format=I420,framerate=30/1,width=320,height=240")
    try harness.start()
    try prefer(harness, Self.second, additional: Self.first)
    let ignored = try harness.pipeline.waitForElementMessage("sdl-resize-ignored")
    #expect(
      ignored == [
        "old-width": "320", "old-height": "240", "width": "480", "height": "320", "reason": "upstream",
      ])
    #expect(try harness.statistics["frames-dropped-wrong-size"] == 0)
    #expect(harness.headUnit.record.startedSizes == [Self.first])
    try harness.waitForFrames(harness.headUnit.record.video.count + 3, of: Self.first)
    harness.expectNoComplaint()
  }
}
