import GStreamerKit
import SDLApp
import SDLLink

/// The samples of a buffer, piece by piece: wait for the right to send and for their time, then hand them over. On the streaming
/// thread.
extension AudioStreamRun {
  /// A buffer, or part of one, that is being sent.
  private struct Input {
    var buffer: UnsafeMutablePointer<GstBuffer>
    var bytes: UnsafeRawBufferPointer
    /// What is left, in samples.
    var range: Range<Int>
    /// The buffer says that it has nothing in it.
    var isGap: Bool
    /// Nothing can be heard in it.
    var isSilence: Bool
    var isLive: Bool
    /// Of the path when it arrived.
    var flushCount: UInt
  }

  func render(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    samples.withValue { path in
      var map = GstMapInfo()
      guard let format = path.format, gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return GST_FLOW_ERROR }
      defer { gst_buffer_unmap(buffer, &map) }
      let bytes = UnsafeRawBufferPointer(start: map.data, count: Int(map.size))
      let count = format.sampleCount(ofByteCount: bytes.count)
      sink.counters.withLock { $0.samplesArrived(count) }
      if format.byteCount(ofSampleCount: count) != bytes.count { warnOfParts(path) }
      path.apply(sink.settings.withLock { ($0.lead, $0.gain) })
      do throws(ElementError) {
        guard try checkFormat(path, count) else { return drop(count, .wrongFormat) }
      } catch {
        fail(error)
        return drop(count, .wrongFormat, GST_FLOW_ERROR)
      }
      let isGap = cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_GAP) != 0
      let isSilence = isGap || (state.withLock { $0.activity.startsOnData } && format.isSilent(bytes))
      let input = Input(
        buffer: buffer, bytes: bytes, range: 0..<count, isGap: isGap, isSilence: isSilence,
        isLive: path.isUpstreamLive, flushCount: progress.flushCount)
      return place(input, path)
    }
  }

  private func warnOfParts(_ path: SamplePath) {
    guard !path.hasWarnedOfParts else { return }
    path.hasWarnedOfParts = true
    warn(.stream(GST_STREAM_ERROR_FORMAT, "Buffers end within a sample; the rest of it is left out."))
  }

  /// Clips the samples to the segment, and sends them behind what is missing in front of them.
  private func place(_ input: Input, _ path: SamplePath) -> GstFlowReturn {
    var input = input
    let format = path.timeline.format
    guard let clip = SegmentClip(sink.baseSink, buffer: input.buffer, count: input.range.count, format: format) else {
      return drop(input.range.count, .overlap)
    }
    _ = drop(input.range.count - clip.range.count, .overlap)
    input.range = clip.range
    let placement = path.timeline.place(
      at: clip.runningTime, now: sink.presentTime + (input.isLive ? path.playout.lead : .zero))
    if placement.silence > 0 {
      let result = sendSilence(
        placement.silence, in: UnsafeMutablePointer(OpaquePointer(input.buffer)), path, isLive: input.isLive)
      guard result == GST_FLOW_OK else { return drop(input.range.count, .discarded, result) }
    }
    if placement.overlap > 0 {
      let count = min(placement.overlap, input.range.count)
      _ = drop(count, .overlap)
      input.range = (input.range.lowerBound + count)..<input.range.upperBound
      path.bridge()
    }
    while !input.range.isEmpty {
      let result = sendPiece(of: &input, path)
      guard result == GST_FLOW_OK else { return drop(input.range.count, .discarded, result) }
    }
    return GST_FLOW_OK
  }

  /// Sends the next samples, or leaves some out; removes them from `input`.
  private func sendPiece(of input: inout Input, _ path: SamplePath) -> GstFlowReturn {
    let grant: AudioGrant
    switch right(isSilence: input.isSilence, isLive: input.isLive, path) {
    case .grant(let present): grant = present
    case .drop(let reason):
      if input.isLive, reason == .silent { path.delay.reset(sink.baseSink) }
      return leaveOut(input.range.count, reason, of: &input, path)
    case .stop(let result): return result
    }
    // Somebody who was told of something has flushed the pipeline with these samples.
    guard progress.flushCount == input.flushCount else {
      let rest = input.range.count
      input.range = input.range.upperBound..<input.range.upperBound
      return drop(rest, .discarded)
    }
    let count = min(input.range.count, path.longestPiece)
    var (result, correction) = waitForTime(
      of: count, in: UnsafeMutablePointer(OpaquePointer(input.buffer)), grant, path, isSilence: input.isGap)
    if case .silence(let missing) = correction { result = fill(missing, grant, path, isLive: input.isLive) }
    guard result == GST_FLOW_OK else { return result }
    if case .leaveOut(let excess) = correction {
      path.playout.leftOut(isAll: excess == count)
      return leaveOut(excess, .late, of: &input, path)
    }
    noteSent(count, path)
    if input.isLive, isBehind(path) { return leaveOut(count, .queueFull, of: &input, path) }
    let piece = input.range.prefix(count)
    input.range = piece.upperBound..<input.range.upperBound
    path.timeline.advance(by: count)
    guard let payload = path.payload(of: input.buffer, input.bytes, piece, isSilence: input.isGap) else {
      return GST_FLOW_OK
    }
    return deliver(payload, grant, path, isSilence: input.isSilence, isLive: input.isLive)
  }

  private func leaveOut(
    _ count: Int, _ reason: SampleDropReason, of input: inout Input, _ path: SamplePath
  ) -> GstFlowReturn {
    input.range = (input.range.lowerBound + count)..<input.range.upperBound
    path.timeline.advance(by: count)
    path.bridge()
    return drop(count, reason)
  }

  /// Counts samples that are not sent.
  private func drop(
    _ count: Int, _ reason: SampleDropReason, _ result: GstFlowReturn = GST_FLOW_OK
  ) -> GstFlowReturn {
    guard count > 0 else { return result }
    sink.counters.withLock { $0.samplesDropped(count, reason) }
    sink.log(GST_LEVEL_LOG, "dropped \(count) samples: \(reason)")
    return result
  }
}

