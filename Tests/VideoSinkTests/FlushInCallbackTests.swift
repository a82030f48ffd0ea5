import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Flushing seeks from inside of messages and events of the sink, on the thread that posts or sends them: neither may be posted with
/// anything held that a flush needs.
@Suite struct FlushInCallbackTests {
  private static let first = ImageResolution(320, 240)
  private static let second = ImageResolution(480, 320)

  private func application(_ pipeline: Pipeline) throws -> FlushingApplication {
    FlushingApplication(pipeline.element, source: try pipeline["src"], sink: try pipeline.sink)
  }

  /// A source of pictures, whose size follows the head unit, which the driver leaves and touches.
  @Test func rawVideo() throws {
    let harness = try ResizeHarness(
      source:
        "videotestsrc name=src is-live=true pattern=ball ! capsfilter caps=video/x-raw,format=I420,framerate=60/1",
      properties: "keep-alive-interval=100 gestures=true")
    let application = try application(harness.pipeline)
    try harness.start()
    var size = Self.first
    for kind in ["sdl-stream-stopped", "sdl-stream-started", "reconfigure", "sdl-resized"] {
      try application.provoke(kind) {
        size = size == Self.first ? Self.second : Self.first
        harness.resize(size)
        try harness.waitForFrames(of: size, reopening: true)
      }
    }
    // Motion of a finger goes upstream with the next frame, on the streaming thread.
    for kind in ["navigation", "sdl-gesture"] {
      try application.provoke(kind) {
        for (kind, x) in [(OnTouchEvent.Kind.begin, 10), (.move, 100), (.move, 200), (.end, 200)] {
          let touch = OnTouchEvent(kind: kind, fingers: [.init(id: 0, samples: [.init(x: x, y: 20)])])
          harness.headUnit.server.control(.everyApp) { $0.touch(touch, now: $1) }
        }
      }
    }
    try application.provoke("sdl-hmi-status") {
      try harness.headUnit.show(.none)
      try harness.headUnit.show(.full)
    }
    try application.provoke("sdl-stream-suspended") {
      try harness.pipeline.sink.set("app-state", "background")
      try harness.pipeline.sink.set("app-state", "foreground")
    }
    let count = harness.headUnit.record.video.count
    try harness.headUnit.waitForFrames(count + 10)
    #expect(application.pending == [], "after \(application.answered)")
    #expect(try harness.statistics.areFramesConserved)
    harness.pipeline.stop()
  }

  /// H.264 whose key frames are asked for.
  @Test func encodedVideo() throws {
    let headUnit = try TestHeadUnit(.small(frameRate: 60))
    let pipeline = try Pipeline(
      """
      videotestsrc name=src is-live=true pattern=ball ! \(Picture.caps()) \
      ! x264enc key-int-max=1000 tune=zerolatency speed-preset=ultrafast ! sdlvideosink name=sink \
      uri=\(headUnit.uri)
      """)
    let application = try application(pipeline)
    try pipeline.play()
    try headUnit.waitForFrames(3)
    for kind in ["sdl-stream-stopped", "sdl-stream-started", "key frame request"] {
      try application.provoke(kind) {
        let (ends, starts) = (headUnit.record.stopReasons.count, headUnit.record.starts.count)
        try headUnit.show(.none)
        try headUnit.wait(for: "end") { $0.stopReasons.count > ends ? true : nil }
        try headUnit.show(.full)
        try headUnit.wait(for: "start") { $0.starts.count > starts ? true : nil }
        let count = headUnit.record.video.count
        try headUnit.waitForFrames(count + 3)
      }
    }
    #expect(application.pending == [], "after \(application.answered)")
    pipeline.stop()
  }
}
