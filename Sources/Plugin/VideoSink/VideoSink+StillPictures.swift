import GStreamerKit
import H264
import SDLApp
import SDLLink

/// Upstream is silent, because its picture stands still or because the pipeline is paused: the last picture is sent again
/// now and then, lest the head unit blank its screen. On the connection thread.
extension VideoSink {
  /// Asks for ``alarmRang()`` at `time` at the latest.
  func setTimer(at time: Duration?) {
    guard let time else { return }
    state.withLock { $0.connection?.setTimer(at: time) }
  }

  private static let retryPause = Duration.milliseconds(250)
  private static let unpacedPatience = Duration.milliseconds(500)
  private static let fullQueuePause = Duration.milliseconds(20)

  /// The property has changed.
  func updateKeepAlive() {
    setTimer(at: MonotonicClock.now)
  }

  /// Does what is due, and sets the alarm for what comes next.
  func alarmRang() {
    setTimer(at: notice.isRunning ? continueNotice() : watchSilence())
  }

  /// As the user wishes, but never more often than the head unit takes pictures, with a margin for those of a source
  /// that is as slow.
  private var keepAliveInterval: Duration {
    let wished = Duration.milliseconds(Int64(settings.withLock { $0.keepAliveInterval }))
    guard wished > .zero, let frameRate = state.withLock({ $0.preferredFrameRate }), frameRate > 0 else {
      return wished
    }
    return max(wished, .seconds(1.25) / frameRate)
  }

  /// A picture came too soon after another: if no other follows within an interval of when it can be shown, it stays the
  /// last one for long, and is what the viewer has to see.
  func showLater(after wait: UInt64, now: Duration, limit: Fraction) {
    // By then two intervals have passed with one picture, so that this one does not raise the rate. A file that is not
    // played in time may come with any delays.
    let isPaced = isUpstreamLive || gst_base_sink_get_sync(baseSink) != 0
    let deadline =
      now + .nanoseconds(Int64(clamping: wait + limit.interval)) + (isPaced ? .zero : Self.unpacedPatience)
    input.unseen = deadline
    // An alarm that is yet to ring will be set again.
    guard input.unseenAlarm <= now else { return }
    input.unseenAlarm = deadline
    setTimer(at: deadline)
  }

  /// Whose turn it is shows the last picture if that was thinned out and nothing has followed. When to look again.
  private func showUnseen(now: Duration) -> Duration? {
    guard let unseen = input.unseen, let (grant, _, connection) = usableGrant() else { return nil }
    if now >= unseen, !connection.video.isFull {
      input.unseen = nil
      guard sendStill(grant, connection) else { return nil }
      input.lastSent = now
      return nil
    }
    input.unseenAlarm = now >= unseen ? now + Self.fullQueuePause : unseen
    return input.unseenAlarm
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
    let unseen = showUnseen(now: now)
    let next = (interval > .zero ? breakSilence(now: now, interval: interval) : nil).earlier(unseen)
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
    if sendStill(grant, connection) {
      input.lastSent = now - due < interval ? due : now
      noteQueued(grant)
    }
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
    guard !connection.video.isFull else { return false }
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
      connection.video.submit(payload, grantEpoch: grant.epoch, blocking: false) == .queued
    else {
      payloads.giveBack(payload)
      return false
    }
    input.rtp = rtp
    return true
  }
}
