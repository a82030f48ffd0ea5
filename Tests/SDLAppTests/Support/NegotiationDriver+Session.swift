@testable import SDLApp

/// What head unit, session and app do.
extension NegotiationDriver {
  func show(_ level: HMILevel = .full, isStreamable: Bool = true) {
    publish {
      $0.hmi = HMIStatus(level: level, videoStreamingState: isStreamable ? .streamable : .notStreamable)
    }
  }

  /// The session's status becomes another one, and what follows is done.
  func publish(_ change: (inout AppSession.Status) -> Void) {
    session.headUnit = session.headUnit ?? Self.headUnit
    change(&session)
    tell(session)
  }

  private func tell(_ status: AppSession.Status) {
    do throws(VideoProblem) {
      let questions = try self.change { negotiation throws(VideoProblem) in
        try negotiation.sessionChanged(to: status, now: now)
      }
      if let question = questions.ranges { answer(question) }
      if questions.asksUpstream { askUpstream() }
    } catch { fail(error) }
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
      guard let request, error == nil, session.hmi?.allowsVideo == true, appState.isInForeground else { return false }
      return start(request)
    }
    var followed = running
    followed.size = negotiation.grantWithTime?.grant.size ?? running.size
    if session.hmi?.allowsVideo != true {
      stop(.hmiStatus)
    } else if request == nil {
      stop(.app)
    } else if !appState.isInForeground {
      guard !isSuspended else { return false }
      suspend()
    } else if request != running, request != followed {
      stop(.resized)
    } else if isSuspended {
      publish { $0.video.state = .streaming }
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
    let size = overridingSize ?? request.size
    let grant = VideoGrant(
      media: MediaGrant(service: .video, epoch: epoch, sessionID: 1, version: 5, maximumPayload: 1000), size: size,
      isSizeOverridden: size != request.size, streamingProtocol: request.streamingProtocol,
      transportClass: transportClass)
    publish {
      $0.video.grant = grant
      $0.video.state = .streaming
    }
  }

  /// The session suspends the service, and the notice is out.
  func suspend() {
    publish { $0.video.state = .suspended }
    change { $0.suspensionCompleted() }
  }

  /// The service that runs ends, or nothing does.
  func stop(_ reason: StreamStopReason) {
    running = nil
    publish {
      if let epoch = $0.video.grant?.epoch { $0.video.end = AppSession.ServiceEnd(epoch: epoch, reason: reason) }
      $0.video.grant = nil
      $0.video.state = .stopped
    }
  }

  /// The connection breaks; the session ends the service first, of which the negotiation may not hear by itself.
  func loseConnection(isEndTold: Bool = true) {
    if isEndTold, running != nil { stop(.connectionLost) }
    running = nil
    session = AppSession.Status()
    announcedProtocols = []
    hasRefused = false
    tell(session)
  }
}
