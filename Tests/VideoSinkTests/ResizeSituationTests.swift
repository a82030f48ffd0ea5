import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The head unit resizes at the worst moments.
@Suite struct ResizeSituationTests {
  private static let first = VideoSize(320, 240)
  private static let second = VideoSize(480, 320)
  private static let third = VideoSize(160, 120)
  private static let encoder = "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=300 threads=1"
  private static let profile = "video/x-h264,profile=constrained-baseline"

  private func expectEnd(_ harness: ResizeHarness, _ sizes: [VideoSize]) throws {
    let last = try #require(sizes.last)
    try harness.waitForFrames(of: last)
    #expect(harness.headUnit.record.startedSizes == sizes)
    try harness.expectSettled()
  }

  @Test func whilePaused() throws {
    let harness = try ResizeHarness(source: "videotestsrc ! video/x-raw,format=I420,framerate=30/1")
    try harness.start()
    try harness.pipeline.reach(GST_STATE_PAUSED)
    harness.resize(Self.second)
    try harness.waitUntilKnown(Self.second)
    try harness.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : true }
    try harness.pipeline.play()
    try expectEnd(harness, [Self.first, Self.second])
    #expect(harness.resizes == ["320x240 to 480x320"])
  }

  enum Upstream: String, CaseIterable {
    case source = "videotestsrc is-live=true ! video/x-raw,framerate=60/1"
    case file = "videotestsrc num-buffers=2000 ! video/x-raw,framerate=60/1"
    // It would keep the picture's ratio by pixels that are not square, of which encoders do not ask for others.
    case scaler = """
      videotestsrc is-live=true ! video/x-raw,width=640,height=480,framerate=60/1 ! videoconvertscale \
      ! video/x-raw,pixel-aspect-ratio=1/1
      """
    case queue = "videotestsrc is-live=true ! video/x-raw,framerate=60/1 ! queue"
  }

  /// `ResizeRaceTests` has raw video of each.
  @Test(arguments: Upstream.allCases) func encoded(_ upstream: Upstream) throws {
    let harness = try ResizeHarness(source: "\(upstream.rawValue) ! \(Self.encoder) ! \(Self.profile)")
    try harness.start()
    for size in [Self.second, Self.third] {
      harness.resize(size)
      try harness.waitForFrames(5, of: size)
    }
    // Frames that waited for the service come with its start, which is told after it.
    #expect(eventually { harness.resizes == ["320x240 to 480x320", "480x320 to 160x120"] })
    try expectEnd(harness, [Self.first, Self.second, Self.third])
  }

  /// A parser answers CAPS queries with its current caps, although its upstream can change.
  @Test func parserBehindTheEncoder() throws {
    let harness = try ResizeHarness(
      source: "\(Upstream.source.rawValue) ! \(Self.encoder) ! \(Self.profile) ! h264parse")
    try harness.start()
    harness.resize(Self.second)
    try expectEnd(harness, [Self.first, Self.second])
  }

  /// Neither can change, and neither ends the pipeline with an error of its own.
  @Test(arguments: ["", " ! h264parse"]) func encodedInAFixedSize(parser: String) throws {
    let harness = try ResizeHarness(
      source: "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=30/1 ! \(Self.encoder)"
        + " ! \(Self.profile)\(parser)")
    try harness.start()
    harness.resize(Self.second)
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT), "\(error)")
    #expect(error.text.contains("320×240") && error.text.contains("480×320"), "\(error)")
    harness.expectNoOtherError()
    harness.pipeline.stop()
    let services = harness.headUnit.record.services.dropFirst()
    #expect(services.allSatisfy { $0.isEmpty })
    #expect(try harness.statistics.areFramesConserved)
    try harness.expectDecodable()
  }

  /// The application was asked to pause: it is asked to go on when the driver is back, although no service can start
  /// before upstream has changed.
  @Test(arguments: ["", " ! \(encoder) ! \(profile) ! h264parse"])
  func whilePausedOnRequest(encoding: String) throws {
    let harness = try ResizeHarness(source: "videotestsrc ! video/x-raw,framerate=30/1\(encoding)")
    try harness.start()
    try harness.headUnit.show(.background)
    try harness.pipeline.wait(for: "pause") { $0.buffering == 0 ? true : nil }
    try harness.pipeline.reach(GST_STATE_PAUSED)
    harness.resize(Self.second)
    try harness.waitUntilKnown(Self.second)
    try harness.headUnit.show(.full)
    try harness.pipeline.wait(for: "play") { $0.buffering == 100 ? true : nil }
    try harness.pipeline.play()
    try expectEnd(harness, [Self.first, Self.second])
  }
}
