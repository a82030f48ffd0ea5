import GStreamerKit
import Glibc
import H264
import SDLApp
import SDLAppLink
import SDLLink
import X264Encoder

enum FrameOutcome {
  /// It is in the connection's queue, or is kept to be sent later.
  case queued
  /// It has no picture; its parameter sets are sent with the next one.
  case parametersKept
  /// It is not sent, but known for the next decoder.
  case kept(FrameDropReason)
  /// The decoder shows the same picture already; nothing is sent.
  case unchanged
  case dropped(FrameDropReason, GstFlowReturn = GST_FLOW_OK)
  /// It can't be used, and the stream fails, or has failed.
  case failed(ElementError?, FrameDropReason = .noPicture)
}

/// The path of raw pictures, or of H.264, once it is decided that a frame may be sent.
protocol FormatPath: AnyObject {
  /// After a longer pause the head unit may have closed its decoder, and the next frame must be a key frame.
  var longestPause: Duration { get }

  /// A frame has come; whether it is sent is not decided.
  ///
  /// - Returns: false when it can't be read.
  /// - Throws: an error that ends the stream.
  func begin(_ buffer: UnsafeMutablePointer<GstBuffer>) throws(ElementError) -> Bool
  /// Encodes or refers to a frame, and queues it.
  ///
  /// - Parameter isDue: whether it is sent whatever the frame rate: it replaces a frame that was due and waited for the
  ///   link, or was due itself.
  func send(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission, isDue: Bool
  ) -> FrameOutcome
  /// The base class prerolls with a frame, which is seen while the pipeline stays in PAUSED: it waits for the permission.
  func preroll(_ buffer: UnsafeMutablePointer<GstBuffer>)
  /// Whether a frame was put into a payload last.
  func isLast(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool
  /// A frame may not be sent now.
  func pass(_ buffer: UnsafeMutablePointer<GstBuffer>, _ reason: FrameDropReason) -> FrameOutcome
  func frameLost()
  /// Sends waiting frames, as far as the link takes them. On any thread; it does not block.
  ///
  /// - Parameter isLast: whether no frame follows, so that none is too late.
  /// - Returns: when to look again; nil when nothing waits, so that the last picture may be repeated.
  func sendWaiting(_ permission: VideoNegotiation.Permission, isLast: Bool, now: Duration) -> Duration?
  /// Puts the last picture into a payload; false when there is none, or it can't be repeated.
  func fillWithLastPicture(
    _ payload: FramePayload, _ permission: VideoNegotiation.Permission, isNew: Bool
  ) -> Bool
}

/// The state between frames, and the path of access units into the connection's queue.
///
/// Frames are encoded in render, after the wait for the clock, so that only frames that are sent are encoded: a picture
/// that the decoder never gets would break the pictures that refer to it.
///
/// Only the thread that has it through ``FrameAccess`` may use it.
final class FramePath {
  /// After a second without data, SDL Core reopens the stream to its decoder (`VideoDataStoppedTimeout`).
  static let decoderTimeout = Duration.seconds(1)
  /// When the queue is full, or the link has not taken all frames, it is checked again after this time.
  static let retryPause = Duration.milliseconds(20)

  unowned let sink: VideoSink
  let connection: AppConnection
  let time: TimeSource
  /// The service has been resumed, and no frame has been sent since: the next one must be a key frame.
  private let resumption: AtomicFlag

  private(set) lazy var raw = RawPath(self, keyFrameRequest: keyFrameRequest)
  private(set) lazy var h264 = H264Path(self)
  private let keyFrameRequest: AtomicFlag
  /// The format of the present input; nil before the first caps.
  private(set) var format: (any FormatPath)?
  /// The frame rate in the caps; nil when they leave it open.
  private(set) var inputRate: Fraction?
  /// No frame has come since the last caps.
  var isInputNew = false
  /// A problem with the pixels of the input, to be reported when they are shown.
  var pixelWarning: ElementError?
  private(set) var settings = VideoSinkSettings().frames
  /// The time of the frame at hand.
  private(set) var frameTime = FrameTime()

