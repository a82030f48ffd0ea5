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
  private static let longestPause = FrameOutput.decoderTimeout * 3 / 4

  private static let longestLateness = Duration.milliseconds(100)

  /// An access unit that comes later than this after its picture comes with the next picture.
  private static let lateTime = Duration.milliseconds(250)

  let output: FrameOutput
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
  /// The last picture, of a live source, waits for the link and counts as queued: it is sent once the link is ready,
  /// unless another one comes first.
  private var deferred: FrameTime?
  private var hasWarnedOfUnreadable = false
  /// When a picture came that was not too late.
  private var lastTimely: Duration = .zero
  /// An encoder element has failed, which is announced: another one would fail in the same way, perhaps after seconds.
  private var hasFailed = false

  init(_ output: FrameOutput, keyFrameRequest: AtomicFlag) {
    self.output = output
    self.keyFrameRequest = keyFrameRequest
    encoder = RawEncoder(output)
  }

  /// The settings of the open encoder; nil without one.
  var encoderSettings: EncoderSettings? { encoder.settings }

  /// Only the caps tell it.
  var encodedSize: VideoSize? { nil }
  /// The next picture replaces the deferred one.
  var waitingCount: Int { 0 }
  var lacksPicture: Bool { false }

  func size(of input: InputCaps) -> VideoSize? { input.size.map(output.settings.turn.size) }

  /// GstBaseSink has dropped what is not in the segment.
  func reasonToLeaveOut(_ buffer: UnsafeMutablePointer<GstBuffer>) -> FrameDropReason? { nil }

  func dropWaiting(_ reason: FrameDropReason) {}

  /// No picture depends on those that were not encoded.
  func resynchronize() {}

  func mustRequestKeyFrame(now: Duration) -> Bool { false }

  func close() {
    encoder.close()
  }

  /// The next picture of a pipeline that has only paused is not due yet.
  func preroll(_ frame: InputFrame) {
    lastPicture.preroll(frame.buffer, for: frame.runningTime)
    if !output.isUpstreamLive, shownPicture == frame.buffer { thinning.delay(until: output.time.now) }
  }

  func isLast(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool { encodedPicture.isOf(buffer) }

  func begin(_ frame: InputFrame) -> Bool {
    lastPicture.show(frame.buffer)
    thinning.forgetDelayed()
    return true
  }

  func begin(_ grant: VideoGrant) {
    _ = output.begin(grant, longestPause: Self.longestPause)
  }

  /// The last one is sent with the permission, unless another has come by then.
  func pass(_ frame: InputFrame, _ reason: FrameDropReason) -> FrameOutcome {
    if !output.isUpstreamLive { thinning.delay(until: output.time.now) }
    return .dropped(reason)
  }

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
    hasFailed = false
  }

  func inputEnded() {
    thinning.forgetDelayed()
  }

  func send(_ frame: InputFrame, _ permission: VideoNegotiation.Permission) -> FrameOutcome {
    defer { tellDeferral() }
    // Frames fail once its error is posted: until then, upstream's own would come before the cause.
    guard !hasFailed else { return .dropped(.noPicture) }
    let now = output.time.now
    if isLate(frame, now: now), !frame.isDue { return .dropped(.late) }
    let change = change(by: frame.buffer)
    if change == .nothing { return .unchanged }
    let targets = permission.targets
    encoder.follow(targets)
    if !frame.isDue, isEarly(frame, targets, now: now) { return .dropped(.frameRate) }
    if case .wait(let time) = output.adaptation.readiness {
      deferred = frame.time
      output.wake(at: now + time)
      return .queued
    }
    // A picture without room in the queue is better dropped before it is encoded: no other depends on it yet.
    if output.isUpstreamLive, output.isQueueFull { return .dropped(.queueFull) }
    do {
      switch try encodeFrame(frame.buffer, permission, isRepetition: change == .refinement, waitingWith: frame) {
      case .done(let payload):
        return output.submit(payload, permission, at: frame.runningTime, isEncodedAnew: true)
      case .delayed: return .queued
      case .unreadable:
        warnOfUnreadable(frame.buffer)
        return .dropped(.noPicture)
      }
    } catch {
      close(after: error)
      return .failed(.stream(GST_STREAM_ERROR_ENCODE, "The picture could not be encoded: \(error)"))
    }
  }

  /// Whether a picture comes so late that the next one is better encoded in its place. One in a second is shown
  /// nevertheless, as by GstBaseSink.
  private func isLate(_ frame: InputFrame, now: Duration) -> Bool {
    guard lateness(of: frame) > Self.longestLateness, now - lastTimely < .seconds(1) else {
      lastTimely = now
      return false
    }
    return true
  }

  /// How long after its time a frame has come; zero if nobody waits for that time.
  private func lateness(of frame: InputFrame) -> Duration {
    guard frame.runningTime != .max, gst_base_sink_get_sync(output.sink.baseSink) != 0 else { return .zero }
    return output.sink.presentTime - .nanoseconds(Int64(clamping: frame.runningTime))
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
    output.announce(.warning(warning))
  }

  /// Whether a frame exceeds the rate of the head unit, or of the link.
  private func isEarly(_ frame: InputFrame, _ targets: EncoderTargets, now: Duration) -> Bool {
    let isPaced = output.isUpstreamLive || gst_base_sink_get_sync(output.sink.baseSink) != 0
    guard
      let early = thinning.judge(
        frame.runningTime, limit: output.adaptation.frameRateLimit ?? targets.frameRate, inputRate: output.inputRate,
        isPaced: isPaced, now: now)
    else { return false }
    if let timer = early.timer { output.wake(at: timer) }
    return true
  }

  /// Compares a picture with the one that was encoded last.
  private func change(by picture: UnsafeMutablePointer<GstBuffer>) -> Change {
    // The first frame of a service is always queued, since others wait for it, such as the end of a resize.
    guard !output.needsKeyFrame, !output.isFirstOfService, !keyFrameRequest.peek, output.settings.skipsUnchanged,
      encodedTurn == output.settings.turn, encodedPicture.equals(picture, info)
    else { return .picture }
    // Half of the decoder's time-out, so that at two or more pictures per second the next one is not too late, even if
    // the keep-alive timer is off or waits for longer.
    guard encodedPicture.isSharp, output.silence(output.time.now) < FrameOutput.decoderTimeout / 2 else {
      return .refinement
    }
    // It also replaces a picture that was left out and would be shown later.
    thinning.forgetDelayed()
    return .nothing
  }

  private enum Encoding {
    case done(FramePayload)
    /// The encoder has it; its frame counts as queued.
    case delayed
    /// It can't be read, or the encoder takes only other formats.
    case unreadable
  }

  /// Encodes a frame from upstream.
  ///
  /// - Parameter frame: the one at hand, with which this thread may wait for room in the queue for access units that the
  ///   encoder has finished late; nil if it may not wait.
  private func encodeFrame(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission, isRepetition: Bool,
    waitingWith frame: InputFrame?
  ) throws(EncoderError) -> Encoding {
    let isRequested = keyFrameRequest.take()
    let mustStandAlone = output.needsKeyFrame && !encoder.awaitsKeyFrame
    let kind: PictureKind = mustStandAlone || isRequested ? .keyFrame : isRepetition ? .repetition : .frame
    return try encode(picture, permission, for: .frame, as: kind, isForced: isRequested, waitingWith: frame)
  }

  /// Encodes a picture; once more, as a key frame, if the machine stood still for so long that the head unit may have
  /// closed its decoder, or if the encoder has made no key frame although one was needed.
  private func encode(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission, for use: FramePayload.Kind,
    as kind: PictureKind, isForced: Bool = false, waitingWith frame: InputFrame?
  ) throws(EncoderError) -> Encoding {
    let began = output.time.now
    let payload = output.takePayload(use)
    var isDone = false
    defer { if !isDone { output.giveBack(payload) } }
    var encoding = try encodeOnce(picture, permission, into: payload, as: kind, waitingWith: frame)
    if case .done = encoding, !payload.isKeyFrame {
      if output.silence(output.time.now) >= Self.longestPause {
        encoding = try encodeOnce(picture, permission, into: payload, as: .keyFrame, waitingWith: frame)
      }
      if case .done = encoding, output.needsKeyFrame, !payload.isKeyFrame {
        // The first picture of a new encoder is a key frame.
        encoder.close()
        encoding = try encodeOnce(picture, permission, into: payload, as: .keyFrame, waitingWith: frame)
        if case .done = encoding, !payload.isKeyFrame { throw .element("The encoder makes no key frames.") }
      }
    }
    if case .unreadable = encoding { return encoding }
    if case .done = encoding { isDone = true }
    encodedTurn = output.settings.turn
    encodedPicture.note(picture, isKeyFrame: isDone && payload.isKeyFrame, isSettled: isDone && encoder.isSettled)
    if use == .frame { payload.encoding = FramePayload.Encoding(time: output.time.now - began, isForced: isForced) }
    return encoding
  }

  private func encodeOnce(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission, into payload: FramePayload,
    as kind: PictureKind, waitingWith frame: InputFrame?
  ) throws(EncoderError) -> Encoding {
    let turn = output.settings.turn
    let isTaken =
      if turn == .none {
        try encoder.put(picture, info, permission.targets, as: kind, for: payload.kind)
      } else if let picture = turn.turned(picture, info) {
        try encoder.put(picture.pointer, turn.turned(info), permission.targets, as: kind, for: payload.kind)
      } else {
        false
      }
    guard isTaken else { return .unreadable }
    sendLate(permission, waitingWith: frame)
    if encoder.take(into: payload) != nil { return .done(payload) }
    output.wake(at: output.time.now + FrameOutput.retryPause)
    return .delayed
  }

  /// Sends the finished access units of pictures before the last one.
  ///
  /// - Parameter withLast: the last one's too.
  private func sendLate(
    _ permission: VideoNegotiation.Permission, waitingWith frame: InputFrame?, withLast: Bool = false
  ) {
    while withLast ? encoder.hasFinished : encoder.hasLate {
      let payload = output.takePayload(.repeated)
      guard let put = encoder.take(into: payload) else { return output.giveBack(payload) }
      payload.begin(put.kind, for: output.sink)
      let isFrame = put.kind == .frame
      if output.needsKeyFrame, !payload.isKeyFrame {
        output.giveBack(payload)
        if isFrame { output.dropQueued(.waitingForKeyFrame) }
        // The first picture of a new one is a key frame.
        if put.isKeyFrame { encoder.close() }
        continue
      }
      if let frame {
        let outcome = output.submit(payload, permission, at: frame.runningTime)
        if isFrame, case .dropped(let reason, _) = outcome { output.dropQueued(reason) }
      } else if let reason = output.submitNow(payload, permission.grant), isFrame {
        output.dropQueued(reason)
      }
    }
  }

  /// Sends access units that the encoder has finished since the last picture, and keeps checking for a while.
  private func sendFinished(_ permission: VideoNegotiation.Permission, now: Duration) {
    begin(permission.grant)
    sendLate(permission, waitingWith: nil, withLast: true)
    if let began = encoder.lastPending, now - began < Self.lateTime {
      output.wake(at: now + FrameOutput.retryPause)
    }
  }

  /// No picture follows: sends all of the encoder's access units.
  private func finish(_ permission: VideoNegotiation.Permission) {
    encoder.drain()
    sendLate(permission, waitingWith: nil, withLast: true)
    encoder.close()
  }
}

