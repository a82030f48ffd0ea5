import GStreamerKit
import H264
import SDLApp
import SDLLink
import X264Encoder

/// What is kept between frames, and the way of a frame once it may be sent: encode it or refer to it, then queue it.
///
/// Frames are encoded in render, behind the wait for the clock, so that nothing is encoded that is not sent: a picture that
/// the decoder never gets would break the chain of those that depend on it.
///
/// Only who has the ``ExclusiveAccess`` touches it.
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
    case dropped(FrameDropReason, GstFlowReturn)
    /// Nothing can be encoded: the stream fails.
    case failed(ElementError)
  }

  /// After a second without data, SDL Core opens the stream to its decoder anew (`VideoDataStoppedTimeout`).
  private static let decoderTimeout = Duration.seconds(1)

  let sink: VideoSink
  let connection: AppConnection
  let time: TimeSource

  private(set) var format = Format.none
  let encoder: RawEncoder
  let passthrough: H264Passthrough
  let lastPicture = LastPicture()
  var thinning = FrameRateThinning()
  var delay = RenderDelay()
  private var lateness = LatenessLimit()
  /// What can be touched in the frame at hand.
  private(set) var regions = FrameRegions()
  private var regionsPictureSize: VideoSize?
  /// Of the frame at hand.
  private(set) var frameTime = FrameTime()
  /// Whether upstream is live; nil when not asked yet.
  private var knownLiveness: Bool?

  /// Start of the service that the last frame was for.
  private(set) var epoch: UInt32 = 0
  /// Start of the service that a frame was queued for last.
  private var queuedEpoch: UInt32 = 0
  /// When the last frame was queued.
  var lastSent: Duration = .zero
  /// For a head unit that wants RTP.
  private var rtp = RTPStream()
  /// The decoder can do nothing with a frame that depends on others.
  var needsKeyFrame = true
  /// The service has been resumed, and no frame been sent since: the next one must stand alone.
  private let resumption: AtomicFlag
  /// Somebody wants a key frame of raw video.
  private let keyFrameRequest: AtomicFlag

  init(
    sink: VideoSink, connection: AppConnection, time: TimeSource, resumption: AtomicFlag, keyFrameRequest: AtomicFlag
  ) {
    self.sink = sink
    self.resumption = resumption
    self.keyFrameRequest = keyFrameRequest
    self.connection = connection
    self.time = time
    encoder = RawEncoder(sink: sink)
    passthrough = H264Passthrough(sink: sink, time: time)
  }

  var isRaw: Bool { if case .raw = format { true } else { false } }

  /// Whether time stamps go on by themselves.
  var isUpstreamLive: Bool {
    if let knownLiveness { return knownLiveness }
    var isLive: gboolean = 0
    var isUpstreamLive: gboolean = 0
    guard gst_base_sink_query_latency(sink.baseSink, &isLive, &isUpstreamLive, nil, nil) != 0 else { return false }
    knownLiveness = isUpstreamLive != 0
    return isUpstreamLive != 0
  }

  /// Takes caps; false if they can't be read.
  func setFormat(_ format: Format, frameRate: Fraction?) {
    let wasRaw = isRaw
    lastPicture.forget()
    thinning.forgetDelayed()
    self.format = format
    if isRaw != wasRaw {
      needsKeyFrame = true
      encoder.close()
    }
    thinning.inputRate = frameRate
    passthrough.restartRateMeter(inputRate: frameRate)
    lateness.apply(isRaw: isRaw, to: sink.baseSink)
  }

  /// A flush, or a new stream behind the end of another: H.264 is taken up at a key frame.
  func restart() {
    if !isRaw { needsKeyFrame = true }
  }

  /// Running time begins anew.
  func flush(resetsTime: Bool) {
    if resetsTime { delay.reset(sink.baseSink) }
    thinning.reset()
    restart()
  }

  /// The stream is over.
  func end() {
    delay.reset(sink.baseSink)
    lateness.restore(sink.baseSink)
    lastPicture.forget()
    encoder.close()
  }

  /// A frame comes: what is known of it before it is decided whether it may be sent.
  func begin(_ buffer: UnsafeMutablePointer<GstBuffer>) {
    frameTime = FrameTime(of: buffer)
    if isRaw { lastPicture.show(buffer) }
  }

  /// Whether the regions of a frame differ from those before, or belong to pictures of another size.
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
    } else if now - lastSent >= Self.decoderTimeout {
      needsKeyFrame = true
    }
    guard epoch != grant.epoch else { return }
    epoch = grant.epoch
    lastSent = now
  }

  /// Encodes or refers to a frame, and queues it.
  func send(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission
  ) -> Outcome {
    begin(permission.grant)
    switch format {
    case .none: return .dropped(.noPicture, GST_FLOW_NOT_NEGOTIATED)
    case .raw(let info):
      return sendRaw(buffer, info, permission)
    case .h264: return sendH264(buffer, permission)
    }
  }

  private func sendRaw(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, _ permission: VideoNegotiation.Permission
  ) -> Outcome {
    let targets = permission.targets
    encoder.follow(targets, inputRate: thinning.inputRate)
    let now = time.now
    let isPaced = isUpstreamLive || gst_base_sink_get_sync(sink.baseSink) != 0
    if let timer = thinning.judge(
      sink.runningTime(frameTime.presentation), limit: targets.frameRate, isPaced: isPaced, now: now)
    {
      if let timer = timer.value { connection.setTimer(at: timer) }
      return .dropped(.frameRate, GST_FLOW_OK)
    }
    // A picture that has no room is better dropped before it is encoded: nothing depends on it yet.
    if isUpstreamLive, connection.video.isFull { return .dropped(.queueFull, GST_FLOW_OK) }
    let payload = sink.payloads.take(for: sink, kind: .frame)
    do {
      let isRequested = keyFrameRequest.take()
      let isForced = needsKeyFrame || isRequested
      guard try encode(buffer, info, targets, into: payload, forcesKeyFrame: isForced) else {
        sink.payloads.giveBack(payload)
        return .dropped(.noPicture, GST_FLOW_OK)
      }
      let encodeTime = time.now - now
      sink.counters.withLock { counters in
        counters.frameEncoded(in: encodeTime)
        if isRequested { counters.keyFramesForced &+= 1 }
      }
      return submit(payload, permission.grant)
    } catch {
      sink.payloads.giveBack(payload)
      encoder.close()
      return .failed(.stream(GST_STREAM_ERROR_ENCODE, "The picture could not be encoded: \(error)"))
    }
  }

  /// False when the picture can't be read.
  private func encode(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, _ targets: EncoderTargets,
    into payload: FramePayload, forcesKeyFrame: Bool
  ) throws(EncoderError) -> Bool {
    let isEncoded = try encoder.encode(
      picture, info, targets, inputRate: thinning.inputRate, forcesKeyFrame: forcesKeyFrame, into: payload)
    if isEncoded { needsKeyFrame = false }
    return isEncoded
  }

  private func sendH264(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission
  ) -> Outcome {
    let payload = sink.payloads.take(for: sink, kind: .frame)
    if let reason = passthrough.fill(payload, from: buffer, for: permission.grant, needsKeyFrame: needsKeyFrame) {
      sink.payloads.giveBack(payload)
      return .dropped(reason, GST_FLOW_OK)
    }
    needsKeyFrame = false
    passthrough.observeRate(at: frameClock, limit: permission.frameRateLimit)
    return submit(payload, permission.grant)
  }

  /// When a frame is shown, in ns: as its time stamp says, or now.
  private var frameClock: UInt64 {
    let time = sink.runningTime(frameTime.presentation)
    return time == .max ? UInt64(clamping: self.time.now.nanoseconds) : time
  }
}

