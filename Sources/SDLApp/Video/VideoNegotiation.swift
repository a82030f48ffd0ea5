import SDLMessages

/// The decisions of a video stream: which size is streamed, when the head unit is asked for video, what becomes of a
/// frame, and what the application hears of all that.
///
/// Sans-I/O, like ``AppSession``: inputs are methods that take the time, and ``takeOutputs(at:)`` returns what follows.
/// The caller asks upstream where an input says so, and gives the answer back with another.
///
/// It is driven by levels: whatever has happened in between, what is requested of the head unit depends only on what
/// holds now.
public struct VideoNegotiation: StreamNegotiation {
  /// What the user asked for.
  public struct Settings: Equatable, Sendable {
    public var suspendPolicy = SuspendPolicy.auto
    public var resizePolicy = ResizePolicy.renegotiate
    /// How H.264 may be carried, in order of preference; nil leaves it to the head unit.
    public var transports: [VideoTransport]?
    public var encoder = EncoderPreferences()

    /// The defaults of the element.
    public init() {}
  }

  /// From its grant until the application hears of its end.
  private struct Service {
    var grant: VideoGrant
    var since: Duration
    /// A frame has been sent.
    var hasRun = false
  }

  /// Updates of the size that come within this time end in one restart of the service.
  public static let settlingTime = Duration.milliseconds(100)

  public var settings: Settings
  public var pipeline = PipelineState()
  /// What holds in the session; empty without a connection.
  public private(set) var session = AppSession.Status()
  private var service: Service?
  private var app: AppPresence

  private var selection = VideoSelection()
  private var upstream = VideoUpstream()
  private var resize = VideoResize()
  private var announcements = StreamAnnouncements()
  /// Those whose stream the application does not know of yet.
  private var pendingResizes: [VideoResize.Completed] = []
  private var requests = VideoRequests()

  private var outputs: [Output] = []
  /// What holds for the next frame; computed with each input, so that a frame costs nothing.
  public private(set) var permission: Permission?

  /// A stream that has not begun, of an app that stands to its user as `appState` says.
  public init(settings: Settings, appState: AppState = .foreground) {
    self.settings = settings
    app = AppPresence(appState)
  }

  /// What to do now, after any number of inputs.
  public mutating func takeOutputs(at now: Duration) -> [Output] {
    permission = usableGrant.map { grant in
      let frameRateLimit = selection.frameRateLimit(settings.encoder, upstream.size)
      return Permission(grant: grant, targets: encoderTargets, frameRateLimit: frameRateLimit)
    }
    if requests.follow(nextRequest, isHeld: heldSize != nil, now: now) {
      outputs.insert(.request(requests.current), at: 0)
    }
    if let offered = upstream.takeIgnoredResize(now: now), pipeline.isRunning, let size = upstream.size {
      notify(.resizeIgnored(kept: size, offered: offered, .upstream))
    }
    // Each time, because a timer that is shared may have fired early for another.
    if let deadline = upstream.deadline.earlier(requests.deadline) { outputs.append(.setTimer(at: deadline)) }
    defer { outputs = [] }
    return outputs
  }

  private mutating func notify(_ notification: VideoNotification) {
    outputs.append(.notify(notification))
  }
}

/// What holds now, and what is requested because of it.
extension VideoNegotiation {
  /// What upstream may know of the head unit, beyond caps; nil while it has not said.
  public var knownDisplays: [VideoDisplay]? { selection.knownDisplays }
  /// What may be streamed, the first choice first; nil while the head unit has not said, empty when it takes any size.
  public var acceptedDisplays: [VideoDisplay]? { selection.acceptedDisplays }
  /// What ranges reject.
  public var rejectedDisplays: [VideoDisplay] { selection.rejectedDisplays }
  /// The head unit has displays, and the app supports none of them.
  public var supportsNone: Bool { selection.supportsNone }
  /// Nil before the first caps, and for H.264 whose parameter sets are yet to come.
  public var inputSize: VideoSize? { upstream.size }
  /// Also while only the frames will tell the input's size.
  public var isInputRaw: Bool { upstream.isRaw }

  /// Whether what upstream sends now is what the head unit does not take: then its caps are offered as the last choice,
  /// so that the pipeline gets an error that says why.
  public var isInputRefused: Bool { upstream.isAccepted(selection) == false }

  public var hasGrant: Bool { service != nil }

  /// The right to send, and since when it is there.
  public var grantWithTime: (grant: VideoGrant, since: Duration)? { service.map { ($0.grant, $0.since) } }

