import GStreamerKit
import SDLLink
import SDLMessages

/// What the streaming thread remembers of what it pushed.
struct HeadUnitAudioSourceOutput: Sendable {
  var hasCaps = false
  /// GstBaseSrc sends it with the first buffer, which a GAP event can't wait for.
  var hasSegment = false
}

/// The way of the sound from the queue to the pad.
extension HeadUnitAudioSourceRun {
  /// Waits for what comes next, on the streaming thread.
  func create(
    _ buffer: inout UnsafeMutablePointer<GstBuffer>?, for source: UnsafeMutablePointer<GstBaseSrc>
  ) -> GstFlowReturn {
    let format = state.withLock { $0.audio.format }
    guard setCaps(format, of: source) else { return GST_FLOW_NOT_NEGOTIATED }
    while true {
      let time = UInt64(gst_element_get_current_running_time(source.cast()))
      let now = MonotonicClock.now
      let (step, gaps) = state.withLock { state in
        let step = state.step(now: now, runningTime: time == .max ? 0 : time)
        return (step, state.gaps.takeReport())
      }
      if let gaps { reporter.soundGaps(gaps) }
      switch step {
      case .wait(let nanoseconds): wait(nanoseconds)
      case .gap(let start, let end): pushGap(from: start, to: end, on: cgst_base_src_pad(source))
      case .flushing: return GST_FLOW_FLUSHING
      case .end: return GST_FLOW_EOS
      case .sound(let bytes, let place, let isDiscontinuous):
        guard let made = Self.buffer(place, byteCount: bytes.count, isDiscontinuous) else { return GST_FLOW_ERROR }
        gst_buffer_fill(made.pointer, 0, bytes, gsize(bytes.count))
        buffer = made.take()
        return GST_FLOW_OK
      case .silence(let place, let isDiscontinuous):
        let byteCount = format.byteCount(ofSampleCount: place.sampleCount)
        guard let made = Self.buffer(place, byteCount: byteCount, isDiscontinuous) else { return GST_FLOW_ERROR }
        gst_buffer_memset(made.pointer, 0, format.sampleSize.silence, gsize(byteCount))
        cgst_buffer_set_flags(made.pointer, UInt32(GST_BUFFER_FLAG_GAP.rawValue))
        buffer = made.take()
        return GST_FLOW_OK
      }
    }
  }

  /// Until there is sound, or something else to be done.
  private func wait(_ nanoseconds: UInt64) {
    // The monitor waits by the system's clock, whatever clock the pipeline has.
    let end = MonotonicClock.now + .nanoseconds(Int64(clamping: nanoseconds))
    _ = state.wait(until: end) { state -> Void? in
      state.part.isFlushing || state.part.isOver || state.part.isAtEnd || state.audio.first != nil ? () : nil
    }
  }

  private static func buffer(_ place: SoundTimeline.Place, byteCount: Int, _ isDiscontinuous: Bool) -> Buffer? {
    guard let buffer = Buffer(owning: gst_buffer_new_allocate(nil, gsize(byteCount), nil)) else { return nil }
    buffer.pointer.pointee.pts = GstClockTime(place.time)
    buffer.pointer.pointee.duration = GstClockTime(place.duration)
    buffer.pointer.pointee.offset = guint64(place.offset)
    buffer.pointer.pointee.offset_end = guint64(place.offset &+ UInt64(clamping: place.sampleCount))
    if isDiscontinuous { cgst_buffer_set_flags(buffer.pointer, UInt32(GST_BUFFER_FLAG_DISCONT.rawValue)) }
    return buffer
  }

  private func setCaps(_ format: PCMFormat, of source: UnsafeMutablePointer<GstBaseSrc>) -> Bool {
    if output.withLock({ $0.hasCaps }) { return true }
    let caps = format.caps
    reporter.log(GST_LEVEL_INFO, "the sound is \(caps.text)")
    guard gst_base_src_set_caps(source, caps.pointer) != 0 else { return false }
    output.withLock { $0.hasCaps = true }
    return true
  }

  private func pushGap(from start: UInt64, to end: UInt64, on pad: UnsafeMutablePointer<GstPad>) {
    let hasSegment = output.withLock { output in
      defer { output.hasSegment = true }
      return output.hasSegment
    }
    if !hasSegment {
      var segment = GstSegment()
      gst_segment_init(&segment, GST_FORMAT_TIME)
      gst_pad_push_event(pad, gst_event_new_segment(&segment))
    }
    gst_pad_push_event(pad, gst_event_new_gap(GstClockTime(start), GstClockTime(end - min(start, end))))
  }
}
