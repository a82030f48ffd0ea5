import GStreamerKit
import SDLApp
import SDLLink
import X264Encoder

/// Live pictures on a link that is not always ready: the newest one waits, not yet encoded, and goes once the link is.
extension FramePath {
  /// When the queue is full, it is looked at again after this time.
  private static let fullQueuePause = Duration.milliseconds(20)

  /// Looks at the link, before a frame is sent and behind it.
  func observeLink(_ targets: EncoderTargets) {
    let frameRate = thinning.inputRate.map { min($0, targets.frameRate) } ?? targets.frameRate
    if isUpstreamLive, let sample = connection.video.linkSample() {
      let settings = sink.settings.withLock { $0.link }
      let wanted = LinkAdaptation.Wanted(
        targets: targets, frameRate: frameRate, settings: settings, isEncoderUpstream: !isRaw)
      adaptation.update(sample, wanted, epoch: epoch)
    } else if !adaptation.follow(targets, frameRate: frameRate) {
      return
    }
    let report = adaptation.report
    sink.counters.withLock { $0.link = report }
  }

  /// Whether a raw picture has to wait for the link. It is then the last picture, which is sent once the link is ready,
  /// unless another one comes before.
  func defersPicture(now: Duration) -> Bool {
    guard isUpstreamLive, case .wait(let time) = adaptation.readiness else { return false }
    isPictureDeferred = true
    holdBack(true)
    connection.setTimer(at: now + time)
    return true
  }

  /// Has the connection notice a head unit that takes nothing any more, although nothing is queued.
  func holdBack(_ isHeldBack: Bool) {
    guard isHeldBack != self.isHeldBack else { return }
    self.isHeldBack = isHeldBack
    connection.video.setDeferred(isHeldBack)
  }

  /// Another picture takes the place of the one that waits; whether there was one.
  func takeDeferredPicture() -> Bool {
    defer { isPictureDeferred = false }
    return isPictureDeferred
  }

  /// A picture that waits for the link is never sent.
  func discardDeferredPicture() {
    holdBack(false)
    if takeDeferredPicture() { sink.counters.withLock { $0.frameDropped(.discarded) } }
  }

  /// Sends the picture that waits, if the link is ready or the input has ended. On any thread; it does not block.
  ///
  /// - Returns: when to look again; nil when none waits any more.
  func sendDeferredPicture(
    _ permission: VideoNegotiation.Permission, isLast: Bool = false, now: Duration
  ) -> Duration? {
    guard isPictureDeferred, case .raw(let info) = format else { return nil }
    observeLink(permission.targets)
    if !isLast {
      if case .wait(let time) = adaptation.readiness { return now + time }
      if connection.video.isFull { return now + Self.fullQueuePause }
    }
    isPictureDeferred = false
    holdBack(false)
    switch sendShownPicture(info, permission) {
    case .sent: lastSent = now
    case .unchanged: sink.counters.withLock { $0.frameUnchanged() }
    case .dropped(let reason): sink.counters.withLock { $0.frameDropped(reason) }
    }
    observeLink(permission.targets)
    return nil
  }

  /// What has become of a picture that waited.
  private enum DeferredOutcome {
    case sent
    case unchanged
    case dropped(FrameDropReason)
  }

  private func sendShownPicture(
    _ info: GstVideoInfo, _ permission: VideoNegotiation.Permission
  ) -> DeferredOutcome {
    let time = UInt64(gst_element_get_current_running_time(sink.gstElement))
    guard let picture = lastPicture.picture(at: time) else { return .dropped(.noPicture) }
    begin(permission.grant)
    let change = change(by: picture, info)
    if change == .nothing { return .unchanged }
    let payload = sink.payloads.take(for: sink, kind: .frame)
    do {
      guard try encodeFrame(picture, info, permission.targets, into: payload, isRepetition: change == .refinement)
      else {
        sink.payloads.giveBack(payload)
        return .dropped(.noPicture)
      }
    } catch {
      sink.log(GST_LEVEL_WARNING, "a picture that waited for the link could not be encoded: \(error)")
      sink.payloads.giveBack(payload)
      encoder.close()
      return .dropped(.noPicture)
    }
    guard submitNow(payload, permission.grant) else {
      // Pictures that are encoded next would depend on this one, which the decoder never gets.
      needsKeyFrame = true
      return .dropped(.queueFull)
    }
    return .sent
  }
}
