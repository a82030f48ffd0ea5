import GStreamerKit
import SDLApp
import SDLLink
import Synchronization

/// Events on the sink pad.
extension AudioSink {
  func handle(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    stream?.observe(event)
    return handleByParent(event)
  }
}

extension AudioStreamRun {
  fileprivate func observe(_ event: UnsafeMutablePointer<GstEvent>) {
    switch event.pointee.type {
    case GST_EVENT_FLUSH_START: progress.isFlushPending = true
    case GST_EVENT_FLUSH_STOP:
      progress.flushEnded()
      var resetsTime: gboolean = 0
      gst_event_parse_flush_stop(event, &resetsTime)
      samples.withValue { $0.flush(resetsTime: resetsTime != 0) }
      change { $0.flushed() }
    case GST_EVENT_STREAM_START, GST_EVENT_SEGMENT: change { $0.streamBegan() }
    default: break
    }
  }

  /// Waits for the time of a GAP, and fills it, or of the end: what was sent is played before the service is closed and the
  /// application hears of it.
  func wait(for event: UnsafeMutablePointer<GstEvent>) -> GstFlowReturn {
    if event.pointee.type == GST_EVENT_GAP, let result = samples.withValue({ fillGap(event, $0) }) { return result }
    let result = sink.waitByParent(for: event)
    return result == GST_FLOW_OK && event.pointee.type == GST_EVENT_EOS ? finish() : result
  }

  private func finish() -> GstFlowReturn {
    let result = samples.withValue { path in
      sendRest(of: path)
      guard let error = finalMismatch(path) else { return waitUntilSent(path) }
      fail(error)
      return GST_FLOW_ERROR
    }
    return result == GST_FLOW_OK ? endService() : result
  }

  /// Until the queue is empty, and the head unit has had the time to play what it has: one that began later than it should
  /// gets the lead more.
  private func waitUntilSent(_ path: SamplePath) -> GstFlowReturn {
    let result = waitUntilDrained(of: "sound")
    guard result == GST_FLOW_OK else { return result }
    guard state.withLock({ $0.hasGrant }), let end = path.timeline.end else { return GST_FLOW_OK }
    let lead = sink.settings.withLock { $0.lead }
    let played = end + sink.renderDelay + lead
    return gst_base_sink_wait(sink.baseSink, GstClockTime(clamping: played.nanoseconds), nil)
  }
}
