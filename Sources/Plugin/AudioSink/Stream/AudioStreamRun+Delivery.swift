import GStreamerKit
import SDLApp
import SDLLink

/// The right to send, the pipeline's clock, and the way into the queue. On the streaming thread.
extension AudioStreamRun {
  /// What may be done with samples.
  enum Right {
    case grant(AudioGrant)
    case drop(SampleDropReason)
    case stop(GstFlowReturn)
  }

  /// From the connection's refusal of a payload to the event that ends the grant here; on another thread, hence soon.
  private static let grantEndTimeout = Duration.seconds(1)
  /// How soon an application pauses that follows the request for it.
  private static let promptPause = Duration.milliseconds(250)
  /// How much of a live source's sound may be on its way, beyond the lead.
  private static let longestLinkDelay = Duration.milliseconds(500)

  /// Decides what to do with the samples at hand, and waits until that is possible.
  func right(isSilence: Bool, isLive: Bool, _ path: SamplePath) -> Right {
    while true {
      guard let decision = decide(isSilence: isSilence, isLive: isLive, path) else { return .stop(GST_FLOW_FLUSHING) }
      switch decision {
      case .send(let grant): return .grant(grant)
      case .drop(let reason): return .drop(reason)
      case .wait, .pauseRequested: break
      case .interrupted:
        let result = gst_base_sink_wait_preroll(sink.baseSink)
        guard result == GST_FLOW_OK else { return .stop(result) }
      case .fail: return .stop(GST_FLOW_ERROR)
      }
    }
  }

  /// Nil if the source wants its thread back while it waits.
  private func decide(isSilence: Bool, isLive: Bool, _ path: SamplePath) -> AudioNegotiation.SampleDecision? {
    var decision = state.withLock { decide(&$0, isSilence: isSilence, isLive: isLive) }
    if case .send = decision { return decision }
    deliverNotifications()
    if decision == .wait {
      let began = time.now
      sink.log(GST_LEVEL_INFO, "waiting until the head unit plays the app's sound")
      let next = waitForHeadUnit(until: nil) { negotiation in
        let decision = self.decide(&negotiation, isSilence: isSilence, isLive: isLive)
        return decision == .wait ? nil : decision
      }
      deliverNotifications()
      guard let next else { return nil }
      decision = next
      // An application that follows the request to pause stops running time at once. What a live source has been held up for is
      // made up for when it is silent.
      let waited = time.now - began
      if decision != .interrupted || waited > Self.promptPause { path.delay.extend(by: waited, sink.baseSink) }
    }
    return decision
  }

  /// While sound may be sent, which is the usual case, there are no outputs to carry out.
  private func decide(
    _ negotiation: inout AudioNegotiation, isSilence: Bool, isLive: Bool
  ) -> AudioNegotiation.SampleDecision {
    let now = time.now
    let decision = negotiation.decide(isLive: isLive, isSilence: isSilence, now: now)
    if case .send = decision, !negotiation.hasUrgentOutputs { return decision }
    apply(negotiation.takeOutputs(at: now))
    return decision
  }

  /// Waits until the next samples may leave, and tells what is to be done so that they are heard in time.
  ///
  /// - Parameter object: the buffer or event that they belong to.
  func waitForTime(
    of count: Int, in object: UnsafeMutablePointer<GstMiniObject>, _ grant: AudioGrant, _ path: SamplePath,
    isSilence: Bool
  ) -> (result: GstFlowReturn, correction: SamplePlayout.Correction) {
    guard let time = path.timeline.end else { return (GST_FLOW_OK, .none) }
    // Nothing leaves before running time 0; what follows the first samples then leaves with them.
    let departure = max(time - path.playout.lead, .zero)
    let result = wait(until: departure, in: object)
    guard result == GST_FLOW_OK else { return (result, .none) }
    path.use(grant)
    return (result, correction(of: count, at: time, path, isSilence: isSilence))
  }

  /// Waits in PLAYING until a running time. `gst_base_sink_wait` does so too, but a change to PAUSED that comes meanwhile would
  /// never be complete: only a preroll completes it.
  private func wait(until time: Duration, in object: UnsafeMutablePointer<GstMiniObject>) -> GstFlowReturn {
    while true {
      let result = gst_base_sink_do_preroll(sink.baseSink, object)
      guard result == GST_FLOW_OK else { return result }
      let clockTime = GstClockTime(clamping: sink.clockTime(of: time).nanoseconds)
      let status = gst_base_sink_wait_clock(sink.baseSink, clockTime, nil)
      guard sink.baseSink.pointee.flushing == 0 else { return GST_FLOW_FLUSHING }
      guard status == GST_CLOCK_UNSCHEDULED else { return GST_FLOW_OK }
    }
  }

