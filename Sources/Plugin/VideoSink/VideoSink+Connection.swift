import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink

/// News from the connection's thread. It comes without any lock held.
extension VideoSink: AppConnectionObserver {
  func connection(_ connection: AppConnection, didReport event: ConnectionEvent) {
    // An application may stop and let go of the pipeline in a callback of this very thread, which is not waited for:
    // during this one the element is kept, and after the end it is not touched.
    guard state.withLock({ $0.connection === connection }) else { return }
    gst_object_ref(element)
    defer { gst_object_unref(element) }
    switch event {
    case .attempting:
      state.withLock { $0.attemptBegan = MonotonicClock.now }
      counters.withLock { $0.attempts += 1 }
    case .resolving(let host):
      enter(.resolving)
      postProgress(GST_PROGRESS_TYPE_CONTINUE, "Resolving \(host)")
    case .connecting(let address):
      enter(.connecting)
      postProgress(GST_PROGRESS_TYPE_CONTINUE, "Connecting to \(address)")
    case .connected(let peer):
      state.withLock { state in
        state.peer = peer
        state.isConnected = true
      }
      enter(.registering)
      postProgress(GST_PROGRESS_TYPE_CONTINUE, "Connected to \(peer), starting a session")
    case .session(let event): receive(event)
    case .videoState(let newState): videoStateChanged(newState)
    case .roundTrip(let time): counters.withLock { $0.roundTrip = time }
    case .timerFired:
      alarmRang()
      touchAlarmRang()
    case .stalled(let time):
      warn(
        .resource(
          GST_RESOURCE_ERROR_WRITE,
          "The head unit has not read anything for \(time.components.seconds) s: live video is dropped, files wait. Is its software still running?"
        ))
    case .headUnit(let event): receive(event)
    case .lost(let failure, let pause): connectionLost(failure, retryAfter: pause)
    case .ended(let failure): connectionEnded(failure)
    }
  }

  func enter(_ newState: ConnectionState) {
    let changed = state.withLock { state in
      guard !state.isFailing, state.connectionState != newState else { return false }
      state.connectionState = newState
      return true
    }
    if changed { VideoSinkProperty.connectionState.notify(element) }
  }

  private func receive(_ event: AppSession.Event) {
    switch event {
    case .sessionStarted(let version):
      postProgress(GST_PROGRESS_TYPE_CONTINUE, "Registering the app over SDL protocol \(version)")
    case .registered(let headUnit): registered(headUnit)
    case .hmiStatus(let status): statusChanged(status)
    case .videoCapability(let capability, let fallbackSize): capabilityChanged(capability, fallbackSize)
    case .videoStarted(let grant): videoStarted(grant)
    case .videoSuspended: videoSuspended()
    case .videoResumed: videoResumed()
    case .videoStopped(let reason): videoStopped(reason)
    case .videoStartFailed(let failure, let request, let retryAfter):
      videoStartFailed(failure, request, retryAfter)
    case .driverDistraction(let distraction):
      postDriverDistraction(distraction)
      changeLockScreen { $0.receive(distraction) }
    case .touch(let actions): touched(actions)
    case .touchInterrupted: interruptTouches()
    case .hapticRectanglesRefused(let resultCode, let info): hapticRectanglesRefused(resultCode, info)
    case .diagnostic(let text): log(GST_LEVEL_WARNING, text)
    case .failed: break  // What comes of it follows with the connection's end.
    }
  }

  private func statusChanged(_ status: HMIStatus) {
    state.withLock { $0.hmiStatus = status }
    // A driver who leaves the app changes what becomes of frames that wait.
    state.broadcast()
    log(GST_LEVEL_INFO, "HMI level \(status.level?.rawValue ?? "?"), \(status.videoStreamingState.rawValue)")
    VideoSinkProperty.hmiLevel.notify(element)
    postHMIStatus(status)
    changeLockScreen { $0.receive(status) }
    letUpstreamChange()
  }

  private func changeLockScreen(_ change: (inout LockScreen) -> Void) {
    let changed = state.withLock { state -> LockScreen? in
      let before = state.lockScreen.status
      change(&state.lockScreen)
      return state.lockScreen.status == before ? nil : state.lockScreen
    }
    if let changed { postLockScreen(changed) }
  }

  private func registered(_ headUnit: HeadUnitInfo) {
    let (peer, connectTime) = state.withLock { state in
      state.headUnit = headUnit
      return (state.peer, MonotonicClock.now - state.attemptBegan)
    }
    counters.withLock { $0.registered(after: connectTime) }
    enter(.ready)
    endProgress(GST_PROGRESS_TYPE_COMPLETE, "Registered with \(headUnit.name)")
    postConnected(headUnit, peer: peer)
    VideoSinkProperty.headUnit.notify(element)
  }