  /// A grant that is not used, because app or input are about to change.
  public var hasUnusedGrant: Bool { hasGrant && !isSuspendedBySession && permission == nil }

  /// A notice should be shown when the stream is suspended.
  public var isNoticeWanted: Bool { app.isNoticeWanted }

  /// The session's, except for a notice that is still being sent, and a pipeline that is paused.
  public var streamState: StreamState { announcements.streamState(session.videoState, hasGrant: hasGrant) }

  public var serviceState: StreamState { session.videoState }

  /// The driver does not show the app.
  public var isSuspendedByDriver: Bool { session.hmi.map { !$0.allowsVideo } ?? false }

  private var isSuspendedBySession: Bool { session.videoState == .suspended }

  /// Driver or app do not want the stream now, as opposed to a head unit that is not there or not ready.
  private var isSuspended: Bool { !app.state.isInForeground || isSuspendedBySession || isSuspendedByDriver }

  /// The connection is lost, and was used for a stream.
  private var isConnectionLost: Bool { announcements.wasLost && session.hmi == nil }

  private var prefersAnotherSize: Bool { upstream.prefersAnotherSize(selection) }

  /// Frames per second that the head unit would like for pictures of the input's size.
  public var preferredFrameRate: Int? { selection.preferredFrameRate(for: upstream.size) }

  /// What the encoder aims at, for pictures of the input's size.
  public var encoderTargets: EncoderTargets { encoderTargets(for: upstream.size ?? VideoSize(0, 0)) }

  /// What an encoder for pictures of `size` aims at.
  public func encoderTargets(for size: VideoSize) -> EncoderTargets {
    let limits = selection.encoderLimits(for: upstream.size, service?.grant.transportClass)
    return EncoderTargets(preferences: settings.encoder, limits: limits, size: size)
  }

  /// The right to send pictures of the input now.
  private var usableGrant: VideoGrant? {
    // A grant for another size is about to be replaced: the input has just changed, or the head unit's choice has.
    guard let service, session.videoState == .streaming, app.state.isInForeground, service.grant.size == upstream.size,
      upstream.isAccepted(selection) == true, !prefersAnotherSize, !upstream.expectsOutdatedFrames, !supportsNone
    else { return nil }
    return service.grant
  }

  /// What to request of the head unit once it has stopped resizing.
  private var nextRequest: VideoStartRequest? {
    guard pipeline.wantsService, !pipeline.isEnded, !pipeline.isStopping else { return nil }
    return requests.next(heldSize: heldSize, grantedSize: service?.grant.size, selection, upstream)
  }

  /// The service of an app that is not in the foreground is kept whatever the head unit resizes; it has to begin anew
  /// only when the app is back.
  private var heldSize: VideoSize? { app.state.isInForeground ? nil : service?.grant.size }
}

/// What ranges and caps say of sizes.
extension VideoNegotiation {
  /// The choice has to be made anew; nil when the head unit has not said yet what it shows.
  public mutating func beginChoice(_ cause: ChoiceCause) -> RangesQuestion? { selection.question(cause) }

  /// Upstream has answered.
  ///
  /// - Parameters:
  ///   - supported: the accepted displays that upstream's caps allow pictures for.
  ///   - lostFrames: all frames so far that were not sent.
  /// - Returns: whether upstream has to be asked for other pictures now, with ``upstreamQuestion``.
  /// - Throws: when the resize policy forbids what follows.
  public mutating func choose(
    _ choice: VideoChoice, supported: [VideoDisplay], _ question: RangesQuestion, lostFrames: UInt64, now: Duration
  ) throws(VideoProblem) -> Bool {
    guard !pipeline.isStopping, selection.isAnswered(question) else { return false }
    outputs.append(.supportedDisplays(supported))
    let former = selection.newestChoice
    selection.renewLadder(for: choice, allowed: settings.transports, running: service?.grant.transport)
    let outcome = selection.take(
      choice, settings.resizePolicy, streamSize: resize.size, grantedSize: service?.grant.size, isRaw: isInputRaw,
      isOfHeadUnit: question.isOfHeadUnit)
    if outcome == .replaces {
      let staysInSize = settings.resizePolicy == .keep && resize.size != nil && resize.size == upstream.size
      replaceChoice(choice, asksUpstream: !staysInSize, lostFrames: lostFrames, now: now)
    }
    reportRejection()
    switch outcome {
    case .unchanged: return false
    case .kept(let kept, let offered):
      notify(.resizeIgnored(kept: kept, offered: offered, .policy))
      return false
    case .forbidden(let size, let offered): throw .resizeForbidden(from: size, to: offered)
    case .updated, .replaces: break
    }
    if question.isOfHeadUnit,
      upstream.beginEncodedResize(
        formerSize: former?.sizes.first, streamSize: resize.size, settings.resizePolicy, selection, now: now)
    {
      return true
    }
    // Caps that are being taken are upstream's answer.
    return !question.isOfCaps && follow()
  }