  private var regions = FrameRegions()
  private var regionsPictureSize: VideoSize?
  private var liveness = UpstreamLiveness()
  /// Of a live source; without one the link is ready for anything.
  private(set) var adaptation = LinkAdaptation()
  /// No more frames of a live source may be queued now.
  private(set) var isQueueFull = false

  /// `VideoGrant.epoch` of the service that the last frame was for.
  private var epoch: UInt32 = 0
  /// `VideoGrant.epoch` of the service that a frame was queued for last.
  private var queuedEpoch: UInt32 = 0
  /// When the last frame was queued.
  private var lastSent: Duration = .zero
  /// For a head unit that wants RTP.
  private var rtp = RTPStream()
  /// The next frame must be a key frame, since the decoder lacks the frames that others depend on.
  var needsKeyFrame = true
  /// The picture at hand is the last one of the service.
  private var isClosing = false
  /// An empty payload.
  private var payload: FramePayload?
  private var results = FrameResults()

  init(
    sink: VideoSink, connection: AppConnection, time: TimeSource, resumption: AtomicFlag, keyFrameRequest: AtomicFlag
  ) {
    self.sink = sink
    self.resumption = resumption
    self.keyFrameRequest = keyFrameRequest
    self.connection = connection
    self.time = time
  }

  var isRaw: Bool { format === raw }
  private var isH264: Bool { format === h264 }

  /// Whether upstream is live: its time stamps go on while frames are held up.
  var isUpstreamLive: Bool { liveness.isLive(at: sink.pad) }

  /// Adds an announcement to the application or to upstream.
  func announce(_ announcement: FrameResults.Announcement) {
    results.announcements.append(announcement)
  }

  /// Frames that were kept, and counted as queued, are given up.
  func dropKept(_ reason: FrameDropReason, count: Int = 1) {
    if count > 0 { sink.count { $0.frameDropped(reason, count: UInt64(count)) } }
  }

  /// The frame at hand is not sent: this is reported to the application, if a viewer misses it.
  func announceLoss(_ reason: FrameDropReason) {
    sink.log(GST_LEVEL_LOG, "dropped a frame: \(reason)")
    if reason.isLossOfQuality { announce(.loss(frameTime, isLive: isUpstreamLive)) }
  }
}

// MARK: Use by one thread at a time

extension FramePath {
  /// With the lock: this thread begins to use it.
  func taken(_ shared: inout FrameState) {
    settings = shared.settings
    if payload == nil { payload = shared.payloads.popLast() }
  }

  /// With the lock: counts the results, and returns them.
  func given(_ counters: inout VideoSinkCounters, now: Duration) -> FrameResults {
    var taken = FrameResults()
    swap(&taken, &results)
    if let encoding = taken.lostEncoding { counters.encoded(encoding) }
    if let report = adaptation.report { counters.link = report }
    taken.report = adaptation.takeReport(now: now)
    taken.lacksPicture = h264.takeLack(isInUse: isH264)
    return taken
  }
}

// MARK: The input

extension FramePath {
  /// Frames of another format or rate follow. Forgets the last picture, which is never sent again then.
  func setInput(_ input: InputCaps) {
    raw.forget()
    inputRate = input.frameRate
    let next: any FormatPath
    switch input.format {
    case .raw(let info):
      raw.info = info
      next = raw
    case .h264(let configuration):
      if h264.passthrough.setConfiguration(configuration) { requireKeyFrame() }
      next = h264
    }
    if next !== format {
      raw.close()
      requireKeyFrame()
    }
    format = next
    // Before the head unit is known, upstream may change its first caps before a frame is shown.
    pixelWarning = input.pixelWarning
    // Upstream may have other elements now. It is queried with the first frame: an element that sends a CAPS event may
    // hold a lock that its answers need.
    isInputNew = true
  }

