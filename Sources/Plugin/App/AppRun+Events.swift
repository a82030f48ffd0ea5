import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink

/// What the connection reports, on its thread and without any lock held. The app handles each event first, then its
/// service.
extension AppRun {
  func receive(_ event: ConnectionEvent) {
    let members = note(event)
    guard !isOver else { return }
    defer { endLinger(after: event) }
    switch event {
    case .attempting:
      countApp { $0.attempts &+= 1 }
      let isFirst = state.withLock { state in
        defer { state.isStartUnannounced = false }
        return state.isStartUnannounced
      }
      if isFirst { notify(.connectionState) }
    case .resolving(let name): progress(.resolving, "Resolving \(name)")
    case .connecting(let address): progress(.connecting, "Connecting to \(address)")
    case .waiting(let status): wait(status)
    case .connected(let peer): progress(.registering, "Connected to \(peer), starting a session")
    case .session(let event): receive(event)
    case .roundTrip(let time): countApp { $0.roundTrip = time }
    case .stalled(let time):
      warn(
        .resource(
          GST_RESOURCE_ERROR_WRITE,
          "The head unit has not read anything for \(time.components.seconds) s: live video is dropped, files wait. Is its software still running?"
        ))
    case .headUnit(.violation(let violation)):
      // The built-in head unit checks the stream, so that faults are found before a car is there.
      warn(
        .stream(GST_STREAM_ERROR_FORMAT, "The built-in head unit found fault with the stream: \(violation)"))
    case .lost(let failure, let pause): return connectionLost(failure, retryAfter: pause, members)
    case .ended(let failure): return connectionEnded(failure, members)
    case .videoState, .audioState, .timerFired, .headUnit: break
    }
    if !isOver { withServices(of: members) { $0.appReported(event) } }
  }

  /// Updates the status, and returns the elements whose streams the event is passed on to.
  private func note(_ event: ConnectionEvent) -> [AppMember] {
    let now = time.now
    defer {
      switch event {
      case .session(.videoCapability), .session(.registered): state.broadcast()
      default: break
      }
    }
    return state.withLock { state in
      switch event {
      case .attempting: state.attemptBegan = now
      case .connected(let peer):
        state.status.peer = peer
        state.isConnected = true
      case .videoState(let videoState): state.status.videoState = videoState
      case .audioState(let audioState): state.status.audioState = audioState
      case .session(let event): state.note(event)
      case .resolving, .connecting, .waiting, .roundTrip, .timerFired, .stalled, .headUnit, .lost, .ended: break
      }
      return state.members
    }
  }

  private func progress(_ newState: ConnectionState, _ text: String) {
    enter(newState)
    if !isOver { withPoster { $0.postProgress(GST_PROGRESS_TYPE_CONTINUE, text) } }
  }

  /// A car has to connect by itself. That none has come is no error.
  private func wait(_ status: TransportStatus) {
    switch status {
    case .waiting(let peer): progress(.waiting, "Waiting for \(peer)")
    case .hindered(let failure):
      let error = ElementError(failure)
      progress(.waiting, error.text)
      if !isOver { warn(error) }
    }
  }

