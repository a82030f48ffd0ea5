import GStreamerKit
import H264
import SDLApp
import SDLLink
import X264Encoder

/// What is kept between frames, and the way of a frame once it may be sent: encode it or refer to it, then queue it.
///
/// Frames are encoded in render, behind the wait for the clock, so that nothing is encoded that is not sent: a picture
/// that the decoder never gets would break the chain of those that depend on it.
///
/// Only the thread that has it through ``ExclusiveAccess`` may use it.
final class FramePath {
  enum Format {
    case none
    case raw(GstVideoInfo)
    case h264
  }

  /// What has become of a frame.
  enum Outcome {
    /// It is queued; the first one of a service may complete a resize.
    case queued(isFirstOfService: Bool)
    /// It holds no picture; what it holds goes with the next one.
    case kept
    /// It waits for the link.
    case deferred
    /// The decoder shows the same picture already; nothing is sent.
    case unchanged
    case dropped(FrameDropReason, GstFlowReturn)
    /// Nothing can be encoded: the stream fails.
    case failed(ElementError)
  }

  /// After a second without data, SDL Core opens the stream to its decoder anew (`VideoDataStoppedTimeout`).
  static let decoderTimeout = Duration.seconds(1)
  /// A raw picture after a longer pause becomes a key frame: encoding it and the way to the head unit lengthen the pause.
  private static let longestRawPause = decoderTimeout * 3 / 4

  let sink: VideoSink
  let connection: AppConnection
  let time: TimeSource

  private(set) var format = Format.none
  /// What is to be posted and pushed once no thread has the path.
  let announcements = FrameAnnouncements()
  let encoder: RawEncoder
  let passthrough: H264Passthrough
  let lastPicture = LastPicture()
  /// Of raw video.
  var encodedPicture = EncodedPicture()
  var thinning = FrameRateThinning()
  var delay = RenderDelay()
  private var lateness = LatenessLimit()
  var adaptation = LinkAdaptation()
  /// The last picture waits for the link; it is still counted as queued.
  var isPictureDeferred = false
  var isHeldBack = false
  /// No frame has come since the last caps.
  var isInputNew = false
  /// What is wrong with the pixels of the input, to be told when they are shown.
  var pixelWarning: ElementError?
  /// What can be touched in the frame at hand.
  private(set) var regions = FrameRegions()
  private var regionsPictureSize: VideoSize?
  /// Of the frame at hand.
  var frameTime = FrameTime()
  private var liveness = UpstreamLiveness()

  /// The frame at hand is sent before its time: nothing waits for the clock.
  var isAhead = false
  /// Of H.264.
  var seek = SeekProgress()
  /// Of H.264 that is not live: what was sent.
  var group = PictureGroup()
  /// Of live H.264: what could not be sent yet.
  var held = PictureGroup()

  /// `VideoGrant.epoch` of the service that the last frame was for.
  private(set) var epoch: UInt32 = 0
  /// `VideoGrant.epoch` of the service that a frame was queued for last.
  var queuedEpoch: UInt32 = 0
  /// When the last frame was queued.
  var lastSent: Duration = .zero
  /// For a head unit that wants RTP.
  var rtp = RTPStream()
  /// The next frame must be a key frame, since the decoder has not got what other frames depend on.
  var needsKeyFrame = true
  /// The service has been resumed, and no frame been sent since: the next one must stand alone.
  private let resumption: AtomicFlag
  /// Upstream or the application has asked for a key frame of raw video.
  let keyFrameRequest: AtomicFlag

  init(
    sink: VideoSink, connection: AppConnection, time: TimeSource, resumption: AtomicFlag, keyFrameRequest: AtomicFlag
  ) {
    self.sink = sink
    self.resumption = resumption
    self.keyFrameRequest = keyFrameRequest
    self.connection = connection
    self.time = time
    encoder = RawEncoder(sink: sink, announcements: announcements)
    passthrough = H264Passthrough(sink: sink, time: time, announcements: announcements)
  }

  var isRaw: Bool { if case .raw = format { true } else { false } }

  /// Whether upstream is live: its time stamps go on while frames are held up.
  var isUpstreamLive: Bool { liveness.isLive(at: sink.pad) }

  /// Frames of another format or rate follow. Forgets the last picture, which is never sent again then.
  ///
  /// - Parameter configuration: of H.264 with lengths in front of its NAL units.
  func setFormat(_ format: Format, configuration: DecoderConfiguration? = nil, frameRate: Fraction?) {
    let wasRaw = isRaw
    discardDeferredPicture()
    lastPicture.forget()
    encodedPicture.forget()
    thinning.forgetDelayed()
    self.format = format
    if isRaw != wasRaw {
      breakOff()
      encoder.close()
    }
    if passthrough.setConfiguration(configuration) { breakOff() }
    thinning.inputRate = frameRate
    passthrough.restartRateMeter(inputRate: frameRate)
    lateness.apply(isRaw: isRaw, to: sink.baseSink)
  }

  /// After a flush, or when a new stream follows another: H.264 goes on with a key frame.
  func restart() {
    if !isRaw { breakOff() }
  }

  /// What follows depends on frames that were not sent.
  func breakOff() {
    needsKeyFrame = true
    group.forget()
    dropHeld(.notStreaming)
  }

  /// The pipeline was flushed; with `resetsTime`, running time starts at 0 again.
  func flush(resetsTime: Bool) {
    if resetsTime { delay.reset(sink.baseSink) }
    thinning.reset()
    discardDeferredPicture()
    dropHeld(.discarded)
    seek.flushed()
    restart()
  }

