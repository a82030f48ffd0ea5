import CGStreamerApp
import GStreamerKit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// A head unit that stops reading blocks a file source; no frame is lost.
@Suite struct BlockedFileTests {
  private static let snow = "videotestsrc num-buffers=40 pattern=snow"
  private static let caps = "video/x-raw,format=I420,width=640,height=480,framerate=10/1"

  /// Synchronised with the clock. `max-lateness` is less than half of the stall: enough for a busy machine, and too
  /// little for frames whose time were not corrected.
  @Test(arguments: [
    "\(snow) ! \(caps) ! sdlvideosink name=sink speed-preset=ultrafast bitrate=50000 max-lateness=2400000000",
    """
    \(snow) ! \(caps) ! x264enc speed-preset=ultrafast tune=zerolatency bitrate=50000 vbv-buf-capacity=100 \
    ! h264parse config-interval=-1 ! sdlvideosink name=sink
    """,
  ])
  func losesNothing(_ description: String) throws {
    let headUnit = try TestHeadUnit(.small(640, 480, maximumBitrate: nil))
    let pipeline = try Pipeline("\(description) uri=\(headUnit.uri)")
    try pipeline.play()
    try headUnit.waitForFrames(3)
    let app = try headUnit.waitForApp()
    headUnit.server.setReading(false, for: app)
    let sink = try pipeline.sink
    #expect(eventually { sink.statistics["queue-frames"] == 3 })
    let resumption = MonotonicClock.now + .seconds(5)
    #expect(eventually { MonotonicClock.now > resumption })
    headUnit.server.setReading(true, for: app)
    try pipeline.waitForEnd()
    #expect(
      eventually { sink.statistics["frames-sent"] + sink.statistics.dropped == 40 } && sink.statistics.dropped == 0,
      "\(sink.statistics)")
    try headUnit.waitForFrames(40)
    #expect(sink.structure("stats")?["dropped"] == "0")
    #expect(sink.statistics.areFramesConserved)
  }
}
