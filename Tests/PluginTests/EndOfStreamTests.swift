import GStreamerKit
import SDLHeadUnit
import Testing

@testable import Plugin

@Suite struct EndOfStreamTests {
  @Test func serviceHasEndedWhenTheMessageComes() throws {
    let drive = try Drive(isLive: false)
    try drive.pipeline.play()
    drive.pushPictures(5)
    drive.source.end()
    try drive.pipeline.waitForEnd()
    #expect(drive.pipeline.messages.contains { $0.isElement("sdl-stream-stopped") })
    // It is in the kernel's hands now, and the pipeline has not been stopped.
    let record = try drive.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : $0 }
    #expect(record.video.count == 5)
    #expect(record.stopReasons == [.endedByApp])
    #expect(try drive.statistics["frames-sent"] == 5)
    #expect(record.violations == [])
  }

  @Test func emptyStreamEnds() throws {
    let drive = try Drive(isLive: false)
    try drive.pipeline.play()
    drive.source.end()
    try drive.pipeline.waitForEnd()
    #expect(try drive.statistics["frames-in"] == 0)
  }

  @Test func fileEndsAfterTheDriverHasComeToIt() throws {
    let drive = try Drive(.small(activation: nil), isLive: false)
    try drive.pipeline.play()
    drive.pushPictures(3)
    drive.source.end()
    try drive.pipeline.waitForElementMessage("sdl-connected")
    #expect(eventually { (try? drive.statistics["frames-queued"]) == 1 })
    #expect(!drive.pipeline.drain().contains { $0.kind == .endOfStream })
    try drive.headUnit.show(.full)
    try drive.pipeline.waitForEnd()
    #expect(drive.headUnit.record.video.count == 3)
  }

  @Test func liveStreamEndsWithoutTheDriver() throws {
    let drive = try Drive(.small(activation: nil))
    try drive.pipeline.play()
    try drive.pipeline.waitForElementMessage("sdl-hmi-status")
    drive.pushPictures(3)
    drive.source.end()
    try drive.pipeline.waitForEnd()
    #expect(try drive.statistics["frames-dropped-suspended"] == 3)
    #expect(drive.headUnit.record.starts.isEmpty)
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