  /// The stream is over.
  func end() {
    delay.reset(sink.baseSink)
    lateness.restore(sink.baseSink)
    discardDeferredPicture()
    dropHeld(.discarded)
    lastPicture.forget()
    encodedPicture.forget()
    seek = SeekProgress()
    group.forget()
    encoder.close()
  }

  /// Notes a frame's time, and keeps a raw picture, before it is decided whether the frame is sent.
  func begin(_ buffer: UnsafeMutablePointer<GstBuffer>) {
    frameTime = FrameTime(of: buffer)
    if isRaw { lastPicture.show(buffer) }
  }

  /// Reads the regions of a frame. Returns whether they differ from those before, or belong to pictures of another
  /// size.
  func updateRegions(from buffer: UnsafeMutablePointer<GstBuffer>, pictureSize: VideoSize?) -> Bool {
    let hasChanged = regions.update(from: buffer)
    guard hasChanged || (!regions.rectangles.isEmpty && regionsPictureSize != pictureSize) else { return false }
    regionsPictureSize = pictureSize
    return true
  }

  /// The first frame of a service must stand alone, and the first after a pause, in which the head unit may have closed
  /// its decoder.
  func begin(_ grant: VideoGrant) {
    let now = time.now
    if resumption.take() || epoch != grant.epoch {
      needsKeyFrame = true
      passthrough.forgetKeyFrameRequest()
    } else if isPauseLong(now) {
      needsKeyFrame = true
    }
    guard epoch != grant.epoch else { return }
    epoch = grant.epoch
    lastSent = now
  }

  /// Whether the head unit may have closed its decoder since the last picture.
  private func isPauseLong(_ now: Duration) -> Bool {
    now - lastSent >= (isRaw ? Self.longestRawPause : Self.decoderTimeout)
  }

  /// Encodes or refers to a frame, and queues it.
  ///
  /// - Parameter isDue: Whether it is sent whatever the frame rate: it takes the place of one that was due and waited for
  ///   the link, or was due itself.
  func send(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission, isDue: Bool
  ) -> Outcome {
    begin(permission.grant)
    observeLink(permission.targets)
    defer { if isUpstreamLive { observeLink(permission.targets) } }
    switch format {
    case .none: return .dropped(.noPicture, GST_FLOW_NOT_NEGOTIATED)
    case .raw(let info):
      return sendRaw(buffer, info, permission, isDue: isDue)
    case .h264: return sendH264(buffer, permission)
    }
  }

  private func sendRaw(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, _ permission: VideoNegotiation.Permission,
    isDue: Bool
  ) -> Outcome {
    let change = change(by: buffer, info)
    if change == .nothing {
      holdBack(false)
      return .unchanged
    }
    let targets = permission.targets
    encoder.follow(targets, inputRate: thinning.inputRate)
    let now = time.now
    let isPaced = isUpstreamLive || gst_base_sink_get_sync(sink.baseSink) != 0
    let limit = adaptation.frameRateLimit ?? targets.frameRate
    if !isDue,
      let timer = thinning.judge(
        sink.runningTime(frameTime.presentation), limit: limit, isPaced: isPaced, now: now)
    {
      if let timer = timer.value { connection.setTimer(at: timer) }
      return .dropped(.frameRate, GST_FLOW_OK)
    }
    if defersPicture(now: now) { return .deferred }
    holdBack(false)
    // A picture that has no room is better dropped before it is encoded: nothing depends on it yet.
    if isUpstreamLive, connection.video.isFull { return .dropped(.queueFull, GST_FLOW_OK) }
    let payload = sink.payloads.take(for: sink, kind: .frame)
    do {
      guard try encodeFrame(buffer, info, targets, into: payload, isRepetition: change == .refinement) else {
        sink.payloads.giveBack(payload)
        return .dropped(.noPicture, GST_FLOW_OK)
      }
      return submit(payload, permission.grant)
    } catch {
      sink.payloads.giveBack(payload)
      encoder.close()
      return .failed(.stream(GST_STREAM_ERROR_ENCODE, "The picture could not be encoded: \(error)"))
    }
  }

  /// Encodes a frame from upstream, and counts it; false when it can't be read.
  func encodeFrame(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, _ targets: EncoderTargets,
    into payload: FramePayload, isRepetition: Bool
  ) throws(EncoderError) -> Bool {
    let began = time.now
    let isRequested = keyFrameRequest.take()
    let kind: PictureKind = needsKeyFrame || isRequested ? .keyFrame : isRepetition ? .repetition : .frame
    guard try encode(picture, info, targets, into: payload, as: kind) else { return false }
    let encodeTime = time.now - began
    sink.counters.withLock { counters in
      counters.frameEncoded(in: encodeTime)
      if isRequested { counters.keyFramesForced &+= 1 }
    }
    return true
  }

  /// Encodes a picture; once more, as a key frame, if the machine stood still meanwhile for so long that the head unit may have
  /// closed its decoder. False when the picture can't be read.
  func encode(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, _ targets: EncoderTargets,
    into payload: FramePayload, as kind: PictureKind
  ) throws(EncoderError) -> Bool {
    func encode(as kind: PictureKind) throws(EncoderError) -> Bool {
      try encoder.encode(
        picture, info, targets, rates: adaptation.rates, inputRate: thinning.inputRate, as: kind, into: payload)
    }
    var isEncoded = try encode(as: kind)
    if isEncoded, !payload.isKeyFrame, isPauseLong(time.now) { isEncoded = try encode(as: .keyFrame) }
    if isEncoded { noteEncoded(picture, isKeyFrame: payload.isKeyFrame) }
    return isEncoded
  }
}