  private func receive(_ event: AppSession.Event) {
    switch event {
    case .sessionStarted(let version):
      withPoster { $0.postProgress(GST_PROGRESS_TYPE_CONTINUE, "Registering the app over SDL protocol \(version)") }
    case .registered(let headUnit): registered(headUnit)
    case .hmiStatus(let status):
      let streaming = "\(status.videoStreamingState.rawValue), \(status.audioStreamingState.rawValue)"
      log(GST_LEVEL_INFO, "HMI level \(status.level?.rawValue ?? "?"), \(streaming)")
      if state.withLock({ $0.isLevelNew }) { notify(.hmiLevel) }
      // A callback may have ended the app; what comes after it must not reach the next.
      guard !isOver else { return }
      let isHeard = self.isHeard
      state.withLock { $0.isLevelUnheard = !isHeard }
      withPoster { $0.postHMIStatus(status) }
      changeLockScreen { $0.receive(status) }
    case .videoCapability: notify(.headUnit)
    case .videoStarted:
      enter(.streaming)
      if settings.encryption != .none, !isOver { withEveryHost { $0.notifyEncryption() } }
    case .secured(let summary):
      log(GST_LEVEL_INFO, "\(summary.protocolVersion) with the head unit, \(summary.cipher)")
    case .videoInClear(let reason):
      warn(
        .resource(
          GST_RESOURCE_ERROR_NOT_AUTHORIZED, "The video is not encrypted: \(reason)."))
    case .audioStarted: enter(.streaming)
    case .rpcProtected:
      log(GST_LEVEL_INFO, "RPCs are encrypted from now on")
      withEveryHost { $0.notifyEncryption() }
    case .rpcInClear(let reason):
      warn(
        .resource(
          GST_RESOURCE_ERROR_NOT_AUTHORIZED,
          "The head unit's policy wants encrypted RPCs, but they are in clear: \(reason). It may refuse some of them."))
    case .videoStopped(let reason), .audioStopped(let reason):
      let isStreaming = state.withLock { $0.status.grant != nil || $0.status.audioGrant != nil }
      if !isStreaming, reason != .connectionLost, reason != .sessionEnded { enter(.ready) }
    case .driverDistraction(let distraction):
      withPoster { $0.postDriverDistraction(distraction) }
      changeLockScreen { $0.receive(distraction) }
    case .secondaryTransportChanged(let status):
      log(GST_LEVEL_INFO, "secondary transport \(status.state)\(status.reason.map { ": \($0)" } ?? "")")
      withPoster { $0.postTransportChanged(status) }
    case .transportProblem(let text):
      warn(.resource(GST_RESOURCE_ERROR_SETTINGS, "Trouble with the secondary transport: \(text)."))
    case .diagnostic(let text): log(GST_LEVEL_WARNING, text)
    case .videoSuspended, .videoResumed, .videoStartFailed, .touch, .touchInterrupted, .hapticRectanglesRefused,
      .audioSuspended, .audioResumed, .audioStartFailed, .videoWaits, .audioWaits:
      break
    case .failed: break  // Handled when the end of the connection is reported, which follows.
    }
  }

  /// Whether what is posted now reaches an application.
  private var isHeard: Bool {
    var isHeard = false
    withPoster { isHeard = $0.hasListener }
    return isHeard
  }

  private func warn(_ error: ElementError) {
    withPoster { $0.warn(error) }
  }

  private func log(_ level: GstDebugLevel, _ text: String) {
    withPoster { $0.log(level, text) }
  }

  private func changeLockScreen(_ change: (inout LockScreen) -> Void) {
    let changed = state.withLock { state -> LockScreen? in
      let before = state.status.lockScreen.status
      change(&state.status.lockScreen)
      return state.status.lockScreen.status == before || state.isOver ? nil : state.status.lockScreen
    }
    if let changed { withPoster { $0.postLockScreen(changed) } }
  }

  private func registered(_ headUnit: HeadUnitInfo) {
    let (peer, connectTime) = state.withLock { ($0.status.peer, time.now - $0.attemptBegan) }
    countApp { counters in
      counters.connections &+= 1
      counters.connectTime = connectTime
    }
    enter(.ready)
    let isHeard = self.isHeard
    state.withLock { $0.isRegistrationUnheard = !isHeard }
    endProgress(GST_PROGRESS_TYPE_COMPLETE, "Registered with \(headUnit.name)")
    guard !isOver else { return }
    withPoster { $0.postConnected(headUnit, uri: settings.uri, peer: peer) }
    if !isOver { notify(.headUnit) }
  }

