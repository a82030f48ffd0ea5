import CPluginTypes
import GStreamerKit
import SDLLink

/// Events on the sink pad, and those that the application sends.
extension VideoSink {
  /// How long the last frames may take to reach the kernel.
  private static let drainTime = Duration.seconds(1)
  /// How long, after that, they may take to reach the head unit, and then the service to end.
  private static let endTime = Duration.seconds(2)

  func handle(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    switch event.pointee.type {
    case GST_EVENT_FLUSH_STOP:
      var resetsTime: gboolean = 0
      gst_event_parse_flush_stop(event, &resetsTime)
      turn.withTurn {
        if resetsTime != 0 { resetTime() }
        input.limiter.reset()
        input.unseen = nil
        input.mismatch = nil
        if !input.isRaw { input.needsKeyFrame = true }
      }
      beginStream()
    case GST_EVENT_STREAM_START:
      turn.withTurn { if !input.isRaw { input.needsKeyFrame = true } }
      beginStream()
    case GST_EVENT_SEGMENT:
      beginStream()
    case GST_EVENT_CUSTOM_DOWNSTREAM_OOB where RangesQuery.isChange(event): choose(.ranges)
    case GST_EVENT_CUSTOM_DOWNSTREAM where gst_video_event_is_force_key_unit(event) != 0:
      isKeyFrameRequested.store(true, ordering: .relaxed)
    default: break
    }
    return gst_sdl_video_sink_parent_event(baseSink, event) != 0
  }

  /// An application asks for a key frame with an event that it sends to the sink. Raw video is encoded here, so it ends
  /// here; for H.264 it goes on to whoever encodes.
  func sendEvent(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    let isKeyFrameRequest =
      event.pointee.type == GST_EVENT_CUSTOM_UPSTREAM && gst_video_event_is_force_key_unit(event) != 0
    if isKeyFrameRequest, state.withLock({ $0.isInputRaw }) {
      isKeyFrameRequested.store(true, ordering: .relaxed)
      gst_event_unref(event)
      return true
    }
    return gst_sdl_video_sink_parent_send_event(gstElement, event) != 0
  }

  private func beginStream() {
    let wasEnded = state.withLock { state in
      defer { state.isEnded = false }
      return state.isEnded
    }
    if wasEnded { updateWish() }
  }

  /// Waits for the time of a GAP or of the end. At the end the last frames are delivered and the service is closed
  /// before the application hears of it.
  func wait(for event: UnsafeMutablePointer<GstEvent>) -> GstFlowReturn {
    let result = gst_sdl_video_sink_parent_wait_event(baseSink, event)
    guard result == GST_FLOW_OK, event.pointee.type == GST_EVENT_EOS else { return result }
    turn.withTurn { input.unseen = nil }
    if let mismatch = turn.withTurn({ input.mismatch }), state.withLock({ $0.inputSize.map($0.accepts) }) == false {
      turn.withTurn { fail(mismatch) }
      return GST_FLOW_ERROR
    }
    guard let connection = state.withLock({ $0.connection }) else { return result }
    while !connection.video.waitUntilDrained(timeout: Self.drainTime) {
      guard state.withLock({ $0.isFlushing }) else {
        log(GST_LEVEL_WARNING, "the head unit did not take the last frames in time")
        break
      }
      let interrupted = gst_base_sink_wait_preroll(baseSink)
      guard interrupted == GST_FLOW_OK else { return interrupted }
    }
    state.withLock { $0.isEnded = true }
    updateWish()
    return waitForStreamEnd()
  }

  private func waitForStreamEnd() -> GstFlowReturn {
    let deadline = MonotonicClock.now + Self.endTime
    while true {
      let isFlushing = state.wait(until: deadline) { state -> Bool? in
        if state.isFlushing { return true }
        return state.videoState == .stopped || state.hasFailed ? false : nil
      }
      if isFlushing == nil { log(GST_LEVEL_WARNING, "the head unit did not confirm the end of the stream in time") }
      guard isFlushing == true else { return GST_FLOW_OK }
      let interrupted = gst_base_sink_wait_preroll(baseSink)
      guard interrupted == GST_FLOW_OK else { return interrupted }
    }
  }
}
