import GStreamerKit
import LockCount
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// How often a buffer takes a lock of the plugin while nothing but sound comes. What is on the way of a buffer has its
/// state under a ``Monitor``, since the locks of `Mutex` can't be counted.
@Suite struct SampleLockTests {
  @Test(arguments: [(false, 5), (true, 6)]) func buffers(isLive: Bool, most: Int) throws {
    let headUnit = try TestHeadUnit(.small())
    let pipeline = try Pipeline("pipeline.( sdlaudiosink name=sink sync=false uri=\(headUnit.uri) )")
    let pad = gst_pad_new("src", GST_PAD_SRC)
    defer {
      pipeline.stop()
      gst_pad_set_active(pad, 0)
      gst_object_unref(pad)
    }
    if isLive { gst_pad_set_query_function_full(pad, { _, _, query in answerAsLive(query) }, nil, nil) }
    gst_pad_set_active(pad, 1)
    let sinkPad = gst_element_get_static_pad(try pipeline.sink.pointer, "sink")
    defer { gst_object_unref(sinkPad) }
    #expect(gst_pad_link(pad, sinkPad) == GST_PAD_LINK_OK)
    try pipeline.play()
    gst_pad_push_event(pad, gst_event_new_stream_start("sound"))
    let caps = gst_caps_from_string(SoundSource.caps(PCMFormat()))
    gst_pad_push_event(pad, gst_event_new_caps(caps))
    gst_caps_unref(caps)
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    gst_pad_push_event(pad, gst_event_new_segment(&segment))

    let bytes = testSound(320)
    var counts: [Int] = []
    for index in 0..<60 {
      let buffer = try nonNull(gst_buffer_new_allocate(nil, gsize(bytes.count), nil))
      _ = bytes.withUnsafeBytes { gst_buffer_fill(buffer, 0, $0.baseAddress, gsize($0.count)) }
      buffer.pointee.pts = GstClockTime(index * 20_000_000)
      let former = lock_count()
      #expect(gst_pad_push(pad, buffer) == GST_FLOW_OK)
      counts.append(Int(lock_count() - former))
      if index == 0 { try pipeline.waitForElementMessage("sdl-stream-started") }
      let sent = try pipeline.sink.statistics["samples-sent"]
      try headUnit.waitForSound(2 * sent)
    }
    #expect(try pipeline.sink.statistics["samples-sent"] > 9000)
    // One that the kernel does not take whole needs the writer's lock again.
    #expect(counts.suffix(30).sorted()[15] <= most, "\(counts)")
  }
}

private func answerAsLive(_ query: UnsafeMutablePointer<GstQuery>?) -> gboolean {
  guard let query, query.pointee.type == GST_QUERY_LATENCY else { return 0 }
  gst_query_set_latency(query, 1, 0, .max)
  return 1
}
