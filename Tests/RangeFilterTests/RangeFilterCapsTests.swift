import CGStreamerApp
import GStreamerKit
import SDLApp
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Without a head unit, the ranges are applied to the sizes in caps.
@Suite struct RangeFilterCapsTests {
  private static let wide =
    "landscape::min-width=500 landscape::max-width=800 landscape::max-height=400 portrait::enabled=false"

  /// What the sink pad answers when caps of `downstream` follow the filter.
  private func answer(_ ranges: String, _ downstream: String, filter: String? = nil) throws -> [String] {
    let pipeline = try Pipeline("sdlrangefilter name=filter \(ranges) ! capsfilter name=after ! fakesink")
    let caps = try #require(gst_caps_from_string(downstream))
    var value = GValue()
    g_value_init(&value, gst_caps_get_type())
    gst_value_set_caps(&value, caps)
    g_object_set_property(try pipeline["after"].object, "caps", &value)
    g_value_unset(&value)
    gst_caps_unref(caps)
    // Before that, another sink may still come.
    pipeline.setState(GST_STATE_PAUSED)
    let filter = filter.flatMap { gst_caps_from_string($0) }
    defer { filter.map { gst_caps_unref($0) } }
    let result = try #require(gst_pad_query_caps(try pipeline["filter"].pad("sink"), filter))
    defer { gst_caps_unref(result) }
    return sizes(in: result)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var ranges: String
    var caps: String
    var sizes: [String]
    init(_ name: String, _ ranges: String, _ caps: String, _ sizes: [String]) {
      (testDescription, self.ranges, self.caps, self.sizes) = (name, ranges, caps, sizes)
    }
  }

  @Test(arguments: [
    Row(
      "no ranges", "", "video/x-raw,width=[16,8192,2],height=480;video/x-h264",
      ["[ 16, 8192, 2 ] x 480", "? x ?"]),
    Row(
      "fixed, in order", wide,
      "video/x-raw,width=640,height=360;video/x-raw,width=320,height=240;video/x-raw,width=800,height=400;video/x-raw,width=480,height=800",
      ["640 x 360", "800 x 400"]),
    Row(
      "inclusive", "landscape::min-width=800 landscape::max-width=800", "video/x-raw,width=800,height=480",
      ["800 x 480"]),
    Row("a list of widths", wide, "video/x-raw,width={320,640,800,801},height=360", ["640 x 360", "800 x 360"]),
    Row("a list of which all pass", wide, "video/x-raw,width={640,800},height=360", ["{ (int)640, (int)800 } x 360"]),
    Row("ranges", wide, "video/x-raw,width=[16,8192,2],height=[16,8192,2]", ["[ 500, 800, 2 ] x [ 16, 400, 2 ]"]),
    Row("ranges that do not touch", wide, "video/x-raw,width=[16,400],height=[16,300]", []),
    Row("a range and a list", wide, "video/x-raw,width=[1,640],height={240,480}", ["[ 500, 640 ] x 240"]),
    Row("no size", wide, "video/x-raw,format=I420", ["[ 500, 800 ] x [ 1, 400 ]"]),
    Row("H.264 without a size", wide, "video/x-h264,stream-format=byte-stream", ["[ 500, 800 ] x [ 1, 400 ]"]),
    Row(
      "features", wide, "video/x-raw(memory:DMABuf),width=640,height=360;video/x-raw,width=320,height=240",
      ["640 x 360"]),
    Row(
      "nothing enabled", "landscape::enabled=false portrait::enabled=false", "video/x-raw,width=[1,800],height=600", []),
    Row("ratio", "landscape::max-aspect-ratio=1.5", "video/x-raw,width={640,800},height=480", ["640 x 480"]),
    Row(
      "ratio in four decimals", "landscape::min-aspect-ratio=1.7778 landscape::max-aspect-ratio=1.7778",
      "video/x-raw,width={1280,1282},height=720", ["1280 x 720"]),
    // Caps have no diagonal: it passes.
    Row("diagonal", "landscape::min-diagonal=7", "video/x-raw,width=800,height=480", ["800 x 480"]),
  ])
  func restricted(_ row: Row) throws {
    #expect(try answer(row.ranges, row.caps) == row.sizes)
  }

  /// An orientation can't be expressed as a range, so sizes that certainly have it come first.
  @Test func exactSizesFirst() throws {
    let first = try answer("landscape::enabled=false", "video/x-raw,width=[16,8192],height=[16,8192]")
    #expect(first.count == 2 && first.first?.hasSuffix("x 320") == true, "\(first)")
  }