/// Silence where upstream has nothing.
extension AudioStreamRun {
  /// Fills the time that a GAP event tells of. The next buffer shows one without a duration.
  ///
  /// - Returns: nil for one that is not filled.
  func fillGap(_ event: UnsafeMutablePointer<GstEvent>, _ path: SamplePath) -> GstFlowReturn? {
    guard path.format != nil, path.timeline.end != nil, let (start, duration) = sink.partOfSegment(event),
      duration <= SampleTimeline.longestSilence
    else { return nil }
    // The base class would wait until the gap begins, and the lead would be gone.
    let object = UnsafeMutablePointer<GstMiniObject>(OpaquePointer(event))
    let result = gst_base_sink_do_preroll(sink.baseSink, object)
    guard result == GST_FLOW_OK else { return result }
    path.apply(sink.settings.withLock { ($0.lead, $0.gain) })
    var count = path.timeline.format.sampleCount(in: duration)
    // Of which a part may have been sent already, or something is missing in front of it.
    if let time = sink.runningTime(of: start) {
      let placement = path.timeline.place(at: time, now: time)
      count += placement.silence - min(placement.overlap, count)
    }
    return sendSilence(count, in: object, path, isLive: path.isUpstreamLive)
  }

  /// Nobody waits for the right to send silence: without that it is only counted.
  private func sendSilence(
    _ count: Int, in object: UnsafeMutablePointer<GstMiniObject>, _ path: SamplePath, isLive: Bool
  ) -> GstFlowReturn {
    var left = count
    while left > 0 {
      guard let grant = state.withLock({ $0.permission }) else {
        path.timeline.advance(by: left)
        return GST_FLOW_OK
      }
      let piece = min(left, path.longestPiece)
      var (result, correction) = waitForTime(of: piece, in: object, grant, path, isSilence: true)
      if case .silence(let missing) = correction { result = fill(missing, grant, path, isLive: isLive) }
      guard result == GST_FLOW_OK else { return result }
      if case .leaveOut(let excess) = correction {
        left -= excess
        path.timeline.advance(by: excess)
        path.playout.leftOut(isAll: excess == piece)
        continue
      }
      left -= piece
      noteSent(piece, path)
      path.timeline.advance(by: piece)
      guard !isLive || !isBehind(path) else { continue }
      result = deliver(path.silence(piece), grant, path, isSilence: true, isLive: isLive)
      guard result == GST_FLOW_OK else { return result }
    }
    return GST_FLOW_OK
  }

  /// Sends short buffers that wait for more, if that needs no waiting.
  func sendRest(of path: SamplePath) {
    guard let payload = path.takePending() else { return }
    guard let grant = state.withLock({ $0.permission }),
      connection.audio.submit(payload, grantEpoch: grant.epoch, blocking: false) == .queued
    else { return payload.giveUp(.discarded) }
  }
}
