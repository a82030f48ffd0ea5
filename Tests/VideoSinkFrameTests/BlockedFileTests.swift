import CGStreamerApp
import GStreamerKit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// A head unit that stops reading blocks a file. H.264 goes on as fast as it can, and loses nothing; of raw pictures those
/// whose time has passed are dropped.
@Suite struct BlockedFileTests {
  private static let snow = "videotestsrc num-buffers=40 pattern=snow"
  private static let caps = "video/x-raw,format=I420,width=640,height=480,framerate=10/1"

  @Test(arguments: [
    "\(snow) ! \(caps) ! sdlvideosink name=sink speed-preset=ultrafast bitrate=50000",
    """
    \(snow) ! \(caps) ! x264enc speed-preset=ultrafast tune=zerolatency bitrate=50000 vbv-buf-capacity=100 \
    ! h264parse config-interval=-1 ! sdlvideosink name=sink
    """,
  ])
  func goesOnAtThePresentTime(_ description: String) throws {
    let headUnit = try TestHeadUnit(.small(640, 480, maximumBitrate: nil))
    let pipeline = try Pipeline("\(description) uri=\(headUnit.uri)")
    try pipeline.playFromStart()
    try headUnit.waitForFrames(3)
    let app = try headUnit.waitForApp()
    headUnit.server.setReading(false, for: app)
    let sink = try pipeline.sink
    #expect(eventually { sink.statistics["queue-frames"] == 3 })
    let resumption = MonotonicClock.now + .seconds(2)
    #expect(eventually { MonotonicClock.now > resumption })
    headUnit.server.setReading(true, for: app)
    try pipeline.waitForEnd()
    let isRaw = !description.contains("x264enc")
    let statistics = sink.statistics
    #expect(statistics.shown + statistics.dropped == 40, "\(statistics)")
    #expect(isRaw ? statistics["frames-dropped-late"] > 5 : statistics.dropped == 0, "\(statistics)")
    #expect(statistics.areFramesConserved && statistics["frames-dropped-late"] == statistics.dropped)
  }
}
