import GStreamerKit
import H264
import SDLLink

/// What the streaming thread remembers of what it pushed.
struct HeadUnitSourceOutput: Sendable {
  var time = StreamTime()
  var order = OutputOrder()
  var presentation = PresentationTime()
  /// Of the last sequence parameter set that gives one, in nanoseconds.
  var frameDuration: UInt64 = 33_333_333
  /// The last sequence parameter set, which the caps are made from.
  var sequenceParameterSet: [UInt8] = []
}

/// The way of the video from the queue to the pad.
extension HeadUnitSourceRun {
  private enum Next {
    case unit(QueuedAccessUnit)
    case end
    case flushing
    /// The time until which to wait has become another.
    case again
  }

  /// Waits for the next access unit, on the streaming thread.
  func create(
    _ buffer: inout UnsafeMutablePointer<GstBuffer>?, for source: UnsafeMutablePointer<GstBaseSrc>
  ) -> GstFlowReturn {
    while true {
      switch next() {
      case .again: continue
      case .flushing: return GST_FLOW_FLUSHING
      case .end: return GST_FLOW_EOS
      case .unit(let unit):
        guard updateCaps(for: unit, of: source) else { return GST_FLOW_NOT_NEGOTIATED }
        let runningTime = UInt64(gst_element_get_current_running_time(source.cast()))
        guard let made = makeBuffer(unit, runningTime: runningTime) else { return GST_FLOW_ERROR }
        buffer = made.take()
        return GST_FLOW_OK
      }
    }
  }

  /// How late buffers may be, which is what a pipeline's latency is made of.
  var latency: Duration { state.withLock { $0.video.usesRTP } ? RTPTime.longestLag : .zero }

  private func next() -> Next {
    let deadline = state.withLock { $0.video.flushDeadline }
    let next = state.wait(until: deadline) { state -> Next? in
      if state.part.isFlushing || state.part.isOver { return .flushing }
      if let unit = state.video.take() { return .unit(unit) }
      if state.part.isAtEnd { return .end }
      return state.video.flushDeadline == deadline ? nil : .again
    }
    if let next { return next }
    let now = MonotonicClock.now
    if let deadline, now >= deadline { state.withLock { $0.video.flushPending(now: now) } }
    return .again
  }

  private func makeBuffer(_ unit: QueuedAccessUnit, runningTime: UInt64) -> Buffer? {
    guard let buffer = AccessUnitBytes.makeBuffer(unit.bytes) else { return nil }
    let now = MonotonicClock.now
    let (decoding, presentation) = output.withLock { output in
      let decoding = output.time.decodingTime(
        of: unit, now: now, runningTime: runningTime == .max ? 0 : runningTime, frameDuration: output.frameDuration)
      if unit.isStart { output.presentation.beginStream() }
      let place = unit.bytes.withUnsafeBytes { output.order.observe($0) }
      let presentation = output.presentation.time(
        of: place, decoding: decoding, frameDuration: output.frameDuration)
      return (decoding, presentation)
    }
    buffer.pointer.pointee.dts = GstClockTime(decoding)
    // GST_CLOCK_TIME_NONE where it is unknown.
    buffer.pointer.pointee.pts = presentation.map { GstClockTime($0) } ?? .max
    var flags: UInt32 = 0
    if !unit.summary.isKeyFrame { flags |= UInt32(GST_BUFFER_FLAG_DELTA_UNIT.rawValue) }
    if unit.isDiscontinuous { flags |= UInt32(GST_BUFFER_FLAG_DISCONT.rawValue) }
    cgst_buffer_set_flags(buffer.pointer, flags)
    return buffer
  }
}
