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
    /// A frame from before the change that upstream was asked for.
    case dropOutdated(AppConnection)
    /// The app supports nothing that the head unit could show.
    case dropUnsupported
    case renegotiate
    case requestPause
    case interrupted
    case fail
  }

  /// After a second without data, SDL Core opens the stream to its decoder anew (`VideoDataStoppedTimeout`).
  private static let decoderPatience = Duration.seconds(1)
  /// A wait in the queue that is shorter belongs to the ordinary pace of things.
  private static let noticeableWait = Duration.milliseconds(10)

  /// Before the wait for the frame's time, behind which it may be dropped for being late.
  func prepare(_ buffer: UnsafeMutablePointer<GstBuffer>) {
    guard cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_GAP) == 0 else { return }
    turn.withTurn {
      guard input.isRaw else { return }
      input.lastPicture.prepare(buffer, for: runningTime(UInt64(buffer.pointee.pts)))
    }
  }

  /// Of a time stamp in the present segment.
  func runningTime(_ time: UInt64) -> UInt64 {
    withUnsafePointer(to: baseSink.pointee.segment) {
      UInt64(gst_segment_to_running_time($0, GST_FORMAT_TIME, guint64(time)))
    }
  }

  func render(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    defer { deliverMotion() }
    return turn.withTurn {
      counters.withLock { $0.frameArrived() }
      input.frameTime = FrameTime(of: buffer)
      if cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_GAP) != 0 {
        counters.withLock { $0.frameDropped(.noPicture) }
        return GST_FLOW_OK
      }
      switch input.format {
      case .h264:
        if cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_DISCONT) != 0 { input.needsKeyFrame = true }
        if !learnSize(from: buffer) { return drop(.noPicture) }
      case .raw: input.lastPicture.show(buffer)
      case .none: break
      }
      observeRegions(of: buffer)
      return renderPicture(buffer)
    }
  }

  private func renderPicture(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    while true {
      let step = nextStep()
      if case .drop(.wrongSize) = step {
        guard let result = mismatched() else { continue }
        return result
      }
      input.mismatch = nil
      switch step {
      case .send(let grant, let connection): return send(buffer, grant, connection)
      case .drop(let reason): return drop(reason)
      case .dropUnsupported: return drop(.wrongSize)
      case .dropOutdated(let connection):
        passOutdatedFrame(connection)
        return drop(.notStreaming)
      case .renegotiate:
        if requestRenegotiation() ?? true { return drop(.wrongSize) }
      case .requestPause: requestPause()
      case .interrupted:
        let result = waitForPreroll()
        guard result == GST_FLOW_OK else { return drop(.discarded, result) }
      case .fail: return drop(.discarded, GST_FLOW_ERROR)
      }
    }
  }

  private func waitForPreroll() -> GstFlowReturn {
    turn.pausing { gst_base_sink_wait_preroll(baseSink) }
  }

  /// Counts a frame that is not sent. H.264 frames depend on each other, so the next one must stand alone; of raw ones
  /// nothing has been encoded yet.
  @discardableResult
  func drop(_ reason: VideoSinkCounters.Drop, _ result: GstFlowReturn = GST_FLOW_OK) -> GstFlowReturn {
    counters.withLock { $0.frameDropped(reason) }
    if case .h264 = input.format { input.needsKeyFrame = true }
    log(GST_LEVEL_LOG, "dropped a frame: \(reason)")
    if reason.isLossOfQuality { postQoS() }
    return result
  }

  /// What to do with the frame at hand, once that is known. What the driver or the app suspend is subject to the policy;
  /// for a head unit that is not ready live sources never wait, and files always do.
  private func nextStep() -> Step {
    let isLive = isUpstreamLive
    let policy = settings.withLock { $0.suspendPolicy }.resolved(isLive: isLive)
    let step = { (state: VideoSinkState) in Self.step(state, isLive: isLive, policy: policy) }
    while true {
      if let step = state.withLock({ step($0) }) { return step }
      let began = MonotonicClock.now
      log(GST_LEVEL_INFO, "waiting until the head unit shows the app")
      turn.pausing { state.wait(until: nil) { step($0) == nil ? nil : () } }
      // The time stamps of a live source go on by themselves.
      if !isLive { shiftTime(by: MonotonicClock.now - began) }
    }
  }

  /// Nil: wait for a change.
  private static func step(_ state: VideoSinkState, isLive: Bool, policy: SuspendPolicy) -> Step? {
    guard !state.hasFailed, !state.isStopping, let connection = state.connection else { return .fail }
    if state.isFlushing { return .interrupted }
    if state.isHopeless { return policy == .block ? nil : .dropUnsupported }
    if state.needsRenegotiation { return .renegotiate }
    guard let size = state.inputSize else { return .drop(.noPicture) }
    if state.accepts(size) == false { return .drop(.wrongSize) }
    if state.framesBeforeWish > 0 { return .dropOutdated(connection) }
    if let grant = state.usableGrant { return .send(grant, connection) }
    guard state.isSuspended else { return isLive ? .drop(.notStreaming) : nil }
    switch policy {
    case .auto, .block: return nil
    case .drop: return .drop(.suspended)
    case .requestPause: return state.mayRequestPause ? .requestPause : nil
    }
  }

  private func passOutdatedFrame(_ connection: AppConnection) {
    state.withLock { state in
      // The head unit may have spoken again meanwhile.
      guard state.framesBeforeWish > 0 else { return }
      state.framesBeforeWish -= 1
      guard state.framesBeforeWish == 0 else { return }
      // That was the answer.
      state.expectedSize = nil
      state.resize.callOff()
      connection.setVideoRequest(state.wish)
    }
  }

  var isUpstreamLive: Bool {
    if let isLive = input.isLive { return isLive }
    var isLive: gboolean = 0
    var isUpstreamLive: gboolean = 0
    guard gst_base_sink_query_latency(baseSink, &isLive, &isUpstreamLive, nil, nil) != 0 else { return false }
    input.isLive = isUpstreamLive != 0
    return isUpstreamLive != 0
  }

  private func send(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ grant: VideoGrant, _ connection: AppConnection
  ) -> GstFlowReturn {
    begin(grant)
    switch input.format {
    case .none: return drop(.noPicture, GST_FLOW_NOT_NEGOTIATED)
    case .raw(let info): return sendRaw(buffer, info, grant, connection)
    case .h264: return sendH264(buffer, grant, connection)
    }
  }

  /// The first frame of a service must stand alone, and the first after a pause, in which the head unit may have closed
  /// its decoder.
  func begin(_ grant: VideoGrant) {
    let isResumed = isResumed.exchange(false, ordering: .acquiring)
    if isResumed || input.epoch != grant.epoch {
      input.needsKeyFrame = true
      input.keyFrameRequest = nil
    } else if MonotonicClock.now - input.lastSent >= Self.decoderPatience {
      input.needsKeyFrame = true
    }
    guard input.epoch != grant.epoch else { return }
    input.epoch = grant.epoch
    input.lastSent = MonotonicClock.now
  }

  /// Queues a finished access unit; its payload is the connection's from now on.
  func submit(_ payload: FramePayload, _ grant: VideoGrant, _ connection: AppConnection) -> GstFlowReturn {
    guard let rtp = packetize(payload, for: grant, at: frameRunningTime) else { return abandon(payload, .noPicture) }
    while true {
      let began = MonotonicClock.now
      let result = connection.video.submit(payload, grantEpoch: grant.epoch, blocking: !isUpstreamLive)
      let now = MonotonicClock.now
      if now - began >= Self.noticeableWait { shiftTime(by: now - began) }
      switch result {
      case .queued:
        input.lastSent = now
        input.rtp = rtp
        noteQueued(grant)
        return GST_FLOW_OK
      case .full: return abandon(payload, .queueFull)
      case .closed, .stale: return abandon(payload, .notStreaming)
      case .flushing:
        // The turn is kept: nothing may overtake what has been encoded.
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
    return drop(reason, result)
  }
}
