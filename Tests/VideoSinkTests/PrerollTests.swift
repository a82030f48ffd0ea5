import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// A file's first frame waits until the driver opens the app; meanwhile the application can do with the pipeline what
/// it likes.
@Suite struct PrerollTests {
  private static let source = "videotestsrc ! \(Picture.caps(64, 48))"

  private func hidden(_ upstream: String) throws -> (TestHeadUnit, Pipeline) {
    let headUnit = try TestHeadUnit(.small(activation: nil))
    let pipeline = try Pipeline("\(upstream) ! sdlvideosink name=sink uri=\(headUnit.uri)")
    try pipeline.play()
    try pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_START)
    return (headUnit, pipeline)
  }

  /// As `gst-launch-1.0 -e` does it when it is interrupted: GstBaseSrc waits for its thread, which waits in the sink.
  @Test(arguments: [
    "videotestsrc ! \(Picture.caps())", "\(source) ! videoconvertscale",
    "\(source) ! videoconvertscale ! sdlrangefilter",
  ])
  func sourceIsEnded(_ upstream: String) throws {
    let (headUnit, pipeline) = try hidden(upstream)
    pipeline.expectReturn("the source does not get its thread back") { gst_element_send_event($0, gst_event_new_eos()) }
    try pipeline.waitForEnd()
    #expect(headUnit.record.video.isEmpty)
  }

  @Test func sourceIsEndedWhileTheAppIsSuspended() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "videotestsrc ! \(Picture.caps()) ! sdlvideosink name=sink suspend-policy=block uri=\(headUnit.uri)")
    try pipeline.play()
    try headUnit.waitForFrames(3)
    try headUnit.show(.background)
    try pipeline.waitForElementMessage("sdl-stream-stopped")
    pipeline.expectReturn("the source does not get its thread back") { gst_element_send_event($0, gst_event_new_eos()) }
    try pipeline.waitForEnd()
    #expect(try pipeline.sink.statistics.areFramesConserved)
  }

  /// Both need GstBaseSink's preroll lock. A flushing step interrupts the sink, but does not flush its pad.
  @Test func propertiesAndSteps() throws {
    let (headUnit, pipeline) = try hidden("\(Self.source) ! videoconvertscale")
    nonisolated(unsafe) let sink = try pipeline.sink
    pipeline.expectReturn("the property is blocked") { _ in sink.set("async", "true") }
    pipeline.expectReturn("the step is blocked") { _ in
      gst_element_send_event(sink.pointer, gst_event_new_step(GST_FORMAT_BUFFERS, 1, 1, 1, 0))
    }
    try headUnit.show(.full)
    try headUnit.waitForFrames(5)
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
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
