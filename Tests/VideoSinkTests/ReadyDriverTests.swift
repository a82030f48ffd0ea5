import GStreamerKit
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The driver opens the app before the application has started its sources.
@Suite struct ReadyDriverTests {
  @Test func messageInReady() throws {
    let harness = try SinkHarness(.small(activation: nil))
    try harness.pipeline.reach(GST_STATE_READY)
    try harness.headUnit.waitForRegistration()
    let first = try harness.pipeline.waitForElementMessage("sdl-hmi-status")
    #expect(first["level"] == "none" && first["video-streaming-state"] == "not-streamable", "\(first)")
    try harness.headUnit.show(.full)
    let opened = try harness.pipeline.waitForElementMessage("sdl-hmi-status")
    #expect(opened["level"] == "full" && opened["video-streaming-state"] == "streamable", "\(opened)")
    #expect(try harness.pipeline.sink["hmi-level"] == "full")
    #expect(cgst_element_state(try harness.pipeline.sink.pointer) == GST_STATE_READY)
    // What the application does then.
    try harness.start()
    try harness.deliver(2)
    #expect(harness.headUnit.record.violations == [] && harness.headUnit.record.registrations.count == 1)
  }
}
