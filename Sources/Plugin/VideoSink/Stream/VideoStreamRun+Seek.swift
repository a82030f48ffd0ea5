import GStreamerKit
import SDLApp

/// Passed-through H.264 and seeks: the head unit decodes, so it gets everything from the key frame on that the picture which
/// was sought depends on, as fast as the link takes it, and that picture too, while the pipeline is still in PAUSED.
///
/// On the streaming thread, before the base class sees the buffer, with its preroll lock.
extension VideoStreamRun {
  /// Returns nil if the base class has to take the buffer, which shows it at its time.
  func takeAhead(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn? {
    let (place, preroll) = frames.withValue { path in
      (path.isUpstreamLive ? .outside : path.place(of: buffer), path.seek.preroll)
    }
    switch place {
    case .outside: return nil
    case .skipped:
      sink.counters.withLock { counters in
        counters.frameArrived()
        counters.frameDropped(.frameRate)
      }
      return GST_FLOW_OK
    case .ahead:
      guard let result = show(buffer) else {
        frames.withValue { $0.breakOff() }
        return nil
      }
      return result
    case .inside:
      guard preroll == .seek, let result = show(buffer) else {
        if preroll != .done { frames.withValue { $0.seek.prerolled(with: nil) } }
        return nil
      }
      guard result == GST_FLOW_OK else { return result }
      // The base class prerolls with it, and then waits for its time, but it is not sent again.
      frames.withValue { $0.seek.prerolled(with: buffer) }
      return nil
    }
  }

  /// Sends a frame at once; nil if frames can't be sent now.
  private func show(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn? {
    guard state.withLock({ $0.permission != nil }) else { return nil }
    frames.withValue { $0.isAhead = true }
    defer { frames.withValue { $0.isAhead = false } }
    return render(buffer)
  }
}

extension FramePath {
  fileprivate func place(of buffer: UnsafeMutablePointer<GstBuffer>) -> SegmentPlace {
    guard case .h264 = format, cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_GAP) == 0 else { return .outside }
    let segment = sink.baseSink.pointee.segment
    // A key frame alone is shown as soon as it is decoded.
    sink.element.pointee.syncs_by_presentation = SegmentPlace.showsOnlyKeyFrames(segment) ? 1 : 0
    let place = SegmentPlace(
      of: segment, presentation: UInt64(buffer.pointee.pts), decoding: UInt64(buffer.pointee.dts),
      duration: UInt64(buffer.pointee.duration), isKeyFrame: passthrough.isKeyFrame(buffer),
      beginsAnew: seek.preroll == .seek, mayBeReordered: seek.reorderedCount < passthrough.reorderingDepth)
    if seek.note(place, isShownLater: buffer.pointee.pts > segment.start) { breakOff() }
    return place
  }
}