  /// The connection will be made again; the pipeline stays as it is.
  private func connectionLost(
    _ failure: ConnectionFailure, retryAfter pause: Duration, _ members: [AppMember]
  ) {
    let last = forgetConnection(.reconnecting, failure)
    guard !isOver else { return }
    withServices(of: members) { $0.appReported(.lost(failure, retryAfter: pause)) }
    let text = ElementError(failure, wasStreaming: last.hasStreamed).text
    let retry = "Connecting again in \(pause.inSeconds) s."
    endProgress(GST_PROGRESS_TYPE_ERROR, text)
    // Once for each loss, not for each attempt.
    if last.isConnected, !isOver {
      warn(.resource(GST_RESOURCE_ERROR_WRITE, "\(text) \(retry)"))
      withPoster { $0.postDisconnected(reason: "\(failure)", retryAfter: pause) }
    }
    guard !isOver else { return }
    state.withLock { $0.isInProgress = true }
    withPoster { $0.postProgress(GST_PROGRESS_TYPE_START, retry) }
  }

  private func connectionEnded(_ failure: ConnectionFailure?, _ members: [AppMember]) {
    if let failure {
      let error = ElementError(failure, wasStreaming: state.withLock { $0.hasStreamed })
      withPoster { failConnection(error, $0) }
    }
    guard !isOver else { return }
    let last = forgetConnection(.idle, failure)
    guard !isOver else { return }
    withServices(of: members) { $0.appReported(.ended(failure)) }
    guard last.isConnected, !isOver else { return }
    // Without a failure, the element has ended the connection itself, perhaps after an error.
    var reason = failure.map { "\($0)" }
    if reason == nil, last.isFailing { countApp { reason = $0.lastError } }
    withPoster { $0.postDisconnected(reason: reason ?? "closed by the app", retryAfter: nil) }
  }

  /// Forgets what holds for one connection only.
  ///
  /// - Returns: the state before.
  private func forgetConnection(
    _ newState: ConnectionState, _ failure: ConnectionFailure?
  ) -> State {
    let last = state.withLock { state in
      defer {
        state.isConnected = false
        state.status.hmi = nil
        state.status.video = nil
        state.status.grant = nil
        state.status.encryption = nil
        state.status.isRPCEncrypted = false
        state.status.secondary = SecondaryTransportStatus()
        state.status.isVideoSuspended = false
        state.status.videoState = .stopped
        state.status.audioGrant = nil
        state.status.isAudioSuspended = false
        state.status.audioState = .stopped
      }
      return state
    }
    if let failure { countApp { $0.lastError = "\(failure)" } }
    enter(newState)
    changeLockScreen { $0 = LockScreen() }
    if last.status.level != .none, !isOver { notify(.hmiLevel) }
    return last
  }
}

extension AppRun.State {
  fileprivate mutating func note(_ event: AppSession.Event) {
    switch event {
    case .registered(let headUnit): status.headUnit = headUnit
    case .hmiStatus(let hmi):
      let former = status.level
      status.hmi = hmi
      isLevelNew = status.level != former
    case .videoCapability(let capability, let fallbackSize):
      status.headUnit?.videoCapability = capability
      status.video = AppRun.VideoCapability(capability: capability, fallbackSize: fallbackSize)
    case .videoStarted(let grant):
      status.grant = grant
      status.isVideoSuspended = false
      hasStreamed = true
    case .secured(let summary): status.encryption = summary
    case .rpcProtected: status.isRPCEncrypted = true
    case .videoSuspended: status.isVideoSuspended = true
    case .videoResumed: status.isVideoSuspended = false
    case .videoStopped:
      status.grant = nil
      status.isVideoSuspended = false
    case .audioStarted(let grant):
      status.audioGrant = grant
      status.isAudioSuspended = false
      hasStreamed = true
    case .secondaryTransportChanged(let secondary): status.secondary = secondary
    case .audioSuspended: status.isAudioSuspended = true
    case .audioResumed: status.isAudioSuspended = false
    case .audioStopped:
      status.audioGrant = nil
      status.isAudioSuspended = false
    case .sessionStarted, .videoStartFailed, .driverDistraction, .touch, .touchInterrupted, .hapticRectanglesRefused,
      .videoInClear, .rpcInClear, .audioStartFailed, .videoWaits, .audioWaits, .transportProblem, .diagnostic, .failed:
      break
    }
  }
}

extension HeadUnitInfo {
  /// Make and model, for people.
  var name: String {
    let name = [make, model, modelYear].compactMap(\.self).joined(separator: " ")
    return name.isEmpty ? "the head unit" : name
  }
}