  /// - Parameter asksUpstream: whether upstream should change to the first choice if its present size is accepted.
  private mutating func replaceChoice(_ new: VideoChoice, asksUpstream: Bool, lostFrames: UInt64, now: Duration) {
    guard selection.replace(new, allowed: settings.transports) else { return }
    upstream.choiceChanged(asks: asksUpstream)
    if let size = service?.grant.size ?? requests.current?.size, selection.accepts(size) != true || prefersAnotherSize {
      requests.settle(now: now)
    }
    if upstream.shouldBeAsked(selection) {
      resize.begin(now: now, lostFrames: lostFrames)
    } else if upstream.size == resize.size {
      resize.callOff()
    }
  }

  /// Goes after the present choice; whether upstream has to be asked.
  private mutating func follow() -> Bool {
    guard upstream.shouldBeAsked(selection), !supportsNone else {
      requestPlayingIfNeeded()
      return false
    }
    return true
  }

  /// Tells the application, once, why no display is supported.
  private mutating func reportRejection() {
    if let reason = selection.takeRejection() { notify(.problem(.noSupportedDisplay(reason))) }
  }

  /// Upstream sends other pictures from now on.
  ///
  /// - Parameter size: nil for H.264 whose caps do not tell; its parameter sets will.
  public mutating func inputChanged(_ size: VideoSize?, isRaw: Bool, lostFrames: UInt64, now: Duration) {
    guard upstream.inputChanged(size, isRaw: isRaw, selection), size != resize.size else { return }
    resize.begin(now: now, lostFrames: lostFrames)
  }

  /// What to ask upstream now.
  public var upstreamQuestion: UpstreamQuestion { selection.upstreamQuestion }

  /// - Parameters:
  ///   - sizes: what upstream can send of what is accepted, in the order in which it would choose.
  ///   - isFinal: whatever upstream has answered, the pictures come from where there is only one size, such as a file.
  public mutating func upstreamAnswered(
    _ question: UpstreamQuestion, _ sizes: [VideoSize], isFinal: Bool = false
  ) -> UpstreamAnswer {
    guard question == upstreamQuestion else { return .outdated }
    let answer = upstream.answered(sizes, isFinal: isFinal, selection)
    if answer == .stays, upstream.isAccepted(selection) == true { upstreamStays() }
    requestPlayingIfNeeded()
    return answer
  }

  /// Upstream of raw video stays in its size, which is accepted.
  private mutating func upstreamStays() {
    if resize.isUnderWay, let size = upstream.size, let preferred = selection.preferredSize, preferred != size {
      notify(.resizeIgnored(kept: size, offered: preferred, .upstream))
    }
    resize.callOff()
  }
}

/// What session, driver, app and pipeline do.
extension VideoNegotiation {
  /// The session has this status now, whatever it was before.
  ///
  /// - Parameter lostFrames: all frames so far that were not sent.
  /// - Throws: when there is no format that both sides have.
  public mutating func sessionChanged(
    to status: AppSession.Status, lostFrames: UInt64, now: Duration
  ) throws(VideoProblem) -> Questions {
    let former = session
    session = status
    guard status.headUnit != nil else {
      if former.headUnit != nil { connectionLost() }
      return Questions()
    }
    var questions = Questions()
    if let end = status.videoEnd, end.epoch == service?.grant.epoch {
      questions.asksUpstream = serviceEnded(end.reason, lostFrames: lostFrames, now: now)
    }
    if let grant = status.videoGrant, grant.epoch != service?.grant.epoch { serviceStarted(grant, now: now) }
    announceStart()
    if let wait = status.videoWait, wait != former.videoWait, pipeline.isRunning { notify(.stream(.waiting(wait))) }
    if let video = status.video, video != former.video {
      let displays = try selection.receive(video.capability, screen: video.fallbackSize, allowed: settings.transports)
      questions.ranges = beginChoice(.headUnit(displays))
    }
    if !questions.asksUpstream, questions.ranges == nil { requestPlayingIfNeeded() }
    return questions
  }

