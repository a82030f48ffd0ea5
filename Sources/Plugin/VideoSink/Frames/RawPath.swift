import GStreamerKit
import SDLApp
import X264Encoder

/// Raw pictures: one that the decoder shows already is left out, one that comes too early is delayed, one for which the
/// link is not ready is deferred, and the others are encoded.
final class RawPath: FormatPath {
  /// The difference of a picture to the screen.
  private enum Change {
    /// It differs, or has to be encoded in any case.
    case picture
    /// It has the same pixels, but the decoder does not show them in full quality yet, or they have not been sent for a
    /// while.
    case refinement
    /// It has the same pixels, and need not be sent.
    case nothing
  }

  /// Less than the decoder's time-out, because encoding a picture and its way to the head unit lengthen the pause.
  let longestPause = FramePath.decoderTimeout * 3 / 4

  private static let longestLateness = Duration.milliseconds(100)

  /// An access unit that comes later than this after its picture comes with the next picture.
  private static let lateTime = Duration.milliseconds(250)

  private unowned let path: FramePath
  private let encoder: RawEncoder
  /// Upstream or the application has asked for a key frame.
  private let keyFrameRequest: AtomicFlag
  /// The format of the pictures, from the caps.
  var info = GstVideoInfo()
  /// How ``encodedPicture`` was turned.
  private var encodedTurn = PictureTurn.none
  private let lastPicture = LastPicture()
  private var encodedPicture = EncodedPicture()
  private var thinning = FrameRateThinning()
  /// The last picture waits for the link, of a live source, and counts as queued: it is sent once the link is ready,
  /// unless another one comes first.
  private var isDeferred = false
  /// The connection was told that pictures are deferred, so that it notices a head unit that does not read although
  /// nothing is queued.
  private var isDeferralTold = false
  private var hasWarnedOfUnreadable = false
  /// When a picture came that was not too late.
  private var lastTimely: Duration = .zero

  init(_ path: FramePath, keyFrameRequest: AtomicFlag) {
    self.path = path
    self.keyFrameRequest = keyFrameRequest
    encoder = RawEncoder(path)
  }

  /// The settings of the open encoder; nil without one.
  var encoderSettings: EncoderSettings? { encoder.settings }

  /// No picture is encoded for a while.
  func close() {
    encoder.close()
  }

  /// The next picture of a pipeline that has only paused is not due yet.
  func preroll(_ buffer: UnsafeMutablePointer<GstBuffer>) {
    lastPicture.preroll(buffer, for: UInt64(path.sink.runningTime(of: buffer.pointee.pts)))
    if !path.isUpstreamLive, shownPicture == buffer { thinning.delay(until: path.time.now) }
  }

