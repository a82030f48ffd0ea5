import CGStreamerApp
import GStreamerKit
import SDLLink
import Testing

@testable import Plugin

/// The end of the stream waits for the last frames to leave, and may be interrupted in that.
@Suite struct InterruptedEndTests {
  /// Below the sink's patience with a head unit that does not take the last frames.
  private static let limit = Duration.milliseconds(900)

  /// A file of noise, whose last frames can't leave.
  private func stuck() throws -> Drive {
    let drive = try Drive(
      .small(640, 480, frameRate: 60, maximumBitrate: nil), isLive: false, caps: Picture.caps(640, 480),
      properties: "sync=false bitrate=50000 speed-preset=ultrafast")
    try drive.start()
    drive.headUnit.server.setReading(false, for: try drive.headUnit.waitForApp())
    var generator = SystemRandomNumberGenerator()
    let noise = (0..<(640 * 480 * 3 / 16)).flatMap { _ in
      withUnsafeBytes(of: generator.next() as UInt64) { [UInt8]($0) }
    }
    let sink = try drive.pipeline.sink
    var looks = 0
    #expect(
      eventually {
        if sink.statistics["frames-in"] < drive.index { return false }
        looks = sink.statistics["frames-queued"] < 2 ? 0 : looks + 1
        if looks == 0 { drive.push(noise) }
        // Nothing leaves any more when it has stayed for so many looks.
        return looks == 50
      })
    return drive
  }

  /// Sends the end of the stream after stuck frames and interrupts the sink while it waits for them. On a machine that
  /// is too busy the sink may lose its patience before; then all is tried again.
  private func interrupted(_ interrupt: (Drive) throws -> Void) throws -> Drive {
    for _ in 0..<5 {
      let drive = try stuck()
      let hasCome = Monitor(false)
      gst_pad_add_probe(
        try drive.pipeline.sink.pad("sink"), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, noticeEnd,
        Unmanaged.passRetained(hasCome).toOpaque(), releaseFlag)
      let began = MonotonicClock.now
      drive.source.end()
      #expect(eventually { hasCome.withLock { $0 } })
      // From the pad to the wait it is not far.
      g_usleep(50_000)
      try interrupt(drive)
      guard MonotonicClock.now - began < Self.limit, try drive.statistics["frames-queued"] >= 2 else { continue }
      #expect(!drive.pipeline.drain().contains { $0.kind == .endOfStream })
      return drive
    }
    throw TestFailure("the machine is too busy")
  }

  private func expectEnd(_ drive: Drive) throws {
    drive.headUnit.server.setReading(true, for: try drive.headUnit.waitForApp())
    try drive.pipeline.waitForEnd()
    // The first one had no picture.
    try drive.headUnit.waitForFrames(drive.index - 1)
    #expect(eventually { (try? drive.statistics["frames-sent"]) == drive.index - 1 })
    try drive.headUnit.wait(for: "end") { $0.stopReasons == [.endedByApp] ? true : nil }
    #expect(drive.pipeline.drain().allSatisfy { $0.error == nil })
  }

  @Test func pauseDefersIt() throws {
    let drive = try interrupted { $0.pipeline.setState(GST_STATE_PAUSED) }
    try drive.pipeline.reach(GST_STATE_PAUSED)
    #expect(!drive.pipeline.drain().contains { $0.kind == .endOfStream })
    try drive.pipeline.play()
    try expectEnd(drive)
  }

  @Test func flushCancelsIt() throws {
    let drive = try interrupted { drive in
      let pad = try drive.pipeline.sink.pad("sink")
      #expect(gst_pad_send_event(pad, gst_event_new_flush_start()) != 0)
      #expect(gst_pad_send_event(pad, gst_event_new_flush_stop(1)) != 0)
    }
    // Another end, as after a seek to where nothing is left.
    let pad = try drive.pipeline.sink.pad("sink")
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    #expect(gst_pad_send_event(pad, gst_event_new_segment(&segment)) != 0)
    drive.headUnit.server.setReading(true, for: try drive.headUnit.waitForApp())
    #expect(gst_pad_send_event(pad, gst_event_new_eos()) != 0)
    try expectEnd(drive)
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
