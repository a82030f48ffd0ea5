import GStreamerKit
import SDLApp
import SDLAppLink
import SDLLink
import X264Encoder

/// The lower end of the frame path: payloads, their way into the connection's queue, what has been queued so far, and
/// the link. The formats use it, and it calls none of them.
///
/// Only the thread that has the ``FramePath`` may use it.
final class FrameOutput {
  /// After a second without data, SDL Core reopens the stream to its decoder (`VideoDataStoppedTimeout`).
  static let decoderTimeout = Duration.seconds(1)
  /// When the queue is full, or the link has not taken all frames, it is checked again after this time.
  static let retryPause = Duration.milliseconds(20)

  unowned let sink: VideoSink
  let connection: AppConnection
  let time: TimeSource
  /// The service has been resumed, and no frame has been sent since: the next one must be a key frame.
  private let resumption: AtomicFlag

  /// The frame rate in the caps; nil when they leave it open.
  private(set) var inputRate: Fraction?
  /// Upstream encodes.
  private(set) var isInputEncoded = false
  /// A problem with the pixels of the input, to be reported when they are shown.
  var pixelWarning: ElementError?
  private(set) var settings = VideoSinkSettings().frames
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
  private(set) var needsKeyFrame = true
  /// An empty payload.
  private var payload: FramePayload?
  private var results = FrameResults()

  init(sink: VideoSink, connection: AppConnection, time: TimeSource, resumption: AtomicFlag) {
    self.sink = sink
    self.connection = connection
    self.time = time
    self.resumption = resumption
  }

  /// Whether upstream is live: its time stamps go on while frames are held up.
  var isUpstreamLive: Bool { liveness.isLive(at: sink.pad) }

  /// Frames of another format or rate follow.
  func setInput(_ rate: Fraction?, isEncoded: Bool, _ pixelWarning: ElementError?) {
    inputRate = rate
    isInputEncoded = isEncoded
    // Before the head unit is known, upstream may change its first caps before a frame is shown.
    self.pixelWarning = pixelWarning
  }

  /// With the lock: a thread begins to use it.
  func taken(_ state: inout FrameState) {
    settings = state.settings
    if payload == nil { payload = state.payloads.popLast() }
  }

  /// With the lock: counts the results, and returns them.
  func takeResults(_ counters: inout VideoSinkCounters, now: Duration) -> FrameResults {
    var taken = FrameResults()
    swap(&taken, &results)
    if let encoding = taken.lostEncoding { counters.encoded(encoding) }
    if let report = adaptation.report { counters.link = report }
    taken.report = adaptation.takeReport(now: now)
    return taken
  }

  /// Adds an announcement to the application or to upstream.
  func announce(_ announcement: FrameResults.Announcement) {
    results.announcements.append(announcement)
  }

  /// Has the connection thread look at what waits here, at this time or earlier.
  func wake(at time: Duration) {
    results.timer = results.timer.earlier(time)
  }

  /// A frame is not sent: this is reported to the application, if a viewer misses it.
  func announceLoss(_ reason: FrameDropReason, of time: FrameTime) {
    sink.log(GST_LEVEL_LOG, "dropped a frame: \(reason)")
    if reason.isLossOfQuality { announce(.loss(time, isLive: isUpstreamLive)) }
  }

  /// Frames that were kept, and counted as queued, are given up.
  func dropQueued(_ reason: FrameDropReason, count: Int = 1) {
    if count > 0 { sink.count { $0.frameDropped(reason, count: UInt64(count)) } }
  }
}

// MARK: One service

extension FrameOutput {
  /// The first frame of a service must be a key frame, and so must the first one after a pause in which the head unit
  /// may have closed its decoder.
  ///
  /// - Returns: whether the service is new, or was resumed.
  func begin(_ grant: VideoGrant, longestPause: Duration) -> Bool {
    let now = time.now
    let (isNew, isResumed) = (epoch != grant.epoch, resumption.take())
    if isNew || isResumed || silence(now) >= longestPause { needsKeyFrame = true }
    if isNew {
      epoch = grant.epoch
      lastSent = now
    }
    return isNew || isResumed
  }

  /// The decoder lacks a frame that later ones depend on.
  func requireKeyFrame() {
    needsKeyFrame = true
  }

  /// No frame has been queued for the present service.
  var isFirstOfService: Bool { queuedEpoch != epoch }

  /// Whether a decoder that is not to be started anew shows the frame that was queued last.
  func isShowing(_ grant: VideoGrant) -> Bool { epoch == grant.epoch && !needsKeyFrame && !resumption.peek }

  /// Whether the last picture of a service came with the delimiter of a next one.
  func announcesNext(in grant: VideoGrant) -> Bool {
    settings.movesDelimiters && grant.streamingProtocol != .rtp && queuedEpoch == grant.epoch
  }

  /// How long nothing has been sent.
  func silence(_ now: Duration) -> Duration { now - lastSent }

  /// When a frame was sent for this service last; nil if none was.
  func lastSent(in grant: VideoGrant) -> Duration? { epoch == grant.epoch ? lastSent : nil }
}

// MARK: The link

extension FrameOutput {
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
      targets: targets, frameRate: frameRate(targets), settings: settings.link, isEncoderUpstream: isInputEncoded)
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
    adaptation.isLate(isKeyFrameNeeded: needsKeyFrame, sinceSent: silence(time.now))
  }
}

// MARK: The queue

extension FrameOutput {
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

