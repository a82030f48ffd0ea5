import GStreamerKit

/// When a frame is to be shown, as its buffer says; `GST_CLOCK_TIME_NONE` where it does not.
struct FrameTime {
  var presentation = UInt64.max
  var duration = UInt64.max

  init() {}

  init(of buffer: UnsafeMutablePointer<GstBuffer>) {
    presentation = UInt64(buffer.pointee.pts)
    duration = UInt64(buffer.pointee.duration)
  }
}

extension VideoSink {
  /// Of a time stamp in the present segment, in ns; `GST_CLOCK_TIME_NONE` if that is none of times, such as the segment of
  /// bytes of `multifilesrc caps=video/x-raw,…`.
  func runningTime(_ time: UInt64) -> UInt64 {
    withUnsafePointer(to: baseSink.pointee.segment) { segment in
      guard segment.pointee.format == GST_FORMAT_TIME else { return .max }
      return UInt64(gst_segment_to_running_time(segment, GST_FORMAT_TIME, guint64(time)))
    }
  }

  /// Tells the application that a frame is lost (GStreamer's design document on QoS).
  func postQoS(_ time: FrameTime, isLive: Bool) {
    let streamTime = withUnsafePointer(to: baseSink.pointee.segment) { segment in
      segment.pointee.format == GST_FORMAT_TIME
        ? gst_segment_to_stream_time(segment, GST_FORMAT_TIME, guint64(time.presentation)) : guint64.max
    }
    let (processed, dropped) = counters.withLock { ($0.framesSent &+ $0.framesUnchanged, $0.framesDropped) }
    let message = gst_message_new_qos(
      gstElement.cast(), isLive ? 1 : 0, guint64(runningTime(time.presentation)), streamTime,
      guint64(time.presentation), guint64(time.duration))
    gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, guint64(processed), guint64(dropped))
    post(message)
  }
}
