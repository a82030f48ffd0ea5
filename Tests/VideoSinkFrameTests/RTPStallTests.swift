import GStreamerKit
import SDLApp
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// RTP over a connection whose head unit stops reading.
@Suite struct RTPStallTests {
  @Test func droppedFramesLeaveNoGap() throws {
    let headUnit = try TestHeadUnit(.rtp(640, 480))
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true pattern=snow ! video/x-raw,format=I420,width=640,height=480,framerate=30/1 \
      ! sdlvideosink name=sink bitrate=50000 speed-preset=ultrafast max-latency=0 uri=\(headUnit.uri)
      """)
    try pipeline.play()
    try headUnit.waitForFrames(3)
    let app = try headUnit.waitForApp()
    headUnit.server.setReading(false, for: app)
    let sink = try pipeline.sink
    #expect(eventually { sink.statistics["frames-dropped-queue-full"] > 3 })
    #expect(sink.statistics["queue-frames"] <= 4 && sink.statistics.areFramesConserved)
    let before = headUnit.record.video.count
    headUnit.server.setReading(true, for: app)
    let sent = sink.statistics["frames-sent"]
    #expect(eventually { sink.statistics["frames-sent"] > sent + 10 })
    let frames = try headUnit.waitForFrames(before + 10)
    #expect(try decode(frames, width: 640, height: 480).count == frames.count)
    // Dropped frames left no gap in the sequence numbers.
    #expect(headUnit.record.violations.allSatisfy { "\($0)".contains("frameRate") }, "\(headUnit.record.violations)")
  }
}