  private func capabilityChanged(_ capability: VideoStreamingCapability?, _ fallbackSize: VideoSize?) {
    let wished = settings.withLock { $0.videoFormats?.transports }
    func isUsable(_ formats: [VideoStreamingFormat]?) -> Bool {
      !VideoTransport.choices(offered: formats, wished: wished).isEmpty
    }
    let displays = VideoDisplay.displays(of: capability, screen: fallbackSize)
    let usable = displays.filter { isUsable($0.formats) }
    guard displays.isEmpty ? isUsable(capability?.supportedFormats) : !usable.isEmpty else {
      return noCommonFormat(capability?.supportedFormats ?? [], wished)
    }
    state.withLock { state in
      state.headUnit?.videoCapability = capability
      state.wishedTransports = wished
    }
    choose(.headUnit(usable))
    VideoSinkProperty.headUnit.notify(element)
  }

  /// The built-in head unit speaks up when the stream breaks a rule: that is what it is for.
  private func receive(_ event: HeadUnitSession.Event) {
    switch event {
    case .violation(let violation):
      warn(.stream(GST_STREAM_ERROR_FORMAT, "The built-in head unit found fault with the stream: \(violation)"))
    default: break
    }
  }

  /// The connection will be made again; the pipeline stays as it is.
  private func connectionLost(_ failure: ConnectionFailure, retryAfter pause: Duration) {
    let last = forgetConnection(.reconnecting, failure)
    let text = ElementError(failure, wasStreaming: last.hasStreamed).text
    let retry = "Connecting again in \(pause.inSeconds) s."
    endProgress(GST_PROGRESS_TYPE_ERROR, text)
    // Once for each loss, not for each attempt.
    if last.isConnected {
      warn(.resource(GST_RESOURCE_ERROR_WRITE, "\(text) \(retry)"))
      postDisconnected(reason: "\(failure)", retryAfter: pause)
    }
    state.withLock { $0.isInProgress = true }
    postProgress(GST_PROGRESS_TYPE_START, retry)
  }

  private func connectionEnded(_ failure: ConnectionFailure?) {
    if let failure { failed(ElementError(failure, wasStreaming: state.withLock { $0.hasStreamed })) }
    let last = forgetConnection(.idle, failure)
    guard last.isConnected else { return }
    // After an error the sink itself has ended the connection.
    let reason = failure.map { "\($0)" } ?? (last.isFailing ? counters.withLock { $0.lastError } : nil)
    postDisconnected(reason: reason ?? "closed by the app", retryAfter: nil)
  }

  /// What was, before it is forgotten.
  private func forgetConnection(_ newState: ConnectionState, _ failure: ConnectionFailure?) -> VideoSinkState {
    let last = state.withLock { state in
      defer {
        state.grant = nil
        state.isHeld = false
        state.isConnected = false
        state.hmiStatus = nil
        state.insistedDisplay = nil
        state.framesBeforeWish = 0
        state.expectedSize = nil
        state.laterChoice = nil
        state.isLadderOutdated = true
        state.videoState = .stopped
        state.wasLost = state.hasStreamed
        // Lest the size that the last head unit took be asked for before the next one has spoken.
        state.areDisplaysCurrent = false
      }
      return state
    }
    counters.withLock { counters in
      guard let failure else { return }
      counters.lastError = "\(failure)"
      if last.hasStreamed { counters.suspended(at: MonotonicClock.now) }
    }
    // Nothing will be encoded for a while.
    if turn.takeIfFree() {
      input.closeEncoder()
      turn.give()
    }
    state.broadcast()
    updateWish()
    enter(newState)
    notifyStreamState()
    changeLockScreen { $0 = LockScreen() }
    if last.hmiStatus != nil { VideoSinkProperty.hmiLevel.notify(element) }
    return last
  }

  /// Errors end a progress that is under way, after the error message itself.
  func failed(_ error: ElementError) {
    holdBack()
    fail(error)
    endProgress(GST_PROGRESS_TYPE_ERROR, error.text)
  }
}

extension VideoSink {
  /// No connection fails earlier than this.
  private static let earliestFailure = Duration.milliseconds(250)

  /// An application looks at the bus when its state change has returned. An error that comes at once, as from a closed
  /// port on this machine, would be too early for gst-launch: it quits a main loop that does not run yet, and hangs.
  private func holdBack() {
    let began = state.withLock { $0.connectBegan }
    _ = state.wait(until: began + Self.earliestFailure) { $0.isStopping ? true : nil }
  }
}

extension HeadUnitInfo {
  /// Make and model, for people.
  var name: String {
    let name = [make, model, modelYear].compactMap(\.self).joined(separator: " ")
    return name.isEmpty ? "the head unit" : name
  }
}
