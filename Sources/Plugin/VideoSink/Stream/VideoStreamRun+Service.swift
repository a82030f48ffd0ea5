import GStreamerKit
import SDLApp
import SDLLink

/// What the app's connection reports of the head unit. On the connection thread, without locks.
extension VideoStreamRun {
  func appReported(_ event: ConnectionEvent) {
    switch event {
    case .session(let event): receive(event)
    case .videoState(let videoState): change { $0.sessionStateChanged(videoState) }
    case .timerFired:
      // Outputs that had to wait for this time.
      change { _ in }
      sendWhatIsDue()
      touches.timerFired()
    case .lost, .ended: connectionLost()
    case .attempting, .resolving, .connecting, .waiting, .connected, .audioState, .roundTrip, .stalled, .headUnit: break
    }
  }

  private func receive(_ event: AppSession.Event) {
    switch event {
    case .hmiStatus(let status): change { $0.hmiStatusChanged(status) }
    case .videoCapability(let capability, let fallbackSize):
      let video = AppRun.VideoCapability(capability: capability, fallbackSize: fallbackSize)
      choose(update { $0.headUnitSpoke(video) })
    case .videoStarted(let grant):
      sink.countStream { $0.starts &+= 1 }
      change { $0.serviceStarted(grant, now: time.now) }
      connection.setTimer(at: time.now)
    case .videoSuspended:
      touches.interrupt()
      // A file that waits may now ask for a pause.
      change { $0.serviceSuspended() }
      beginNotice()
    case .videoResumed:
      notice.end()
      resumption.raise()
      change { $0.serviceResumed() }
      connection.setTimer(at: time.now)
    case .videoStopped(let reason): serviceStopped(reason)
    case .videoWaits(let wait): change { $0.serviceWaits(wait) }
    case .videoStartFailed(let failure, let request, let retryAfter): startFailed(failure, request, retryAfter)
    case .touch(let actions): touches.receive(actions)
    case .touchInterrupted: touches.interrupt()
    case .hapticRectanglesRefused(let resultCode, let info): warn(HapticRegions.refusal(resultCode, info))
    case .sessionStarted, .registered, .driverDistraction, .secured, .videoInClear, .rpcProtected, .rpcInClear,
      .audioStarted, .audioSuspended, .audioResumed, .audioStopped, .audioStartFailed, .secondaryTransportChanged,
      .audioWaits, .transportProblem, .diagnostic, .failed:
      break
    }
  }

  private func serviceStopped(_ reason: StreamStopReason) {
    notice.end()
    touches.interrupt()
    let lostFrames = sink.counters.withLock { $0.framesLost }
    let now = time.now
    let mustAsk = change { $0.serviceStopped(reason, lostFrames: lostFrames, now: now) }
    if mustAsk { askUpstream() }
  }

  /// A start of video has failed. The negotiation asks for the same again later, or for something else at once.
  private func startFailed(_ failure: VideoStartFailure, _ request: VideoStartRequest, _ retryAfter: Duration?) {
    sink.countStream { $0.startFailures &+= 1 }
    let result = change { negotiation in
      Result { () throws(VideoProblem) in
        try negotiation.startFailed(failure, request, retryAfter: retryAfter)
      }
    }
    if case .failure(let problem) = result { failConnection(problem) }
  }

  private func connectionLost() {
    notice.end()
    let wasStreaming = change { $0.connectionLost() }
    if wasStreaming { sink.countStream { $0.suspended(at: time.now) } }
    // Nothing will be encoded for a while.
    frames.withValueIfFree { $0.encoder.close() }
  }

  /// Posts one notification.
  func post(_ notification: VideoNotification) {
    switch notification {
    case .started(let grant, let reason):
      sink.countStream { $0.resumed(at: time.now) }
      sink.postStreamStarted(grant, reason: reason)
    case .stream(let notification): post(notification)
    case .stopped(let reason): sink.postStreamStopped(reason)
    case .resized(let resize): sink.postResized(resize)
    case .resizeIgnored(let kept, let offered, let reason):
      sink.log(GST_LEVEL_INFO, "the head unit resizes to \(offered), but the stream stays \(kept)")
      sink.postResizeIgnored(kept, offered, reason)
    case .problem(let problem): warn(ElementError(problem))
    }
  }
}

extension VideoNegotiation {
  /// The head unit has reported what it takes. Returns what upstream has to be asked about that; nil for nothing.
  mutating func headUnitSpoke(
    _ video: AppRun.VideoCapability
  ) -> Result<RangesQuestion?, VideoProblem> {
    Result { () throws(VideoProblem) in
      beginChoice(.headUnit(try headUnitSpoke(video.capability, screen: video.fallbackSize)))
    }
  }
}
