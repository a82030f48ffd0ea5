import CGStreamerApp
import GStreamerKit
import SDLLink
import Testing

@testable import PluginTestSupport

/// What the car's own path of the picture takes (GstBaseSink's property `render-delay`).
@Suite struct RenderDelayTests {
  /// Pictures leave that much before the moment at which the pipeline's latency has everything seen and heard.
  @Test(arguments: [0, 200]) func picturesLeaveEarlier(milliseconds: Int) throws {
    // H.264, of which nothing is left out when the machine is busy.
    let units = try encodedUnits(45)
    let harness = try SinkHarness(
      isLive: false, caps: EncodedUnit.caps(),
      properties: "keep-alive-interval=0 render-delay=\(milliseconds * 1_000_000)")
    try harness.start()
    for unit in units { harness.push(unit.bytes, flags: unit.flags) }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let base = Duration.nanoseconds(Int64(gst_element_get_base_time(try harness.pipeline.sink.pointer)))
    let latency = Duration.nanoseconds(
      Int64(gst_base_sink_get_latency(UnsafeMutablePointer(OpaquePointer(try harness.pipeline.sink.pointer)))))
    // At 30 frames per second, by the same clock.
    let end = harness.index
    let offsets = zip((end - 10)..<end, harness.headUnit.record.arrivals.suffix(10)).map { index, arrival in
      arrival - base - latency - .milliseconds(index * 1000 / 30 - milliseconds)
    }
    // None comes too early. A busy machine delays some, but not the fastest by half of the delay.
    let least = try #require(offsets.min())
    #expect(least > .milliseconds(-5) && least < .milliseconds(100), "\(offsets)")
  }

  /// So that the other sinks of a live pipeline wait for it.
  @Test func latencyOfLiveSources() throws {
    func latency(_ properties: String) throws -> UInt64 {
      let headUnit = try TestHeadUnit()
      let pipeline = try Pipeline(
        "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri) \(properties)")
      try pipeline.play()
      try headUnit.waitForFrames(2)
      let query = try nonNull(gst_query_new_latency())
      defer { gst_query_unref(query) }
      try #require(gst_element_query(pipeline.element.pointer, query) != 0)
      var (isLive, minimum, maximum): (gboolean, GstClockTime, GstClockTime) = (0, 0, 0)
      gst_query_parse_latency(query, &isLive, &minimum, &maximum)
      #expect(isLive != 0)
      return UInt64(minimum)
    }
    #expect(try latency("render-delay=150000000") == latency("") + 150_000_000)
  }
}
