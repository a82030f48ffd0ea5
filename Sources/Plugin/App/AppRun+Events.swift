import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink

/// What the connection reports, on its thread and without any lock held. The app handles each event first, then its
/// service.
extension AppRun {
  func receive(_ event: ConnectionEvent, _ host: any AppHost) {
    let service = note(event)
    guard !isOver else { return }
    defer { endLinger(after: event, host) }
    switch event {
    case .attempting:
      host.countApp { $0.attempts &+= 1 }
      let isFirst = state.withLock { state in
        defer { state.isStartUnannounced = false }
        return state.isStartUnannounced
      }
      if isFirst { host.notify(.connectionState) }
    case .resolving(let name): progress(.resolving, "Resolving \(name)", host)
    case .connecting(let address): progress(.connecting, "Connecting to \(address)", host)
    case .connected(let peer): progress(.registering, "Connected to \(peer), starting a session", host)
    case .session(let event): receive(event, host)
    case .roundTrip(let time): host.countApp { $0.roundTrip = time }
    case .stalled(let time):
      host.warn(
        .resource(
          GST_RESOURCE_ERROR_WRITE,
          "The head unit has not read anything for \(time.components.seconds) s: live video is dropped, files wait. Is its software still running?"
        ))
    case .headUnit(.violation(let violation)):
      // The built-in head unit checks the stream, so that faults are found before a car is there.
      host.warn(
        .stream(GST_STREAM_ERROR_FORMAT, "The built-in head unit found fault with the stream: \(violation)"))
    case .lost(let failure, let pause): return connectionLost(failure, retryAfter: pause, service, host)
    case .ended(let failure): return connectionEnded(failure, service, host)
    case .videoState, .audioState, .timerFired, .headUnit: break
    }
    if !isOver { service?.appReported(event) }
  }

  /// Updates the status, and returns the service that the event is passed on to.
  private func note(_ event: ConnectionEvent) -> (any AppService)? {
    let now = time.now
    defer { if case .session(.videoCapability) = event { state.broadcast() } }
    return state.withLock { state in
      switch event {
      case .attempting: state.attemptBegan = now
      case .connected(let peer):
        state.status.peer = peer
        state.isConnected = true
      case .videoState(let videoState): state.status.videoState = videoState
      case .session(let event): state.note(event)
      case .resolving, .connecting, .audioState, .roundTrip, .timerFired, .stalled, .headUnit, .lost, .ended: break
      }
      return state.service
    }
  }

  private func progress(_ newState: ConnectionState, _ text: String, _ host: any AppHost) {
    enter(newState, host)
    if !isOver { host.postProgress(GST_PROGRESS_TYPE_CONTINUE, text) }
  }

  private func receive(_ event: AppSession.Event, _ host: any AppHost) {
    switch event {
    case .sessionStarted(let version):
      host.postProgress(GST_PROGRESS_TYPE_CONTINUE, "Registering the app over SDL protocol \(version)")
    case .registered(let headUnit): registered(headUnit, host)
    case .hmiStatus(let status):
      let streaming = "\(status.videoStreamingState.rawValue), \(status.audioStreamingState.rawValue)"
      host.log(GST_LEVEL_INFO, "HMI level \(status.level?.rawValue ?? "?"), \(streaming)")
      if state.withLock({ $0.isLevelNew }) { host.notify(.hmiLevel) }
      // A callback may have ended the app; what comes after it must not reach the next.
      guard !isOver else { return }
      let isHeard = host.hasListener
      state.withLock { $0.isLevelUnheard = !isHeard }
      host.postHMIStatus(status)
      changeLockScreen(host) { $0.receive(status) }
    case .videoCapability: host.notify(.headUnit)
    case .videoStarted:
      enter(.streaming, host)
      if settings.encryption != .none, !isOver { host.notify(.encryptionState) }
    case .secured(let summary):
      host.log(GST_LEVEL_INFO, "\(summary.protocolVersion) with the head unit, \(summary.cipher)")
    case .videoInClear(let reason):
      host.warn(
        .resource(
          GST_RESOURCE_ERROR_NOT_AUTHORIZED, "The video is not encrypted: the head unit does not want it, as \(reason)."
        ))
    case .rpcProtected:
      host.log(GST_LEVEL_INFO, "RPCs are encrypted from now on")
      host.notify(.encryptionState)
    case .rpcInClear(let reason):
      host.warn(
        .resource(
          GST_RESOURCE_ERROR_NOT_AUTHORIZED,
          "The head unit's policy wants encrypted RPCs, but they are in clear: \(reason). It may refuse some of them."))
    case .videoStopped(let reason):
      if reason != .connectionLost, reason != .sessionEnded { enter(.ready, host) }
    case .driverDistraction(let distraction):
      host.postDriverDistraction(distraction)
      changeLockScreen(host) { $0.receive(distraction) }
    case .diagnostic(let text): host.log(GST_LEVEL_WARNING, text)
    case .videoSuspended, .videoResumed, .videoStartFailed, .touch, .touchInterrupted, .hapticRectanglesRefused,
      .audioStarted, .audioSuspended, .audioResumed, .audioStopped, .audioStartFailed:
      break
    case .failed: break  // Handled when the end of the connection is reported, which follows.
    }
  }