  /// A new stream follows another: H.264 continues with a key frame.
  func restart() {
    if !isRaw { requireKeyFrame() }
  }

  /// Later frames depend on frames that were not sent.
  func requireKeyFrame() {
    needsKeyFrame = true
    h264.forget()
  }

  func flush() {
    raw.flush()
    h264.flush()
    restart()
  }

  func end() {
    h264.flush()
    h264.forget()
    raw.forget()
    raw.close()
  }

  /// A frame has come: notes its time, and passes it to its format.
  func begin(_ buffer: UnsafeMutablePointer<GstBuffer>) throws(ElementError) -> Bool {
    frameTime = FrameTime(of: buffer)
    guard let format else {
      throw .stream(
        GST_STREAM_ERROR_WRONG_TYPE,
        "The input has no caps: put h264parse before sdlvideosink for a file of H.264, otherwise decodebin.")
    }
    return try format.begin(buffer)
  }

  /// Prepares for a frame that was kept.
  func begin(kept buffer: UnsafeMutablePointer<GstBuffer>) {
    frameTime = FrameTime(of: buffer)
  }

  /// Reads the touchable regions of a frame.
  ///
  /// - Returns: the regions, if they differ from those before, or belong to pictures of another size.
  func changedRegions(
    of buffer: UnsafeMutablePointer<GstBuffer>, pictureSize: VideoSize?
  ) -> [HapticRectangle]? {
    // Usually neither this frame nor the last one has any.
    guard
      !regions.rectangles.isEmpty
        || gst_buffer_get_meta(buffer, gst_video_region_of_interest_meta_api_get_type()) != nil
    else { return nil }
    let hasChanged = regions.update(from: buffer)
    guard hasChanged || (!regions.rectangles.isEmpty && regionsPictureSize != pictureSize) else { return nil }
    regionsPictureSize = pictureSize
    return regions.rectangles
  }

  /// Running time at which the frame at hand is shown, in ns; `GST_CLOCK_TIME_NONE` when it does not say.
  var frameRunningTime: UInt64 { UInt64(sink.runningTime(of: GstClockTime(frameTime.presentation))) }

  /// How long after its time the frame at hand has come; zero if nobody waits for that time.
  var lateness: Duration {
    let time = frameRunningTime
    guard time != .max, gst_base_sink_get_sync(sink.baseSink) != 0 else { return .zero }
    return sink.presentTime - .nanoseconds(Int64(clamping: time))
  }

  /// The frame at hand is not shown, but others need it, before the start of a segment.
  var isOutOfSegment: Bool { frameTime.presentation != .max && frameRunningTime == .max }
}

// MARK: One service

extension FramePath {
  func send(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission, isDue: Bool
  ) -> FrameOutcome {
    guard let format else { return .dropped(.noPicture, GST_FLOW_NOT_NEGOTIATED) }
    begin(permission.grant)
    observeLink(permission.targets)
    return format.send(buffer, permission, isDue: isDue)
  }

  /// The first frame of a service must be a key frame, and so must the first one after a pause in which the head unit
  /// may have closed its decoder.
  func begin(_ grant: VideoGrant) {
    let now = time.now
    let isNew = epoch != grant.epoch
    if resumption.take() || isNew {
      needsKeyFrame = true
      h264.passthrough.forgetKeyFrameRequest()
    } else if isPauseLong(now) {
      needsKeyFrame = true
    }
    guard isNew else { return }
    epoch = grant.epoch
    lastSent = now
  }

  /// Whether the head unit may have closed its decoder since the last picture.
  func isPauseLong(_ now: Duration) -> Bool {
    now - lastSent >= (format?.longestPause ?? Self.decoderTimeout)
  }

  /// No frame has been queued for the present service.
  var isFirstOfService: Bool { queuedEpoch != epoch }

