import CGStreamerApp
import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Frames whose memory can't be mapped for reading.
@Suite struct UnreadableFrameTests {
  /// The user hears of the first one, and the stream goes on with a frame that can be read.
  @Test(arguments: ["raw pictures", "key frames", "other frames"]) func areLeftOut(_ kind: String) throws {
    let isRaw = kind == "raw pictures"
    let frames: [(bytes: [UInt8], flags: GstBufferFlags)] =
      isRaw
      ? (0..<4).map { (Picture(320, 240, $0).bytes, GstBufferFlags(rawValue: 0)) }
      : try encodedUnits(4, keyFrameInterval: kind == "key frames" ? 1 : 3).map { ($0.bytes, $0.flags) }
    let harness = try SinkHarness(caps: isRaw ? Picture.caps() : EncodedUnit.caps())
    try harness.start()
    harness.push(frames[0].bytes)
    try harness.headUnit.waitForFrames(1)
    let dropped = try harness.statistics["frames-dropped-no-picture"]
    for frame in frames[1..<3] {
      let buffer = try UnreadableMemory.buffer(byteCount: frame.bytes.count)
      gst_buffer_set_flags(buffer, frame.flags)
      harness.push(buffer)
    }
    let warning = try harness.pipeline.waitForWarning()
    #expect(warning.text.contains("can't be read") && warning.text.contains("can't be mapped"), "\(warning)")
    #expect(eventually { (try? harness.statistics["frames-dropped-no-picture"]) == dropped + 2 })
    harness.push(frames[3].bytes)
    let last = try #require(try harness.headUnit.waitForFrames(2).last)
    #expect(isRaw || last == frames[3].bytes)
    let faults = harness.pipeline.drain().compactMap { $0.warning ?? $0.error }
    #expect(faults.count == 1, "\(faults)")
    #expect(harness.headUnit.record.violations == [])
  }
}
