import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// `resize-policy`, in every state of the stream.
@Suite struct ResizePolicyTests {
  private static let first = ImageResolution(320, 240)
  private static let second = ImageResolution(480, 320)

  private func harness(
    _ policy: String, activation: Duration? = .zero, properties: String = "background-notice=false"
  ) throws -> ResizeHarness {
    try ResizeHarness(
      .small(activation: activation),
      properties: "keep-alive-interval=0 resize-policy=\(policy) \(properties)")
  }

  @Test func keepGoesOnUntilTheServiceEnds() throws {
    let harness = try harness("keep")
    try harness.start()
    harness.resize(Self.second)
    let ignored = try harness.pipeline.waitForElementMessage("sdl-resize-ignored")
    #expect(
      ignored == [
        "old-width": "320", "old-height": "240", "width": "480", "height": "320", "reason": "resize-policy",
      ])
    try harness.waitForFrames(harness.headUnit.record.video.count + 10, of: Self.first)
    #expect(try harness.statistics["resizes"] == 0)
    // The driver leaves, and comes back.
    try harness.headUnit.show(.none)
    try harness.pipeline.waitForElementMessage("sdl-stream-stopped")
    try harness.headUnit.show(.full)
    try harness.pipeline.waitForElementMessage("sdl-resized")
    try harness.waitForFrames(of: Self.second)
    #expect(harness.headUnit.record.startedSizes == [Self.first, Self.second])
    #expect(harness.pipeline.messages.count { $0.isElement("sdl-resize-ignored") } == 1)
    harness.expectNoComplaint()
    try harness.expectDecodable()
  }

  @Test func keepTakesTheFrameRate() throws {
    let harness = try harness("keep")
    try harness.start()
    var update = VideoStreamingCapability()
    update.preferredResolution = Self.second
    update.preferredFPS = 5
    try harness.update(update)
    try harness.pipeline.waitForElementMessage("sdl-resize-ignored")
    #expect(eventually { (try? harness.statistics["frames-dropped-frame-rate"]) ?? 0 > 20 })
    #expect(harness.headUnit.record.startedSizes == [Self.first])
  }

  @Test func errorNamesBothSizes() throws {
    let harness = try harness("error")
    try harness.start()
    harness.resize(Self.first)
    harness.resize(Self.second)
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT), "\(error)")
    #expect(error.text.contains("320×240") && error.text.contains("480×320"), "\(error)")
    try harness.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : true }
    #expect(harness.headUnit.record.startedSizes == [Self.first])
  }

  /// Before a stream there is nothing to resize.
  @Test func beforeTheFirstStart() throws {
    let harness = try harness("renegotiate", activation: nil)
    try harness.pipeline.play()
    try harness.waitUntilKnown(Self.first)
    harness.headUnit.server.control(.everyApp) { $0.resize(to: Self.second, scale: 1, now: $1) }
    try harness.waitUntilKnown(Self.second)
    try harness.headUnit.show(.full)
    try harness.waitForFrames(of: Self.second)
    #expect(harness.headUnit.record.startedSizes == [Self.second])
    #expect(harness.resizes.isEmpty)
    harness.expectNoComplaint()
    try harness.expectDecodable()
  }

  /// Another preferred size does not matter while the head unit still takes the size that upstream sends.
  @Test func sizeThatStays() throws {
    let harness = try ResizeHarness(
      .small(480, 320, additional: [(320, 240)]),
      source: "videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240,framerate=60/1",
      properties: "keep-alive-interval=0")
    try harness.start()
    var update = VideoStreamingCapability()
    update.preferredResolution = ImageResolution(640, 360)
    var additional = VideoStreamingCapability()
    additional.preferredResolution = Self.first
    update.additionalCapabilities = [additional]
    try harness.update(update)
    try harness.waitUntilKnown(ImageResolution(640, 360))
    try harness.headUnit.waitForFrames(harness.headUnit.record.video.count + 20)
    #expect(harness.headUnit.record.startedSizes == [Self.first])
    #expect(harness.resizes.isEmpty)
    #expect(!harness.pipeline.messages.contains { $0.isElement("sdl-stream-stopped") })
    harness.expectNoComplaint()
  }
}
