import GStreamerKit
import SDLApp
import SDLLink

/// What becomes of the video stream, from the session's events to what the application is told. On the connection thread,
/// except for what pausing and playing bring about.
extension VideoSink {
  func videoStarted(_ grant: VideoGrant) {
    state.withLock { state in
      state.grant = grant
      state.grantedAt = MonotonicClock.now
      state.isHeld = false
      if grant.isSizeInsisted {
        state.insistedSize = grant.size
        state.shouldRenegotiate = true
      }
    }
    counters.withLock { $0.streamStarts += 1 }
    state.broadcast()
    enter(.streaming)
    announceStart()
    setAlarm(at: MonotonicClock.now)
  }

  func videoSuspended() {
    state.withLock { $0.isHeld = true }
    beginNotice()
  }

  func videoResumed() {
    notice.end()
    isResumed.store(true, ordering: .releasing)
    state.withLock { $0.isHeld = false }
    state.broadcast()
    announceResumption()
    setAlarm(at: MonotonicClock.now)
  }

  func videoStopped(_ reason: VideoStopReason) {
    notice.end()
    let isResizing = state.withLock { state in
      state.grant = nil
      state.isHeld = false
      return state.wantsVideo && !state.isEnded && !state.isStopping
    }
    state.broadcast()
    enter(.ready)
    // The wish was taken back only until upstream has changed.
    announceStop(reason == .app && isResizing ? .resized : reason)
  }

  func videoStateChanged(_ newState: VideoStreamState) {
    state.withLock { $0.videoState = newState }
    // The end of the input waits for this.
    state.broadcast()
    notifyStreamState()
  }

  func videoStartFailed(_ failure: VideoStartFailure, _ request: VideoWish, _ retryAfter: Duration?) {
    counters.withLock { $0.startFailures += 1 }
    let details = "requested H264 over \(request.transport.rawValue), \(request.size)"
    guard let retryAfter else {
      return failed(
        .stream(GST_STREAM_ERROR_FORMAT, "\(failure.sentence) The head unit takes another format.", details: details))
    }
    warn(
      .resource(
        GST_RESOURCE_ERROR_NOT_AUTHORIZED,
        "\(failure.sentence) Trying again in \(retryAfter.components.seconds) s, or when the driver opens the app.",
        details: details))
  }
}

/// What the application is told: each change once, in its order.
extension VideoSink {
  enum SuspensionReason: String {
    case paused
    case appState = "app-state"
  }

  private func announceStart() {
    let start = state.withLock { state -> (VideoGrant, String)? in
      // A service that opens while app or pipeline pause is announced once something may be sent.
      guard let grant = state.grant, state.appState.isInForeground, !state.isPaused || state.hasRequestedPause else {
        return nil
      }
      let reason =
        if !state.hasStreamed {
          "first-start"
        } else if state.wasLost {
          "reconnected"
        } else {
          state.lastStop == .resized ? "resized" : "restarted"
        }
      state.hasStreamed = true
      state.wasLost = false
      state.announcement = .started
      return (grant, reason)
    }
    guard let (grant, reason) = start else { return }
    announceRunning(grant, reason)
  }

  /// After a pause of the application, or of the pipeline.
  func announceResumption() {
    let resumed = state.withLock { state -> (VideoGrant, Bool)? in
      guard let grant = state.grant, !state.isHeld, !state.isPaused || state.hasRequestedPause,
        state.appState.isInForeground, state.announcement != .started
      else { return nil }
      defer { state.hasStreamed = true }
      state.announcement = .started
      return (grant, state.hasStreamed)
    }
    guard let (grant, hasStreamed) = resumed else { return }
    announceRunning(grant, hasStreamed ? "resumed" : "first-start")
  }

  private func announceRunning(_ grant: VideoGrant, _ reason: String) {
    counters.withLock { counters in
      counters.resumed(at: MonotonicClock.now)
      if reason == "resized" { counters.resizes += 1 }
    }
    postStreamStarted(grant, reason: reason)
    notifyStreamState()
    requestPlaying()
  }

  func announceSuspension(_ reason: SuspensionReason) {
    let isNews = state.withLock { state in
      guard state.grant != nil, state.announcement != .suspended else { return false }
      state.announcement = .suspended
      return true
    }
    guard isNews else { return }
    counters.withLock { $0.suspended(at: MonotonicClock.now) }
    postStreamSuspended(reason: reason.rawValue)
    notifyStreamState()
  }

  private func announceStop(_ reason: VideoStopReason) {
    let wasAnnounced = state.withLock { state in
      defer { state.announcement = .none }
      state.lastStop = reason
      return state.announcement != .none
    }
    if reason == .hmiStatus || reason == .headUnit { counters.withLock { $0.suspended(at: MonotonicClock.now) } }
    if wasAnnounced { postStreamStopped(reason) }
    notifyStreamState()
  }

  func notifyStreamState() {
    let hasChanged = state.withLock { state in
      defer { state.notifiedStreamState = state.streamState }
      return state.notifiedStreamState != state.streamState
    }
    if hasChanged { VideoSinkProperty.streamState.notify(element) }
  }
}

/// Files wait for the driver best when the whole pipeline does, as with a sound server that corks its stream.
extension VideoSink {
  /// Asks the application to pause; at most once for each suspension.
  func requestPause() {
    let isWanted = state.withLock { state in
      guard state.isSuspended, !state.hasRequestedPause else { return false }
      state.pauseRequest = .beingPosted
      return true
    }
    guard isWanted else { return }
    log(GST_LEVEL_INFO, "asking the application to pause")
    post(gst_message_new_request_state(gstElement.cast(), GST_STATE_PAUSED))
    let isOutdated = state.withLock { state in
      let isOutdated = state.pauseRequest == .outdated
      state.pauseRequest = isOutdated ? .none : .posted
      return isOutdated
    }
    if isOutdated { postPlayingRequest() }
  }

  private func requestPlaying() {
    let isDue = state.withLock { state in
      switch state.pauseRequest {
      case .none, .outdated: return false
      case .beingPosted:
        // Whoever posts it goes on with this one, so that they come in their order.
        state.pauseRequest = .outdated
        return false
      case .posted:
        state.pauseRequest = .none
        return true
      }
    }
    if isDue { postPlayingRequest() }
  }

  private func postPlayingRequest() {
    log(GST_LEVEL_INFO, "asking the application to go on")
    post(gst_message_new_request_state(gstElement.cast(), GST_STATE_PLAYING))
  }
}

extension VideoStartFailure {
  /// As a sentence.
  fileprivate var sentence: String {
    let text = description
    return text.prefix(1).uppercased() + text.dropFirst() + "."
  }
}