  func isLast(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool { encodedPicture.isOf(buffer) }

  func begin(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    lastPicture.show(buffer)
    thinning.forgetDelayed()
    return true
  }

  /// The last one is sent with the permission, unless another has come by then.
  func pass(_ buffer: UnsafeMutablePointer<GstBuffer>, _ reason: FrameDropReason) -> FrameOutcome {
    if !path.isUpstreamLive { thinning.delay(until: path.time.now) }
    return .dropped(reason)
  }

  /// Nothing has been encoded yet, so nothing depends on it.
  func frameLost() {}

  func flush() {
    thinning.reset()
    discardDeferred()
  }

  /// The input changes or is over.
  func forget() {
    discardDeferred()
    lastPicture.forget()
    encodedPicture.forget()
    thinning.forgetDelayed()
  }

  /// The input has ended: a delayed picture is not shown later.
  func inputEnded() {
    thinning.forgetDelayed()
  }

  func send(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission, isDue: Bool
  ) -> FrameOutcome {
    let now = path.time.now
    if isLate(now: now) { return .dropped(.late) }
    let change = change(by: buffer)
    if change == .nothing {
      tellDeferral(false)
      return .unchanged
    }
    let targets = permission.targets
    encoder.follow(targets)
    if !isDue, isEarly(targets, now: now) { return .dropped(.frameRate) }
    if case .wait(let time) = path.adaptation.readiness {
      isDeferred = true
      tellDeferral(true)
      path.connection.setTimer(at: now + time)
      return .queued
    }
    tellDeferral(false)
    // A picture without room in the queue is better dropped before it is encoded: no other depends on it yet.
    if path.isUpstreamLive, path.isQueueFull { return .dropped(.queueFull) }
    let payload = path.takePayload(.frame)
    do {
      switch try encodeFrame(buffer, permission, into: payload, isRepetition: change == .refinement, mayWait: true) {
      case .done: return path.submit(payload, permission)
      case .delayed:
        path.giveBack(payload)
        return .queued
      case .unreadable:
        path.giveBack(payload)
        warnOfUnreadable(buffer)
        return .dropped(.noPicture)
      }
    } catch {
      path.giveBack(payload)
      encoder.close()
      return .failed(.stream(GST_STREAM_ERROR_ENCODE, "The picture could not be encoded: \(error)"))
    }
  }

  /// Whether a picture comes so late that the next one is better encoded in its place. One in a second is shown
  /// nevertheless, as by GstBaseSink.
  private func isLate(now: Duration) -> Bool {
    guard path.lateness > Self.longestLateness, now - lastTimely < .seconds(1) else {
      lastTimely = now
      return false
    }
    return true
  }

  private func warnOfUnreadable(_ buffer: UnsafeMutablePointer<GstBuffer>) {
    guard !hasWarnedOfUnreadable, !encoder.awaitsOtherFormat else { return }
    hasWarnedOfUnreadable = true
    let size = gst_buffer_get_size(buffer)
    let warning: ElementError =
      size < info.size
      ? .stream(
        GST_STREAM_ERROR_FORMAT,
        "A picture can't be read: its buffer has \(size) bytes, and \(info.size) are needed.")
      : .stream(
        GST_STREAM_ERROR_FORMAT,
        "A picture can't be read: its memory can't be mapped, or its GstVideoMeta does not fit the caps.")
    path.announce(.warning(warning))
  }

  /// Whether the frame at hand exceeds the rate of the head unit, or of the link.
  private func isEarly(_ targets: EncoderTargets, now: Duration) -> Bool {
    let isPaced = path.isUpstreamLive || gst_base_sink_get_sync(path.sink.baseSink) != 0
    guard
      let early = thinning.judge(
        path.frameRunningTime, limit: path.adaptation.frameRateLimit ?? targets.frameRate, inputRate: path.inputRate,
        isPaced: isPaced, now: now)
    else { return false }
    if let timer = early.timer { path.connection.setTimer(at: timer) }
    return true
  }

  /// Compares a picture with the one that was encoded last.
  private func change(by picture: UnsafeMutablePointer<GstBuffer>) -> Change {
    // The first frame of a service is always queued, since others wait for it, such as the end of a resize.
    guard !path.needsKeyFrame, !path.isFirstOfService, !keyFrameRequest.peek, path.settings.skipsUnchanged,
      encodedTurn == path.settings.turn, encodedPicture.equals(picture, info)
    else { return .picture }
    // Half of the decoder's time-out, so that at two or more pictures per second the next one is not too late, even if
    // the keep-alive timer is off or waits for longer.
    guard encodedPicture.isSharp, path.silence(path.time.now) < FramePath.decoderTimeout / 2 else { return .refinement }
    // It also replaces a picture that was left out and would be shown later.
    thinning.forgetDelayed()
    return .nothing
  }

  private enum Encoding {
    /// The payload has it.
    case done
    /// The encoder has it; its frame counts as queued.
    case delayed
    /// It can't be read, or the encoder takes only other formats.
    case unreadable
  }

  /// Encodes a frame from upstream, and counts it.
  private func encodeFrame(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission, into payload: FramePayload,
    isRepetition: Bool, mayWait: Bool
  ) throws(EncoderError) -> Encoding {
    let began = path.time.now
    let isRequested = keyFrameRequest.take()
    let mustStandAlone = path.needsKeyFrame && !encoder.awaitsKeyFrame
    let kind: PictureKind = mustStandAlone || isRequested ? .keyFrame : isRepetition ? .repetition : .frame
    let encoding = try encode(picture, permission, into: payload, as: kind, mayWait: mayWait)
    if encoding != .unreadable {
      payload.encoding = FramePayload.Encoding(time: path.time.now - began, isForced: isRequested)
    }
    return encoding
  }

  /// Encodes a picture; once more, as a key frame, if the machine stood still for so long that the head unit may have
  /// closed its decoder, or if the encoder has made no key frame although one was needed.
  ///
  /// - Parameter mayWait: whether to wait for room in the queue for access units that the encoder has finished late.
  private func encode(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission, into payload: FramePayload,
    as kind: PictureKind, mayWait: Bool
  ) throws(EncoderError) -> Encoding {
    var encoding = try encodeOnce(picture, permission, into: payload, as: kind, mayWait: mayWait)
    if encoding == .done, !payload.isKeyFrame {
      if path.isPauseLong(path.time.now) {
        encoding = try encodeOnce(picture, permission, into: payload, as: .keyFrame, mayWait: mayWait)
      }
      if encoding == .done, path.needsKeyFrame, !payload.isKeyFrame {
        // The first picture of a new encoder is a key frame.
        encoder.close()
        encoding = try encodeOnce(picture, permission, into: payload, as: .keyFrame, mayWait: mayWait)
        guard encoding != .done || payload.isKeyFrame else { throw .element("The encoder makes no key frames.") }
      }
    }
    guard encoding != .unreadable else { return .unreadable }
    if encoding == .done { path.needsKeyFrame = false }
    encodedTurn = path.settings.turn
    encodedPicture.note(
      picture, isKeyFrame: encoding == .done && payload.isKeyFrame, isSettled: encoding == .done && encoder.isSettled)
    return encoding
  }

  private func encodeOnce(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission, into payload: FramePayload,
    as kind: PictureKind, mayWait: Bool
  ) throws(EncoderError) -> Encoding {
    let turn = path.settings.turn
    let isTaken =
      if turn == .none {
        try encoder.put(picture, info, permission.targets, as: kind, for: payload.kind)
      } else if let picture = turn.turned(picture, info) {
        try encoder.put(picture.pointer, turn.turned(info), permission.targets, as: kind, for: payload.kind)
      } else {
        false
      }
    guard isTaken else { return .unreadable }
    sendLate(permission, mayWait: mayWait)
    if encoder.take(into: payload) != nil { return .done }
    path.connection.setTimer(at: path.time.now + FramePath.retryPause)
    return .delayed
  }

  /// Sends the finished access units of pictures before the last one.
  ///
  /// - Parameter withLast: the last one's too.
  private func sendLate(_ permission: VideoNegotiation.Permission, mayWait: Bool, withLast: Bool = false) {
    while withLast ? encoder.hasFinished : encoder.hasLate {
      let payload = path.takePayload(.repeated)
      guard let put = encoder.take(into: payload) else { return path.giveBack(payload) }
      payload.begin(put.kind, for: path.sink)
      let isFrame = put.kind == .frame
      if path.needsKeyFrame, !payload.isKeyFrame {
        path.giveBack(payload)
        if isFrame { path.dropKept(.waitingForKeyFrame) }
        // The first picture of a new one is a key frame.
        if put.isKeyFrame { encoder.close() }
        continue
      }
      path.needsKeyFrame = false
      if mayWait {
        let outcome = path.submit(payload, permission)
        if isFrame, case .dropped(let reason, _) = outcome { path.dropKept(reason) }
      } else if let reason = path.submitNow(payload, permission.grant) {
        path.needsKeyFrame = true
        if isFrame { path.dropKept(reason) }
      }
    }
  }

  /// Sends access units that the encoder has finished since the last picture, and keeps checking for a while.
  private func sendFinished(_ permission: VideoNegotiation.Permission, now: Duration) {
    path.begin(permission.grant)
    sendLate(permission, mayWait: false, withLast: true)
    if let began = encoder.lastPending, now - began < Self.lateTime {
      path.connection.setTimer(at: now + FramePath.retryPause)
    }
  }

  /// No picture follows: sends all of the encoder's access units.
  private func finish(_ permission: VideoNegotiation.Permission) {
    encoder.drain()
    sendLate(permission, mayWait: false, withLast: true)
    encoder.close()
  }
}

// MARK: Pictures that wait

extension RawPath {
  private func tellDeferral(_ isDeferred: Bool) {
    guard isDeferred != isDeferralTold else { return }
    isDeferralTold = isDeferred
    path.connection.video.setDeferred(isDeferred)
  }

