import GStreamerKit

/// Passes sound, but drops the silence of a sound server while nothing plays: a head unit lowers the radio as long as
/// an app sends anything.
///
/// It lives as long as the process, as the pad's probe refers to it.
final class SilenceGate {
  /// How much silence passes after a sound, so that pauses between words stay.
  private static let longestPause = GstClockTime(500_000_000)

  private var lastSound: GstClockTime?

  /// Checks the buffers that leave an element.
  func watch(_ element: UnsafeMutablePointer<GstElement>) {
    guard let pad = gst_element_get_static_pad(element, "src") else { return }
    gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      { _, info, gate in
        guard let gate, let buffer = info?.pointee.data?.assumingMemoryBound(to: GstBuffer.self) else {
          return GST_PAD_PROBE_OK
        }
        return Unmanaged<SilenceGate>.fromOpaque(gate).takeUnretainedValue().passes(buffer)
          ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
      }, Unmanaged.passRetained(self).toOpaque(), nil)
    gst_object_unref(pad)
  }

  private func passes(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return true }
    defer { gst_buffer_unmap(buffer, &map) }
    let isSilent = UnsafeRawBufferPointer(start: map.data, count: Int(map.size)).allSatisfy { $0 == 0 }
    guard isSilent else {
      lastSound = buffer.pointee.pts
      return true
    }
    return lastSound.map { buffer.pointee.pts &- $0 < Self.longestPause } ?? false
  }
}
