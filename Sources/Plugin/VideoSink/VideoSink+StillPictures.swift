import GStreamerKit
import H264
import SDLApp
import SDLLink

/// Upstream is silent, because its picture stands still or because the pipeline is paused: the last picture is sent again
/// now and then, lest the head unit blank its screen. On the connection thread.
extension VideoSink {
  func setAlarm(at time: Duration?) {
    state.withLock { $0.connection?.setAlarm(at: time) }
  }

  /// The property has changed.
  func updateKeepAlive() {
    setAlarm(at: MonotonicClock.now)
  }

  /// Does what is due, and sets the alarm for what comes next.
  func alarmRang() {
    let interval = keepAliveInterval
    setAlarm(at: notice.isRunning ? continueNotice() : watchSilence())
    // The property may have changed meanwhile, and this alarm has replaced the one that it had set.
    if keepAliveInterval != interval { updateKeepAlive() }
  }

  private var keepAliveInterval: Duration {
    .milliseconds(Int64(settings.withLock { $0.keepAliveInterval }))
  }

  /// When to look again.
  private func watchSilence() -> Duration? {
    guard let (grant, grantedAt, connection) = usableGrant() else { return nil }
    let now = MonotonicClock.now
    // The notice is made when the stream has come to its pace, so as not to hold up its first picture.
    if now - grantedAt < Self.preparationDelay { return grantedAt + Self.preparationDelay }
    let interval = keepAliveInterval
    // Whoever has the turn is about to send something.
    guard turn.takeIfFree() else { return now + max(interval, Self.preparationDelay) }
    let streamSettings = input.encoderSettings
    let next = interval > .zero ? breakSilence(grant, grantedAt, connection, now, interval) : nil
    turn.give()
    prepareNotice(grant, streamSettings)
    return next
  }

  /// Whose turn it is sends the last picture if it is time. When to look again.
  private func breakSilence(
    _ grant: VideoGrant, _ grantedAt: Duration, _ connection: AppConnection, _ now: Duration, _ interval: Duration
  ) -> Duration {
    let lastSent = input.epoch == grant.epoch ? input.lastSent : grantedAt
    guard now - lastSent >= interval else { return lastSent + interval }
    if sendStill(grant, connection) { input.lastSent = now }
    return now + interval
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
      guard let picture = input.lastPicture else { return false }
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

  /// Queues a payload that does not come from upstream, if there is room.
  func submitNow(_ payload: FramePayload, _ grant: VideoGrant, _ connection: AppConnection) -> Bool {
    guard connection.submit(payload, grantEpoch: grant.epoch, blocking: false) == .queued else {
      payloads.giveBack(payload)
      return false
    }
    return true
  }
}