// MARK: Pictures that wait

extension RawPath {
  /// While a picture is deferred, the connection watches a head unit that does not read although nothing is queued. A
  /// picture that replaces it, and is deferred as well, does not interrupt that.
  private func tellDeferral() {
    output.connection.video.setAwaitsAcknowledgement(deferred != nil)
  }

  func takeDeferred() -> FrameTime? { deferred.take() }

  private func discardDeferred() {
    if takeDeferred() != nil { output.dropQueued(.discarded) }
    tellDeferral()
  }

  /// Sends the deferred picture, if the link is ready, and the delayed one, if no picture has come since.
  func sendWaiting(_ permission: VideoNegotiation.Permission, isLast: Bool, now: Duration) -> Duration? {
    defer { tellDeferral() }
    if encoder.hasPending, !isLast { sendFinished(permission, now: now) }
    defer { if isLast, encoder.hasPending { finish(permission) } }
    if deferred != nil {
      output.observeLink(permission.targets)
      if !isLast {
        if case .wait(let time) = output.adaptation.readiness { return now + time }
        if output.isQueueFull { return now + FrameOutput.retryPause }
      }
      deferred = nil
      sendDeferred(permission)
      output.observeLink(permission.targets)
    }
    if thinning.takeDelayed(isQueueFull: output.connection.video.isFull, now: now) {
      sendLastPicture(permission, isNew: true, at: now)
    }
    return nil
  }

