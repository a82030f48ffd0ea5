import GStreamerKit
import SDLApp
import X264Encoder

/// While upstream is silent, because its picture stands still or the pipeline is paused, it sends the last picture
/// again at intervals, so that the head unit does not blank its screen. It also sends frames that wait for the link,
/// and the notice for the driver.
///
/// `@unchecked Sendable`: only the connection thread uses it.
final class SilenceWatch: @unchecked Sendable {
  private static let retryPause = Duration.milliseconds(250)
  /// A raw picture that moves comes by itself within this time after a service has begun. A still picture is sent after
  /// that time, so that the driver sees it at once.
  private static let firstPictureWait = Duration.milliseconds(50)

  /// The result of a check whether upstream is silent.
  private struct Look {
    /// When to check again.
    var next: Duration?
    /// Upstream has to be asked for a key frame.
    var requestsKeyFrame = false
    /// The settings of the stream's own encoder.
    var encoderSettings: EncoderSettings?
  }

  private let notice = NoticeSender()

  /// The app has left the foreground.
  func beginNotice(_ stream: VideoStream) {
    notice.begin(stream)
    sendWhatIsDue(stream)
  }

  func endNotice() {
    notice.end()
  }

  /// Handles deadlines that have passed, and sets the timer for the next.
  func sendWhatIsDue(_ stream: VideoStream) {
    let now = stream.time.now
    if let next = notice.isRunning ? notice.goOn(stream, now: now) : watch(stream, now: now) {
      stream.connection.setTimer(at: next)
    }
  }

  /// The user's interval, but not shorter than the head unit's frame interval, with a margin so that a source of just
  /// that rate does not count as silent.
  private func interval(_ stream: VideoStream) -> Duration {
    let interval = Duration.milliseconds(Int64(stream.sink.settings.withLock { $0.keepAliveInterval }))
    guard interval > .zero, let frameRate = stream.state.withLock({ $0.preferredFrameRate }), frameRate > 0 else {
      return interval
    }
    return max(interval, .seconds(1.25) / frameRate)
  }

  /// Sends the last picture again if upstream is silent. Returns when to check again.
  private func watch(_ stream: VideoStream, now: Duration) -> Duration? {
    let interval = interval(stream)
    let (permission, grantedAt, hasUnusedGrant) = stream.state.withLock {
      ($0.permission, $0.grantWithTime?.since ?? now, $0.hasUnusedGrant)
    }
    guard permission != nil else {
      // There is a grant that can't be used yet, because app state or caps are about to change: check again.
      return hasUnusedGrant ? now + max(interval, Self.retryPause) : nil
    }
    // If the streaming thread has the frame path, it is about to send a frame.
    guard let look = stream.withPathIfFree({ sendKeepAlive($0, stream, interval: interval, now: now) })
    else { return now + max(interval, Self.retryPause) }
    if look.requestsKeyFrame, !stream.hasEnded { stream.sink.requestKeyFrame() }
    let preparation = grantedAt + NoticePreparation.delay
    guard now >= preparation else { return look.next.earlier(preparation) }
    notice.prepare(look.encoderSettings, stream)
    return look.next
  }

  /// With the frame path: sends waiting frames, and the last picture if it is due.
  private func sendKeepAlive(
    _ path: FramePath, _ stream: VideoStream, interval: Duration, now: Duration
  ) -> Look {
    var look = Look(encoderSettings: path.encoderSettings)
    // Read again, because the caps may have changed while another thread had the frame path.
    let (permission, grantedAt) = stream.state.withLock { ($0.permission, $0.grantWithTime?.since ?? now) }
    guard let permission else {
      look.next = interval > .zero ? now + interval : nil
      return look
    }
    if let next = path.format?.sendWaiting(permission, isLast: false, now: now) {
      // Nothing may overtake it, not even a repeated picture.
      look.next = next
      return look
    }
    look.next = path.format?.nextTimer(now: now)
    guard interval > .zero else { return look }
    let firstWait = path.output.isInputEncoded ? interval : min(interval, Self.firstPictureWait)
    let due = path.output.lastSent(in: permission.grant).map { $0 + interval } ?? grantedAt + firstWait
    if now < due {
      look.next = look.next.earlier(due)
    } else {
      // Pictures that wait to be written end the silence; one more after them would only delay later ones. From one due
      // time to the next, so that the pace does not drift.
      if stream.channel.isEmpty { path.format?.sendLastPicture(permission, at: now - due < interval ? due : now) }
      look.next = look.next.earlier(max(due, now - interval / 2) + interval)
    }
    // Upstream may send nothing else before a key frame.
    look.requestsKeyFrame =
      path.output.lastSent(in: permission.grant).map { now - $0 >= interval } ?? false
      && path.format?.mustRequestKeyFrame(now: now) == true
    return look
  }
}
