import SDLMessages

/// The decisions of a video stream: its size, when video is requested of the head unit, what happens to each frame, and
/// the notifications of the application.
///
/// Sans-I/O, like ``AppSession``: inputs are methods that take the time, and ``takeOutputs(at:)`` returns the outputs.
/// If an input returns questions for upstream, the caller sends them, and gives the answer back with another input.
///
/// It is driven by levels: the request to the head unit depends only on the present state, not on the events that led
/// to it.
package struct VideoNegotiation: StreamNegotiation {
  /// Updates of the size within this time lead to one restart of the service.
  package static let settlingTime = Duration.milliseconds(100)

  package var settings: Settings
  package var pipeline = PipelineState()
  /// The session's status; empty without a connection.
  package private(set) var session = AppSession.Status()
  /// The frames that viewers have missed so far, as of the last input that can begin or end a resize, which tells how many
  /// it has cost.
  package var lostFrames: UInt64 = 0
  var stream = AnnouncedStream<VideoGrant>()
  /// When the service of ``stream`` was granted.
  private var grantedAt = Duration.zero
  /// The last service of which a frame was sent.
  private var lastRunEpoch: UInt32?
  private var app: AppPresence

  private var selection = VideoSelection()
  private var upstream = VideoUpstream()
  private var resize = VideoResize()
  /// Of the frames that come, a decoder can't show any yet.
  private var lacksPicture = false
  /// Completed resizes whose stream was not reported to the application yet.
  private var pendingResizes: [VideoResize.Completed] = []
  private var requests = VideoRequests()

  private var outputs: [Output] = []
  /// The permission for the next frame; computed by ``takeOutputs(at:)``, which follows each input, so that a frame costs nothing.
  package private(set) var permission: Permission?

  package init(settings: Settings, appState: AppState = .foreground) {
    self.settings = settings
    app = AppPresence(appState)
  }

  /// What to do now, after any number of inputs.
  package mutating func takeOutputs(at now: Duration) -> [Output] {
    permission = usableGrant.map { grant in
      let frameRateLimit = selection.frameRateLimit(settings.encoder, upstream.size)
      return Permission(grant: grant, targets: encoderTargets, frameRateLimit: frameRateLimit)
    }
    if requests.update(to: nextRequest, isHeld: heldSize != nil, now: now) {
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

/// The present state, and the request that follows from it.
extension VideoNegotiation {
  /// The head unit's displays as far as upstream may know them; nil while the head unit has not announced any.
  package var knownDisplays: [VideoDisplay]? { selection.knownDisplays }
  /// The displays that may be streamed to, the first choice first; nil while the head unit has not announced any, empty
  /// when it takes any size.
  package var acceptedDisplays: [VideoDisplay]? { selection.acceptedDisplays }
  package var rejectedDisplays: [VideoDisplay] { selection.rejectedDisplays }
  /// The head unit has displays, and the app supports none of them.
  package var supportsNone: Bool { selection.supportsNone }
  /// Nil before the first caps, and for H.264 whose parameter sets are yet to come.
  package var inputSize: VideoSize? { upstream.size }
  /// Also while only the frames will tell the input's size.
  package var isInputRaw: Bool { upstream.isRaw }

  /// Whether the head unit does not take upstream's present pictures: then their caps are offered as the last choice,
  /// so that the pipeline gets an error that says why.
  package var isInputRefused: Bool { upstream.isAccepted(selection) == false }

  package var permittedEpoch: UInt32? { permission?.grant.epoch }

  /// The right to send, and since when it exists.
  package var grantWithTime: (grant: VideoGrant, since: Duration)? { grant.map { ($0, grantedAt) } }

  /// A grant that is not used, because app or input are about to change.
  package var hasUnusedGrant: Bool { hasGrant && !isServiceHeld && permission == nil }

  /// A notice should be shown when the stream is suspended.
  package var isNoticeWanted: Bool { app.isNoticeWanted }

  /// The driver does not show the app.
  package var isDriverElsewhere: Bool { session.hmi.map { !$0.allowsVideo } ?? false }

  /// Driver or app do not want video now, as opposed to a head unit that is not there or not ready.
  private var isUnwanted: Bool { !app.state.isInForeground || isServiceHeld || isDriverElsewhere }

  private var prefersAnotherSize: Bool { upstream.prefersAnotherSize(selection) }

  /// Frames per second that the head unit would like for pictures of the input's size.
  package var preferredFrameRate: Int? { selection.preferredFrameRate(for: upstream.size) }

  /// The encoder's targets for pictures of the input's size.
  package var encoderTargets: EncoderTargets { encoderTargets(for: upstream.size ?? VideoSize(0, 0)) }

  package func encoderTargets(for size: VideoSize) -> EncoderTargets {
    let limits = selection.encoderLimits(for: upstream.size, grant?.transportClass)
    return EncoderTargets(preferences: settings.encoder, limits: limits, size: size)
  }

  /// The right to send pictures of the input now.
  private var usableGrant: VideoGrant? {
    // A grant for another size is about to be replaced: the input has just changed, or the head unit's choice has.
    guard let grant, serviceState == .streaming, app.state.isInForeground, grant.size == upstream.size,
      upstream.isAccepted(selection) == true, !prefersAnotherSize, !upstream.expectsOutdatedFrames, !supportsNone
    else { return nil }
    return grant
  }

  /// What to request of the head unit once it has stopped resizing.
  private var nextRequest: VideoStartRequest? {
    guard pipeline.wantsService, !pipeline.isEnded, !pipeline.isStopping else { return nil }
    return requests.next(heldSize: heldSize, grantedSize: grant?.size, selection, upstream)
  }

  /// The service of an app in the background is kept whatever the head unit resizes; it restarts only when the app is
  /// back.
  private var heldSize: VideoSize? { app.state.isInForeground ? nil : grant?.size }
}

/// Answers of ranges and caps.
extension VideoNegotiation {
  /// The choice has to be made again; nil while the head unit has not announced its displays.
  package mutating func beginChoice(_ cause: ChoiceCause) -> RangesQuestion? { selection.question(cause) }

  /// Upstream has answered.
  ///
  /// - Parameter supported: the accepted displays whose sizes upstream's caps allow.
  /// - Returns: whether to ask upstream for other pictures now, with ``upstreamQuestion``.
  /// - Throws: when the resize policy forbids the resize.
  package mutating func choose(
    _ choice: VideoChoice, supported: [VideoDisplay], _ question: RangesQuestion, now: Duration
  ) throws(VideoProblem) -> Bool {
    guard !pipeline.isStopping, let subject = selection.answered(question) else { return false }
    outputs.append(.supportedDisplays(supported))
    let former = selection.newestChoice
    selection.renewLadder(for: choice, allowed: settings.streamingProtocols, running: grant?.streamingProtocol)
    let outcome = selection.take(
      choice, settings.resizePolicy, streamSize: resize.size, grantedSize: grant?.size, isRaw: isInputRaw,
      subject)
    if outcome == .replaces {
      let staysInSize = settings.resizePolicy == .keep && resize.size != nil && resize.size == upstream.size
      replaceChoice(choice, asksUpstream: !staysInSize, now: now)
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
    if subject == .newDisplays,
      upstream.beginEncodedResize(
        formerSize: former?.sizes.first, streamSize: resize.size, settings.resizePolicy, selection, now: now)
    {
      return true
    }
    // Caps that are being set are upstream's answer.
    return !question.isOfCaps && actOnChoice()
  }

  /// - Parameter asksUpstream: whether upstream should change to the first choice if its present size is accepted.
  private mutating func replaceChoice(_ new: VideoChoice, asksUpstream: Bool, now: Duration) {
    guard selection.replace(new, allowed: settings.streamingProtocols) else { return }
    upstream.choiceChanged(asks: asksUpstream)
    if let size = grant?.size ?? requests.current?.size, selection.accepts(size) != true || prefersAnotherSize {
      requests.settle(now: now)
    }
    if upstream.shouldBeAsked(selection) {
      resize.begin(now: now, lostFrames: lostFrames)
    } else if upstream.size == resize.size {
      resize.callOff()
    }
  }

  /// Returns whether to ask upstream.
  private mutating func actOnChoice() -> Bool {
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
  package mutating func inputChanged(_ size: VideoSize?, isRaw: Bool, now: Duration) {
    guard upstream.inputChanged(size, isRaw: isRaw, selection), size != resize.size else { return }
    resize.begin(now: now, lostFrames: lostFrames)
  }

  /// The start of the stream is announced with the first picture that can be seen.
  ///
  /// - Parameter lacksPicture: whether frames of a live stream come of which a decoder can't show any yet.
  package mutating func inputChanged(lacksPicture: Bool) {
    self.lacksPicture = lacksPicture
    announceStart()
  }

  package var upstreamQuestion: UpstreamQuestion { selection.upstreamQuestion }

  /// - Parameter sizes: the accepted sizes that upstream can send, in its order of preference.
  package mutating func upstreamAnswered(_ question: UpstreamQuestion, _ sizes: [VideoSize]) -> UpstreamAnswer {
    guard question == upstreamQuestion else { return .outdated }
    let answer = upstream.answered(sizes, selection)
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

/// Inputs of session, driver, app and pipeline.
extension VideoNegotiation {
  /// The session has this status now, whatever it was before.
  ///
  /// - Throws: when both sides have no format or size in common.
  package mutating func sessionChanged(to status: AppSession.Status, now: Duration) throws(VideoProblem) -> Questions {
    let former = session
    session = status
    guard status.headUnit != nil else {
      if former.headUnit != nil { connectionLost() }
      return Questions()
    }
    var questions = Questions()
    if let end = status.video.end, end.epoch == grant?.epoch {
      questions.asksUpstream = serviceEnded(end.reason, now: now)
    }
    if let new = status.video.grant, new.epoch != grant?.epoch { try serviceStarted(new, now: now) }
    announceStart()
    if let wait = status.video.wait, wait != former.video.wait, pipeline.isRunning { notify(.waiting(wait)) }
    if let video = status.videoCapability, video != former.videoCapability {
      let (displays, leftOut) = try selection.receive(
        video.capability, screen: video.fallbackSize, allowed: settings.streamingProtocols,
        largest: settings.largestPicture)
      if let leftOut { notify(.problem(leftOut)) }
      questions.ranges = beginChoice(.headUnit(displays))
    }
    if !questions.asksUpstream, questions.ranges == nil { requestPlayingIfNeeded() }
    return questions
  }

  private mutating func serviceStarted(_ grant: VideoGrant, now: Duration) throws(VideoProblem) {
    if grant.isSizeOverridden { try selection.check(grant.size, settings.largestPicture) }
    stream.granted(grant)
    grantedAt = now
    if grant.isSizeOverridden, selection.acknowledge(grant.size, inputSize: upstream.size) {
      upstream.choiceChanged(asks: true)
    }
  }

  /// - Returns: whether upstream has to be asked for other pictures now.
  private mutating func serviceEnded(_ reason: StreamStopReason, now: Duration) -> Bool {
    let hadRun = grant?.epoch == lastRunEpoch
    // The request was taken back only until upstream has changed.
    let isResizing = pipeline.wantsService && pipeline.isRunning
    announceStop(reason == .app && isResizing ? (supportsNone ? .outOfRange : .resized) : reason)
    guard !pipeline.isStopping else { return false }
    if let later = selection.takeLaterChoice() {
      // The service that was kept after a resize is over: the head unit's new capability counts from now on.
      replaceChoice(later, asksUpstream: false, now: now)
      reportRejection()
      return actOnChoice()
    }
    // On the other transport it would continue as it was, and in another size it does.
    let continues = [.moved, .transportLost, .resized].contains(reason) || reason == .app && isResizing
    guard !continues, hadRun, selection.forgetRefusals(allowed: settings.streamingProtocols) else { return false }
    if selection.overridingSize == nil, settings.resizePolicy != .keep { upstream.choiceChanged(asks: true) }
    return upstream.shouldBeAsked(selection) && !supportsNone && !pipeline.isEnded
  }

  private mutating func connectionLost() {
    announceLoss()
    selection.connectionLost()
    upstream.connectionLost()
    requests.connectionLost()
  }

  /// A start of video has failed: try the same again later, or something else at once.
  ///
  /// - Throws: when nothing is left to request.
  package mutating func startFailed(
    _ failure: VideoStartFailure, _ request: VideoStartRequest, retryAfter: Duration?
  ) throws(VideoProblem) {
    if let retryAfter {
      let outlook = VideoProblem.Outlook.retry(after: isDriverElsewhere ? nil : retryAfter)
      return notify(.problem(.startRefused(failure, request, outlook)))
    }
    // The streaming thread asks upstream of raw video to change. Upstream of H.264 is not asked: an encoder that can't
    // change would end the pipeline with an error, before the last resort could be tried.
    selection.refuse(request, failure, fixedSize: isInputRaw ? nil : upstream.size)
    let ladder = selection.ladder
    guard !ladder.isExhausted else { throw .exhausted(failure, ladder, isInputRaw: isInputRaw) }
    let outlook = ladder.outlook(for: request, isHidden: isDriverElsewhere)
    notify(.problem(.startRefused(failure, request, .next(outlook))))
    requestPlayingIfNeeded()
  }

  package mutating func appStateChanged(_ state: AppState) {
    app.state = state
    outputs.append(.appState(state))
    requestPlayingIfNeeded()
  }

  /// A flush: frames before it do not count any more.
  package mutating func flushed() {
    upstream.flushed()
    pipeline.begin()
  }
}

/// Decisions on frames.
extension VideoNegotiation {
  /// Decides on the frame at hand. While it may not be sent it is dropped, as on a screen that is off, and the
  /// application is asked once for a pause, in PLAYING.
  package mutating func decide(_ timing: BufferTiming, now: Duration) -> FrameDecision {
    guard !hasStopped else { return .fail(nil) }
    if !isInterrupted, permission == nil, !supportsNone, isInputRefused, let decision = decideMismatch(now: now) {
      return decision
    }
    upstream.forgetMismatch()
    if isInterrupted { return .interrupted }
    return permission.map { .send($0) } ?? decideWithoutPermission(timing)
  }

  /// Nil: the frame may be sent after all, because the head unit is asked for its own choice.
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

  private mutating func decideWithoutPermission(_ timing: BufferTiming) -> FrameDecision {
    if supportsNone { return .drop(.wrongSize) }
    if prefersAnotherSize { return .askUpstream(upstreamQuestion, dropsFrame: true) }
    guard upstream.size != nil else { return .drop(.noPicture) }
    if upstream.expectsOutdatedFrames {
      if upstream.outdatedFramePassed() { upstreamStays() }
      return .drop(.notStreaming)
    }
    // The frame that asks waits for the answer: an application that pauses loses nothing.
    let asks = timing != .live && requestPause()
    // Before the driver has opened the app for the first time, nothing is suspended.
    let wasSeen = stream.hasStreamed || !app.state.isInForeground
    let reason: FrameDropReason = isUnwanted && wasSeen ? .suspended : .notStreaming
    let waits = asks || timing == .unsynchronized && pipeline.isPlaying
    return waits ? .wait(thenDrop: reason) : .drop(reason)
  }

  /// The first frame of a service is in the queue; returns whether that completes a resize.
  package mutating func firstFrameQueued(of grant: VideoGrant, now: Duration) -> Bool {
    lastRunEpoch = grant.epoch
    guard let completed = resize.sentFirst(of: grant.size, now: now, lostFrames: lostFrames) else { return false }
    // It is reported after the start of the stream.
    if stream.isStarted {
      notify(.resized(completed))
    } else {
      pendingResizes.append(completed)
    }
    return true
  }

  /// Frames of a size that the head unit does not take, at the end of the stream; nil when there were none.
  package var finalMismatch: VideoProblem? { upstream.finalMismatch(selection).map(VideoProblem.sizeMismatch) }
}

/// Notifications of the application: each change once, in order.
extension VideoNegotiation: AnnouncingNegotiation {
  var serviceStatus: AppSession.ServiceStatus<VideoGrant> { session.video }

  var suspendPolicy: SuspendPolicy { settings.suspendPolicy }

  mutating func notify(_ notification: StreamNotification) {
    notify(.stream(notification))
  }

  mutating func announceStart() {
    // A service that opens or resumes during a pause is announced when frames may be sent. A pipeline that was asked to
    // pause is asked to play on, even if the suspension was over before that.
    guard let grant, serviceState == .streaming, app.state.isInForeground,
      !pipeline.isPaused || hasRequestedPause, !lacksPicture || stream.isStarted
    else { return }
    // The frame that a paused pipeline shows has the new size already.
    let hasNewSize = resize.size != grant.size || !pendingResizes.isEmpty
    let (reason, requestsPlaying) = stream.start(hasNewSize: hasNewSize)
    if let reason { notify(.started(grant, reason: reason)) }
    for resize in pendingResizes { notify(.resized(resize)) }
    pendingResizes = []
    if requestsPlaying { notify(.requestPlaying) }
  }

  /// Frames are not sent from now on because of the app's state; the notice, if any, has been sent.
  package mutating func suspensionCompleted() {
    announceSuspension(.appState)
  }

  mutating func announceSuspension(_ reason: SuspensionReason) {
    if stream.suspend(reason) { notify(.suspended(reason: reason.rawValue)) }
  }

  mutating func announceStop(_ reason: StreamStopReason) {
    if stream.stop(reason) { notify(.stopped(reason)) }
    if reason.isFromCar { notify(.suspendedTimeBegan) }
  }

  /// A pipeline that was asked to pause has to play again if upstream must change its size before a start, or if there
  /// will be none.
  private mutating func requestPlayingIfNeeded() {
    guard !isUnwanted, session.hmi != nil, !hasGrant, pipeline.isRunning, nextRequest == nil,
      upstream.shouldBeAsked(selection) || supportsNone, stream.requestPlaying()
    else { return }
    notify(.requestPlaying)
  }
}
