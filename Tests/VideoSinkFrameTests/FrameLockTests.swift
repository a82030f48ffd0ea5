import CGStreamerApp
import GStreamerKit
import LockCount
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// How often a frame takes a lock of the plugin while nothing but frames comes. What is on the way of a frame has its
/// state under a ``Monitor``, since the locks of `Mutex` can't be counted.
@Suite(.enabled(if: counts_locks() != 0)) struct FrameLockTests {
  /// Pushes frames into a sink on this thread.
  private final class Pusher {
    private let pad: UnsafeMutablePointer<GstPad>
    private let pipeline: Pipeline
    let headUnit: TestHeadUnit
    private var index: UInt64 = 0

    init(_ caps: String, isLive: Bool) throws {
      headUnit = try TestHeadUnit(.small())
      pipeline = try Pipeline("pipeline.( sdlvideosink name=sink sync=false uri=\(headUnit.uri) )")
      // After the pipeline, which initialises GStreamer.
      pad = try nonNull(gst_pad_new("src", GST_PAD_SRC))
      if isLive { gst_pad_set_query_function_full(pad, { _, _, query in answerAsLive(query) }, nil, nil) }
      gst_pad_set_active(pad, 1)
      let sinkPad = gst_element_get_static_pad(try pipeline.sink.pointer, "sink")
      defer { gst_object_unref(sinkPad) }
      #expect(gst_pad_link(pad, sinkPad) == GST_PAD_LINK_OK)
      try pipeline.play()
      gst_pad_push_event(pad, gst_event_new_stream_start("frames"))
      let parsed = gst_caps_from_string(caps)
      gst_pad_push_event(pad, gst_event_new_caps(parsed))
      gst_caps_unref(parsed)
      var segment = GstSegment()
      gst_segment_init(&segment, GST_FORMAT_TIME)
      gst_pad_push_event(pad, gst_event_new_segment(&segment))
    }

    deinit {
      pipeline.stop()
      gst_pad_set_active(pad, 0)
      gst_object_unref(pad)
    }

    /// Pushes the next frame.
    ///
    /// - Returns: how many locks that took.
    func push(_ bytes: [UInt8], isKeyFrame: Bool = true) throws -> Int {
      let buffer = try nonNull(gst_buffer_new_allocate(nil, gsize(bytes.count), nil))
      _ = bytes.withUnsafeBytes { gst_buffer_fill(buffer, 0, $0.baseAddress, gsize($0.count)) }
      buffer.pointee.pts = GstClockTime(index * 1_000_000_000 / 30)
      buffer.pointee.dts = buffer.pointee.pts
      buffer.pointee.duration = 1_000_000_000 / 30
      if !isKeyFrame { gst_buffer_set_flags(buffer, GST_BUFFER_FLAG_DELTA_UNIT) }
      let former = lock_count()
      #expect(gst_pad_push(pad, buffer) == GST_FLOW_OK)
      let count = Int(lock_count() - former)
      if index == 0 { try pipeline.waitForElementMessage("sdl-stream-started") }
      index += 1
      return count
    }

    var statistics: Statistics { get throws { try pipeline.sink.statistics } }
  }

  /// What most frames take. One that the kernel does not take whole needs the writer's lock again.
  private func usual(_ counts: [Int]) -> Int {
    counts.sorted()[counts.count / 2]
  }

  @Test(arguments: [(false, 4), (true, 5)]) func rawPictures(isLive: Bool, most: Int) throws {
    let pusher = try Pusher(Picture.caps(), isLive: isLive)
    var counts: [Int] = []
    for index in 0..<60 {
      counts.append(try pusher.push(Picture(320, 240, index).bytes))
      let sent = try pusher.statistics["frames-sent"]
      try pusher.headUnit.waitForFrames(sent)
    }
    #expect(try pusher.statistics["frames-sent"] > 30)
    #expect((1...most).contains(usual(Array(counts.suffix(30)))), "\(counts)")
  }

  @Test(arguments: [(false, 4), (true, 5)]) func passedThroughH264(isLive: Bool, most: Int) throws {
    let pusher = try Pusher(EncodedUnit.caps(), isLive: isLive)
    let units = try encodedUnits(30, keyFrameInterval: 30)
    var counts: [Int] = []
    for index in 0..<60 {
      counts.append(try pusher.push(units[index % 30].bytes, isKeyFrame: !units[index % 30].isDelta))
      let sent = try pusher.statistics["frames-sent"]
      try pusher.headUnit.waitForFrames(sent)
    }
    #expect(try pusher.statistics["frames-sent"] > 30)
    #expect((1...most).contains(usual(Array(counts.suffix(30)))), "\(counts)")
  }
}

private func answerAsLive(_ query: UnsafeMutablePointer<GstQuery>?) -> gboolean {
  guard let query, query.pointee.type == GST_QUERY_LATENCY else { return 0 }
  gst_query_set_latency(query, 1, 0, .max)
  return 1
}