extension FramePath {
  /// A wait in the queue that is shorter belongs to the ordinary pace of things.
  private static let noticeableWait = Duration.milliseconds(10)

  /// Queues a finished access unit; its payload is the connection's from now on.
  private func submit(_ payload: FramePayload, _ grant: VideoGrant) -> Outcome {
    guard let rtp = packetize(payload, for: grant, at: frameRunningTime) else { return abandon(payload, .noPicture) }
    while true {
      let began = time.now
      let result = connection.video.submit(payload, grantEpoch: grant.epoch, blocking: !isUpstreamLive)
      let now = time.now
      if now - began >= Self.noticeableWait { delay.extend(by: now - began, sink.baseSink) }
      switch result {
      case .queued:
        lastSent = now
        self.rtp = rtp
        return .queued(isFirstOfService: noteQueued(grant))
      case .full: return abandon(payload, .queueFull)
      case .closed, .stale: return abandon(payload, .notStreaming)
      case .flushing:
        // Access is kept: nothing may overtake what has been encoded.
        let result = gst_base_sink_wait_preroll(sink.baseSink)
        guard result == GST_FLOW_OK else { return abandon(payload, .discarded, result) }
      }
    }
  }

  /// A frame is in the queue; whether it is the first one of its service.
  func noteQueued(_ grant: VideoGrant) -> Bool {
    defer { queuedEpoch = grant.epoch }
    return queuedEpoch != grant.epoch
  }