  /// Another picture replaces the deferred one; returns whether there was one.
  func takeDeferred() -> Bool {
    defer { isDeferred = false }
    return isDeferred
  }

  private func discardDeferred() {
    tellDeferral(false)
    if takeDeferred() { path.dropKept(.discarded) }
  }

  /// Sends the deferred picture, if the link is ready, and the delayed one, if no picture has come since.
  func sendWaiting(_ permission: VideoNegotiation.Permission, isLast: Bool, now: Duration) -> Duration? {
    if encoder.hasPending, !isLast { sendFinished(permission, now: now) }
    defer { if isLast, encoder.hasPending { finish(permission) } }
    if isDeferred {
      path.observeLink(permission.targets)
      if !isLast {
        if case .wait(let time) = path.adaptation.readiness { return now + time }
        if path.isQueueFull { return now + FramePath.retryPause }
      }
      isDeferred = false
      tellDeferral(false)
      sendDeferred(permission)
      path.observeLink(permission.targets)
    }
    if thinning.takeDelayed(isQueueFull: path.connection.video.isFull, now: now) {
      path.sendLastPicture(permission, isNew: true, at: now)
    }
    return nil
  }

  /// When to send the delayed picture; nil if there is none.
  func nextTimer(now: Duration) -> Duration? { thinning.nextTimer(now: now) }