  /// Queues the finished access unit of a frame, and waits for room if upstream is not live.
  ///
  /// - Parameters:
  ///   - runningTime: at which it is shown; `GST_CLOCK_TIME_NONE` for now.
  ///   - isEncodedAnew: whether a pause or a flush is not waited for here, but by the caller.
  /// - Returns: then `GST_FLOW_FLUSHING`.
  func submit(
    _ payload: FramePayload, _ permission: VideoNegotiation.Permission, at runningTime: UInt64,
    isEncodedAnew: Bool = false
  ) -> FrameOutcome {
    let grant = permission.grant
    guard let rtp = packetize(payload, for: grant, at: runningTime) else { return abandon(payload, .noPicture) }
    while true {
      let submission = connection.video.submit(
        payload, grantEpoch: grant.epoch, blocking: !isUpstreamLive, samplesLink: isUpstreamLive)
      switch submission.result {
      case .queued:
        noteQueued(grant, rtp, at: submission.time)
        if isUpstreamLive { observe(submission.link, permission.targets) }
        return .queued
      case .full: return abandon(payload, .queueFull)
      case .ending, .closed, .stale: return abandon(payload, .notStreaming)
      case .flushing:
        if isEncodedAnew { return abandon(payload, .discarded, GST_FLOW_FLUSHING) }
        // The path is kept: no other frame may overtake an encoded one.
        let result = gst_base_sink_wait_preroll(sink.baseSink)
        guard result == GST_FLOW_OK else { return abandon(payload, .discarded, result) }
        // A decoder that was closed in the pause begins with a key frame.
        if !payload.isKeyFrame, silence(time.now) >= Self.decoderTimeout { return abandon(payload, .notStreaming) }
      }
    }
  }

  /// A frame that others depend on is lost, so the next one must be a key frame.
  private func abandon(
    _ payload: FramePayload, _ reason: FrameDropReason, _ result: GstFlowReturn = GST_FLOW_OK
  ) -> FrameOutcome {
    giveBack(payload)
    needsKeyFrame = true
    return .dropped(reason, result)
  }

  /// Queues a payload if there is room, on any thread. If not, the next one that is encoded here must be a key frame.
  ///
  /// - Parameters:
  ///   - runningTime: at which it is shown; `GST_CLOCK_TIME_NONE` for now.
  ///   - countedTime: when it counts as sent; nil for the time at which it is queued.
  ///   - isLast: whether no picture of this service follows.
  /// - Returns: why it is not queued; nil if it is.
  func submitNow(
    _ payload: FramePayload, _ grant: VideoGrant, at runningTime: UInt64 = .max, countedAt countedTime: Duration? = nil,
    isLast: Bool = false
  ) -> FrameDropReason? {
    let kind = payload.kind
    guard let rtp = packetize(payload, for: grant, at: runningTime, isLast: isLast) else {
      return abandonNow(payload, .noPicture)
    }
    let submission = connection.video.submit(
      payload, grantEpoch: grant.epoch, blocking: false, samplesLink: false)
    guard submission.result == .queued else {
      return abandonNow(payload, submission.result == .full ? .queueFull : .notStreaming)
    }
    if kind == .notice { self.rtp = rtp } else { noteQueued(grant, rtp, at: countedTime ?? submission.time) }
    return nil
  }

  /// The encoder's next pictures would refer to one that the decoder never gets.
  private func abandonNow(_ payload: FramePayload, _ reason: FrameDropReason) -> FrameDropReason {
    if !isInputEncoded, payload.kind != .notice { needsKeyFrame = true }
    giveBack(payload)
    return reason
  }

  private func noteQueued(_ grant: VideoGrant, _ rtp: RTPStream, at time: Duration) {
    self.rtp = rtp
    needsKeyFrame = false
    // Not the present time: this thread may have waited since.
    lastSent = time
    if let warning = pixelWarning.take() { announce(.warning(warning)) }
    guard queuedEpoch != grant.epoch else { return }
    queuedEpoch = grant.epoch
    results.firstOfService = grant
  }

  /// Puts an access unit into the form that the head unit expects.
  ///
  /// - Returns: the RTP numbering after it, to be kept once it is queued; nil when there is nothing to send.
  private func packetize(
    _ payload: FramePayload, for grant: VideoGrant, at runningTime: UInt64, isLast: Bool = false
  ) -> RTPStream? {
    guard grant.streamingProtocol == .rtp else {
      if settings.movesDelimiters { payload.moveDelimiter(isLast: isLast) }
      return rtp
    }
    var stream = rtp
    let time = runningTime == .max ? nil : Duration.nanoseconds(Int64(clamping: runningTime))
    return stream.packetize(payload, for: grant, at: time, now: self.time.now) ? stream : nil
  }
}

/// The results of a use of the frame path: counted, posted and pushed once no thread has it, since the receiver may
/// flush the pipeline at once.
struct FrameResults {
  enum Announcement {
    case warning(ElementError)
    case error(ElementError)
    /// A frame is lost.
    case loss(FrameTime, isLive: Bool)
    /// Upstream may send other caps.
    case reconfigure
    /// An encoder has failed; if the next one does not take the format, upstream has to send another.
    case nextEncoder(EncoderChoice, takesFormat: Bool, EncoderError)
    case keyFrameRequest
  }

  var announcements: [Announcement] = []
  /// When the connection thread has to look at what waits; nil for no need.
  var timer: Duration?
  /// The service for which its first frame was queued.
  var firstOfService: VideoGrant?
  /// Of live H.264, whether a decoder can't show any frame yet; nil for no change.
  var lacksPicture: Bool?
  var report: (present: LinkReport, former: LinkReport?)?
  /// The encoding of a frame that is not counted with its payload: it could not be queued, or its encoder element
  /// finishes it later.
  var lostEncoding: FramePayload.Encoding?
}
