/// What the session says of the video service, and what driver, app and pipeline do.
extension VideoNegotiation {
  public mutating func serviceStarted(_ grant: VideoGrant, now: Duration) {
    service = .granted(grant, at: now, isSuspended: false)
    hasServiceRun = false
    if grant.isSizeOverridden { override(with: grant.size) }
    announceStart()
  }

  public mutating func serviceSuspended() {
    setSuspended(true)
  }

  public mutating func serviceResumed() {
    setSuspended(false)
    announceStart()
  }

  private mutating func setSuspended(_ isSuspended: Bool) {
    guard case .granted(let grant, let time, _) = service else { return }
    service = .granted(grant, at: time, isSuspended: isSuspended)
  }

  /// - Returns: whether upstream has to be asked for other pictures now.
  public mutating func serviceStopped(_ reason: StreamStopReason, lostFrames: UInt64, now: Duration) -> Bool {
    service = .none
    // The request was taken back only until upstream has changed.
    let isResizing = isServiceWanted && isRunning
    announceStop(reason == .app && isResizing ? (supportsNone ? .outOfRange : .resized) : reason)
    guard phase != .stopping else { return false }
    let changesLater = laterChoice != nil
    var mustAsk = takeLaterChoice(lostFrames: lostFrames, now: now)
    // On the other transport it goes on as it was.
    let isMove = reason == .moved || reason == .transportLost
    if !changesLater, !isMove, hasServiceRun, ladder.hasRefusals, let choice {
      // A stream that has run proves that the head unit's mind can change: the next one begins with the first choice.
      beginLadder(choice)
      if headUnitOverride == nil, settings.resizePolicy != .keep { upstream = .toBeAsked }
      mustAsk = shouldAskUpstream && !supportsNone && !isEnded
    }
    if isResizing, !mustAsk { requestPlayingIfNeeded() }
    return mustAsk
  }

  /// Video can't start, or could again.
  /// - Parameter wait: why; nil when that is over.
  public mutating func serviceWaits(_ wait: TransportWait?) {
    if let wait, isRunning { notify(.waiting(wait)) }
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
    ladder.refused(request, failure)
    if failure.concernsSize, case .overridden(_, let choice) = displays { displays = .chosen(choice) }
    // Raw video is asked to change by who brings it. H.264 never is: an encoder that can't change ends the pipeline with an
    // error, before the last resort could be tried.
    if let input, !input.isRaw, !ladder.allows(input.size) { ladder.fixInput() }
    guard !ladder.isExhausted else { throw .exhausted(failure, ladder, isInputRaw: isInputRaw) }
    let outlook = ladder.outlook(for: request, isHidden: isSuspendedByDriver)
    notify(.problem(.startRefused(failure, request, .next(outlook))))
    requestPlayingIfNeeded()
  }

  public mutating func hmiStatusChanged(_ status: HMIStatus?) {
    hmiStatus = status
    if status != nil { requestPlayingIfNeeded() }
  }

  public mutating func appStateChanged(_ state: AppState) {
    appState = state
    if state == .resigning { wantsNotice = true }
    if state.isInForeground { wantsNotice = false }
    outputs.append(.appState(state))
    requestPlayingIfNeeded()
  }

  public mutating func settingsChanged(_ settings: Settings) {
    self.settings = settings
  }

  /// The connection is lost, and may be made again: what the next head unit takes is not known before it has spoken.
  ///
  /// - Returns: whether a stream was running.
  public mutating func connectionLost() -> Bool {
    service = .none
    hmiStatus = nil
    if case .overridden(_, let choice) = displays { displays = .chosen(choice) }
    if case .asked = upstream { upstream = .settled }
    laterChoice = nil
    encodedResize = nil
    settlesAt = nil
    isLadderOutdated = true
    sessionState = .stopped
    wasLost = hasStreamed
    areDisplaysCurrent = false
    questionCountAtLoss = questionCount
    return hasStreamed
  }
}

extension VideoNegotiation {
  /// A flush: what the frames before it were does not count any more.
  public mutating func flushed() {
    mismatch = nil
    streamBegan()
  }
}
