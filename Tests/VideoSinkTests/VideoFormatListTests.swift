import GStreamerKit
import SDLApp
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The property `video-formats`.
@Suite struct VideoFormatListTests {
  @Test(
    arguments: [
      ("raw", [.raw]), ("RTP", [.rtp]), ("rtp,raw", [.rtp, .raw]), (" Raw , rtp ", [.raw, .rtp]),
      ("rtp,rtp,raw", [.rtp, .raw]), ("", nil), (",", nil), ("rtp,", nil), ("rtsp", nil), ("raw rtp", nil),
      ("raw,h264", nil), ("räw", nil),
    ] as [(String, [VideoTransport]?)])
  func transports(_ text: String, _ expected: [VideoTransport]?) {
    #expect(VideoFormatList(text)?.transports == expected)
  }

  @Test func refusedWithAWarning() throws {
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink")
    let sink = try pipeline.sink
    sink.set("video-formats", "rtp")
    sink.set("video-formats", "rtp,webm")
    let warning = try pipeline.waitForWarning()
    #expect(warning.isResource(GST_RESOURCE_ERROR_SETTINGS) && warning.text.contains("rtp,webm"), "\(warning)")
    #expect(sink["video-formats"] == "rtp")
    sink.set("video-formats", "")
    #expect(sink["video-formats"] == nil)
  }

  @Test func refusedBeforeThereIsAPipeline() throws {
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink video-formats=rpt")
    pipeline.setState(GST_STATE_READY)
    #expect(try pipeline.waitForWarning().text.contains("rpt"))
    #expect(try pipeline.sink["video-formats"] == nil)
  }
}