  /// A frame that others depend on is lost, so the next one must stand alone.
  private func abandon(
    _ payload: FramePayload, _ reason: FrameDropReason, _ result: GstFlowReturn = GST_FLOW_OK
  ) -> Outcome {
    sink.payloads.giveBack(payload)
    needsKeyFrame = true
    return .dropped(reason, result)
  }

  /// Queues a payload that does not come from upstream, if there is room.
  func submitNow(_ payload: FramePayload, _ grant: VideoGrant) -> Bool {
    guard let rtp = packetize(payload, for: grant, at: nil),
      connection.video.submit(payload, grantEpoch: grant.epoch, blocking: false) == .queued
    else {
      sink.payloads.giveBack(payload)
      return false
    }
    self.rtp = rtp
    return true
  }

  /// Queues the last picture again, if there is one and room for it.
  func sendLastPicture(_ permission: VideoNegotiation.Permission) -> Bool {
    guard !connection.video.isFull else { return false }
    begin(permission.grant)
    let payload = sink.payloads.take(for: sink, kind: .repeated)
    guard fillWithLastPicture(payload, permission) else {
      sink.payloads.giveBack(payload)
      return false
    }
    guard submitNow(payload, permission.grant) else {
      // A raw picture that was encoded and not sent is missing in the chain.
      if isRaw { needsKeyFrame = true }
      return false
    }
    return true
  }

  private func fillWithLastPicture(_ payload: FramePayload, _ permission: VideoNegotiation.Permission) -> Bool {
    switch format {
    case .none: return false
    case .raw(let info):
      let time = UInt64(gst_element_get_current_running_time(sink.gstElement))
      guard let picture = lastPicture.picture(at: time) else { return false }
      do {
        return try encode(picture, info, permission.targets, into: payload, forcesKeyFrame: needsKeyFrame)
      } catch {
        sink.log(GST_LEVEL_WARNING, "the last picture could not be encoded again: \(error)")
        encoder.close()
        return false
      }
    case .h264:
      // Without its key frame the stream can't be taken up, and after a break of any kind that is what has to come.
      return !needsKeyFrame && passthrough.fillWithRepeat(payload)
    }
  }

  /// Puts an access unit into the form that the head unit expects. The stream that goes on from it, to be kept when it is
  /// queued; nil when there is nothing to send.
  private func packetize(
    _ payload: FramePayload, for grant: VideoGrant, at time: @autoclosure () -> Duration?
  ) -> RTPStream? {
    guard grant.transport == .rtp else { return rtp }
    var stream = rtp
    return stream.packetize(payload, for: grant, at: time(), now: self.time.now) ? stream : nil
  }

  /// When the frame at hand is shown; nil when it does not say.
  private var frameRunningTime: Duration? {
    guard frameTime.presentation != .max else { return nil }
    let time = sink.runningTime(frameTime.presentation)
    return time == .max ? nil : .nanoseconds(Int64(clamping: time))
  }
}
