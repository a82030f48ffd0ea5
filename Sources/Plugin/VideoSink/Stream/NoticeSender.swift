import BackgroundNotice
import GStreamerKit
import SDLApp
import X264Encoder

/// What follows the app's last frame when it leaves the foreground: the notice for the driver, if there is one, encoded
/// ahead and sent at the stream's pace; then the negotiation hears that the suspension is complete.
///
/// `@unchecked Sendable`: only the connection thread uses it.
final class NoticeSender: @unchecked Sendable {
  /// How long the streaming thread's last frame may delay the notice, and how often to check.
  private static let timeout = Duration.seconds(1)
  private static let pollInterval = Duration.milliseconds(5)

  private let preparation = NoticePreparation()
  private var progress = NoticeProgress()

  var isRunning: Bool { progress.isRunning }

  /// The stream continues, or is over.
  func end() {
    progress = NoticeProgress()
  }

  /// The app has left the foreground. Without a notice the stream is suspended as soon as the app's last frame has been
  /// sent.
  func begin(_ stream: VideoStream) {
    let (wantsNotice, frameRate) = stream.state.withLock { ($0.isNoticeWanted, $0.encoderTargets.frameRate) }
    progress = NoticeProgress(
      isWanted: wantsNotice && stream.sink.settings.withLock { $0.notice.isShown },
      frameRate: max(Int(frameRate.value), 1), now: stream.time.now)
  }

  /// Sends pictures of the notice that are due, and completes the suspension after the last one.
  ///
  /// - Returns: when to go on; nil when nothing is left to do.
  func goOn(_ stream: VideoStream, now: Duration) -> Duration? {
    guard let grant = stream.state.withLock({ $0.grantWithTime?.grant }) else { return finish(stream) }
    let isOverdue = now >= progress.dueTime + Self.timeout
    if !progress.followsLastFrame {
      // The notice comes after the app's last frame, and the first frame after it must be a key frame.
      let settings = stream.withPathIfFree { path in
        path.output.requireKeyFrame()
        return path.encoderSettings
      }
      guard let settings else { return isOverdue ? finish(stream) : now + Self.pollInterval }
      progress.followsLastFrame = true
      if progress.isWanted { prepare(settings, stream) }
    }
    guard progress.isWanted else { return waitUntilWritten(stream, now) }
    if progress.sequence == nil {
      // The app may leave before the notice is ready.
      let result = preparation.result
      guard result != nil || isOverdue else { return now + Self.pollInterval }
      guard case .some(.some(let sequence)) = result else { return finish(stream) }
      progress.load(sequence, now: now)
    }
    guard let unit = progress.next else { return waitUntilWritten(stream, now) }
    guard now >= progress.dueTime else { return progress.dueTime }
    // If there is no room in the queue, it is tried again until the notice is overdue.
    guard send(unit, grant, stream) else { return isOverdue ? finish(stream) : now + Self.pollInterval }
    progress.advance()
    return progress.next == nil ? now + Self.pollInterval : progress.dueTime
  }

  private func send(_ unit: NoticeSequence.AccessUnit, _ grant: VideoGrant, _ stream: VideoStream) -> Bool {
    stream.withPathIfFree { path in
      let payload = path.output.takePayload(.notice)
      unit.bytes.withUnsafeBytes { payload.storeUnits(of: $0, isKeyFrame: unit.isKeyFrame) }
      return path.output.submitNow(payload, grant) == nil
    } ?? false
  }

  private func waitUntilWritten(_ stream: VideoStream, _ now: Duration) -> Duration? {
    let isWritten = stream.channel.statistics.queuedFrames == 0
    guard isWritten || now >= progress.dueTime + Self.timeout else { return now + Self.pollInterval }
    let (isRepeated, interval) = stream.sink.settings.withLock { ($0.notice.isRepeated, $0.keepAliveInterval) }
    guard progress.isWanted, isRepeated, interval > 0, isWritten else { return finish(stream) }
    stream.updateAndDeliver { $0.suspensionCompleted() }
    progress.repeatSlowly(every: .milliseconds(Int64(interval)), now: now)
    return progress.dueTime
  }

  /// Nothing follows any more.
  private func finish(_ stream: VideoStream) -> Duration? {
    end()
    stream.updateAndDeliver { $0.suspensionCompleted() }
    return nil
  }

  /// Starts drawing and encoding the notice, unless that has been done; with the settings of the stream if it is
  /// encoded here.
  func prepare(_ streamSettings: EncoderSettings?, _ stream: VideoStream) {
    let (user, appName) = stream.sink.settings.withLock { ($0.notice, $0.app.name) }
    guard user.isShown, let (grant, targets) = Self.grantAndTargets(stream) else { return }
    let own = streamSettings.flatMap { $0.isFor(grant.size) ? $0 : nil }
    let request = NoticeRequest(
      text: user.text ?? NoticeText.standard(appName: appName), settings: own ?? Self.noticeSettings(grant, targets))
    preparation.prepare(request, for: stream.sink.gstElement)
  }

  private static func grantAndTargets(_ stream: VideoStream) -> (VideoGrant, EncoderTargets)? {
    stream.state.withLock { negotiation in
      negotiation.grantWithTime.map { ($0.grant, negotiation.encoderTargets(for: $0.grant.size)) }
    }
  }

  /// For H.264 input, which has no encoder here.
  private static func noticeSettings(_ grant: VideoGrant, _ targets: EncoderTargets) -> EncoderSettings {
    EncoderSettings(
      width: grant.size.width, height: grant.size.height, frameRate: FrameRate(targets.frameRate), pixelFormat: .i420,
      bitrate: targets.bitrate, bufferSize: targets.bufferSize(upTo: targets.bitrate))
  }
}

/// The progress of sending a background notice.
private struct NoticeProgress {
  private(set) var sequence: NoticeSequence?
  private var index = 0
  private(set) var isRunning = false
  /// Whether the notice is shown; otherwise it only waits for the app's last frame.
  private(set) var isWanted = false
  private var interval: Duration = .zero
  /// When ``next`` is to be sent.
  private(set) var dueTime: Duration = .zero
  /// The app's last frame is in the queue, so the notice may follow.
  var followsLastFrame = false

  private var isRepeating = false

  /// The next picture; nil when all have been sent.
  var next: NoticeSequence.AccessUnit? {
    guard let units = sequence?.accessUnits, !units.isEmpty, isRepeating || index < units.count else { return nil }
    return units[index % units.count]
  }

  init() {}

  init(isWanted: Bool, frameRate: Int, now: Duration) {
    self.isWanted = isWanted
    isRunning = true
    dueTime = now
    interval = .seconds(1) / max(frameRate, 1)
  }

  mutating func load(_ sequence: NoticeSequence, now: Duration) {
    self.sequence = sequence
    dueTime = now
  }

  mutating func advance() {
    index &+= 1
    dueTime += interval
  }

  /// From now on the pictures are repeated, so that the head unit does not blank its screen.
  mutating func repeatSlowly(every interval: Duration, now: Duration) {
    isRepeating = true
    self.interval = interval
    dueTime = now + interval
  }
}

extension EncoderSettings {
  /// Whether this encoder was opened for the present size, or still for a former one.
  fileprivate func isFor(_ size: VideoSize) -> Bool { width == size.width && height == size.height }
}
