import GStreamerKit
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct EndOfStreamTests {
  @Test func serviceHasEndedWhenTheMessageComes() throws {
    let harness = try SinkHarness(isLive: false)
    try harness.pipeline.play()
    harness.pushPictures(5)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(harness.pipeline.messages.contains { $0.isElement("sdl-stream-stopped") })
    // EndService is with the kernel now, and the pipeline has not been stopped.
    let record = try harness.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : $0 }
    #expect(record.video.count == 5)
    #expect(record.stopReasons == [.endedByApp])
    #expect(try harness.statistics["frames-sent"] == 5)
    #expect(record.violations == [])
  }

  @Test func emptyStreamEnds() throws {
    let harness = try SinkHarness(isLive: false)
    try harness.pipeline.play()
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(try harness.statistics["frames-in"] == 0)
  }

  @Test func fileEndsAfterTheDriverHasComeToIt() throws {
    let harness = try SinkHarness(.small(activation: nil), isLive: false)
    try harness.pipeline.play()
    harness.pushPictures(3)
    harness.source.end()
    try harness.pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_START)
    #expect(!harness.pipeline.drain().contains { $0.kind == .endOfStream })
    try harness.headUnit.show(.full)
    try harness.pipeline.waitForEnd()
    #expect(harness.headUnit.record.video.count == 3)
  }

  @Test func liveStreamEndsWithoutTheDriver() throws {
    let harness = try SinkHarness(.small(activation: nil))
    try harness.pipeline.play()
    try harness.pipeline.waitForElementMessage("sdl-hmi-status")
    harness.pushPictures(3)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(try harness.statistics["frames-dropped-not-streaming"] == 3)
    #expect(harness.headUnit.record.starts.isEmpty)
  }

  @Test func endAgainstASilentPeer() throws {
    let silent = try RawPeer { $0.readToEnd() }
    let pipeline = try Pipeline("appsrc name=src format=time is-live=true ! sdlvideosink name=sink uri=\(silent.uri)")
    let source = try FrameSource(pipeline, caps: Picture.caps())
    try pipeline.play()
    source.push(Picture(320, 240, 0).bytes, at: 0)
    source.end()
    try pipeline.waitForEnd()
  }

  @Test func seekAfterTheEndStreamsAgain() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "videotestsrc ! \(Picture.caps()) ! sdlvideosink name=sink sync=false uri=\(headUnit.uri)")
    func playFiveFrames() -> Bool {
      gst_element_seek(
        pipeline.element.pointer, 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET,
        5 * 1_000_000_000 / 30) != 0
    }
    try pipeline.reach(GST_STATE_PAUSED)
    #expect(playFiveFrames())
    try pipeline.play()
    try pipeline.waitForEnd()
    try headUnit.waitForFrames(5)
    #expect(playFiveFrames())
    #expect(try pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "restarted")
    try pipeline.waitForEnd()
    let frames = try headUnit.waitForFrames(10)
    #expect(frames.count == 10 && isKeyFrame(frames[5]))
    #expect(headUnit.record.violations == [])
  }
}
