import GStreamerKit
import SDLLink

/// Counts the key frames that are asked for through a pad.
func countKeyFrameRequests(at pad: UnsafeMutablePointer<GstPad>) -> Monitor<Int> {
  let counter = Monitor(0)
  gst_pad_add_probe(
    pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, countKeyFrameRequest, Unmanaged.passRetained(counter).toOpaque(),
    releaseCounter)
  return counter
}

private func countKeyFrameRequest(
  _ pad: UnsafeMutablePointer<GstPad>?, _ info: UnsafeMutablePointer<GstPadProbeInfo>?, _ data: gpointer?
) -> GstPadProbeReturn {
  if let data, let event = gst_pad_probe_info_get_event(info), gst_video_event_is_force_key_unit(event) != 0 {
    Unmanaged<Monitor<Int>>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.withLock { $0 += 1 } }
  }
  return GST_PAD_PROBE_OK
}

private func releaseCounter(_ data: gpointer?) {
  if let data { Unmanaged<Monitor<Int>>.fromOpaque(data).release() }
}