  /// Whether a frame with which the base class prerolls is to be seen in PAUSED, as after a seek; after a pause the next
  /// one is not.
  func isDue(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    let time = UInt64(sink.runningTime(of: buffer.pointee.pts))
    return time == .max || .nanoseconds(Int64(clamping: time)) <= sink.presentTime
  }

  /// Whether the decoder shows a frame already, with which the base class has prerolled.
  func isShown(_ buffer: UnsafeMutablePointer<GstBuffer>, in grant: VideoGrant) -> Bool {
    epoch == grant.epoch && !needsKeyFrame && !resumption.peek && format?.isLast(buffer) == true
  }

  /// How long nothing has been sent.
  func silence(_ now: Duration) -> Duration { now - lastSent }

  /// When a frame was sent for this service last; nil if none was.
  func lastSent(in grant: VideoGrant) -> Duration? { epoch == grant.epoch ? lastSent : nil }

  /// Queues the last picture once more, if there is one and room for it.
  ///
  /// - Parameters:
  ///   - isNew: whether it has not been sent before; then it may be the key frame that is due.
  ///   - time: when it counts as sent.
  func sendLastPicture(_ permission: VideoNegotiation.Permission, isNew: Bool = false, at time: Duration) {
    guard let format, !connection.video.isFull else { return }
    begin(permission.grant)
    let payload = takePayload(.repeated)
    guard format.fillWithLastPicture(payload, permission, isNew: isNew) else { return giveBack(payload) }
    guard submitNow(payload, permission.grant) == nil else {
      // The next pictures would depend on this one, which the decoder never gets.
      if isRaw { needsKeyFrame = true }
      return
    }
    needsKeyFrame = false
    lastSent = time
  }

  /// The service is about to end: if the delimiter of a next picture is there already, repeats the last one behind it.
  func close(_ permission: VideoNegotiation.Permission) {
    guard settings.movesDelimiters, permission.grant.transport != .rtp, queuedEpoch == permission.grant.epoch else {
      return
    }
    isClosing = true
    sendLastPicture(permission, at: time.now)
    isClosing = false
  }
}

// MARK: The link

extension FramePath {
  /// Samples the link before a frame is sent.
  func observeLink(_ targets: EncoderTargets) {
    guard isUpstreamLive else { return follow(targets) }
    let (sample, isFull) = connection.video.linkSampleAndIsFull()
    isQueueFull = isFull
    observe(sample, targets)
  }

  private func observe(_ sample: LinkSample?, _ targets: EncoderTargets) {
    guard let sample else { return follow(targets) }
    let wanted = LinkAdaptation.Wanted(
      targets: targets, frameRate: frameRate(targets), settings: settings.link, isEncoderUpstream: isH264)
    adaptation.update(sample, wanted, epoch: epoch)
  }

  private func follow(_ targets: EncoderTargets) {
    adaptation.follow(targets, frameRate: frameRate(targets))
  }

  /// The frame rate of the pictures that are sent.
  func frameRate(_ targets: EncoderTargets) -> Fraction {
    inputRate.map { min($0, targets.frameRate) } ?? targets.frameRate
  }

  /// Whether the link is too far behind for a live frame. Then frames up to the next key frame are dropped too, which
  /// is requested of upstream once the link is ready for it.
  var isLinkLate: Bool {
    adaptation.isLate(isKeyFrameNeeded: needsKeyFrame, sinceSent: time.now - lastSent)
  }
}

// MARK: The queue

extension FramePath {
  func takePayload(_ kind: FramePayload.Kind) -> FramePayload {
    let payload = self.payload.take() ?? sink.state.withLock { $0.payloads.popLast() } ?? FramePayload()
    payload.begin(kind, for: sink)
    return payload
  }

  /// Returns a payload that was not queued.
  func giveBack(_ payload: FramePayload) {
    results.lostEncoding = payload.encoding ?? results.lostEncoding
    payload.clear()
    self.payload = payload
  }

