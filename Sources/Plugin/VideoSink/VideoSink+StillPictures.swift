import GStreamerKit
import H264
import SDLApp
import SDLLink

/// Upstream is silent, because its picture stands still or because the pipeline is paused: the last picture is sent again
/// now and then, lest the head unit blank its screen. On the connection thread.
extension VideoSink {
  /// Asks for ``alarmRang()`` at `time` at the latest.
  func setAlarm(at time: Duration?) {
    guard let time else { return }
    state.withLock { $0.connection?.setAlarm(at: time) }
  }

  private static let retryPause = Duration.milliseconds(250)

  /// The property has changed.
  func updateKeepAlive() {
    setAlarm(at: MonotonicClock.now)
  }

  /// Does what is due, and sets the alarm for what comes next.
  func alarmRang() {
    setAlarm(at: notice.isRunning ? continueNotice() : watchSilence())
  }

  private var keepAliveInterval: Duration {
    .milliseconds(Int64(settings.withLock { $0.keepAliveInterval }))
  }

  /// When to look again.
  private func watchSilence() -> Duration? {
    let interval = keepAliveInterval
    let now = MonotonicClock.now
    guard let (grant, grantedAt) = state.withLock({ state in state.usableGrant.map { ($0, state.grantedAt) } }) else {
      // An app that is about to come back before the session knows that it was away, or caps that are about to change.
      return state.withLock { $0.grant != nil && !$0.isHeld } ? now + max(interval, Self.retryPause) : nil
    }
    // Whoever has the turn is about to send something.
    guard turn.takeIfFree() else { return now + max(interval, Self.retryPause) }
    let streamSettings = input.encoderSettings
    let next = interval > .zero ? breakSilence(now: now, interval: interval) : nil
    let mustAsk = isKeyFrameMissing(grant, now: now, interval: interval)
    turn.give()
    if mustAsk { requestKeyFrame() }
    let preparation = grantedAt + Self.preparationDelay
    guard now >= preparation else { return next.earlier(preparation) }
    prepareNotice(grant, streamSettings)
    return next
  }

  /// Whose turn it is sends the last picture if it is time. When to look again.
  private func breakSilence(now: Duration, interval: Duration) -> Duration {
    // Asked for again, because the caps may have changed while the turn was another's.
    guard let (grant, grantedAt, connection) = usableGrant() else { return now + interval }
    let lastSent = input.epoch == grant.epoch ? input.lastSent : grantedAt
    let due = lastSent + interval
    guard now >= due else { return due }
    // From one due time to the next, so that the pace does not drift.
    if sendStill(grant, connection) { input.lastSent = now - due < interval ? due : now }
    return max(due, now - interval / 2) + interval
  }

  /// Whether H.264 can't be taken up without a key frame that upstream has not been asked for. Upstream may send nothing
  /// else before that.
  private func isKeyFrameMissing(_ grant: VideoGrant, now: Duration, interval: Duration) -> Bool {
    guard case .h264 = input.format, input.epoch == grant.epoch, input.needsKeyFrame, input.keyFrameRequest == nil,
      interval > .zero, now - input.lastSent >= interval
    else { return false }
    input.keyFrameRequest = KeyFrameRequest(time: now)
    return true
  }

  private func usableGrant() -> (VideoGrant, Duration, AppConnection)? {
    state.withLock { state in
      guard let grant = state.usableGrant, let connection = state.connection else { return nil }
      return (grant, state.grantedAt, connection)
    }
  }

  /// Queues the last picture again, if there is one and room for it.
  private func sendStill(_ grant: VideoGrant, _ connection: AppConnection) -> Bool {
    guard !connection.isVideoQueueFull else { return false }
    begin(grant)
    switch input.format {
    case .none: return false
    case .raw(let info):
      let time = UInt64(gst_element_get_current_running_time(gstElement))
      guard let picture = input.lastPicture.picture(at: time) else { return false }
      return repeatRaw(picture, info, grant, connection)
    case .h264:
      // Without its key frame the stream can't be taken up, and after a break of any kind that is what has to come.
      guard !input.needsKeyFrame, let bytes = input.repeatPicture.accessUnit() else {
        return false
      }
      let payload = payloads.take(for: self, kind: .repeated)
      bytes.withUnsafeBytes { payload.store($0, isKeyFrame: false) }
      return submitNow(payload, grant, connection)
    }
  }

  /// Queues a payload that does not come from upstream, if there is room. For whose turn it is.
  func submitNow(_ payload: FramePayload, _ grant: VideoGrant, _ connection: AppConnection) -> Bool {
    guard let rtp = packetize(payload, for: grant, at: nil),
      connection.submit(payload, grantEpoch: grant.epoch, blocking: false) == .queued
    else {
      payloads.giveBack(payload)
      return false
    }
    input.rtp = rtp
    return true
  }
}
