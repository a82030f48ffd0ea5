import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// A head unit, or the network between, that falls silent while a connection is made again.
@Suite struct StallingStartTests {
  /// From the first byte of the session to those after the registration. The head unit still has the connection that
  /// the sink has given up, and refuses the app as registered already as long as it has.
  @Test(arguments: [0, 7, 150, 400, 1000, 2000]) func recovers(byteCount: Int) throws {
    let headUnit = try TestHeadUnit()
    let relay = try StallingRelay(to: headUnit.port, stallingAfter: byteCount)
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(relay.uri) connect-timeout=1000 \
      heartbeat-interval=500
      """)
    try pipeline.play()
    try headUnit.waitForFrames(3)
    relay.cut()
    #expect(eventually { relay.isGivenUp }, "\(pipeline.drain())")
    // It keeps trying meanwhile.
    let attempts = try pipeline.sink.statistics["connect-attempts"]
    #expect(eventually { (try? pipeline.sink.statistics["connect-attempts"]) ?? 0 > attempts })
    relay.release()
    let starts = headUnit.record.starts.count
    try headUnit.wait(for: "stream") { $0.starts.count > starts ? true : nil }
    let count = headUnit.record.video.count
    try headUnit.waitForFrames(count + 5)
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
    #expect(try pipeline.sink.statistics.areFramesConserved)
    #expect(try pipeline.sink["connection-state"] == "streaming")
    pipeline.stop()
  }
}