  private func changeLockScreen(_ host: any AppHost, _ change: (inout LockScreen) -> Void) {
    let changed = state.withLock { state -> LockScreen? in
      let before = state.status.lockScreen.status
      change(&state.status.lockScreen)
      return state.status.lockScreen.status == before || state.isOver ? nil : state.status.lockScreen
    }
    if let changed { host.postLockScreen(changed) }
  }

  private func registered(_ headUnit: HeadUnitInfo, _ host: any AppHost) {
    let (peer, connectTime) = state.withLock { ($0.status.peer, time.now - $0.attemptBegan) }
    host.countApp { counters in
      counters.connections &+= 1
      counters.connectTime = connectTime
    }
    enter(.ready, host)
    let isHeard = host.hasListener
    state.withLock { $0.isRegistrationUnheard = !isHeard }
    endProgress(GST_PROGRESS_TYPE_COMPLETE, "Registered with \(headUnit.name)", host)
    guard !isOver else { return }
    host.postConnected(headUnit, uri: settings.uri, peer: peer)
    if !isOver { host.notify(.headUnit) }
  }

  /// The connection will be made again; the pipeline stays as it is.
  private func connectionLost(
    _ failure: ConnectionFailure, retryAfter pause: Duration, _ service: (any AppService)?, _ host: any AppHost
  ) {
    let last = forgetConnection(.reconnecting, failure, host)
    guard !isOver else { return }
    service?.appReported(.lost(failure, retryAfter: pause))
    let text = ElementError(failure, wasStreaming: last.hasStreamed).text
    let retry = "Connecting again in \(pause.inSeconds) s."
    endProgress(GST_PROGRESS_TYPE_ERROR, text, host)
    // Once for each loss, not for each attempt.
    if last.isConnected, !isOver {
      host.warn(.resource(GST_RESOURCE_ERROR_WRITE, "\(text) \(retry)"))
      host.postDisconnected(reason: "\(failure)", retryAfter: pause)
    }
    guard !isOver else { return }
    state.withLock { $0.isInProgress = true }
    host.postProgress(GST_PROGRESS_TYPE_START, retry)
  }

  private func connectionEnded(_ failure: ConnectionFailure?, _ service: (any AppService)?, _ host: any AppHost) {
    if let failure {
      failConnection(ElementError(failure, wasStreaming: state.withLock { $0.hasStreamed }), host)
    }
    guard !isOver else { return }
    let last = forgetConnection(.idle, failure, host)
    guard !isOver else { return }
    service?.appReported(.ended(failure))
    guard last.isConnected, !isOver else { return }
    // Without a failure, the element has ended the connection itself, perhaps after an error.
    var reason = failure.map { "\($0)" }
    if reason == nil, last.isFailing { host.countApp { reason = $0.lastError } }
    host.postDisconnected(reason: reason ?? "closed by the app", retryAfter: nil)
  }

  /// Forgets what holds for one connection only.
  ///
  /// - Returns: the state before.
  private func forgetConnection(
    _ newState: ConnectionState, _ failure: ConnectionFailure?, _ host: any AppHost
  ) -> State {
    let last = state.withLock { state in
      defer {
        state.isConnected = false
        state.status.hmi = nil
        state.status.video = nil
        state.status.grant = nil
        state.status.encryption = nil
        state.status.isRPCEncrypted = false
        state.status.isVideoSuspended = false
        state.status.videoState = .stopped
      }
      return state
    }
    if let failure { host.countApp { $0.lastError = "\(failure)" } }
    enter(newState, host)
    changeLockScreen(host) { $0 = LockScreen() }
    if last.status.level != .none, !isOver { host.notify(.hmiLevel) }
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
    case .sessionStarted, .videoStartFailed, .driverDistraction, .touch, .touchInterrupted, .hapticRectanglesRefused,
      .videoInClear, .rpcInClear, .audioStarted, .audioSuspended, .audioResumed, .audioStopped, .audioStartFailed,
      .diagnostic, .failed:
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
