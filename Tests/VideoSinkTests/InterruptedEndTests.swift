import CGStreamerApp
import GStreamerKit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// EOS waits until the last frames are sent; a pause or a flush interrupts that wait.
@Suite struct InterruptedEndTests {
  /// Less than the sink waits for a head unit that does not take the last frames.
  private static let limit = Duration.milliseconds(900)

  /// A file of noise, whose last frames can't leave.
  private func stuck() throws -> SinkHarness {
    let harness = try SinkHarness(
      .small(640, 480, frameRate: 60, maximumBitrate: nil), isLive: false, caps: Picture.caps(640, 480),
      properties: "sync=false bitrate=50000 speed-preset=ultrafast")
    try harness.start()
    harness.headUnit.server.setReading(false, for: try harness.headUnit.waitForApp())
    var generator = SystemRandomNumberGenerator()
    let noise = (0..<(640 * 480 * 3 / 16)).flatMap { _ in
      withUnsafeBytes(of: generator.next() as UInt64) { [UInt8]($0) }
    }
    let sink = try harness.pipeline.sink
    var looks = 0
    #expect(
      eventually {
        if sink.statistics["frames-in"] < harness.index { return false }
        looks = sink.statistics["frames-queued"] < 2 ? 0 : looks + 1
        if looks == 0 { harness.push(noise) }
        // Stuck when the queue has stayed full for so many looks.
        return looks == 50
      })
    return harness
  }

  /// Sends the end of the stream after stuck frames and interrupts the sink while it waits for them. On a machine that
  /// is too busy the sink's wait may time out before; then all is tried again.
  private func interrupted(_ interrupt: (SinkHarness) throws -> Void) throws -> SinkHarness {
    for _ in 0..<5 {
      let harness = try stuck()
      let hasCome = Monitor(false)
      gst_pad_add_probe(
        try harness.pipeline.sink.pad("sink"), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, noticeEnd,
        Unmanaged.passRetained(hasCome).toOpaque(), releaseFlag)
      let began = MonotonicClock.now
      harness.source.end()
      #expect(eventually { hasCome.withLock { $0 } })
      // Time for the event to get from the pad to the wait.
      g_usleep(50_000)
      try interrupt(harness)
      guard MonotonicClock.now - began < Self.limit, try harness.statistics["frames-queued"] >= 2 else { continue }
      #expect(!harness.pipeline.drain().contains { $0.kind == .endOfStream })
      return harness
    }
    throw TestFailure("the machine is too busy")
  }

  private func expectEnd(_ harness: SinkHarness) throws {
    harness.headUnit.server.setReading(true, for: try harness.headUnit.waitForApp())
    try harness.pipeline.waitForEnd()
    // The first one had no picture.
    try harness.headUnit.waitForFrames(harness.index - 1)
    #expect(eventually { (try? harness.statistics["frames-sent"]) == harness.index - 1 })
    try harness.headUnit.wait(for: "end") { $0.stopReasons == [.endedByApp] ? true : nil }
    #expect(harness.pipeline.drain().allSatisfy { $0.error == nil })
  }

  @Test func pauseDefersIt() throws {
    let harness = try interrupted { $0.pipeline.setState(GST_STATE_PAUSED) }
    try harness.pipeline.reach(GST_STATE_PAUSED)
    #expect(!harness.pipeline.drain().contains { $0.kind == .endOfStream })
    try harness.pipeline.play()
    try expectEnd(harness)
  }

  @Test func flushCancelsIt() throws {
    let harness = try interrupted { harness in
      let pad = try harness.pipeline.sink.pad("sink")
      #expect(gst_pad_send_event(pad, gst_event_new_flush_start()) != 0)
      #expect(gst_pad_send_event(pad, gst_event_new_flush_stop(1)) != 0)
    }
    // A second EOS, as after a seek to the end.
    let pad = try harness.pipeline.sink.pad("sink")
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    #expect(gst_pad_send_event(pad, gst_event_new_segment(&segment)) != 0)
    harness.headUnit.server.setReading(true, for: try harness.headUnit.waitForApp())
    #expect(gst_pad_send_event(pad, gst_event_new_eos()) != 0)
    try expectEnd(harness)
  }
}

private func noticeEnd(
  _ pad: UnsafeMutablePointer<GstPad>?, _ info: UnsafeMutablePointer<GstPadProbeInfo>?, _ data: gpointer?
) -> GstPadProbeReturn {
  if let data, let event = gst_pad_probe_info_get_event(info), event.pointee.type == GST_EVENT_EOS {
    Unmanaged<Monitor<Bool>>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.withLock { $0 = true } }
  }
  return GST_PAD_PROBE_OK
}

private func releaseFlag(_ data: gpointer?) {
  if let data { Unmanaged<Monitor<Bool>>.fromOpaque(data).release() }
}
