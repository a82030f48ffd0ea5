import BackgroundNotice
import GStreamerKit
import SDLApp
import SDLLink
import X264Encoder

/// The notice for the driver when the app leaves the foreground: encoded ahead, sent at the stream's pace, and only
/// then is the stream suspended. On the connection thread.
extension VideoStreamRun {
  /// How long the streaming thread's last frame may keep the notice waiting, and how often to look.
  private static let noticeTimeout = Duration.seconds(1)
  private static let pollInterval = Duration.milliseconds(5)

  /// The app has left the foreground. Without a notice the stream is suspended as soon as the app's last frame is out.
  func beginNotice() {
    let now = time.now
    let (wantsNotice, frameRate) = state.withLock { ($0.isNoticeWanted, $0.encoderTargets.frameRate) }
    let isWanted = wantsNotice && sink.settings.withLock { $0.notice.isShown }
    notice.progress.begin(isWanted: isWanted, frameRate: max(Int(frameRate.value), 1), now: now)
    sendWhatIsDue()
  }

  /// Sends what is due of the notice; the time of what comes next.
  func continueNotice(now: Duration) -> Duration? {
    guard let grant = state.withLock({ $0.grantWithTime?.grant }) else { return endNotice() }
    let isOverdue = now >= notice.progress.dueTime + Self.noticeTimeout
    if !notice.progress.isBehindLastFrame {
      // The notice comes behind the app's last frame, and the first frame after it must be a key frame.
      let settings = frames.withValueIfFree { path in
        path.needsKeyFrame = true
        return path.encoder.settings
      }
      guard let settings else { return isOverdue ? endNotice() : now + Self.pollInterval }
      notice.progress.isBehindLastFrame = true
      if notice.progress.isWanted { prepareNotice(settings) }
    }
    guard notice.progress.isWanted else { return waitUntilWritten(now) }
    if notice.progress.sequence == nil {
      // The app may leave before the notice is ready.
      let result = notice.preparation.result
      guard result != nil || isOverdue else { return now + Self.pollInterval }
      guard case .some(.some(let sequence)) = result else { return endNotice() }
      notice.progress.load(sequence, now: now)
    }
    guard let unit = notice.progress.next else { return waitUntilWritten(now) }
    guard now >= notice.progress.dueTime else { return notice.progress.dueTime }
    // If there is no room in the queue, it is tried again until the notice is overdue.
    guard send(unit, grant) else { return isOverdue ? endNotice() : now + Self.pollInterval }
    notice.progress.advance()
    return notice.progress.next == nil ? now + Self.pollInterval : notice.progress.dueTime
  }

  private func send(_ unit: NoticeSequence.AccessUnit, _ grant: VideoGrant) -> Bool {
    frames.withValueIfFree { path in
      let payload = sink.payloads.take(for: sink, kind: .notice)
      unit.bytes.withUnsafeBytes { payload.storeUnits(of: $0, isKeyFrame: unit.isKeyFrame) }
      return path.submitNow(payload, grant)
    } ?? false
  }

  private func waitUntilWritten(_ now: Duration) -> Duration? {
    let isWritten = connection.video.statistics.queuedFrames == 0
    guard isWritten || now >= notice.progress.dueTime + Self.noticeTimeout else { return now + Self.pollInterval }
    let (isRepeated, interval) = sink.settings.withLock { ($0.notice.isRepeated, $0.keepAliveInterval) }
    guard notice.progress.isWanted, isRepeated, interval > 0, isWritten else { return endNotice() }
    change { $0.suspensionCompleted() }
    notice.progress.repeatSlowly(every: .milliseconds(Int64(interval)), now: now)
    return notice.progress.dueTime
  }

  private func endNotice() -> Duration? {
    notice.end()
    change { $0.suspensionCompleted() }
    return nil
  }

  /// Has the notice drawn and encoded unless that has been done; with the settings of the stream if it is encoded here.
  func prepareNotice(_ streamSettings: EncoderSettings?) {
    let (user, appName) = sink.settings.withLock { ($0.notice, $0.app.name) }
    guard user.isShown, let (grant, targets) = grantAndTargets else { return }
    let own = streamSettings.flatMap { $0.isFor(grant.size) ? $0 : nil }
    let request = NoticeRequest(
      text: user.text ?? NoticeText.standard(appName: appName), settings: own ?? Self.noticeSettings(grant, targets))
    notice.preparation.prepare(request, for: sink.gstElement)
  }

  private var grantAndTargets: (VideoGrant, EncoderTargets)? {
    state.withLock { negotiation in
      negotiation.grantWithTime.map { ($0.grant, negotiation.encoderTargets(for: $0.grant.size)) }
    }
  }

  /// For H.264 input, which has no encoder here.
  private static func noticeSettings(_ grant: VideoGrant, _ targets: EncoderTargets) -> EncoderSettings {
    EncoderSettings(
      width: grant.size.width, height: grant.size.height, frameRate: FrameRate(targets.frameRate), pixelFormat: .i420,
      bitrate: targets.bitrate)
  }
}

/// What came of a look at whether upstream is silent.
struct Silence {
  /// When to look again.
  var next: Duration?
  /// Upstream has to be asked for a key frame.
  var requestsKeyFrame = false
  /// Those of the stream's own encoder.
  var encoderSettings: EncoderSettings?

  init(encoderSettings: EncoderSettings?) {
    self.encoderSettings = encoderSettings
  }
}

extension EncoderSettings {
  /// Whether this encoder was opened for the present size, or still for a former one.
  fileprivate func isFor(_ size: VideoSize) -> Bool { width == size.width && height == size.height }
}