  /// Queues a finished access unit of the frame at hand, and waits for room if upstream is not live.
  func submit(_ payload: FramePayload, _ permission: VideoNegotiation.Permission) -> FrameOutcome {
    let grant = permission.grant
    guard let rtp = packetize(payload, for: grant, at: frameRunningTime) else { return abandon(payload, .noPicture) }
    while true {
      let submission = connection.video.submit(
        payload, grantEpoch: grant.epoch, blocking: !isUpstreamLive, samplesLink: isUpstreamLive)
      switch submission.result {
      case .queued:
        noteQueued(grant, rtp, at: submission.time)
        if isUpstreamLive { observe(submission.link, permission.targets) }
        if let warning = pixelWarning.take() { announce(.warning(warning)) }
        return .queued
      case .full: return abandon(payload, .queueFull)
      case .ending, .closed, .stale: return abandon(payload, .notStreaming)
      case .flushing:
        // The path is kept: no other frame may overtake an encoded one.
        let result = gst_base_sink_wait_preroll(sink.baseSink)
        guard result == GST_FLOW_OK else { return abandon(payload, .discarded, result) }
      }
    }
  }

  /// A frame that others depend on is lost, so the next one must be a key frame.
  private func abandon(
    _ payload: FramePayload, _ reason: FrameDropReason, _ result: GstFlowReturn = GST_FLOW_OK
  ) -> FrameOutcome {
    giveBack(payload)
    requireKeyFrame()
    return .dropped(reason, result)
  }

  /// Queues a payload if there is room, on any thread.
  ///
  /// - Parameter time: running time at which it is shown; `GST_CLOCK_TIME_NONE` for now.
  /// - Returns: why it is not queued; nil if it is.
  func submitNow(_ payload: FramePayload, _ grant: VideoGrant, at time: UInt64 = .max) -> FrameDropReason? {
    let kind = payload.kind
    guard let rtp = packetize(payload, for: grant, at: time) else {
      giveBack(payload)
      return .noPicture
    }
    let submission = connection.video.submit(
      payload, grantEpoch: grant.epoch, blocking: false, samplesLink: false)
    guard submission.result == .queued else {
      giveBack(payload)
      return submission.result == .full ? .queueFull : .notStreaming
    }
    if kind == .notice { self.rtp = rtp } else { noteQueued(grant, rtp, at: submission.time) }
    return nil
  }

  private func noteQueued(_ grant: VideoGrant, _ rtp: RTPStream, at time: Duration) {
    self.rtp = rtp
    // Not the present time: this thread may have waited since.
    lastSent = time
    guard queuedEpoch != grant.epoch else { return }
    queuedEpoch = grant.epoch
    results.firstOfService = grant
  }

  /// Puts an access unit into the form that the head unit expects.
  ///
  /// - Returns: the RTP numbering after it, to be kept once it is queued; nil when there is nothing to send.
  private func packetize(
    _ payload: FramePayload, for grant: VideoGrant, at time: @autoclosure () -> UInt64
  ) -> RTPStream? {
    guard grant.transport == .rtp else {
      if settings.movesDelimiters { payload.moveDelimiter(isLast: isClosing) }
      return rtp
    }
    var stream = rtp
    let time = time()
    let runningTime = time == .max ? nil : Duration.nanoseconds(Int64(clamping: time))
    return stream.packetize(payload, for: grant, at: runningTime, now: self.time.now) ? stream : nil
  }
}

/// When a frame is shown, by its buffer; `GST_CLOCK_TIME_NONE` if that has no time.
struct FrameTime {
  private(set) var presentation = UInt64.max
  private(set) var duration = UInt64.max

  init() {}

  init(of buffer: UnsafeMutablePointer<GstBuffer>) {
    presentation = UInt64(buffer.pointee.pts)
    duration = UInt64(buffer.pointee.duration)
  }
}
