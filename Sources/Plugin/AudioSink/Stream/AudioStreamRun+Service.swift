import GStreamerKit
import SDLApp
import SDLLink

/// What the app's connection reports of the head unit. On the connection thread, without locks.
extension AudioStreamRun {
  func sessionChanged(to status: AppSession.Status) {
    change { $0.sessionStateChanged(status.audioState) }
  }

  func timerFired() {
    change { _ in }
  }

  func appReported(_ event: AppSession.Event) {
    switch event {
    case .registered(let headUnit): sayAssumption(headUnit)
    case .hmiStatus(let status): change { $0.hmiStatusChanged(status) }
    case .audioStarted(let grant):
      sink.countStream { $0.starts &+= 1 }
      change { $0.serviceStarted(grant) }
    case .audioSuspended: change { $0.serviceSuspended() }
    case .audioResumed: change { $0.serviceResumed() }
    case .audioStopped(let reason): change { $0.serviceStopped(reason) }
    case .audioWaits(let wait): change { $0.serviceWaits(wait) }
    case .audioStartFailed(let failure, let retryAfter): startFailed(failure, retryAfter)
    case .sessionStarted, .videoCapability, .videoStarted, .videoSuspended, .videoResumed, .videoStopped,
      .videoStartFailed, .driverDistraction, .touch, .touchInterrupted, .hapticRectanglesRefused, .secured,
      .videoInClear, .rpcProtected, .rpcInClear, .secondaryTransportChanged, .videoWaits, .transportProblem,
      .diagnostic, .failed:
      break
    }
  }

  private func startFailed(_ failure: AudioStartFailure, _ retryAfter: Duration?) {
    sink.countStream { $0.startFailures &+= 1 }
    let hasVideo = app.elementName(of: .video) != nil
    let result = change { negotiation in
      Result { () throws(AudioProblem) in
        try negotiation.startFailed(failure, retryAfter: retryAfter, hasVideo: hasVideo)
      }
    }
    if case .failure(let problem) = result {
      unlocked { app.failConnection(ElementError(problem), sink) }
    }
  }

  func connectionLost() {
    let wasStreaming = change { $0.connectionLost() }
    if wasStreaming { sink.countStream { $0.suspended(at: time.now) } }
  }

  /// Once for each stream.
  func sayAssumption(_ headUnit: HeadUnitInfo) {
    guard headUnit.announcedPCMFormat == nil, !hasSaidAssumption.peek, !hasEnded else { return }
    hasSaidAssumption.raise()
    sink.postAssumedFormat(PCMFormat())
  }

  /// Posts one notification.
  func post(_ notification: AudioNotification) {
    switch notification {
    case .started(let grant, let reason):
      sink.countStream { $0.resumed(at: time.now) }
      sink.postStreamStarted(grant, reason: reason)
    case .stream(let notification): post(notification)
    case .stopped(let reason): sink.postStreamStopped(reason)
    case .problem(let problem): warn(ElementError(problem))
    }
  }
}