  private mutating func serviceStarted(_ grant: VideoGrant, now: Duration) {
    service = Service(grant: grant, since: now)
    if grant.isSizeOverridden, selection.acknowledge(grant.size, inputSize: upstream.size) {
      upstream.choiceChanged(asks: true)
    }
  }

  /// - Returns: whether upstream has to be asked for other pictures now.
  private mutating func serviceEnded(_ reason: StreamStopReason, lostFrames: UInt64, now: Duration) -> Bool {
    let hadRun = service.take()?.hasRun ?? false
    // The request was taken back only until upstream has changed.
    let isResizing = pipeline.wantsService && pipeline.isRunning
    announceStop(reason == .app && isResizing ? (supportsNone ? .outOfRange : .resized) : reason)
    guard !pipeline.isStopping else { return false }
    if let later = selection.takeLaterChoice() {
      // The service that was kept after a resize is over: what the head unit has said since counts from now on.
      replaceChoice(later, asksUpstream: false, lostFrames: lostFrames, now: now)
      reportRejection()
      return follow()
    }
    // On the other transport it would go on as it was.
    guard reason != .moved, reason != .transportLost, hadRun, selection.forgetRefusals(allowed: settings.transports)
    else { return false }
    if selection.overridingSize == nil, settings.resizePolicy != .keep { upstream.choiceChanged(asks: true) }
    return upstream.shouldBeAsked(selection) && !supportsNone && !pipeline.isEnded
  }

  /// It may be made again.
  private mutating func connectionLost() {
    if service.take() != nil { announceStop(.connectionLost) }
    selection.connectionLost()
    upstream.connectionLost()
    requests.connectionLost()
    if announcements.connectionLost() { notify(.stream(.suspensionBegan)) }
  }

  /// A start of video has failed: the same again later, or something else at once.
  ///
  /// - Throws: when nothing is left to request.
  public mutating func startFailed(
    _ failure: VideoStartFailure, _ request: VideoStartRequest, retryAfter: Duration?
  ) throws(VideoProblem) {
    if let retryAfter {
      let outlook = VideoProblem.Outlook.retry(after: isSuspendedByDriver ? nil : retryAfter)
      return notify(.problem(.startRefused(failure, request, outlook)))
    }
    // Raw video is asked to change by what brings it. H.264 never is: an encoder that can't change ends the pipeline
    // with an error, before the last resort could be tried.
    selection.refuse(request, failure, fixedSize: isInputRaw ? nil : upstream.size)
    let ladder = selection.ladder
    guard !ladder.isExhausted else { throw .exhausted(failure, ladder, isInputRaw: isInputRaw) }
    let outlook = ladder.outlook(for: request, isHidden: isSuspendedByDriver)
    notify(.problem(.startRefused(failure, request, .next(outlook))))
    requestPlayingIfNeeded()
  }

  public mutating func appStateChanged(_ state: AppState) {
    app.state = state
    outputs.append(.appState(state))
    requestPlayingIfNeeded()
  }

  public mutating func played() {
    pipeline.play()
    announceStart()
  }

  public mutating func paused() {
    if pipeline.pause() { announceSuspension(.paused) }
  }

  /// A flush: what the frames before it were does not count any more.
  public mutating func flushed() {
    upstream.forgetMismatch()
    pipeline.begin()
  }

  /// Upstream that has to change first can only do so after its first frame.
  public mutating func decidePreroll(isLive: Bool) -> PrerollDecision {
    let isReady =
      permission != nil || upstream.size == nil || isInputRefused || prefersAnotherSize
      || upstream.expectsOutdatedFrames || supportsNone && settings.suspendPolicy != .block
    return pipeline.decidePreroll(mayWait: !isLive && settings.suspendPolicy != .drop && !isReady)
  }
}

/// What becomes of each frame.
extension VideoNegotiation {
  /// Decides on the frame at hand. What the driver or the app suspend is subject to the policy; for a head unit that is
  /// not ready live sources never wait, and files always do.
  public mutating func decide(isLive: Bool, now: Duration) -> FrameDecision {
    guard !hasStopped else { return .fail(nil) }
    // An element that is asked for PLAYING by itself completes that within GstBaseSink, once its first frame is there.
    if pipeline.isPrerolling { played() }
    if !isInterrupted, permission == nil, !supportsNone, isInputRefused, let decision = decideMismatch(now: now) {
      return decision
    }
    upstream.forgetMismatch()
    if isInterrupted { return .interrupted }
    return permission.map { .send($0) } ?? decideWithoutPermission(isLive: isLive)
  }