  @Test func filterDecidesTheOrder() throws {
    #expect(
      try answer(
        Self.wide, "video/x-raw,width={640,800},height=360",
        filter: "video/x-raw,width=800;video/x-raw,width=320;video/x-raw,width=640") == ["800 x 360", "640 x 360"])
  }

  @Test func sourcesChooseWhatPasses() throws {
    for (ranges, condition) in [
      (Self.wide, { (width: Int, height: Int) in (500...800).contains(width) && height <= 400 }),
      ("landscape::enabled=false", { width, height in width <= height }),
      ("landscape::min-aspect-ratio=2 portrait::enabled=false", { width, height in width >= 2 * height }),
    ] as [(String, (Int, Int) -> Bool)] {
      let pipeline = try Pipeline("videotestsrc ! sdlrangefilter name=filter \(ranges) ! fakesink name=sink")
      try pipeline.reach(GST_STATE_PAUSED)
      let caps = try #require(gst_pad_get_current_caps(try pipeline.sink.pad("sink")))
      let size = try #require(CapsSizes.fixedSize(caps))
      gst_caps_unref(caps)
      #expect(condition(size.width, size.height), "\(size) by \(ranges)")
      #expect(pipeline.drain().allSatisfy { $0.warning == nil })
    }
  }

  @Test(arguments: [Picture.caps(320, 240), "video/x-h264,stream-format=byte-stream,alignment=au,width=320,height=240"])
  func refusedSizesAreExplained(_ caps: String) throws {
    let bench = try RangeFilterBench(caps: caps, "landscape::min-width=500")
    try bench.pipeline.play()
    bench.push()
    let warning = try bench.pipeline.waitForWarning()
    #expect(warning.isStream(GST_STREAM_ERROR_FORMAT))
    #expect(warning.text.contains("320×240: width 320 is below landscape::min-width 500"), "\(warning)")
    _ = try bench.pipeline.waitForError()
  }

  @Test func h264OfUnknownSizePasses() throws {
    let bench = try RangeFilterBench(
      caps: "video/x-h264,stream-format=byte-stream,alignment=au", "landscape::min-width=500")
    try bench.pipeline.play()
    bench.push()
    #expect(try bench.pullCaps().contains("byte-stream"))
  }

  /// The delayed mode: what was negotiated before flows on, and then the new ranges hold.
  @Test func buffersOfOldCapsPass() throws {
    let bench = try RangeFilterBench(caps: Picture.caps(320, 240), "landscape::min-width=300")
    try bench.pipeline.play()
    bench.push()
    #expect(try bench.pullCaps().contains("width=(int)320"))
    try bench.child("landscape").set("min-width", "500")
    bench.push()
    #expect(try bench.pullCaps().contains("width=(int)320"))
    bench.source.setCaps(Picture.caps(640, 480))
    bench.push()
    #expect(try bench.pullCaps().contains("width=(int)640"))
    #expect(bench.pipeline.drain().allSatisfy { $0.warning == nil })
    bench.source.setCaps(Picture.caps(320, 240))
    bench.push()
    #expect(try bench.pipeline.waitForWarning().text.contains("320×240"))
    _ = try bench.pipeline.waitForError()
  }

  @Test func sourceFollowsWhilePlaying() throws {
    let pipeline = try Pipeline(
      "videotestsrc ! sdlrangefilter name=filter landscape::max-width=640 portrait::enabled=false ! fakesink name=sink sync=true"
    )
    try pipeline.reach(GST_STATE_PLAYING)
    let child = try Child("landscape", of: pipeline["filter"])
    for width in [400, 500, 600, 400] {
      child.set("min-width", "0")
      child.set("max-width", "\(width)")
      child.set("min-width", "\(width)")
      let pad = try pipeline.sink.pad("sink")
      #expect(
        eventually {
          guard let caps = gst_pad_get_current_caps(pad) else { return false }
          defer { gst_caps_unref(caps) }
          return CapsSizes.fixedSize(caps)?.width == width
        })
    }
    #expect(pipeline.drain().allSatisfy { $0.warning == nil && $0.error == nil })
  }

  /// Changes from another thread in the middle of everything.
  @Test func manyChanges() throws {
    let pipeline = try Pipeline(
      "videotestsrc ! video/x-raw,framerate=1000/1 ! sdlrangefilter name=filter portrait::enabled=false ! fakesink name=sink sync=false"
    )
    try pipeline.reach(GST_STATE_PLAYING)
    let child = try Child("landscape", of: pipeline["filter"])
    for index in 0..<1000 {
      child.set("max-width", "\(400 + index % 300)")
      child.set("min-width", "\(300 + index % 100)")
      child.set("min-width", "0")
    }
    #expect(pipeline.drain().allSatisfy { $0.error == nil }, "\(pipeline.drain())")
  }
}
