import CGStreamerApp
import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLMessages
import Testing

import struct TestSupport.Picture

@testable import Plugin
@testable import PluginTestSupport

/// Pictures that are turned before they are encoded: `video-direction`, and the tag `image-orientation`.
@Suite struct PictureTurnTests {
  private typealias Picture = PluginTestSupport.Picture

  private static let directions = VideoDirection.allCases.filter { $0 != .auto }

  private func turn(_ direction: VideoDirection) throws -> PictureTurn { try #require(direction.turn) }

  /// The same pixels as GStreamer's element makes, from buffers with and without padding.
  @Test(arguments: PluginTestSupport.Picture.Layout.allCases, directions)
  func pixels(_ layout: PluginTestSupport.Picture.Layout, _ direction: VideoDirection) throws {
    let pipeline = try Pipeline(
      """
      appsrc name=src format=time ! videoflip video-direction=\(direction.row.nick) ! appsink name=out sync=false
      """)
    let source = try FrameSource(pipeline, caps: Picture.caps(48, 32, format: layout))
    let picture = Picture(48, 32, 3)
    try pipeline.play()
    source.push(picture.planes(layout).flatMap(\.bytes), at: 0)
    let sink: UnsafeMutablePointer<GstAppSink> = try pipeline["out"].pointer.cast()
    let sample = try nonNull(gst_app_sink_try_pull_sample(sink, GstClockTime(testTimeout.nanoseconds)))
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(sample).assumingMemoryBound(to: GstMiniObject.self)) }
    let expected = bytes(of: gst_sample_get_buffer(sample))
    var info = GstVideoInfo()
    gst_video_info_set_format(&info, gst_video_format_from_string(layout.rawValue), 48, 32)
    for padding in [0, 12] {
      let buffer = try picture.buffer(layout, padding: padding, from: source)
      defer { gst_buffer_unref(buffer) }
      let isRight = try turned(buffer, info, turn(direction)) == expected
      #expect(isRight, "padding \(padding)")
    }
  }

  @Test(arguments: directions) func pointsAndRectangles(_ direction: VideoDirection) throws {
    let turn = try turn(direction)
    let size = turn.size(VideoSize(480, 320))
    #expect(size == (turn.swapsSides ? VideoSize(320, 480) : VideoSize(480, 320)))
    let rectangle = HapticRectangle(id: 7, x: 10, y: 20, width: 100, height: 40)
    let turned = turn.turned(rectangle, in: size)
    let center = TouchPosition(x: turned.x + turned.width / 2, y: turned.y + turned.height / 2)
    #expect(turn.origin(of: center, in: size) == TouchPosition(x: 60, y: 40) && turned.id == 7)
    #expect((turned.width, turned.height) == (turn.swapsSides ? (40, 100) : (100, 40)))
  }

  /// Only the sides of a display change places.
  @Test func displaysOfTurnedPictures() throws {
    func display(_ size: VideoSize) -> VideoDisplay {
      var display = VideoDisplay(size: size, scale: 1.5, diagonal: 8, pixelsPerInch: 96, frameRate: 25)
      (display.maximumBitrate, display.formats) = (77, [.rtpH264])
      (display.takesHapticData, display.isFallback) = (true, true)
      return display
    }
    let (wide, tall) = (display(VideoSize(800, 480)), display(VideoSize(480, 800)))
    #expect(try turn(.clockwise).input(for: wide) == tall && turn(.mirroredAtUpperLeft).input(for: tall) == wide)
    #expect(try turn(.upsideDown).input(for: wide) == wide)
    // The head unit has acknowledged another size than it has announced.
    let streamed = wide.streaming(VideoSize(400, 200))
    #expect(try turn(.clockwise).input(for: streamed) == tall.streaming(VideoSize(200, 400)))
  }

  /// The shape of the pixels turns with them.
  @Test(arguments: [VideoDirection.clockwise, .upsideDown]) func formats(_ direction: VideoDirection) throws {
    var info = GstVideoInfo()
    gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, 48, 32)
    (info.fps_n, info.fps_d, info.par_n, info.par_d) = (25, 2, 4, 3)
    info.colorimetry.matrix = GST_VIDEO_COLOR_MATRIX_BT2020
    info.colorimetry.range = GST_VIDEO_COLOR_RANGE_0_255
    info.chroma_site = GST_VIDEO_CHROMA_SITE_V_COSITED
    var turned = try turn(direction).turned(info)
    let isTurned = direction == .clockwise
    #expect((turned.width, turned.height) == (isTurned ? (32, 48) : (48, 32)))
    #expect((turned.par_n, turned.par_d) == (isTurned ? (3, 4) : (4, 3)) && (turned.fps_n, turned.fps_d) == (25, 2))
    #expect(cgst_video_info_format(&turned) == GST_VIDEO_FORMAT_NV12)
    #expect(turned.colorimetry.matrix == info.colorimetry.matrix && turned.colorimetry.range == info.colorimetry.range)
    #expect(turned.chroma_site == info.chroma_site)
  }

  /// A head unit that shows the picture of a film whose tags, if any, are `tags`.
  private func shown(_ picture: Picture, tags: String, properties: String = "") throws -> [UInt8] {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      """
      appsrc name=src format=time ! taginject tags=\"\(tags)\" ! videoconvertscale \
      ! sdlvideosink name=sink sync=false keep-alive-interval=0 \(properties) uri=\(headUnit.uri)
      """)
    let source = try FrameSource(pipeline, caps: Picture.caps(picture.width, picture.height))
    pipeline.setState(GST_STATE_PAUSED)
    source.push(picture.bytes, at: 0)
    try pipeline.waitForElementMessage("sdl-stream-started")
    try headUnit.waitForFrames(1)
    return try #require(decode(headUnit.record.video, width: 320, height: 240).last)
  }

  private func turned(_ picture: Picture, _ turn: PictureTurn) throws -> [UInt8] {
    var info = GstVideoInfo()
    gst_video_info_set_format(&info, GST_VIDEO_FORMAT_I420, guint(picture.width), guint(picture.height))
    let buffer = try nonNull(gst_buffer_new_memdup(picture.bytes, gsize(picture.bytes.count)))
    defer { gst_buffer_unref(buffer) }
    return turned(buffer, info, turn)
  }

  private func turned(_ buffer: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, _ turn: PictureTurn) -> [UInt8] {
    guard let turned = turn.turned(buffer, info) else { return [] }
    return bytes(of: turned.pointer)
  }

  /// A film from a phone: upstream is asked for pictures that fit the screen when they are turned.
  @Test(arguments: [
    ("image-orientation=rotate-90", VideoDirection.clockwise),
    ("image-orientation=flip-rotate-270", .mirroredAtUpperLeft),
    ("image-orientation=rotate-180", .upsideDown), ("title=none", .identity),
  ])
  func tag(_ tags: String, _ direction: VideoDirection) throws {
    let turn = try turn(direction)
    let size = turn.size(VideoSize(320, 240))
    let picture = Picture(size.width, size.height, 5)
    let shown = try shown(picture, tags: tags)
    let psnr = try TestSupport.Picture.psnr(turned(picture, turn), shown)
    #expect(psnr > 30, "\(psnr) dB")
  }

  @Test func propertyCountsMoreThanTheTag() throws {
    let picture = Picture(320, 240, 5)
    let shown = try shown(picture, tags: "image-orientation=rotate-90", properties: "video-direction=vert")
    let psnr = try TestSupport.Picture.psnr(turned(picture, PictureTurn(GST_VIDEO_ORIENTATION_VERT) ?? .none), shown)
    #expect(psnr > 30, "\(psnr) dB")
  }

  /// The next film has no tag.
  @Test func tagEndsWithItsStream() throws {
    let harness = try SinkHarness()
    try harness.start()
    let tags = try nonNull(gst_tag_list_new_from_string("taglist,image-orientation=rotate-180"))
    let pad = try harness.pipeline["src"].pad("src")
    gst_pad_push_event(pad, gst_event_new_tag(tags))
    harness.push(Picture(320, 240, 1).bytes)
    try harness.headUnit.waitForFrames(1)
    gst_pad_push_event(pad, gst_event_new_stream_start("another"))
    // The same pixels are another picture now.
    harness.push(Picture(320, 240, 1).bytes)
    try harness.headUnit.waitForFrames(2)
    let decoded = try decode(harness.headUnit.record.video, width: 320, height: 240)
    let picture = Picture(320, 240, 1)
    let upsideDown = try turned(picture, turn(.upsideDown))
    #expect(TestSupport.Picture.psnr(upsideDown, decoded[0]) > 30 && picture.psnr(against: decoded[1]) > 30)
  }

  /// The next film asks in READY.
  @Test func tagEndsInReady() throws {
    let harness = try SinkHarness()
    try harness.start()
    let pad = try harness.pipeline["src"].pad("src")
    let tags = try nonNull(gst_tag_list_new_from_string("taglist,image-orientation=rotate-90"))
    gst_pad_push_event(pad, gst_event_new_tag(tags))
    func offersTurned() throws -> Bool {
      let caps = try nonNull(gst_pad_query_caps(harness.pipeline.sink.pad("sink"), nil))
      defer { gst_caps_unref(caps) }
      return (String(freeing: gst_caps_to_string(caps)) ?? "").contains("width=(int)240, height=(int)320")
    }
    #expect(try offersTurned())
    try harness.pipeline.reach(GST_STATE_READY)
    #expect(try !offersTurned())
  }

  /// A picture that stands still is shown otherwise, too.
  @Test func directionChangesWhilePlaying() throws {
    let harness = try SinkHarness()
    try harness.start()
    let picture = Picture(320, 240, 1)
    let isUnchanged = eventually {
      harness.push(picture.bytes)
      return (try? harness.statistics["frames-unchanged"]) ?? 0 > 0
    }
    try #require(isUnchanged)
    try harness.pipeline.sink.set("video-direction", "180")
    harness.push(picture.bytes)
    let upsideDown = try turned(picture, turn(.upsideDown))
    let isTurned = eventually {
      guard let last = try? decode(harness.headUnit.record.video, width: 320, height: 240).last else { return false }
      return TestSupport.Picture.psnr(upsideDown, last) > 30
    }
    #expect(isTurned)
  }

  /// Both are in pixels of the input.
  @Test func touchesAndRectangles() throws {
    let configuration = HeadUnitConfiguration.small().with {
      $0.videoCapability?.hapticSpatialDataSupported = true
    }
    let harness = try SinkHarness(
      configuration, caps: Picture.caps(240, 320),
      properties: "sync=false synced-panning=false video-direction=90r haptic-rectangles=<<0,0,10,20>>")
    let recorder = NavigationRecorder(at: try harness.pipeline.sink.pad("sink"))
    try harness.start()
    harness.server("touch begin 0 10 20")
    _ = try recorder.wait(for: "a touch") { $0.contains("touch-down 0 (20.0, 310.0)") }
    let list = try harness.headUnit.wait(for: "rectangles") { $0.hapticLists.last }
    #expect(list == [HapticRectangle(id: 0, x: 300, y: 0, width: 20, height: 10)])
  }

  /// Its sizes are those of the pictures that pass it.
  @Test func rangeFilter() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! videoconvertscale ! sdlrangefilter landscape::enabled=false \
      ! sdlvideosink name=sink video-direction=90l uri=\(headUnit.uri)
      """)
    try pipeline.play()
    let started = try pipeline.waitForElementMessage("sdl-stream-started")
    try headUnit.waitForFrames(3)
    #expect(started["width"] == "320" && started["height"] == "240")
  }

  @Test func encodedPicturesAreNotTurned() throws {
    let harness = try SinkHarness(
      caps: EncodedUnit.caps(), properties: "sync=false video-direction=90r keep-alive-interval=0")
    try harness.pipeline.play()
    harness.push([], flags: GST_BUFFER_FLAG_GAP)
    #expect(try harness.pipeline.waitForWarning().text.contains("is to be turned"))
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    for unit in try encodedUnits(3) { harness.push(unit.bytes, flags: unit.flags) }
    try harness.headUnit.waitForFrames(3)
    #expect(harness.headUnit.record.startedSizes == [VideoSize(320, 240)])
  }
}

extension SinkHarness {
  /// As the head unit's remote control.
  fileprivate func server(_ line: String) {
    guard let command = try? HeadUnitCommand.parse(line) else { return }
    headUnit.server.perform(command)
  }
}
