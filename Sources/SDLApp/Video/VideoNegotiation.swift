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

  /// What follows from an input, in order.
  public enum Output: Equatable, Sendable {
    /// What to request of the head unit from now on; nil for no video.
    case request(VideoStartRequest?)
    /// How the app stands to its user from now on; after the request, which depends on it.
    case appState(AppState)
    /// Which of the head unit's displays the app can stream to, for the head unit to know.
    case supportedDisplays([VideoDisplay])
    /// The application is to hear of this.
    case notify(VideoNotification)
    /// Call ``takeOutputs(at:)`` at this time; an earlier call asks for it again.
    case setTimer(at: Duration)
  }

  private struct Service {
    var grant: VideoGrant
    var since: Duration
    var isSuspended = false
    /// A frame has been sent.
    var hasRun = false
  }

  /// Updates of the size that come within this time end in one restart of the service.
  public static let settlingTime = Duration.milliseconds(100)

  private var settings: Settings
  public var pipeline = PipelineState()
  private var sessionState = StreamState.stopped
  /// Nil without a connection.
  private var hmiStatus: HMIStatus?
  private var service: Service?
  private var appState: AppState
  /// A notice should be shown when the stream is suspended: the app has been resigning since it was in the foreground
  /// last.
  public private(set) var isNoticeWanted: Bool

  private var selection = VideoSelection()
  private var upstream = VideoUpstream()
  private var resize = VideoResize()
  private var announcements = StreamAnnouncements()
  /// Those whose stream the application does not know of yet.
  private var pendingResizes: [VideoResize.Completed] = []
  /// No service is requested before this, because the head unit may go on resizing.
  private var settlesAt: Duration?

  private var outputs: [Output] = []
  private var requested: VideoStartRequest?
  /// What holds for the next frame; computed with each input, so that a frame costs nothing.
  public private(set) var permission: Permission?

  /// A stream that has not begun, of an app that stands to its user as `appState` says.
  public init(settings: Settings, appState: AppState = .foreground) {
    self.settings = settings
    self.appState = appState
    isNoticeWanted = appState == .resigning
  }

  /// What to do now, after any number of inputs.
  public mutating func takeOutputs(at now: Duration) -> [Output] {
    if let settlesAt, settlesAt <= now { self.settlesAt = nil }
    permission = usableGrant.map { Permission(grant: $0, targets: encoderTargets, frameRateLimit: frameRateLimit) }
    let request = request
    if request != requested {
      requested = request
      outputs.insert(.request(request), at: 0)
    }
    if let offered = upstream.takeIgnoredResize(now: now), pipeline.isRunning, let size = upstream.size {
      notify(.resizeIgnored(kept: size, offered: offered, .upstream))
    }
    // Each time, because a timer that is shared may have fired early for another.
    if let deadline = upstream.deadline { outputs.append(.setTimer(at: deadline)) }
    if let settlesAt { outputs.append(.setTimer(at: settlesAt)) }
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

  /// The session's, except for a notice that is still being sent, and a pipeline that is paused.
  public var streamState: StreamState { announcements.streamState(sessionState, hasGrant: hasGrant) }

  public var hasServiceEnded: Bool { sessionState == .stopped || pipeline.hasFailed }

  /// The driver does not show the app.
  public var isSuspendedByDriver: Bool { hmiStatus.map { !$0.allowsVideo } ?? false }

  private var isSuspendedBySession: Bool { service?.isSuspended ?? false }

  /// Driver or app do not want the stream now, as opposed to a head unit that is not there or not ready.
  private var isSuspended: Bool { !appState.isInForeground || isSuspendedBySession || isSuspendedByDriver }

  /// The connection is lost, and was used for a stream.
  private var isConnectionLost: Bool { announcements.wasLost && hmiStatus == nil }

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

  private var frameRateLimit: Fraction? {
    let announced = preferredFrameRate
    guard settings.encoder.frameRate != nil || announced != nil else { return nil }
    return EncoderTargets.frameRate(preferred: settings.encoder.frameRate, announced: announced)
  }

  /// The right to send pictures of the input now.
  private var usableGrant: VideoGrant? {
    // A grant for another size is about to be replaced: the input has just changed, or the head unit's choice has.
    guard let service, !service.isSuspended, appState.isInForeground, service.grant.size == upstream.size,
      upstream.isAccepted(selection) == true, !prefersAnotherSize, !upstream.expectsOutdatedFrames, !supportsNone
    else { return nil }
    return service.grant
  }

  /// The stream to request of the head unit.
  private var request: VideoStartRequest? {
    let next = nextRequest
    // What goes on as it is need not wait.
    return settlesAt == nil || heldSize != nil || next == requested ? next : nil
  }

  /// What to request once the head unit has stopped resizing.
  private var nextRequest: VideoStartRequest? {
    guard pipeline.wantsService, !pipeline.isEnded, !pipeline.isStopping, selection.isCurrent, let size = upstream.size
    else { return nil }
    if let size = heldSize ?? upstream.expectedSize { return selection.ladder.request(for: size) }
    if mustAskBeforeStopping(size) { return requested }
    guard !prefersAnotherSize, !upstream.expectsOutdatedFrames, selection.accepts(size) == true else { return nil }
    return selection.ladder.request(for: size)
  }

  /// Whether the service goes on until upstream has been asked: it need not be interrupted if upstream can't leave the
  /// size of the input, which the head unit still takes, or changes to the one that its acknowledgement has named.
  private func mustAskBeforeStopping(_ inputSize: VideoSize) -> Bool {
    guard upstream.isToBeAsked, let requested else { return false }
    if let size = selection.overridingSize { return size != inputSize && service?.grant.size == size }
    return prefersAnotherSize && selection.ladder.request(for: inputSize) == requested
  }

  /// The service of an app that is not in the foreground is kept whatever the head unit resizes; it has to begin anew
  /// only when the app is back.
  private var heldSize: VideoSize? { appState.isInForeground ? nil : service?.grant.size }
}