  private func sendDeferred(_ permission: VideoNegotiation.Permission) {
    guard let picture = shownPicture else { return path.dropKept(.noPicture) }
    path.begin(permission.grant)
    let change = change(by: picture)
    if change == .nothing { return path.sink.count { $0.frameUnchanged() } }
    let payload = path.takePayload(.frame)
    do {
      switch try encodeFrame(
        picture, permission, into: payload, isRepetition: change == .refinement, mayWait: false)
      {
      case .done: break
      case .delayed: return path.giveBack(payload)
      case .unreadable:
        path.giveBack(payload)
        return path.dropKept(.noPicture)
      }
    } catch {
      failed(error, "A picture that waited for the link could not be encoded")
      path.giveBack(payload)
      encoder.close()
      return path.dropKept(.noPicture)
    }
    if let reason = path.submitNow(payload, permission.grant) {
      // The next pictures would depend on this one, which the decoder never gets.
      path.needsKeyFrame = true
      path.dropKept(reason)
    }
  }

  /// The picture to show now.
  private var shownPicture: UnsafeMutablePointer<GstBuffer>? {
    lastPicture.picture(at: UInt64(path.sink.presentTime.nanoseconds))
  }

  func fillWithLastPicture(
    _ payload: FramePayload, _ permission: VideoNegotiation.Permission, isNew: Bool
  ) -> Bool {
    guard let picture = shownPicture else { return false }
    do {
      let kind: PictureKind = path.needsKeyFrame ? .keyFrame : isNew ? .frame : .repetition
      return try encode(picture, permission, into: payload, as: kind, mayWait: false) == .done
    } catch {
      failed(error, "The last picture could not be encoded again")
      encoder.close()
      return false
    }
  }

  /// An element that has failed would fail again; libx264 may do better with the next picture.
  private func failed(_ error: EncoderError, _ text: String) {
    path.sink.log(GST_LEVEL_WARNING, "\(text): \(error)")
    guard case .element = error else { return }
    path.announce(.error(.stream(GST_STREAM_ERROR_ENCODE, "\(text): \(error)")))
  }
}

/// The last raw picture, sent or not. It is sent again when no other comes.
final class LastPicture {
  private var shown: Buffer?
  /// The next one, with which the base class has prerolled.
  private var prerolled: Buffer?
  private var prerolledTime: UInt64 = 0

  /// The pipeline has paused before a picture that is shown at `runningTime`; `GST_CLOCK_TIME_NONE` is at once.
  func preroll(_ picture: UnsafeMutablePointer<GstBuffer>, for runningTime: UInt64) {
    prerolled = Buffer(retaining: picture)
    prerolledTime = runningTime
  }

  /// Its time has come.
  func show(_ picture: UnsafeMutablePointer<GstBuffer>) {
    shown = Buffer(retaining: picture)
    prerolled = nil
  }

  func picture(at runningTime: UInt64) -> UnsafeMutablePointer<GstBuffer>? {
    if let picture = prerolled?.pointer, prerolledTime == .max || prerolledTime <= runningTime { show(picture) }
    return shown?.pointer
  }

  /// The format changes, or the stream is over.
  func forget() {
    shown = nil
    prerolled = nil
  }
}
