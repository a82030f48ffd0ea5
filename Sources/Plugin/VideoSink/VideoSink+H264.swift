import GStreamerKit
import H264
import SDLApp
import SDLLink

/// H.264 input: passed on from its own memory, beginning at a key frame.
extension VideoSink {
  /// How long upstream may take to send a key frame that it was asked for.
  private static let keyFramePatience = Duration.seconds(5)

  func sendH264(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ grant: VideoGrant, _ connection: AppConnection
  ) -> GstFlowReturn {
    let payload = payloads.take(for: self)
    // Packets are cut out of one block.
    guard payload.refer(to: buffer, isMerged: grant.transport == .rtp || Self.mayBeKeyFrame(buffer)) else {
      payloads.giveBack(payload)
      log(GST_LEVEL_WARNING, "a buffer could not be mapped")
      return drop(.noPicture)
    }
    let unit = AccessUnitSummary(scanning: payload.firstBlock)
    if unit.isKeyFrame { payload.markKeyFrame() }
    if input.needsKeyFrame {
      guard unit.isKeyFrame, begin(payload, unit) else {
        payloads.giveBack(payload)
        missKeyFrame()
        return drop(.waitingForKeyFrame)
      }
    }
    watchRate(at: frameClock(buffer))
    for index in 0..<payload.segmentCount where input.repeatPicture.observe(payload.segment(at: index)) { break }
    return submit(payload, grant, connection)
  }

  /// When a frame is shown, in ns: as its time stamp says, or now.
  private func frameClock(_ buffer: UnsafeMutablePointer<GstBuffer>) -> UInt64 {
    let time = runningTime(UInt64(buffer.pointee.pts))
    return time == .max ? UInt64(clamping: MonotonicClock.now.nanoseconds) : time
  }

  /// The first frame of a stream starts with its parameter sets: what stands before them is left out, and what is
  /// missing is put in front. False when they are not known.
  private func begin(_ payload: FramePayload, _ unit: AccessUnitSummary) -> Bool {
    if let parameterSet = unit.sequenceParameterSet, unit.hasPictureParameterSet {
      payload.skip(ParameterSets.startCodeOffset(before: parameterSet.lowerBound, in: payload.firstBlock))
    } else if let missing = input.parameterSets.bytes {
      missing.withUnsafeBytes { payload.store($0, isKeyFrame: true) }
    } else {
      return false
    }
    input.needsKeyFrame = false
    input.keyFrameRequest = nil
    return true
  }

  /// Nothing can be shown before the next key frame: upstream is asked for one, and if it has none, the user is told.
  private func missKeyFrame() {
    let now = MonotonicClock.now
    guard let request = input.keyFrameRequest else {
      input.keyFrameRequest = KeyFrameRequest(time: now)
      return requestKeyFrame()
    }
    guard !request.isOverdue, now - request.time >= Self.keyFramePatience else { return }
    input.keyFrameRequest?.isOverdue = true
    warn(
      .stream(
        GST_STREAM_ERROR_FORMAT,
        "No key frame for \(Self.keyFramePatience.components.seconds) s, and nothing can be shown before one: let the encoder make them more often (key-int-max of x264enc)."
      ))
  }

  func requestKeyFrame() {
    counters.withLock { $0.keyFramesForced += 1 }
    log(GST_LEVEL_INFO, "asking upstream for a key frame")
    gst_pad_push_event(
      cgst_base_sink_pad(element), gst_video_event_new_upstream_force_key_unit(.max, 1, 0))
  }

  /// A key frame is looked at as a whole: h264parse puts access unit delimiters into a block of their own.
  private static func mayBeKeyFrame(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_DELTA_UNIT) == 0
  }

  /// Keeps the parameter sets of a key frame, and takes the size from them: it is what the decoder sees, whatever the
  /// caps say. False when the stream can't be used.
  func learnSize(from buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    guard Self.mayBeKeyFrame(buffer) else { return gst_buffer_n_memory(buffer) > 0 }
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return false }
    defer { gst_buffer_unmap(buffer, &map) }
    let bytes = UnsafeRawBufferPointer(start: map.data, count: Int(map.size))
    let unit = AccessUnitSummary(scanning: bytes)
    if input.parameterSets.update(from: bytes), let range = unit.sequenceParameterSet {
      guard let parameterSet = try? SequenceParameterSet(nalUnit: UnsafeRawBufferPointer(rebasing: bytes[range])) else {
        log(GST_LEVEL_WARNING, "a sequence parameter set can't be read")
        return true
      }
      input.encodedSize = VideoSize(parameterSet.width, parameterSet.height)
    }
    if let size = input.encodedSize, state.withLock({ $0.inputSize }) != size {
      log(GST_LEVEL_INFO, "the H.264 stream is \(size)")
      setInputSize(size)
    }
    return true
  }
}
