import CPluginTypes
import GStreamerKit
import SDLApp
import SDLLink
import Synchronization

/// Events on the sink pad, and those that the application sends.
extension VideoSink {
  func handle(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    stream?.observe(event)
    return gst_sdl_video_sink_parent_event(baseSink, event) != 0
  }

  /// An application asks for a key frame with an event that it sends to the sink. Raw video is encoded here, so it ends
  /// here; for H.264 it goes on upstream, to the encoder.
  func sendEvent(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    let isKeyFrameRequest =
      event.pointee.type == GST_EVENT_CUSTOM_UPSTREAM && gst_video_event_is_force_key_unit(event) != 0
    if isKeyFrameRequest, let stream, stream.isInputRaw {
      stream.keyFrameRequest.raise()
      gst_event_unref(event)
      return true
    }
    return gst_sdl_video_sink_parent_send_event(gstElement, event) != 0
  }
}

extension VideoStreamRun {
  var isInputRaw: Bool { state.withLock { $0.isInputRaw } }

  fileprivate func observe(_ event: UnsafeMutablePointer<GstEvent>) {
    switch event.pointee.type {
    case GST_EVENT_FLUSH_START: progress.isFlushPending = true
    case GST_EVENT_FLUSH_STOP:
      progress.flushEnded()
      var resetsTime: gboolean = 0
      gst_event_parse_flush_stop(event, &resetsTime)
      frames.withValue { $0.flush(resetsTime: resetsTime != 0) }
      change { $0.flushed() }
    case GST_EVENT_STREAM_START:
      frames.withValue { $0.restart() }
      change { $0.streamBegan() }
    case GST_EVENT_SEGMENT: change { $0.streamBegan() }
    case GST_EVENT_CUSTOM_DOWNSTREAM_OOB where RangesQuery.isChange(event): choose(.ranges)
    case GST_EVENT_CUSTOM_DOWNSTREAM where gst_video_event_is_force_key_unit(event) != 0:
      keyFrameRequest.raise()
    default: break
    }
  }

  /// Waits for the time of a GAP or of the end. At the end the last frames are delivered and the service is closed
  /// before the application hears of it.
  func wait(for event: UnsafeMutablePointer<GstEvent>) -> GstFlowReturn {
    let result = gst_sdl_video_sink_parent_wait_event(sink.baseSink, event)
    guard result == GST_FLOW_OK, event.pointee.type == GST_EVENT_EOS else { return result }
    withFrames { path in
      path.thinning.forgetDelayed()
      sendLastDeferredPicture(path)
    }
    let sent = sendRestOfHeld()
    guard sent == GST_FLOW_OK else { return sent }
    if let mismatch = state.withLock({ $0.finalMismatch }) {
      fail(mismatch)
      return GST_FLOW_ERROR
    }
    let drained = waitUntilDrained(of: "frames")
    return drained == GST_FLOW_OK ? endService() : drained
  }
}
