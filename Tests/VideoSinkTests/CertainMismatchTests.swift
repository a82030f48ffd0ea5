import CGStreamerApp
import Foundation
import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Pictures of a size that the head unit does not take, from where no other comes: the error comes when upstream has had
/// time to change, at the latest at the end, and says what to do.
@Suite struct CertainMismatchTests {
  private func failure(of source: String) throws -> BusMessage.Fault {
    let headUnit = try TestHeadUnit(.small(320, 240))
    let pipeline = try Pipeline("\(source) ! sdlvideosink name=sink uri=\(headUnit.uri)")
    try pipeline.play()
    // Upstream's own error may follow, but does not come first.
    let error = try pipeline.waitForError()
    #expect(headUnit.record.video.isEmpty)
    return error
  }

  /// What stands between a file of 640×360 and the sink, and a part of the error.
  @Test(arguments: [
    ("qtdemux", "encode the stream in a size"), ("qtdemux ! h264parse", "encode the stream in a size"),
    ("qtdemux ! queue ! h264parse ! identity", "encode the stream in a size"),
    ("decodebin", "put videoconvertscale"), ("decodebin ! queue", "put videoconvertscale"),
    ("qtdemux ! h264parse ! avdec_h264", "put videoconvertscale"),
  ])
  func file(_ elements: String, _ advice: String) throws {
    try FileManager.default.withTemporaryFolder { folder in
      let film = try Film(in: folder, frameCount: 75, width: 640, height: 360)
      let error = try failure(of: "filesrc location=\(film.path) ! \(elements)")
      #expect(error.isStream(GST_STREAM_ERROR_FORMAT))
      #expect(error.text.contains("The input is 640×360, but the head unit takes 320×240"), "\(error)")
      #expect(error.text.contains(advice), "\(error)")
    }
  }

  /// No element before the encoder can send what the head unit takes.
  @Test func encoderBehindAFixedSize() throws {
    let error = try failure(of: "videotestsrc ! video/x-raw,width=64,height=48 ! x264enc ! h264parse")
    #expect(error.text.contains("64×48, but the head unit takes 320×240"), "\(error)")
  }

  /// An encoder that can follow does.
  @Test func encoderThatFollows() throws {
    let headUnit = try TestHeadUnit(.small(320, 240, frameRate: 60))
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! x264enc tune=zerolatency ! sdlvideosink name=sink uri=\(headUnit.uri)")
    try pipeline.play()
    try headUnit.waitForFrames(3)
    try headUnit.update { $0.preferredResolution = VideoSize(400, 240) }
    try headUnit.wait(for: "another size") { $0.startedSizes.last == VideoSize(400, 240) ? true : nil }
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
  }
}

/// Upstream corrects a size that the head unit does not take, which ends the mismatch without an error.
@Suite struct CorrectedSizeTests {
  @Test func liveRawVideoEndsWithoutAnError() throws {
    let harness = try SinkHarness(.small(800, 480, activation: nil))
    // A source that does not answer CAPS queries may be able to change its size.
    try harness.pipeline["src"].leaveCapsQueriesUnanswered()
    try harness.pipeline.play()
    try harness.pipeline.waitForElementMessage("sdl-connected")
    // The head unit's capabilities may not have arrived yet.
    #expect(
      eventually {
        harness.pushPicture()
        return (try? harness.statistics["frames-dropped-wrong-size"]) ?? 0 > 0
      })
    try expectEnd(of: harness, after: Picture.caps(800, 480)) { harness.pushPicture(800, 480) }
  }

  @Test func liveEncodedVideoEndsWithoutAnError() throws {
    let former = try encodedUnits(1)
    let mended = try encodedUnits(3, width: 800, height: 480)
    let harness = try SinkHarness(.small(800, 480, activation: nil), caps: EncodedUnit.caps())
    try harness.pipeline.play()
    try harness.pipeline.waitForElementMessage("sdl-connected")
    #expect(
      eventually {
        harness.push(former[0].bytes)
        return (try? harness.statistics["frames-dropped-wrong-size"]) ?? 0 > 0
      })
    var index = 0
    try expectEnd(of: harness, after: EncodedUnit.caps(800, 480)) {
      harness.push(mended[index].bytes, flags: mended[index].flags)
      index += 1
    }
  }

  private func expectEnd(of harness: SinkHarness, after caps: String, push: () -> Void) throws {
    harness.source.setCaps(caps)
    for _ in 0..<3 { push() }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(harness.pipeline.drain().allSatisfy { $0.error == nil })
    #expect(try harness.statistics["frames-dropped-not-streaming"] >= 3)
    #expect(try harness.statistics.areFramesConserved)
  }

  @Test func slowLiveSourceStartsOnceInThePreferredSize() throws {
    // videotestsrc chooses the smallest of these sizes until the head unit's capabilities are known.
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! video/x-raw,format=I420,width=[480,800],height=[320,380],framerate=5/1 \
      ! sdlvideosink name=sink uri=sdl+builtin:core-listed
      """)
    try pipeline.play()
    let fields = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(fields["width"] == "800" && fields["height"] == "380")
    let sink = try pipeline.sink
    #expect(eventually { sink.statistics["frames-sent"] >= 3 })
    let messages = pipeline.drain()
    #expect(messages.count { $0.isElement("sdl-stream-started") } == 1)
    #expect(!messages.contains { $0.isElement("sdl-stream-stopped") })
    #expect(messages.allSatisfy { $0.error == nil && $0.warning == nil }, "\(messages)")
  }
}
