import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The change to PAUSED is GstBaseSink's own: it waits for the first buffer, and for nobody else.
@Suite struct PrerollTests {
  @Test func aPictureInPausedIsSeenOnceTheDriverOpensTheApp() throws {
    let headUnit = try TestHeadUnit(.small(activation: nil))
    let pipeline = try Pipeline(
      "videotestsrc ! \(Picture.caps()) ! sdlvideosink name=sink keep-alive-interval=0 uri=\(headUnit.uri)")
    try pipeline.reach(GST_STATE_PAUSED)
    #expect(headUnit.record.starts.isEmpty)
    try headUnit.show(.full)
    try headUnit.waitForFrames(1)
    // Nobody is asked for a pause in PAUSED: that would end the application's change of state.
    #expect(pipeline.drain().allSatisfy { $0.buffering == nil && $0.error == nil })
  }

  /// Without its pipeline the sink's change of state is completed within GstBaseSink.
  @Test(arguments: ["auto", "drop"])
  func sinkAloneIsSetToPlaying(_ policy: String) throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "appsrc name=src format=time ! sdlvideosink name=sink sync=false suspend-policy=\(policy) uri=\(headUnit.uri)")
    let source = try FrameSource(pipeline, caps: Picture.caps())
    gst_element_set_state(try pipeline.sink.pointer, GST_STATE_PLAYING)
    gst_element_set_state(try pipeline["src"].pointer, GST_STATE_PLAYING)
    var index = 0
    #expect(
      eventually {
        source.push(Picture(320, 240, index).bytes, at: index)
        index += 1
        return !headUnit.record.video.isEmpty
      })
  }
}
