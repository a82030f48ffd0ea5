import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin

/// `resize-policy`, in whatever state the stream is.
@Suite struct ResizePolicyTests {
  private static let first = ImageResolution(320, 240)
  private static let second = ImageResolution(480, 320)

  private func drive(
    _ policy: String, activation: Duration? = .zero, properties: String = "background-notice=false"
  ) throws -> ResizeDrive {
    try ResizeDrive(
      .small(activation: activation),
      properties: "keep-alive-interval=0 resize-policy=\(policy) \(properties)")
  }

  @Test func keepGoesOnUntilTheServiceEnds() throws {
    let drive = try drive("keep")
    try drive.start()
    drive.resize(Self.second)
    let ignored = try drive.pipeline.waitForElementMessage("sdl-resize-ignored")
    #expect(ignored == ["old-width": "320", "old-height": "240", "width": "480", "height": "320"])
    try drive.waitForFrames(drive.headUnit.record.video.count + 10, of: Self.first)
    #expect(try drive.statistics["resizes"] == 0)
    // The driver leaves, and comes back.
    try drive.headUnit.show(.none)
    try drive.pipeline.waitForElementMessage("sdl-stream-stopped")
    try drive.headUnit.show(.full)
    try drive.pipeline.waitForElementMessage("sdl-resized")
    try drive.waitForFrames(of: Self.second)
    #expect(drive.headUnit.record.startedSizes == [Self.first, Self.second])
    #expect(drive.pipeline.messages.count { $0.isElement("sdl-resize-ignored") } == 1)
    drive.expectNoComplaint()
    try drive.expectDecodable()
  }

  @Test func keepForgetsWhatIsTakenBack() throws {
    let drive = try drive("keep")
    try drive.start()
    drive.resize(Self.second)
    try drive.pipeline.waitForElementMessage("sdl-resize-ignored")
    drive.resize(Self.first)
    try drive.waitUntilKnown(Self.first)
    try drive.headUnit.show(.none)
    try drive.pipeline.waitForElementMessage("sdl-stream-stopped")
    try drive.headUnit.show(.full)
    try drive.waitForFrames(of: Self.first)
    #expect(drive.headUnit.record.startedSizes == [Self.first, Self.first])
    #expect(drive.resizes.isEmpty)
  }

  @Test func keepTakesTheFrameRate() throws {
    let drive = try drive("keep")
    try drive.start()
    var update = VideoStreamingCapability()
    update.preferredResolution = Self.second
    update.preferredFPS = 5
    try drive.update(update)
    try drive.pipeline.waitForElementMessage("sdl-resize-ignored")
    #expect(eventually { (try? drive.statistics["frames-dropped-frame-rate"]) ?? 0 > 20 })
    #expect(drive.headUnit.record.startedSizes == [Self.first])
  }

  /// The service is kept, and used on when the app is back.
  @Test func keepInTheBackground() throws {
    let drive = try drive("keep")
    try drive.start()
    try drive.pipeline.sink.set("app-state", "background")
    try drive.pipeline.waitForElementMessage("sdl-stream-suspended")
    drive.resize(Self.second)
    try drive.pipeline.waitForElementMessage("sdl-resize-ignored")
    try drive.pipeline.sink.set("app-state", "foreground")
    try drive.pipeline.waitForElementMessage("sdl-stream-started")
    let count = drive.headUnit.record.video.count
    try drive.headUnit.waitForFrames(count + 5)
    #expect(drive.headUnit.record.startedSizes == [Self.first])
    drive.expectNoComplaint()
  }

  /// Back in its list of sizes, though not the first.
  @Test func keepStaysWithAHeadUnitThatTakesBoth() throws {
    let drive = try drive("keep")
    try drive.start()
    var update = VideoStreamingCapability()
    update.preferredResolution = Self.second
    var former = VideoStreamingCapability()
    former.preferredResolution = Self.first
    update.additionalCapabilities = [former]
    try drive.update(update)
    try drive.pipeline.waitForElementMessage("sdl-resize-ignored")
    try drive.headUnit.show(.none)
    try drive.pipeline.waitForElementMessage("sdl-stream-stopped")
    try drive.headUnit.show(.full)
    try drive.waitForFrames(of: Self.first)
    #expect(drive.headUnit.record.startedSizes == [Self.first, Self.first])
  }

  @Test func errorNamesBothSizes() throws {
    let drive = try drive("error")
    try drive.start()
    drive.resize(Self.first)
    drive.resize(Self.second)
    let error = try drive.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT), "\(error)")
    #expect(error.text.contains("320×240") && error.text.contains("480×320"), "\(error)")
    try drive.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : true }
    #expect(drive.headUnit.record.startedSizes == [Self.first])
  }

  enum Away: CaseIterable { case driver, app, paused }

  @Test(arguments: Away.allCases) func errorWhileNothingIsSent(away: Away) throws {
    let drive = try drive("error")
    try drive.start()
    switch away {
    case .driver: try drive.headUnit.show(.none)
    case .app: try drive.pipeline.sink.set("app-state", "background")
    case .paused: drive.pipeline.setState(GST_STATE_PAUSED)
    }
    if away == .driver {
      try drive.pipeline.waitForElementMessage("sdl-stream-stopped")
    } else {
      try drive.pipeline.waitForElementMessage("sdl-stream-suspended")
    }
    drive.resize(Self.second)
    let error = try drive.pipeline.waitForError()
    #expect(error.text.contains("320×240") && error.text.contains("480×320"), "\(error)")
  }

  /// Before a stream there is nothing to resize.
  @Test(arguments: ["renegotiate", "keep", "error"]) func beforeTheFirstStart(policy: String) throws {
    let drive = try drive(policy, activation: nil)
    try drive.pipeline.play()
    try drive.waitUntilKnown(Self.first)
    drive.headUnit.server.steer(.everyApp) { $0.resize(to: Self.second, scale: 1, now: $1) }
    try drive.waitUntilKnown(Self.second)
    try drive.headUnit.show(.full)
    try drive.waitForFrames(of: Self.second)
    #expect(drive.headUnit.record.startedSizes == [Self.second])
    #expect(drive.resizes.isEmpty)
    drive.expectNoComplaint()
    try drive.expectDecodable()
  }

  /// Only what upstream sends counts: another first choice is none of its business while its own size is taken.
  @Test(arguments: ["renegotiate", "keep", "error"]) func sizeThatStays(policy: String) throws {
    let drive = try ResizeDrive(
      .small(480, 320, additional: [(320, 240)]),
      source: "videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240,framerate=60/1",
      properties: "keep-alive-interval=0 resize-policy=\(policy)")
    try drive.start()
    var update = VideoStreamingCapability()
    update.preferredResolution = ImageResolution(640, 360)
    var additional = VideoStreamingCapability()
    additional.preferredResolution = Self.first
    update.additionalCapabilities = [additional]
    try drive.update(update)
    try drive.waitUntilKnown(ImageResolution(640, 360))
    try drive.headUnit.waitForFrames(drive.headUnit.record.video.count + 20)
    #expect(drive.headUnit.record.startedSizes == [Self.first])
    #expect(drive.resizes.isEmpty)
    #expect(!drive.pipeline.messages.contains { $0.isElement("sdl-stream-stopped") })
    drive.expectNoComplaint()
  }
}
