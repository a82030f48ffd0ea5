import GStreamerKit
import SDLApp
import SDLLink
import X264Encoder

/// Queues access units: those from the encoder, and those that came as H.264.
extension FramePath {
  /// Shorter waits for room in the queue are normal; longer ones delay what follows.
  private static let noticeableWait = Duration.milliseconds(10)

  /// Queues a finished access unit; its payload is the connection's from now on.
  func submit(_ payload: FramePayload, _ grant: VideoGrant) -> Outcome {
    guard let rtp = packetize(payload, for: grant, at: frameRunningTime) else { return abandon(payload, .noPicture) }
    while true {
      let began = time.now
      let submission = connection.video.submit(
        payload, grantEpoch: grant.epoch, blocking: !isUpstreamLive, samplesLink: false)
      let now = time.now
      if !isAhead, now - began >= Self.noticeableWait { delay.extend(by: now - began, sink.baseSink) }
      switch submission.result {
      case .queued:
        // Not the time now: this thread may have been kept waiting since.
        lastSent = submission.time
        self.rtp = rtp
        return .queued(isFirstOfService: noteQueued(grant))
      case .full: return abandon(payload, .queueFull)
      case .closed, .stale: return abandon(payload, .notStreaming)
      case .flushing:
        // Access is kept: nothing may overtake what has been encoded.
        let result = gst_base_sink_wait_preroll(sink.baseSink)
        guard result == GST_FLOW_OK else { return abandon(payload, .discarded, result) }
      }
    }
  }

  /// Notes that a frame is in the queue. Returns whether it is the first one of its service.
  func noteQueued(_ grant: VideoGrant) -> Bool {
    defer { queuedEpoch = grant.epoch }
    return queuedEpoch != grant.epoch
  }

  /// A frame that others depend on is lost, so the next one must stand alone.
  private func abandon(
    _ payload: FramePayload, _ reason: FrameDropReason, _ result: GstFlowReturn = GST_FLOW_OK
  ) -> Outcome {
    sink.payloads.giveBack(payload)
    breakOff()
    return .dropped(reason, result)
  }

  /// Queues a payload if there is room, on any thread.
  ///
  /// - Parameter time: when it is shown; nil for now.
  func submitNow(_ payload: FramePayload, _ grant: VideoGrant, at time: Duration? = nil) -> Bool {
    guard let rtp = packetize(payload, for: grant, at: time),
      connection.video.submit(payload, grantEpoch: grant.epoch, blocking: false) == .queued
    else {
      sink.payloads.giveBack(payload)
      return false
    }
    self.rtp = rtp
    return true
  }

  /// Queues the last picture, if there is one and room for it.
  ///
  /// - Parameter isNew: whether it has not been sent before; then it may be the key frame that is due.
  func sendLastPicture(_ permission: VideoNegotiation.Permission, isNew: Bool = false) -> Bool {
    guard !connection.video.isFull else { return false }
    begin(permission.grant)
    let payload = sink.payloads.take(for: sink, kind: .repeated)
    guard fillWithLastPicture(payload, permission, isNew: isNew) else {
      sink.payloads.giveBack(payload)
      return false
    }
    guard submitNow(payload, permission.grant) else {
      // Pictures that are encoded next would depend on this one, which the decoder never gets.
      if isRaw { needsKeyFrame = true }
      return false
    }
    return true
  }

  private func fillWithLastPicture(
    _ payload: FramePayload, _ permission: VideoNegotiation.Permission, isNew: Bool
  ) -> Bool {
    switch format {
    case .none: return false
    case .raw(let info):
      let time = UInt64(gst_element_get_current_running_time(sink.gstElement))
      guard let picture = lastPicture.picture(at: time) else { return false }
      do {
        let kind: PictureKind = needsKeyFrame ? .keyFrame : isNew ? .frame : .repetition
        return try encode(picture, info, permission.targets, into: payload, as: kind)
      } catch {
        sink.log(GST_LEVEL_WARNING, "the last picture could not be encoded again: \(error)")
        encoder.close()
        return false
      }
    case .h264:
      // Without its key frame the stream can't be taken up, and after a break of any kind that is what has to come.
      return !needsKeyFrame && passthrough.fillWithRepeat(payload)
    }
  }

  /// Puts an access unit into the form that the head unit expects.
  ///
  /// - Returns: the RTP numbering behind it, to be kept once it is queued; nil when there is nothing to send.
  private func packetize(
    _ payload: FramePayload, for grant: VideoGrant, at time: @autoclosure () -> Duration?
  ) -> RTPStream? {
    guard grant.transport == .rtp else { return rtp }
    var stream = rtp
    return stream.packetize(payload, for: grant, at: time(), now: self.time.now) ? stream : nil
  }

  /// When the frame at hand is shown; nil when it does not say.
  var frameRunningTime: Duration? {
    guard frameTime.presentation != .max else { return nil }
    let time = sink.runningTime(frameTime.presentation)
    return time == .max ? nil : .nanoseconds(Int64(clamping: time))
  }
}
