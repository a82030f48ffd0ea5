import GStreamerKit
import SDLApp
import SDLLink

/// The way of a frame: wait for the right to send, then encode or refer to it, then queue it.
///
/// Frames are encoded in render, behind the wait for the clock, so that nothing is encoded that is not sent: a picture
/// that the decoder never gets would break the chain of those that depend on it.
extension VideoSink {
  private enum Step {
    case send(VideoGrant, AppConnection)
    case drop(VideoSinkCounters.Drop)
    case renegotiate
    case interrupted
    case fail
  }

  /// After a second without data, SDL Core opens the stream to its decoder anew (`VideoDataStoppedTimeout`).
  private static let decoderPatience = Duration.seconds(1)

  /// Frames and time that upstream gets to change to a size that the head unit takes.
  private static let mismatchFrames = 5
  private static let mismatchTime = Duration.seconds(2)

  func render(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    counters.withLock { $0.frameArrived() }
    guard cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_GAP) == 0 else { return drop(.noPicture) }
    if case .h264 = input.format, !learnSize(from: buffer) { return drop(.noPicture) }
    while true {
      switch nextStep() {
      case .send(let grant, let connection): return send(buffer, grant, connection)
      case .drop(.wrongSize): return mismatched()
      case .drop(let reason): return drop(reason)
      case .renegotiate:
        if requestRenegotiation() { return drop(.wrongSize) }
      case .interrupted:
        let result = gst_base_sink_wait_preroll(baseSink)
        guard result == GST_FLOW_OK else { return drop(.discarded, result) }
      case .fail: return drop(.discarded, GST_FLOW_ERROR)
      }
    }
  }

  @discardableResult
  func drop(_ reason: VideoSinkCounters.Drop, _ result: GstFlowReturn = GST_FLOW_OK) -> GstFlowReturn {
    counters.withLock { $0.frameDropped(reason) }
    log(GST_LEVEL_LOG, "dropped a frame: \(reason)")
    return result
  }

  /// What to do with the frame at hand. Live sources never wait; files wait for the driver.
  private func nextStep() -> Step {
    let isLive = isUpstreamLive
    if let step = state.withLock({ Self.step($0, isLive: isLive) }) { return step }
    let began = MonotonicClock.now
    defer { shiftTime(by: MonotonicClock.now - began) }
    log(GST_LEVEL_INFO, "waiting until the head unit shows the app")
    return state.wait(until: nil) { Self.step($0, isLive: false) } ?? .fail
  }

  private static func step(_ state: VideoSinkState, isLive: Bool) -> Step? {
    guard !state.hasFailed, let connection = state.connection else { return .fail }
    if state.isFlushing { return .interrupted }
    if state.needsRenegotiation { return .renegotiate }
    guard let size = state.inputSize else { return .drop(.noPicture) }
    if state.accepts(size) == false { return .drop(.wrongSize) }
    // A grant for another size is about to be replaced: the input has just changed.
    guard let grant = state.grant, grant.size == size else { return isLive ? .drop(.notStreaming) : nil }
    return .send(grant, connection)
  }

  private var isUpstreamLive: Bool {
    if let isLive = input.isLive { return isLive }
    var isLive: gboolean = 0
    var isUpstreamLive: gboolean = 0
    guard gst_base_sink_query_latency(baseSink, &isLive, &isUpstreamLive, nil, nil) != 0 else { return false }
    input.isLive = isUpstreamLive != 0
    return isUpstreamLive != 0
  }

  /// The clock ran on while the sink held a file up. What follows is shown that much later, instead of in a rush.
  private func shiftTime(by held: Duration) {
    let nanoseconds = held.nanoseconds
    guard nanoseconds > 0, gst_base_sink_get_sync(baseSink) != 0 else { return }
    input.heldTime += nanoseconds
    gst_base_sink_set_ts_offset(baseSink, gst_base_sink_get_ts_offset(baseSink) + nanoseconds)
  }

  /// Takes back what ``shiftTime(by:)`` did, because running time starts anew.
  func resetTime() {
    guard input.heldTime != 0 else { return }
    gst_base_sink_set_ts_offset(baseSink, gst_base_sink_get_ts_offset(baseSink) - input.heldTime)
    input.heldTime = 0
  }

  private func send(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ grant: VideoGrant, _ connection: AppConnection
  ) -> GstFlowReturn {
    input.mismatch = nil
    let now = MonotonicClock.now
    if input.epoch != grant.epoch || now - input.lastSent >= Self.decoderPatience {
      input.epoch = grant.epoch
      input.needsKeyFrame = true
      input.keyFrameRequest = nil
    }
    input.lastSent = now
    switch input.format {
    case .none: return drop(.noPicture, GST_FLOW_NOT_NEGOTIATED)
    case .raw(let info): return sendRaw(buffer, info, grant, connection)
    case .h264: return sendH264(buffer, grant, connection)
    }
  }

  /// Queues a finished access unit; its payload is the connection's from now on.
  func submit(_ payload: FramePayload, _ grant: VideoGrant, _ connection: AppConnection) -> GstFlowReturn {
    while true {
      switch connection.submit(payload, grantEpoch: grant.epoch, blocking: !isUpstreamLive) {
      case .queued: return GST_FLOW_OK
      case .full: return abandon(payload, .queueFull)
      case .closed, .stale: return abandon(payload, .notStreaming)
      case .flushing:
        let result = gst_base_sink_wait_preroll(baseSink)
        guard result == GST_FLOW_OK else { return abandon(payload, .discarded, result) }
      }
    }
  }

  /// A frame that others depend on is lost, so the next one must stand alone.
  private func abandon(
    _ payload: FramePayload, _ reason: VideoSinkCounters.Drop, _ result: GstFlowReturn = GST_FLOW_OK
  ) -> GstFlowReturn {
    payloads.giveBack(payload)
    input.needsKeyFrame = true
    input.keyFrameRequest = nil
    return drop(reason, result)
  }

  /// Asks upstream for caps of the head unit's choice; false when upstream has nothing else.
  private func requestRenegotiation() -> Bool {
    state.withLock { $0.shouldRenegotiate = false }
    defer { updateWish() }
    guard canUpstreamChange() else { return false }
    log(GST_LEVEL_INFO, "asking upstream for another size")
    gst_pad_push_event(cgst_base_sink_pad(element), gst_event_new_reconfigure())
    return true
  }

  /// Whether upstream could send raw video in a size that the head unit takes, other than the present one.
  private func canUpstreamChange() -> Bool {
    guard let caps = getCaps(filter: nil) else { return true }
    defer { gst_caps_unref(caps) }
    guard let possible = gst_pad_peer_query_caps(cgst_base_sink_pad(element), caps) else { return true }
    defer { gst_caps_unref(possible) }
    let size = state.withLock { $0.inputSize }
    return (0..<gst_caps_get_size(possible)).contains { index in
      let structure = gst_caps_get_structure(possible, index)
      var width: gint = 0
      var height: gint = 0
      gst_structure_get_int(structure, "width", &width)
      gst_structure_get_int(structure, "height", &height)
      return VideoSize(Int(width), Int(height)) != size
    }
  }

  /// A frame of a size that the head unit does not take: upstream gets a while to change, unless it can't anyway; then
  /// it is an error. Encoders and parsers may answer with what they send now, so for them only time tells.
  private func mismatched() -> GstFlowReturn {
    let began = input.mismatch?.since ?? MonotonicClock.now
    let frames = (input.mismatch?.frames ?? 0) + 1
    let isHopeless = input.mismatch == nil && !mismatchBegins()
    input.mismatch = (began, frames)
    if isHopeless || (frames >= Self.mismatchFrames && MonotonicClock.now - began >= Self.mismatchTime) {
      failBecauseOfSize()
      return drop(.wrongSize, GST_FLOW_ERROR)
    }
    return drop(.wrongSize)
  }

  /// Asks for another size; false when it would be in vain. An encoder that can't change may end the pipeline with an
  /// error of its own, so the reason is told before.
  private func mismatchBegins() -> Bool {
    if !input.isRaw {
      let (size, accepted) = state.withLock { ($0.inputSize, $0.acceptedSizes) }
      warn(
        .stream(
          GST_STREAM_ERROR_FORMAT,
          "The H.264 is \(size.map { "\($0)" } ?? "of unknown size"), but the head unit takes \(accepted): asking upstream for that."
        ))
    }
    return requestRenegotiation() || !input.isRaw
  }

  /// The error for a stream whose size fits nothing that the head unit offers.
  func failBecauseOfSize() {
    let (size, accepted) = state.withLock { ($0.inputSize, $0.acceptedSizes) }
    let advice =
      input.isRaw
      ? "put videoconvertscale before sdlvideosink" : "encode the stream in a size that the head unit takes"
    fail(
      .stream(
        GST_STREAM_ERROR_FORMAT,
        "The input is \(size.map { "\($0)" } ?? "of unknown size"), but the head unit takes \(accepted): \(advice)."))
  }
}
