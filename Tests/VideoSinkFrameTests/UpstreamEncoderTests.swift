import GStreamerKit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// An encoder upstream whose bitrate is bound to `target-bitrate`, over a link that is narrower than it would like.
@Suite struct UpstreamEncoderTests {
  /// kbit/s. What the encoder leaves unused of its bitrate, the link seems to carry as well. A busy machine's link
  /// carries less at times, so the lower bound is that of the highest bitrate.
  private static let highestBitrates = 400...800

  @Test func followsANarrowLink() throws {
    let headUnit = try TestHeadUnit(.small(640, 360, maximumBitrate: 10_000))
    let link = try NarrowLink(to: headUnit, bitsPerSecond: 600_000)
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true pattern=snow ! video/x-raw,width=640,height=360,framerate=30/1 \
      ! x264enc name=encoder tune=zerolatency speed-preset=ultrafast key-int-max=30 \
      ! video/x-h264,profile=constrained-baseline ! h264parse \
      ! sdlvideosink name=sink uri=\(link.uri) sync=false keep-alive-interval=0
      """)
    let sink = try pipeline.sink
    let encoder = try pipeline["encoder"]
    let pushed = Monitor([[UInt8]: Duration]())
    gst_pad_add_probe(
      try sink.pad("sink"), GST_PAD_PROBE_TYPE_BUFFER, noteAccessUnit, Unmanaged.passRetained(pushed).toOpaque(),
      { if let data = $0 { Unmanaged<AnyObject>.fromOpaque(data).release() } })
    sink.set("bitrate", "1200")
    sink.bind("target-bitrate", to: encoder, "bitrate")
    try pipeline.play()
    try pipeline.waitForElementMessage("sdl-stream-started")
    // It begins with twice what the link carries.
    g_usleep(10_000_000)
    let before = sink.statistics
    let received = headUnit.record.video.count
    var bitrates: [Int] = []
    for _ in 0..<100 {
      g_usleep(150_000)
      bitrates.append(sink["target-bitrate"].flatMap { Int($0) } ?? 0)
    }
    let after = sink.statistics
    let record = headUnit.record
    let times = pushed.withLock { $0 }
    let delays = zip(record.video, record.arrivals).dropFirst(received).compactMap { unit, arrival in
      times[Array(unit.suffix(64))].map { arrival - $0 }
    }.sorted()
    let came = after["frames-in"] - before["frames-in"]
    let lost = after.dropped - before.dropped
    #expect(lost * 20 <= came, "\(lost) of \(came): \(after.fields)")
    #expect(delays.count > 300)
    let late = try #require(delays.isEmpty ? nil : delays[delays.count * 95 / 100])
    #expect(late < .milliseconds(500))
    #expect(Self.highestBitrates.contains(bitrates.max() ?? 0), "\(bitrates)")
  }
}

/// Notes when an access unit came, by its last bytes, which the sink leaves as they are.
private func noteAccessUnit(
  _ pad: UnsafeMutablePointer<GstPad>?, _ info: UnsafeMutablePointer<GstPadProbeInfo>?, _ data: gpointer?
) -> GstPadProbeReturn {
  guard let data, let buffer = gst_pad_probe_info_get_buffer(info) else { return GST_PAD_PROBE_OK }
  let size = gst_buffer_get_size(buffer)
  var bytes = [UInt8](repeating: 0, count: Int(min(size, 64)))
  gst_buffer_extract(buffer, size - gsize(bytes.count), &bytes, gsize(bytes.count))
  Unmanaged<Monitor<[[UInt8]: Duration]>>.fromOpaque(data)._withUnsafeGuaranteedRef { monitor in
    monitor.withLock { $0[bytes] = MonotonicClock.now }
  }
  return GST_PAD_PROBE_OK
}