/// What head unit, ranges and caps say of sizes.
extension VideoNegotiation {
  /// What the head unit says of itself; before ``beginChoice(_:)`` with its displays.
  ///
  /// - Returns: the displays that can be streamed to.
  /// - Throws: when there is no format that both sides have.
  public mutating func capabilityReceived(
    _ capability: VideoStreamingCapability?, screen: VideoSize?
  ) throws(VideoProblem) -> [VideoDisplay] {
    try selection.receive(capability, screen: screen, allowed: settings.transports)
  }

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
  private mutating func replaceChoice(
    _ new: VideoChoice, asksUpstream: Bool, lostFrames: UInt64, now: Duration
  ) {
    guard selection.replace(new, allowed: settings.transports) else { return }
    upstream.choiceChanged(asks: asksUpstream)
    // Head units that change their layout often send several updates.
    if let size = service?.grant.size ?? requested?.size, selection.accepts(size) != true || prefersAnotherSize {
      settlesAt = settlesAt ?? now + Self.settlingTime
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
  public mutating func serviceStarted(_ grant: VideoGrant, now: Duration) {
    service = Service(grant: grant, since: now)
    if grant.isSizeOverridden, selection.acknowledge(grant.size, inputSize: upstream.size) {
      upstream.choiceChanged(asks: true)
    }
    announceStart()
  }

  public mutating func serviceSuspended() {
    service?.isSuspended = true
  }

  public mutating func serviceResumed() {
    service?.isSuspended = false
    announceStart()
  }

  /// - Returns: whether upstream has to be asked for other pictures now.
  public mutating func serviceStopped(_ reason: StreamStopReason, lostFrames: UInt64, now: Duration) -> Bool {
    let hadRun = service.take()?.hasRun ?? false
    // The request was taken back only until upstream has changed.
    let isResizing = pipeline.wantsService && pipeline.isRunning
    announceStop(reason == .app && isResizing ? (supportsNone ? .outOfRange : .resized) : reason)
    guard !pipeline.isStopping else { return false }
    var mustAsk = false
    if let later = selection.takeLaterChoice() {
      // The service that was kept after a resize is over: what the head unit has said since counts from now on.
      replaceChoice(later, asksUpstream: false, lostFrames: lostFrames, now: now)
      reportRejection()
      mustAsk = follow()
    } else if reason != .moved, reason != .transportLost, hadRun, selection.forgetRefusals(allowed: settings.transports)
    {
      // On the other transport it would go on as it was.
      if selection.overridingSize == nil, settings.resizePolicy != .keep { upstream.choiceChanged(asks: true) }
      mustAsk = upstream.shouldBeAsked(selection) && !supportsNone && !pipeline.isEnded
    }
    if isResizing, !mustAsk { requestPlayingIfNeeded() }
    return mustAsk
  }

  /// Video can't start, or could again.
  /// - Parameter wait: why; nil when that is over.
  public mutating func serviceWaits(_ wait: TransportWait?) {
    if let wait, pipeline.isRunning { notify(.stream(.waiting(wait))) }
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

  public mutating func sessionStateChanged(_ state: StreamState) {
    sessionState = state
  }

  public mutating func hmiStatusChanged(_ status: HMIStatus?) {
    hmiStatus = status
    if status != nil { requestPlayingIfNeeded() }
  }

  /// The connection is lost, and may be made again.
  ///
  /// - Returns: whether a stream was running.
  public mutating func connectionLost() -> Bool {
    service = nil
    hmiStatus = nil
    sessionState = .stopped
    selection.connectionLost()
    upstream.connectionLost()
    settlesAt = nil
    return announcements.connectionLost()
  }

  public mutating func appStateChanged(_ state: AppState) {
    appState = state
    if state == .resigning { isNoticeWanted = true }
    if state.isInForeground { isNoticeWanted = false }
    outputs.append(.appState(state))
    requestPlayingIfNeeded()
  }

  public mutating func settingsChanged(_ settings: Settings) {
    self.settings = settings
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
    case .drop: return .drop(announcements.hasStreamed || !appState.isInForeground ? .suspended : .notStreaming)
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
    guard let grant = service?.grant, !isSuspendedBySession, appState.isInForeground,
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
    guard !isSuspended, hmiStatus != nil, !hasGrant, pipeline.isRunning, nextRequest == nil,
      upstream.shouldBeAsked(selection), announcements.requestPlaying()
    else { return }
    notify(.stream(.requestPlaying))
  }
}
