import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// An encoder in the application, which may or may not be able to follow a resize to a size that the head unit prefers
/// while it still takes the present one.
@Suite struct IgnoredResizeTests {
  private static let first = ImageResolution(320, 240)
  private static let second = ImageResolution(480, 320)

  private func harness(_ size: String) throws -> ResizeHarness {
    try ResizeHarness(
      .small(320, 240, additional: [(480, 320)]),
      source: "videotestsrc is-live=true ! video/x-raw,format=I420,framerate=30/1\(size)"
        + " ! x264enc tune=zerolatency key-int-max=15 speed-preset=ultrafast")
  }

  private func prefer(_ harness: ResizeHarness, _ size: ImageResolution, additional: ImageResolution) throws {
    var update = VideoStreamingCapability()
    update.preferredResolution = size
    var other = VideoStreamingCapability()
    other.preferredResolution = additional
    update.additionalCapabilities = [other]
    try harness.update(update)
  }

  @Test func encoderThatCanFollow() throws {
    let harness = try harness("")
    try harness.start()
    #expect(harness.headUnit.record.startedSizes == [Self.first])
    try prefer(harness, Self.second, additional: Self.first)
    try harness.waitForFrames(of: Self.second)
    try harness.pipeline.waitForElementMessage("sdl-resized")
    #expect(!harness.pipeline.messages.contains { $0.isElement("sdl-resize-ignored") })
    harness.expectNoComplaint()
    try harness.expectDecodable()
  }

  @Test func encoderThatCannotFollow() throws {
    let harness = try harness(",width=320,height=240")
    try harness.start()
    let count = harness.headUnit.record.video.count
    try prefer(harness, Self.second, additional: Self.first)
    let ignored = try harness.pipeline.waitForElementMessage("sdl-resize-ignored")
    #expect(
      ignored == [
        "old-width": "320", "old-height": "240", "width": "480", "height": "320", "reason": "upstream",
      ])
    // The stream has gone on meanwhile.
    #expect(harness.headUnit.record.video.count >= count + 30)
    #expect(try harness.statistics["frames-dropped-wrong-size"] == 0)
    #expect(harness.headUnit.record.startedSizes == [Self.first])
    harness.expectNoComplaint()
  }

  @Test func rawSourceThatCannotFollow() throws {
    let harness = try ResizeHarness(
      .small(320, 240, additional: [(480, 320)]),
      source: "videotestsrc is-live=true ! video/x-raw,format=I420,framerate=30/1,width=320,height=240")
    try harness.start()
    try prefer(harness, Self.second, additional: Self.first)
    let ignored = try harness.pipeline.waitForElementMessage("sdl-resize-ignored")
    #expect(ignored["reason"] == "upstream" && ignored["width"] == "480" && ignored["old-width"] == "320")
    try harness.waitForFrames(harness.headUnit.record.video.count + 3, of: Self.first)
    harness.expectNoComplaint()
  }
}