  /// Without a clock, and with sync=false, there is none.
  private func correction(
    of count: Int, at time: Duration, _ path: SamplePath, isSilence: Bool
  ) -> SamplePlayout.Correction {
    guard let (due, now) = sink.schedule(of: time) else {
      path.playout.reset()
      return .none
    }
    let correction = path.playout.correction(
      for: count, due: due, now: now, isSilence: isSilence, format: path.timeline.format)
    if correction != .none { sink.log(GST_LEVEL_DEBUG, "\(correction): the samples are due in \(due - now)") }
    return correction
  }

  /// Samples leave now, or what waits in front of them takes their time.
  func noteSent(_ count: Int, _ path: SamplePath) {
    guard let time = path.timeline.end, let (_, now) = sink.schedule(of: time) else { return }
    path.playout.sent(count, now: now, format: path.timeline.format)
  }

  /// Sends silence that fills the time until the next samples are due.
  func fill(_ count: Int, _ grant: AudioGrant, _ path: SamplePath, isLive: Bool) -> GstFlowReturn {
    noteSent(count, path)
    return deliver(path.silence(count), grant, path, isSilence: true, isLive: isLive)
  }

  /// Another grant than that for which the samples of a payload were meant: the head unit begins to play anew.
  private func begin(_ grant: AudioGrant, with payload: SamplePayload, _ path: SamplePath, isLive: Bool) {
    path.use(grant)
    let count = payload.sampleCount + payload.silenceCount
    guard let end = path.timeline.end else { return }
    let time = max(end - path.timeline.format.duration(ofSampleCount: count), .zero)
    if case .silence(let missing) = correction(of: count, at: time, path, isSilence: false) {
      _ = fill(missing, grant, path, isLive: isLive)
    }
    noteSent(count, path)
  }

  /// Whether so much of a live source's sound waits, here or in the kernel, that it would come too late.
  func isBehind(_ path: SamplePath) -> Bool {
    let format = path.timeline.format
    let longest = path.playout.lead + Self.longestLinkDelay
    let queued = connection.audio.statistics.queuedByteCount
    if queued > format.byteCount(ofSampleCount: format.sampleCount(in: longest)) { return true }
    guard let sample = connection.audio.linkSample() else { return false }
    return path.linkDelay.age(sample) > longest
  }

  /// Queues a payload; sound that is not live waits for room, and for another grant if this one ends. Silence asks for none.
  func deliver(
    _ payload: SamplePayload, _ grant: AudioGrant, _ path: SamplePath, isSilence: Bool, isLive: Bool
  ) -> GstFlowReturn {
    var grant = grant
    while true {
      let result = connection.audio.submit(payload, grantEpoch: grant.epoch, blocking: !isLive)
      switch result {
      case .queued: return GST_FLOW_OK
      case .full:
        payload.giveUp(.queueFull)
        path.bridge()
        return GST_FLOW_OK
      case .closed, .stale:
        guard !isLive, waitForEnd(of: grant) else {
          payload.giveUp(.notStreaming)
          return GST_FLOW_OK
        }
      case .flushing: break
      }
      switch right(isSilence: isSilence, isLive: isLive, path) {
      case .grant(let next):
        if next.epoch != grant.epoch { begin(next, with: payload, path, isLive: isLive) }
        grant = next
      case .drop(let reason):
        payload.giveUp(reason)
        return GST_FLOW_OK
      case .stop(let flow):
        payload.giveUp(.discarded)
        return flow
      }
    }
  }

  /// The connection refuses payloads before the end of the grant is reported here.
  ///
  /// - Returns: False if the end was not reported in time.
  private func waitForEnd(of grant: AudioGrant) -> Bool {
    let deadline = time.now + Self.grantEndTimeout
    return waitForHeadUnit(until: deadline) { negotiation in
      negotiation.isInterrupted || negotiation.permission?.epoch != grant.epoch ? true : nil
    } ?? false
  }
}
