import BackgroundNotice
import GStreamerKit
import SDLApp
import SDLLink
import X264Encoder

/// The notice for the driver when the app leaves the foreground: encoded ahead, sent at the stream's pace, and only then
/// is the stream suspended. On the connection thread.
extension VideoSink {
  /// Making a notice costs as much as a hundred milliseconds of video, which the start of a stream has no use for.
  static let preparationDelay = Duration.seconds(2)
  /// How long the streaming thread's last frame may keep the notice waiting, and how often to look.
  private static let patience = Duration.seconds(1)
  private static let pollInterval = Duration.milliseconds(5)

  /// The app has left the foreground. Without a notice the stream is suspended as soon as the app's last frame is out.
  func beginNotice() {
    let isWanted = state.withLock { $0.wantsNotice } && settings.withLock { $0.hasBackgroundNotice }
    let frameRate = max(Int(encoderTargets().frameRate.value), 1)
    notice.begin(isWanted: isWanted, frameRate: frameRate, now: MonotonicClock.now)
    setTimer(at: continueNotice())
  }

  /// Sends what is due of the notice; the time of what comes next.
  func continueNotice() -> Duration? {
    let now = MonotonicClock.now
    let (grant, connection) = state.withLock { ($0.grant, $0.connection) }
    guard let grant, let connection else { return endNotice() }
    if !notice.hasTurned {
      // Behind the app's last frame; the first one after the notice must stand alone.
      guard turn.takeIfFree() else {
        return now >= notice.dueTime + Self.patience ? endNotice() : now + Self.pollInterval
      }
      input.needsKeyFrame = true
      let streamSettings = input.encoderSettings
      turn.give()
      notice.hasTurned = true
      if notice.isWanted { prepareNotice(grant, streamSettings) }
    }
    guard notice.isWanted else { return waitUntilWritten(connection, now) }
    if notice.sequence == nil {
      // The app may leave before the notice is ready.
      let prepared = preparedNotice.withLock { $0 }
      guard prepared.isReady || now >= notice.dueTime + Self.patience else { return now + Self.pollInterval }
      guard let sequence = prepared.sequence else { return endNotice() }
      notice.load(sequence, now: now)
    }
    guard let unit = notice.next else { return waitUntilWritten(connection, now) }
    guard now >= notice.dueTime else { return notice.dueTime }
    // A head unit that does not keep up gets the rest later, and not for ever.
    guard send(unit, grant, connection) else {
      return now >= notice.dueTime + Self.patience ? endNotice() : now + Self.pollInterval
    }
    notice.advance()
    return notice.next == nil ? now + Self.pollInterval : notice.dueTime
  }

  private func send(
    _ unit: NoticeSequence.AccessUnit, _ grant: VideoGrant, _ connection: AppConnection
  ) -> Bool {
    guard turn.takeIfFree() else { return false }
    defer { turn.give() }
    let payload = payloads.take(for: self, kind: .notice)
    unit.bytes.withUnsafeBytes { payload.storeUnits(of: $0, isKeyFrame: unit.isKeyFrame) }
    return submitNow(payload, grant, connection)
  }

  private func waitUntilWritten(_ connection: AppConnection, _ now: Duration) -> Duration? {
    let isWritten = connection.video.statistics.queuedFrames == 0
    guard isWritten || now >= notice.dueTime + Self.patience else { return now + Self.pollInterval }
    let (isRepeated, interval) = settings.withLock { ($0.repeatsBackgroundNotice, $0.keepAliveInterval) }
    guard notice.isWanted, isRepeated, interval > 0, isWritten else { return endNotice() }
    announceSuspension(.appState)
    notice.repeatSlowly(every: .milliseconds(Int64(interval)), now: now)
    return notice.dueTime
  }

  private func endNotice() -> Duration? {
    notice.end()
    announceSuspension(.appState)
    return nil
  }

  /// Has the notice drawn and encoded unless that has been done; with the settings of the stream if it is encoded here.
  func prepareNotice(_ grant: VideoGrant, _ streamSettings: EncoderSettings?) {
    let user = settings.withLock { $0 }
    guard user.hasBackgroundNotice else { return }
    let request = NoticeRequest(
      text: user.backgroundText ?? NoticeText.standard(appName: user.appName),
      settings: streamSettings.flatMap { $0.isFor(grant.size) ? $0 : nil } ?? noticeSettings(grant, user))
    let isNew = preparedNotice.withLock { prepared in
      guard prepared.request?.isSame(as: request) != true else { return false }
      prepared = PreparedNotice(request: request)
      return true
    }
    guard isNew else { return }
    NoticeOrder.give(request, to: self)
  }

  /// On the thread for notices.
  func makeNotice(_ request: NoticeRequest) {
    let isWanted = preparedNotice.withLock { prepared in
      guard prepared.request?.isSame(as: request) == true else { return false }
      // The element has stopped meanwhile; the next stream orders it anew.
      guard state.withLock({ $0.connection != nil && !$0.isStopping }) else {
        prepared = PreparedNotice()
        return false
      }
      return true
    }
    guard isWanted else { return }
    var sequence: NoticeSequence?
    do {
      sequence = try NoticeSequence(text: request.text, settings: request.settings) { _, text in
        Self.log.log(GST_LEVEL_WARNING, nil, "x264: \(text)")
      }
    } catch {
      log(GST_LEVEL_WARNING, "no background notice: \(error)")
    }
    preparedNotice.withLock { prepared in
      guard prepared.request?.isSame(as: request) == true else { return }
      prepared.sequence = sequence
      prepared.isReady = true
    }
  }

  /// For H.264 input, which has no encoder here.
  private func noticeSettings(_ grant: VideoGrant, _ user: VideoSinkSettings) -> EncoderSettings {
    let targets = state.withLock { state in
      EncoderTargets(wish: user.encoderPreferences, limits: state.encoderLimits, size: grant.size)
    }
    return EncoderSettings(
      width: grant.size.width, height: grant.size.height, frameRate: FrameRate(targets.frameRate), pixelFormat: .i420,
      bitrate: targets.bitrate)
  }
}

extension EncoderSettings {
  /// Whether this encoder was opened for the present size, or still for a former one.
  fileprivate func isFor(_ size: VideoSize) -> Bool { width == size.width && height == size.height }
}
