import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Caps that the sink can't stream: the error names the element that would convert them.
@Suite struct RejectedCapsTests {
  /// Caps, and a part of the error's text.
  @Test(arguments: [
    ("video/x-raw,format=I420,width=321,height=240,framerate=30/1", "321×240"),
    ("video/x-raw,format=I420,width=8,height=8,framerate=30/1", "between 16 and 8192"),
    ("video/x-raw,format=RGB,width=320,height=240,framerate=30/1", "videoconvert"),
    ("video/x-raw,format=I420,width=320,height=240,framerate=30/1,interlace-mode=interleaved", "deinterlace"),
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
