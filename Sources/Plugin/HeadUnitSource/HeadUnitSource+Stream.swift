import GStreamerKit
import H264
import SDLLink

/// What the streaming thread remembers of what it pushed.
struct HeadUnitSourceOutput {
  var time = StreamTime()
  /// The last sequence parameter set, which the caps are made from.
  var sequenceParameterSet: [UInt8] = []
}

/// The way of the video from the queue to the pad.
extension HeadUnitSource {
  private enum Next {
    case unit(QueuedAccessUnit)
    case end
    case flushing
    /// The time until which to wait has become another.
    case again
  }

  /// Waits for the next access unit.
  func create(_ buffer: inout UnsafeMutablePointer<GstBuffer>?) -> GstFlowReturn {
    while true {
      switch next() {
      case .again: continue
      case .flushing: return GST_FLOW_FLUSHING
      case .end: return GST_FLOW_EOS
      case .unit(let unit):
        guard followCaps(of: unit) else { return GST_FLOW_NOT_NEGOTIATED }
        buffer = makeBuffer(unit)
        return buffer == nil ? GST_FLOW_ERROR : GST_FLOW_OK
      }
    }
  }

  private func next() -> Next {
    let deadline = state.withLock { $0.queue.flushDeadline }
    let next = state.wait(until: deadline) { state -> Next? in
      if state.isFlushing { return .flushing }
      if let unit = state.queue.take() { return .unit(unit) }
      if state.isEnding { return .end }
      return state.queue.flushDeadline == deadline ? nil : .again
    }
    guard let next else {
      state.withLock { $0.queue.flushPending(now: MonotonicClock.now) }
      return .again
    }
    return next
  }

  /// A buffer that refers to the unit's bytes, without a copy.
  private func makeBuffer(_ unit: QueuedAccessUnit) -> UnsafeMutablePointer<GstBuffer>? {
    let bytes = AccessUnitBytes(unit.bytes)
    let owner = Unmanaged.passRetained(bytes)
    guard
      let buffer = gst_buffer_new_wrapped_full(
        GST_MEMORY_FLAG_READONLY, UnsafeMutableRawPointer(mutating: bytes.start), gsize(unit.bytes.count), 0,
        gsize(unit.bytes.count), owner.toOpaque(), releaseAccessUnit)
    else {
      owner.release()
      return nil
    }
    let runningTime = UInt64(gst_element_get_current_running_time(gstElement))
    let time = output.time.presentationTime(
      of: unit, now: MonotonicClock.now, runningTime: runningTime == .max ? 0 : runningTime)
    buffer.pointee.pts = GstClockTime(time)
    // Head units show pictures in the order in which they come.
    buffer.pointee.dts = GstClockTime(time)
    var flags: UInt32 = 0
    if !unit.summary.isKeyFrame { flags |= UInt32(GST_BUFFER_FLAG_DELTA_UNIT.rawValue) }
    if unit.isDiscontinuous { flags |= UInt32(GST_BUFFER_FLAG_DISCONT.rawValue) }
    cgst_buffer_set_flags(buffer, flags)
    return buffer
  }
}

/// Keeps the bytes of an access unit where they are, while a buffer refers to them.
private final class AccessUnitBytes: Sendable {
  private let bytes: [UInt8]
  /// The elements of an array are in one block of memory that nobody moves or changes while the array is held here.
  nonisolated(unsafe) let start: UnsafeRawPointer?

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    start = bytes.withUnsafeBytes { $0.baseAddress }
  }
}

private func releaseAccessUnit(_ owner: UnsafeMutableRawPointer?) {
  guard let owner else { return }
  Unmanaged<AccessUnitBytes>.fromOpaque(owner).release()
}