  func nextTimer(now: Duration) -> Duration? { thinning.nextTimer(now: now) }

  private func sendDeferred(_ permission: VideoNegotiation.Permission) {
    guard let picture = shownPicture else { return output.dropQueued(.noPicture) }
    begin(permission.grant)
    let change = change(by: picture)
    if change == .nothing { return output.sink.count { $0.frameUnchanged() } }
    do {
      switch try encodeFrame(picture, permission, isRepetition: change == .refinement, waitingWith: nil) {
      case .done(let payload):
        if let reason = output.submitNow(payload, permission.grant) { output.dropQueued(reason) }
      case .delayed: break
      case .unreadable: output.dropQueued(.noPicture)
      }
    } catch {
      failed(error, "A picture that waited for the link could not be encoded")
      output.dropQueued(.noPicture)
    }
  }

  /// The picture to show now; nil if there is none, or none can be encoded.
  private var shownPicture: UnsafeMutablePointer<GstBuffer>? {
    hasFailed ? nil : lastPicture.picture(at: UInt64(output.sink.presentTime.nanoseconds))
  }

  func payloadOfLastPicture(_ permission: VideoNegotiation.Permission, isNew: Bool) -> FramePayload? {
    guard let picture = shownPicture else { return nil }
    let kind: PictureKind = output.needsKeyFrame ? .keyFrame : isNew ? .frame : .repetition
    do {
      if case .done(let payload) = try encode(picture, permission, for: .repeated, as: kind, waitingWith: nil) {
        return payload
      }
    } catch {
      failed(error, "The last picture could not be encoded again")
    }
    return nil
  }

  /// No frame is at hand whose outcome could end the stream.
  private func failed(_ error: EncoderError, _ text: String) {
    close(after: error)
    output.sink.log(GST_LEVEL_WARNING, "\(text): \(error)")
    guard hasFailed else { return }
    output.announce(.error(.stream(GST_STREAM_ERROR_ENCODE, "\(text): \(error)")))
  }

  /// libx264 may do better with the next picture.
  private func close(after error: EncoderError) {
    encoder.close()
    if case .element = error { hasFailed = true }
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