  /// Nil: the frame may be sent after all, because the head unit is asked for what it wants.
  private mutating func decideMismatch(now: Duration) -> FrameDecision? {
    switch upstream.decideMismatch(selection, now: now) {
    case .ask: return .askUpstream(upstreamQuestion, dropsFrame: false)
    case .drop: return .drop(.wrongSize)
    case .giveUp(let mismatch):
      guard selection.keepRefused(upstream.size) else { return .fail(.sizeMismatch(mismatch)) }
      upstream.choiceChanged(asks: false)
      return nil
    }
  }

  private mutating func decideWithoutPermission(isLive: Bool) -> FrameDecision {
    let policy = settings.suspendPolicy.resolved(isLive: isLive)
    if supportsNone { return policy == .block ? .wait : .drop(.wrongSize) }
    if prefersAnotherSize { return .askUpstream(upstreamQuestion, dropsFrame: true) }
    guard upstream.size != nil else { return .drop(.noPicture) }
    if upstream.expectsOutdatedFrames {
      if upstream.outdatedFramePassed() { upstreamStays() }
      return .drop(.notStreaming)
    }
    if !isSuspended {
      guard !isLive else { return .drop(.notStreaming) }
      // Sound would run ahead of a picture that waits for the connection.
      guard isConnectionLost, policy == .requestPause else { return .wait }
    }
    switch policy {
    case .auto, .block: return .wait
    // Before the driver has ever opened the app, nothing has been suspended.
    case .drop: return .drop(announcements.hasStreamed || !app.state.isInForeground ? .suspended : .notStreaming)
    case .requestPause: return requestPause() ? .pauseRequested : .wait
    }
  }

  /// The first frame of a service is in the queue, which may complete a resize; whether it has.
  public mutating func firstFrameQueued(of grant: VideoGrant, lostFrames: UInt64, now: Duration) -> Bool {
    service?.hasRun = true
    guard let completed = resize.sentFirst(of: grant.size, now: now, lostFrames: lostFrames) else { return false }
    // The application hears of it after the start of the stream.
    if announcements.isStarted {
      notify(.resized(completed))
    } else {
      pendingResizes.append(completed)
    }
    return true
  }

  /// Frames of a size that the head unit does not take, at the end of the stream; nil when there were none.
  public var finalMismatch: VideoProblem? { upstream.finalMismatch(selection).map(VideoProblem.sizeMismatch) }
}

/// What the application hears of the stream: each change once, and in their order.
extension VideoNegotiation {
  private mutating func announceStart() {
    // What opens or resumes during a pause is announced when something may be sent. A pipeline that was asked to pause
    // is asked to play on, even if the suspension was over before it heard of it.
    guard let grant = service?.grant, session.videoState == .streaming, app.state.isInForeground,
      !pipeline.isPaused || announcements.hasRequestedPause
    else { return }
    let (reason, requestsPlaying) = announcements.start(hasNewSize: resize.size != grant.size)
    if let reason { notify(.started(grant, reason: reason)) }
    for resize in pendingResizes { notify(.resized(resize)) }
    pendingResizes = []
    if requestsPlaying { notify(.stream(.requestPlaying)) }
  }

  /// Frames are not sent from now on because of the app's state; the notice, if there was one, is out.
  public mutating func suspensionCompleted() {
    announceSuspension(.appState)
  }

  private mutating func announceSuspension(_ reason: SuspensionReason) {
    if hasGrant, announcements.suspend(reason) { notify(.stream(.suspended(reason: reason.rawValue))) }
  }

  private mutating func announceStop(_ reason: StreamStopReason) {
    if announcements.stop(reason) { notify(.stopped(reason)) }
    if reason == .hmiStatus || reason == .headUnit { notify(.stream(.suspensionBegan)) }
  }

  /// Asks the application to pause if the suspension is certain, and the first for this stream; whether it does. A flip
  /// of the app's state that the session has not seen may be over before it does.
  private mutating func requestPause() -> Bool {
    guard isSuspended || isConnectionLost, !hasGrant || isSuspendedBySession, announcements.requestPause() else {
      return false
    }
    notify(.stream(.requestPause))
    return true
  }

  /// A pipeline that was asked to pause has to play again, if upstream must change before anything can start.
  private mutating func requestPlayingIfNeeded() {
    guard !isSuspended, session.hmi != nil, !hasGrant, pipeline.isRunning, nextRequest == nil,
      upstream.shouldBeAsked(selection), announcements.requestPlaying()
    else { return }
    notify(.stream(.requestPlaying))
  }
}
