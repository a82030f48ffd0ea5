import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The head unit's capabilities arrive while upstream's first caps, chosen when any were acceptable, are in flight.
@Suite struct FirstCapsTests {
  @Test(arguments: ["videotestsrc is-live=true", "videotestsrc", "videotestsrc is-live=true ! queue"])
  func comeLate(_ source: String) throws {
    let screen = ImageResolution(64, 48)
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
