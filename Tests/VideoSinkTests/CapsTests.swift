import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct CapsTests {
  private func accepts(_ sink: Element, _ caps: String) throws -> Bool {
    let caps = gst_caps_from_string(caps)
    defer { gst_caps_unref(caps) }
    return gst_pad_query_accept_caps(try sink.pad("sink"), caps) != 0
  }

  /// The structures of the answer to a CAPS query, in order.
  private func structures(_ sink: Element, filter: String? = nil) throws -> [String] {
    let filter = filter.flatMap { gst_caps_from_string($0) }
    defer { filter.map { gst_caps_unref($0) } }
    let caps = try nonNull(gst_pad_query_caps(try sink.pad("sink"), filter))
    defer { gst_caps_unref(caps) }
    return (0..<gst_caps_get_size(caps)).compactMap { index in
      guard let text = gst_structure_to_string(gst_caps_get_structure(caps, index)) else { return nil }
      defer { g_free(text) }
      return String(cString: text)
    }
  }

  @Test func templateBeforeTheHeadUnitHasSpoken() throws {
    let sink = try Element("sdlvideosink")
    let caps = try sink.sinkCaps()
    #expect(caps.contains("[ 16, 8192 ]"))
    #expect(try accepts(sink, Picture.caps(640, 360)))
    #expect(try accepts(sink, EncodedUnit.caps(640, 360)))
    #expect(try !accepts(sink, Picture.caps(8194, 360)))
    #expect(try !accepts(sink, "audio/x-raw,rate=48000,channels=2"))
  }

  /// Other elements simplify what they are answered, and the core ends the process if that has stepped ranges.
  @Test func templateCanBeSimplified() throws {
    let sink = try Element("sdlvideosink")
    let template = try nonNull(gst_pad_get_pad_template_caps(try sink.pad("sink")))
    let others = try nonNull(gst_caps_from_string("video/x-raw, width=(int)[ 1, 32767 ], height=(int)[ 1, 32767 ]"))
    let simplified = try nonNull(gst_caps_simplify(gst_caps_merge(gst_caps_copy(template), others)))
    #expect(gst_caps_is_subset(template, simplified) != 0)
    gst_caps_unref(simplified)
    gst_caps_unref(template)
  }

  @Test func headUnitsSizesInOrder() throws {
    let harness = try SinkHarness(.small(320, 240, frameRate: 20, additional: [(640, 480), (320, 240), (160, 120)]))
    try harness.start()
    let all = try structures(harness.pipeline.sink)
    #expect(all.count == 15)
    for (index, size) in [(320, 240), (640, 480), (160, 120)].enumerated() {
      let text = "width=(int)\(size.0), height=(int)\(size.1)"
      let raw = all[index]
      #expect(raw.hasPrefix("video/x-raw") && raw.contains(text))
      #expect(raw.contains("framerate=(fraction)[ 0/1, 20/1 ]") && raw.contains("pixel-aspect-ratio=(fraction)1/1"))
      let byteStream = all[3 + index]
      #expect(byteStream.hasPrefix("video/x-h264, stream-format=(string)byte-stream") && byteStream.contains(text))
      #expect(all[6 + index].contains("stream-format=(string){ avc, avc3 }") && all[6 + index].contains(text))
    }
    // Caps that the sink accepts but does not prefer come last: faster video, first with square pixels.
    #expect(all[9...].allSatisfy { $0.hasPrefix("video/x-raw") && $0.contains("2147483647/1") })
  }

  /// `max-framerate` limits the rate too, and can be changed while streaming.
  @Test func requestedRateComesFirst() throws {
    let harness = try SinkHarness(.small(320, 240, frameRate: 20), properties: "sync=false max-framerate=15/2")
    try harness.start()
    let sink = try harness.pipeline.sink
    #expect(try structures(sink).first?.contains("framerate=(fraction)[ 0/1, 15/2 ]") == true)
    sink.set("max-framerate", "60")
    #expect(try structures(sink).first?.contains("framerate=(fraction)[ 0/1, 20/1 ]") == true)
    sink.set("max-framerate", "0")
    #expect(try structures(sink).first?.contains("framerate=(fraction)[ 0/1, 20/1 ]") == true)
  }

  @Test func filterComesFirst() throws {
    let harness = try SinkHarness(.small(320, 240, additional: [(160, 120)]))
    try harness.start()
    let filtered = try structures(
      harness.pipeline.sink, filter: "video/x-h264;video/x-raw,format=NV12,width=160,framerate=10/1")
    #expect(filtered.first?.hasPrefix("video/x-h264") == true)
    #expect(filtered.last?.contains("NV12") == true)
  }

  @Test func capsInFlightStayAcceptable() throws {
    let harness = try SinkHarness()
    try harness.start()
    #expect(try structures(harness.pipeline.sink).allSatisfy { $0.contains("width=(int)320") })
    #expect(try accepts(harness.pipeline.sink, Picture.caps(800, 480)))
    #expect(try accepts(harness.pipeline.sink, EncodedUnit.caps(800, 480)))
  }

  @Test func legacyHeadUnitOffersItsScreen() throws {
    let legacy = HeadUnitPreset.legacy.configuration.with { $0.activation = .zero }
    let harness = try SinkHarness(legacy, caps: Picture.caps(800, 480))
    try harness.pipeline.play()
    harness.pushPicture(800, 480)
    let fields = try harness.pipeline.waitForElementMessage("sdl-stream-started")
    #expect(fields["width"] == "800" && fields["height"] == "480")
    #expect(try structures(harness.pipeline.sink).first?.contains("width=(int)800, height=(int)480") == true)
  }

  @Test func upstreamFollowsTheHeadUnit() throws {
    // 320×240 is what videotestsrc would choose before the head unit's capabilities are known.
    let headUnit = try TestHeadUnit(.small(800, 480, activation: .milliseconds(100)))
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! videoscale ! video/x-raw,format=I420 \
      ! sdlvideosink name=sink uri=\(headUnit.uri) bitrate=4000
      """)
    try pipeline.play()
    let fields = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(fields["width"] == "800" && fields["height"] == "480")
    try headUnit.waitForFrames(3)
    let sizes = headUnit.record.events.compactMap { event in
      if case .videoStarted(let parameters, _) = event { [parameters.width, parameters.height] } else { nil }
    }
    #expect(sizes == [[800, 480]])
    #expect(headUnit.record.violations == [])
  }

  @Test func upstreamThatCannotChangeIsAnError() throws {
    let harness = try SinkHarness(.small(800, 480), caps: Picture.caps(320, 240))
    try harness.pipeline.play()
    // The sink waits some seconds for upstream to change, so frames are pushed until then.
    var error: BusMessage.Fault?
    #expect(
      eventually {
        harness.pushPicture()
        error = harness.pipeline.drain().compactMap(\.error).first
        return error != nil
      })
    #expect(error?.isStream(GST_STREAM_ERROR_FORMAT) == true)
    let text = error?.text ?? ""
    #expect(text.contains("320×240") && text.contains("800×480") && text.contains("videoconvertscale"), "\(text)")
    // The frame that led to the error is counted after the message.
    let sink = try harness.pipeline.sink
    #expect(eventually { sink.statistics["frames-dropped-wrong-size"] > 0 && sink.statistics.areFramesConserved })
  }

  @Test func shortStreamOfTheWrongSizeIsAnErrorToo() throws {
    let harness = try SinkHarness(.small(800, 480), isLive: false, caps: Picture.caps(320, 240))
    try harness.pipeline.play()
    harness.pushPictures(3)
    harness.source.end()
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT) && error.text.contains("videoconvertscale"), "\(error)")
  }
}

/// The head unit's capabilities arrive while upstream's first caps, chosen when any were acceptable, are in flight.
@Suite struct FirstCapsTests {
  @Test(arguments: ["videotestsrc is-live=true", "videotestsrc", "videotestsrc is-live=true ! queue"])
  func comeLate(_ source: String) throws {
    let screen = VideoSize(64, 48)
    // With the policy `drop`, upstream does not wait for the sizes.
    let harness = try ResizeHarness(
      .small(64, 48, frameRate: 60), source: "\(source) ! videoconvert name=convert", properties: "suspend-policy=drop")
    let trap = NegotiationHook(.caps, screen) {
      _ = eventually { (try? harness.pipeline.sink.sinkCaps().contains("[ 16, 8192 ]")) == false }
    }
    let pad = try harness.pipeline["convert"].pad("sink")
    let probe = trap.set(at: pad)
    try harness.start()
    gst_pad_remove_probe(pad, probe)
    #expect(trap.hasRun)
    try harness.waitForFrames(2, of: screen)
    harness.expectNoComplaint()
  }
}

/// Caps that the sink can't stream: the error names the element that would convert them.
@Suite struct RejectedCapsTests {
  /// Caps, and a part of the error's text.
  @Test(arguments: [
    ("video/x-raw,format=I420,width=321,height=240,framerate=30/1", "321×240"),
    ("video/x-raw,format=I420,width=8,height=8,framerate=30/1", "between 16 and 8192"),
    ("video/x-raw,format=I420,width=320,height=240", "lack framerate:"),
    ("video/x-raw,format=I420", "lack width, height, framerate:"),
    ("video/x-raw,format=RGB,width=320,height=240,framerate=30/1", "videoconvert"),
    ("video/x-raw,format=I420,width=320,height=240,framerate=30/1,interlace-mode=interleaved", "deinterlace"),
    ("video/x-raw(memory:DMABuf),format=I420,width=320,height=240,framerate=30/1", "memory:DMABuf can't be read"),
    (
      "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12,width=320,height=240,framerate=30/1",
      "memory:DMABuf can't be read"
    ),
    ("video/x-h264,stream-format=avc,alignment=au,width=320,height=240", "h264parse"),
    ("video/x-h264,stream-format=byte-stream,alignment=nal,width=320,height=240", "h264parse"),
  ])
  func format(_ caps: String, _ advice: String) throws {
    let error = try failure(caps)
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT))
    #expect(error.text.contains(advice), "\(error)")
  }

  @Test(arguments: ["audio/x-raw,format=S16LE,rate=48000,channels=2,layout=interleaved", "image/jpeg"])
  func type(_ caps: String) throws {
    let error = try failure(caps)
    #expect(error.isStream(GST_STREAM_ERROR_WRONG_TYPE))
    #expect(error.text.contains("h264parse") && error.text.contains("videoconvert"), "\(error)")
  }

  /// The last ones are the largest picture of level 6.2, and one with a row of macroblocks more.
  @Test(arguments: [
    (16, 16, true), (14, 16, false), (16, 14, false), (8192, 16, true), (16, 8192, true), (8194, 16, false),
    (16, 8194, false), (33, 32, false), (32, 33, false), (8192, 4352, true), (8192, 4354, false),
  ]) func sizes(_ width: Int, _ height: Int, isTaken: Bool) throws {
    _ = try Element("sdlvideosink")
    guard let caps = Caps(Picture.caps(width, height)) else { throw TestFailure("no caps") }
    let reason = InputCaps.rejectionReason(of: caps.pointer)
    #expect((reason == nil) == isTaken, "\(reason?.text ?? "")")
  }

  /// The sink's error for frames with `caps`.
  private func failure(_ caps: String) throws -> BusMessage.Fault {
    let harness = try SinkHarness(caps: caps)
    // A capsfilter would fail to link before any frame flows. The probe accepts any caps, as if upstream were a demuxer
    // that does not query them.
    let pad = try harness.pipeline["src"].pad("src")
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, answerAnything, nil, nil)
    try harness.pipeline.play()
    harness.push([UInt8](repeating: 0, count: 4096))
    let error = try harness.pipeline.wait(for: "the sink's error") { message in
      message.source == "sink" ? message.error : nil
    }
    #expect(harness.pipeline.drain().count { $0.error != nil && $0.source == "sink" } == 1)
    return error
  }

  @Test func pixelsThatAreNotSquareAreAWarning() throws {
    let caps = "video/x-raw,format=I420,width=320,height=240,framerate=30/1,pixel-aspect-ratio=4/3"
    let harness = try SinkHarness(caps: caps)
    try harness.pipeline.play()
    harness.pushPicture()
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    try harness.deliver(2)
    let warning = try harness.pipeline.waitForWarning()
    #expect(warning.isStream(GST_STREAM_ERROR_FORMAT))
    #expect(warning.text.contains("4/3") && warning.text.contains("videoconvertscale"), "\(warning)")
  }

  @Test func withoutCaps() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "fakesrc num-buffers=2 sizetype=2 sizemax=320 ! sdlvideosink name=sink uri=\(headUnit.uri)")
    pipeline.setState(GST_STATE_PLAYING)
    let error = try pipeline.waitForError()
    #expect(error.text.contains("no caps") && error.text.contains("h264parse"), "\(error)")
  }

  @Test func buffersThatAreTooSmallAreAWarning() throws {
    let harness = try SinkHarness()
    try harness.start()
    harness.push([UInt8](repeating: 0, count: 1000))
    harness.push([UInt8](repeating: 0, count: 1000))
    try harness.deliver(1)
    let warnings = harness.pipeline.drain().compactMap(\.warning).map(\.text)
    #expect(warnings.count == 1 && warnings.first?.contains("1000 bytes, and 115200 are needed") == true, "\(warnings)")
  }

  /// The warning does not say that as many bytes are missing as there are.
  @Test func planesOutsideOfTheBufferAreAWarning() throws {
    let harness = try SinkHarness()
    try harness.start()
    let buffer = try nonNull(gst_buffer_new_allocate(nil, 115_200, nil))
    var (offsets, strides) = ([0, 1_000_000, 1_000_000, 0], [320, 160, 160, 0] as [gint])
    gst_buffer_add_video_meta_full(
      buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 320, 240, 3, &offsets, &strides)
    harness.push(buffer)
    try harness.deliver(1)
    let warnings = harness.pipeline.drain().compactMap(\.warning).map(\.text)
    #expect(warnings.count == 1 && warnings.first?.contains("GstVideoMeta") == true, "\(warnings)")
  }
}

/// Answers ACCEPT_CAPS with yes.
private func answerAnything(
  _ pad: UnsafeMutablePointer<GstPad>?, _ info: UnsafeMutablePointer<GstPadProbeInfo>?, _ data: gpointer?
) -> GstPadProbeReturn {
  guard let query = gst_pad_probe_info_get_query(info), query.pointee.type == GST_QUERY_ACCEPT_CAPS else {
    return GST_PAD_PROBE_OK
  }
  gst_query_set_accept_caps_result(query, 1)
  return GST_PAD_PROBE_HANDLED
}
