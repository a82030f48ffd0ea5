import GStreamerKit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The table of resizes, through pipeline, sink and head unit.
@Suite struct ResizeTableTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Of the streams that the head unit has started in the end, the first before the update.
    var sizes: [ImageResolution]
    var update: @Sendable (inout VideoStreamingCapability) -> Void
    init(
      _ id: String, _ sizes: [ImageResolution], update: @escaping @Sendable (inout VideoStreamingCapability) -> Void
    ) {
      (testDescription, self.sizes, self.update) = (id, sizes, update)
    }
  }

  private static let first = ImageResolution(320, 240)

  static let rows = [
    Row("another frame rate", [first]) { $0.preferredFPS = 10 },
    Row("a size and a scale", [first, ImageResolution(852, 378)]) {
      $0.preferredResolution = ImageResolution(1280, 569)
      $0.scale = 1.5
    },
    Row("scale, size and additional ones alone", [first, ImageResolution(160, 120)]) { update in
      update.preferredResolution = ImageResolution(200, 150)
      update.scale = 1.25
      var additional = VideoStreamingCapability()
      additional.preferredResolution = ImageResolution(480, 320)
      update.additionalCapabilities = [additional]
    },
  ]

  @Test(arguments: rows) func resize(_ row: Row) throws {
    let harness = try ResizeHarness()
    try harness.start()
    var update = VideoStreamingCapability()
    row.update(&update)
    try harness.update(update)
    let last = try #require(row.sizes.last)
    if row.sizes.count == 1 {
      // Long enough for anything that would come of it.
      try harness.headUnit.waitForFrames(harness.headUnit.record.video.count + 30)
    } else {
      try harness.pipeline.waitForElementMessage("sdl-resized")
    }
    try harness.waitForFrames(of: last)
    #expect(harness.headUnit.record.startedSizes == row.sizes)
    #expect(try harness.statistics["resizes"] == row.sizes.count - 1)
    #expect(harness.resizes.count == row.sizes.count - 1)
    harness.expectNoComplaint()
    try harness.expectDecodable()
    // What the update leaves out stays as it was.
    let head = try #require(harness.pipeline.sink.structure("head-unit")?["video-capability"])
    #expect(head.contains("10000") && head.contains("RAW/H264"), "\(head)")
  }

  @Test("While the app is in the background") func whileSuspended() throws {
    let harness = try ResizeHarness()
    try harness.start()
    try harness.pipeline.sink.set("background-notice", "false")
    try harness.pipeline.sink.set("app-state", "background")
    try harness.pipeline.waitForElementMessage("sdl-stream-suspended")
    harness.resize(ImageResolution(480, 320))
    try harness.waitUntilKnown(ImageResolution(480, 320))
    #expect(eventually { (try? harness.statistics["frames-dropped-suspended"]) ?? 0 > 5 })
    #expect(harness.headUnit.record.startedSizes == [Self.first])
    #expect(harness.headUnit.record.stopReasons.isEmpty)
    try harness.pipeline.sink.set("app-state", "foreground")
    try harness.pipeline.waitForElementMessage("sdl-resized")
    try harness.waitForFrames(of: ImageResolution(480, 320))
    #expect(harness.headUnit.record.startedSizes == [Self.first, ImageResolution(480, 320)])
    harness.expectNoComplaint()
    try harness.expectDecodable()
  }

  @Test("Upstream can't follow", arguments: ["", " ! queue"]) func upstreamIsFixed(_ between: String) throws {
    let harness = try ResizeHarness(
      source: "videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240,framerate=30/1\(between)")
    try harness.start()
    harness.resize(ImageResolution(480, 320))
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
}
