import GStreamerKit
import SDLApp
import SDLLink

/// Upstream is silent, because its picture stands still or because the pipeline is paused: the last picture is sent
/// again now and then, lest the head unit blank its screen. On the connection thread.
extension VideoStreamRun {
  private static let retryPause = Duration.milliseconds(250)

  /// Does what is due, and sets the timer for what comes next.
  func sendWhatIsDue() {
    let now = time.now
    if let next = notice.isRunning ? continueNotice(now: now) : watchSilence(now: now) {
      connection.setTimer(at: next)
    }
  }

  /// What the user has set, but never more often than the head unit takes pictures, with a margin so that a source of
  /// just that rate does not count as silent.
  private var keepAliveInterval: Duration {
    let interval = Duration.milliseconds(Int64(sink.settings.withLock { $0.keepAliveInterval }))
    guard interval > .zero, let frameRate = state.withLock({ $0.preferredFrameRate }), frameRate > 0 else {
      return interval
    }
    return max(interval, .seconds(1.25) / frameRate)
  }

  /// Sends the last picture again if upstream is silent. Returns when to look again.
  private func watchSilence(now: Duration) -> Duration? {
    let interval = keepAliveInterval
    let (permission, grantedAt, hasUnusedGrant) = state.withLock {
      ($0.permission, $0.grantWithTime?.since ?? now, $0.hasUnusedGrant)
    }
    guard permission != nil else {
      // There is a grant that can't be used yet, because app state or caps are about to change: look again.
      return hasUnusedGrant ? now + max(interval, Self.retryPause) : nil
    }
    // If the streaming thread has the frame path, it is about to send a frame.
    guard
      let (silence, announcements) = frames.withValueIfFree({
        (breakSilence($0, interval: interval, now: now), $0.announcements.take())
      })
    else { return now + max(interval, Self.retryPause) }
    deliverNotifications()
    announce(announcements)
    announceBitrate()
    if silence.requestsKeyFrame, !hasEnded { sink.requestKeyFrame() }
    let preparation = grantedAt + NoticePreparation.delay
    guard now >= preparation else { return silence.next.earlier(preparation) }
    prepareNotice(silence.encoderSettings)
    return silence.next
  }

  /// With access to the frames: sends the last picture if it is time.
  private func breakSilence(_ path: FramePath, interval: Duration, now: Duration) -> Silence {
    var silence = Silence(encoderSettings: path.encoder.settings)
    // Read again, because the caps may have changed while another thread had the frame path.
    let (permission, grantedAt) = state.withLock { ($0.permission, $0.grantWithTime?.since ?? now) }
    guard let permission else {
      silence.next = interval > .zero ? now + interval : nil
      return silence
    }
    if let next = sendDeferredPicture(path, permission, now: now) {
      // Nothing overtakes it, neither a repeated picture.
      silence.next = next
      return silence
    }
    if !path.held.buffers.isEmpty {
      if path.sendHeld(permission) { noteFirstFrame(of: permission.grant) }
      noteBitrate(path)
      if !path.held.buffers.isEmpty {
        silence.next = now + FramePath.heldFramePause
        return silence
      }
    }
    if path.thinning.takeDelayed(isQueueFull: connection.video.isFull, now: now) {
      if path.sendLastPicture(permission, isNew: true) { path.lastSent = now }
    }
    silence.next = path.thinning.nextTimer(now: now)
    guard interval > .zero else { return silence }
    let lastSent = path.epoch == permission.grant.epoch ? path.lastSent : grantedAt
    let due = lastSent + interval
    if now < due {
      silence.next = silence.next.earlier(due)
    } else {
      // Pictures that wait to be written end the silence; one more behind them would only delay what follows. From one due
      // time to the next, so that the pace does not drift.
      if connection.video.isEmpty, path.sendLastPicture(permission) {
        path.lastSent = now - due < interval ? due : now
        if path.noteQueued(permission.grant) { noteFirstFrame(of: permission.grant) }
      }
      silence.next = silence.next.earlier(max(due, now - interval / 2) + interval)
    }
    silence.requestsKeyFrame = isKeyFrameMissing(path, permission.grant, interval: interval, now: now)
    return silence
  }

  /// Whether H.264 can't be taken up without a key frame that upstream has not been asked for. Upstream may send
  /// nothing else before that.
  private func isKeyFrameMissing(
    _ path: FramePath, _ grant: VideoGrant, interval: Duration, now: Duration
  ) -> Bool {
    guard case .h264 = path.format, path.epoch == grant.epoch, path.needsKeyFrame, now - path.lastSent >= interval
    else { return false }
    return path.passthrough.mustRequestKeyFrame(now: now)
  }
}
