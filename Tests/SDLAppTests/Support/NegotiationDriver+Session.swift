@testable import SDLApp

/// What head unit, session and app do.
extension NegotiationDriver {
  func show(_ level: HMILevel = .full, isStreamable: Bool = true) {
    let status = HMIStatus(level: level, videoStreamingState: isStreamable ? .streamable : .notStreamable)
    self.status = status
    change { $0.hmiStatusChanged(status) }
  }

  func setAppState(_ state: AppState) {
    appState = state
    change { $0.appStateChanged(state) }
  }

  /// Does what an ``AppSession`` does with the present request, whose head unit answers at once.
  func runSession() {
    for _ in 0..<20 where runSessionOnce() {}
  }

  /// Whether anything was done.
  private func runSessionOnce() -> Bool {
    guard let running else {
      guard let request, error == nil, status?.allowsVideo == true, appState.isInForeground else { return false }
      return start(request)
    }
    var followed = running
    followed.size = negotiation.grantWithTime?.grant.size ?? running.size
    if status?.allowsVideo != true {
      stop(.hmiStatus)
    } else if request == nil {
      stop(.app)
    } else if !appState.isInForeground {
      guard !isSuspended else { return false }
      suspend()
    } else if request != running, request != followed {
      stop(.resized)
    } else if isSuspended {
      isSuspended = false
      change { $0.serviceResumed() }
    } else {
      return false
    }
    return true
  }

  private func start(_ request: VideoStartRequest) -> Bool {
    starts.append(Self.text(request))
    guard let rejected = refusals.isEmpty ? nil : refusals.removeFirst() else {
      grant(request)
      return true
    }
    refuse(request, .refused(rejectedParameters: rejected, reason: nil))
    return self.request != request
  }

  func refuse(_ request: VideoStartRequest, _ failure: VideoStartFailure, retryAfter: Duration? = nil) {
    hasRefused = true
    do throws(VideoProblem) {
      try change { negotiation throws(VideoProblem) in
        try negotiation.startFailed(failure, request, retryAfter: retryAfter)
      }
    } catch { fail(error) }
  }

  func grant(_ request: VideoStartRequest) {
    epoch += 1
    running = request
    isSuspended = false
    var grant = VideoGrant(
      epoch: epoch, sessionID: 1, version: 5, maximumPayload: 1000, size: overridingSize ?? request.size)
    grant.isSizeOverridden = grant.size != request.size
    grant.transport = request.transport
    grant.transportClass = transportClass
    change { negotiation in
      negotiation.sessionStateChanged(.streaming)
      negotiation.serviceStarted(grant, now: now)
    }
  }

  /// The session suspends the service, and the notice is out.
  func suspend() {
    isSuspended = true
    change { $0.serviceSuspended() }
    change { $0.suspensionCompleted() }
  }

  func stop(_ reason: StreamStopReason) {
    running = nil
    isSuspended = false
    let mustAsk = change { $0.serviceStopped(reason, lostFrames: lostFrames, now: now) }
    if mustAsk { askUpstream() }
    change { $0.sessionStateChanged(.stopped) }
  }

  /// The connection breaks; the session ends the service first.
  func loseConnection() {
    if running != nil { stop(.connectionLost) }
    status = nil
    announcedTransports = []
    hasRefused = false
    change { _ = $0.connectionLost() }
  }
}
