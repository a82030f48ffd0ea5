import SDLMessages

/// What the session says of the audio service, and what driver, app and pipeline do.
extension AudioNegotiation {
  public mutating func serviceStarted(_ grant: AudioGrant) {
    service = .granted(grant, isSuspended: false)
    isRefused = false
    announceStart()
  }

  public mutating func serviceSuspended() {
    guard let grant else { return }
    service = .granted(grant, isSuspended: true)
    announceSuspension(.notAudible)
  }

  public mutating func serviceResumed() {
    guard let grant else { return }
    service = .granted(grant, isSuspended: false)
    announceStart()
  }

  public mutating func serviceStopped(_ reason: StreamStopReason) {
    service = .none
    wasMoved = reason == .moved || reason == .transportLost
    // A service that is not wanted any more has ended because of that.
    if announcement != .none { notify(.stopped(reason == .app && isIdle ? .idle : .session(reason))) }
    announcement = .none
    if reason == .hmiStatus || reason == .headUnit { notify(.suspensionBegan) }
  }

  /// A start has failed.
  ///
  /// - Parameter hasVideo: whether the app's video goes on without sound.
  /// - Throws: when the head unit would only refuse the next one, and sound is all that the app has.
  public mutating func startFailed(
    _ failure: AudioStartFailure, retryAfter: Duration?, hasVideo: Bool = false
  ) throws(AudioProblem) {
    guard let retryAfter else {
      guard hasVideo else { throw .refused(failure, hasVideo: false) }
      isRefused = true
      return notify(.problem(.refused(failure, hasVideo: true)))
    }
    notify(.problem(.startRefused(failure, retryAfter: isSuspendedByDriver ? nil : retryAfter)))
  }

  /// Sound can't start, or could again.
  /// - Parameter wait: why; nil when that is over.
  public mutating func serviceWaits(_ wait: TransportWait?) {
    if let wait, phase == .running, !isEnded { notify(.waiting(wait)) }
  }

  public mutating func hmiStatusChanged(_ status: HMIStatus?) {
    hmiStatus = status
  }

  /// Upstream sends sound of this format from now on; nil for one that can't be sent.
  public mutating func inputChanged(_ format: PCMFormat?) {
    input = format
  }

  /// The pad was flushed: what was heard is over.
  public mutating func flushed() {
    streamBegan()
    heldSince = nil
    activity.reset()
  }

  /// Time has passed.
  public mutating func advance(now: Duration) {
    activity.elapse(now: now)
  }

  /// The connection is lost, and may be made again.
  ///
  /// - Returns: whether a stream was running.
  public mutating func connectionLost() -> Bool {
    service = .none
    hmiStatus = nil
    isRefused = false
    sessionState = .stopped
    wasLost = hasStreamed
    return hasStreamed
  }

  private var isIdle: Bool { !activity.isServiceWanted && phase != .stopping && !isEnded }
}
