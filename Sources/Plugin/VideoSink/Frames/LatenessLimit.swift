import GStreamerKit

/// How late a frame may be. A late raw picture is better dropped; H.264 would be damaged by that, whatever the
/// application has set for raw.
struct LatenessLimit {
  /// In nanoseconds.
  static let raw = 100_000_000

  /// What the application has set for raw video, while H.264 does without.
  private var saved: (maximum: Int, isQoSEnabled: gboolean)?

  /// Frames come as H.264 or as raw video from now on.
  mutating func apply(isRaw: Bool, to sink: UnsafeMutablePointer<GstBaseSink>) {
    guard !isRaw else { return restore(sink) }
    if saved == nil { saved = (gst_base_sink_get_max_lateness(sink), gst_base_sink_is_qos_enabled(sink)) }
    gst_base_sink_set_max_lateness(sink, -1)
    gst_base_sink_set_qos_enabled(sink, 0)
  }

  /// Gives the application's values back.
  mutating func restore(_ sink: UnsafeMutablePointer<GstBaseSink>) {
    guard let saved = saved.take() else { return }
    gst_base_sink_set_max_lateness(sink, saved.maximum)
    gst_base_sink_set_qos_enabled(sink, saved.isQoSEnabled)
  }
}
