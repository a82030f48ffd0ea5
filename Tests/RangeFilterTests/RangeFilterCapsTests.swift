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
    let caps = try nonNull(gst_caps_from_string(downstream))
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
    let result = try nonNull(gst_pad_query_caps(try pipeline["filter"].pad("sink"), filter))
    defer { gst_caps_unref(result) }
    // Those of square pixels come first, then the same of any.
    return sizes(in: result).reduce(into: []) { sizes, size in if !sizes.contains(size) { sizes.append(size) } }
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
    // What upstream may not send is refused when it comes, with the reason.
    Row(
      "ranges that do not touch", wide, "video/x-raw,width=[16,400],height=[16,300]",
      ["[ 16, 400 ] x [ 16, 300 ]"]),
    Row(
      "widths that would be right for square pixels", "landscape::min-aspect-ratio=1.7 portrait::enabled=false",
      "video/x-raw,width={720,1024,400},height=576,pixel-aspect-ratio=64/45", ["720 x 576", "1024 x 576"]),
    Row(
      "ranges of pixels that are not square",
      "landscape::min-aspect-ratio=2 landscape::max-width=600 portrait::enabled=false",
      "video/x-raw,width=[16,8192],height=[16,8192],pixel-aspect-ratio=1/2",
      ["[ 320, 600 ] x [ 16, 80 ]", "[ 64, 600 ] x [ 16, 150 ]"]),
    Row("a range and a list", wide, "video/x-raw,width=[1,640],height={240,480}", ["[ 500, 640 ] x 240"]),
    Row("no size", wide, "video/x-raw,format=I420", ["[ 500, 800 ] x [ 1, 400 ]"]),
    Row("H.264 without a size", wide, "video/x-h264,stream-format=byte-stream", ["[ 500, 800 ] x [ 1, 400 ]"]),
    Row(
      "features", wide, "video/x-raw(memory:DMABuf),width=640,height=360;video/x-raw,width=320,height=240",
      ["640 x 360"]),
    Row(
      "the format of DMABuf since GStreamer 1.24", wide,
      "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12,width={320,640},height=360", ["640 x 360"]),
    Row(
      "nothing enabled", "landscape::enabled=false portrait::enabled=false", "video/x-raw,width=[1,800],height=600",
      ["[ 1, 800 ] x 600"]),
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

  /// Upstream's structures are not split, so that one box holds what either range accepts.
  @Test(arguments: [true, false]) func upstreamMaySendWhatEitherRangeAccepts(isWideFirst: Bool) throws {
    try #require(GStreamer.isReady)
    var (wide, high) = (VideoRange(), VideoRange())
    (wide.minimumWidth, wide.maximumWidth, wide.minimumHeight, wide.maximumHeight) = (500, 800, 100, 400)
    (high.minimumWidth, high.maximumWidth, high.minimumHeight, high.maximumHeight) = (100, 600, 300, 500)
    let ranges = VideoRanges(landscape: isWideFirst ? wide : high, portrait: isWideFirst ? high : wide)
    guard let caps = Caps("video/x-raw,width=[1,8192],height=[1,8192]") else {
      Issue.record("no caps")
      return
    }
    let restricted = CapsRestriction(filter: VideoRangeFilter(ranges: ranges), isUpstream: true).apply(to: caps)
    let sizes = sizes(in: restricted.pointer)
    #expect(sizes == ["[ 100, 800 ] x [ 100, 500 ]"])
  }

  /// Lists are split into their sizes as long as there are not too many.
  @Test(arguments: [16, 17]) func listsOfManySizes(count: Int) throws {
    // The first one is too wide.
    let widths = ([900] + (1..<count).map { 600 + 2 * $0 }).map(String.init).joined(separator: ",")
    let heights = (0..<16).map { String(300 + 2 * $0) }.joined(separator: ",")
    let sizes = try answer(Self.wide, "video/x-raw,width={\(widths)},height={\(heights)}")
    #expect((sizes.count == 15 * 16) == (count == 16), "\(sizes)")
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
      let caps = try nonNull(gst_pad_get_current_caps(try pipeline.sink.pad("sink")))
      let size = try #require(CapsSizes.fixedPicture(caps)).size
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
    let error = try bench.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT))
    #expect(error.text.contains("320×240: width 320 is below landscape::min-width 500"), "\(error)")
    #expect(error.text.contains(caps.hasPrefix("video/x-h264") ? "Encode" : "videoconvertscale before sdlrangefilter"))
    #expect(bench.pipeline.drain().allSatisfy { $0.warning == nil })
  }

  /// Whatever negotiates, the first error is the filter's.
  @Test(arguments: [
    "identity", "queue", "videoconvert", "videorate", "tee", "capsfilter", "aspectratiocrop aspect-ratio=4/3",
    "x264enc",
    "x264enc ! h264parse", "sdlrangefilter",
  ])
  func reasonIsTheFirstError(_ element: String) throws {
    let pipeline = try Pipeline(
      """
      videotestsrc ! video/x-raw,width=320,height=240 ! \(element) ! sdlrangefilter landscape::min-width=500 ! fakesink
      """)
    try pipeline.play()
    let error = try pipeline.waitForError()
    #expect(error.text.contains("320×240: width 320 is below landscape::min-width 500"), "\(error)")
  }

  @Test(arguments: [
    ("", "sdlrangefilter landscape::min-width=800 ! video/x-raw,width=640,height=480", "640×480: width 640"),
    ("", "sdlrangefilter landscape::enabled=false portrait::enabled=false", "both ranges are disabled"),
    // 16:9 on a television.
    (
      "video/x-raw,width=720,height=576,pixel-aspect-ratio=64/45 !", "sdlrangefilter landscape::min-aspect-ratio=1.8",
      "aspect ratio 1.778 is below landscape::min-aspect-ratio 1.8."
    ),
    (
      "video/x-raw,width=576,height=576,pixel-aspect-ratio=4/3 !", "sdlrangefilter landscape::max-width=400",
      "width 576 is above landscape::max-width 400"
    ),
  ])
  func reasons(_ caps: String, _ filter: String, _ reason: String) throws {
    let pipeline = try Pipeline("videotestsrc ! \(caps) \(filter) ! fakesink")
    try pipeline.play()
    let error = try pipeline.waitForError()
    #expect(error.text.contains(reason), "\(error)")
  }

  @Test(arguments: ["identity", "sdlrangefilter landscape::min-width=10 name=filter"])
  func buffersWithoutCaps(_ element: String) throws {
    let bench = try Pipeline("appsrc name=src ! \(element) ! fakesink")
    try bench.play()
    let buffer = gst_buffer_new_allocate(nil, 3, nil)
    gst_app_src_push_buffer(try bench["src"].pointer.cast(), buffer)
    gst_app_src_end_of_stream(try bench["src"].pointer.cast())
    guard element != "identity" else { return try bench.waitForEnd() }
    let error = try bench.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT) && error.text.contains("has no caps"), "\(error)")
    #expect(eventually { bench.drain().contains { $0.error?.details.contains("not-negotiated") == true } })
  }

  struct Scaling: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var input: String
    var between = "videoconvertscale"
    var ranges: String
    var after = ""
    /// Width, height, pixel aspect ratio.
    var result: String
  }

  private func picture(at pad: UnsafeMutablePointer<GstPad>) -> String? {
    guard let caps = Caps.current(of: pad) else { return nil }
    return CapsSizes.fixedPicture(caps.pointer)?.description
  }

  @Test(
    "A scaler keeps the display ratio, in the nearest size",
    arguments: [
      Scaling(
        testDescription: "maximum", input: "width=1920,height=1080", ranges: "landscape::max-width=800",
        result: "800×450"),
      Scaling(
        testDescription: "minimum", input: "width=640,height=480", ranges: "landscape::min-width=800",
        result: "800×600"),
      Scaling(
        testDescription: "before an encoder", input: "width=1280,height=720",
        ranges: "landscape::max-width=800 landscape::max-height=480", after: "! x264enc", result: "800×450"),
      Scaling(
        testDescription: "after an encoder", input: "width=1280,height=720", between: "videoconvertscale ! x264enc",
        ranges: "landscape::max-width=800", result: "800×450"),
      Scaling(
        testDescription: "elements in between", input: "width=1366,height=768",
        between: "videoscale ! videoconvert ! queue", ranges: "landscape::max-width=1000", result: "1000×562"),
      Scaling(
        testDescription: "nothing to do", input: "width=1366,height=767", ranges: "landscape::max-width=2000",
        result: "1366×767"),
      Scaling(
        testDescription: "a portrait", input: "width=1080,height=1920", ranges: "portrait::max-height=800",
        result: "450×800"),
      Scaling(
        testDescription: "pixels that are not square", input: "width=720,height=576,pixel-aspect-ratio=64/45",
        ranges: "landscape::max-width=800", result: "720×576 with pixels of 64:45"),
      Scaling(
        testDescription: "pixels that have to become square",
        input: "width=720,height=576,pixel-aspect-ratio=64/45", ranges: "landscape::max-width=800",
        after: "! video/x-raw,pixel-aspect-ratio=1/1", result: "800×450"),
      Scaling(
        testDescription: "the ratio is not accepted", input: "width=1920,height=1080",
        ranges: "landscape::max-aspect-ratio=1.5 landscape::max-width=900", result: "900×600"),
    ])
  func scaling(_ row: Scaling) throws {
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=2 ! video/x-raw,\(row.input) ! \(row.between) ! sdlrangefilter name=filter \(row.ranges) \
      \(row.after) ! fakesink
      """)
    try pipeline.reach(GST_STATE_PAUSED)
    #expect(try picture(at: pipeline["filter"].pad("src")) == row.result)
  }

  /// Each size is chosen for the scaler's input, not for its last output.
  @Test func scalingFollowsTheInputWhilePlaying() throws {
    let pipeline = try Pipeline(
      """
      videotestsrc ! video/x-raw,width=1280,height=720 ! videoconvertscale \
      ! sdlrangefilter name=filter landscape::max-width=320 ! fakesink name=sink sync=true
      """)
    try pipeline.reach(GST_STATE_PLAYING)
    let pad = try pipeline.sink.pad("sink")
    for (width, size) in [("320", "320×180"), ("800", "800×450"), ("0", "1280×720"), ("640", "640×360")] {
      try Child("landscape", of: pipeline["filter"]).set("max-width", width)
      #expect(
        eventually { picture(at: pad) == size }, "\(size)")
    }
  }

  /// The source can't follow: the error says why.
  @Test func sourceThatCantFollow() throws {
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! video/x-raw,width=320,height=240 ! sdlrangefilter name=filter ! fakesink")
    try pipeline.reach(GST_STATE_PLAYING)
    try Child("landscape", of: pipeline["filter"]).set("min-width", "500")
    let error = try pipeline.waitForError()
    #expect(error.text.contains("320×240: width 320 is below landscape::min-width 500"), "\(error)")
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
    #expect(try bench.pipeline.waitForError().text.contains("320×240"))
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
          return CapsSizes.fixedPicture(caps)?.size.width == width
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
