import SDLMessages
import SDLWire

/// Timers, HMI status, capability updates and the end of the registration.
extension HeadUnitSession {
  mutating func fire(_ purpose: TimerTable.Purpose, now: Duration) {
    switch purpose {
    case .activation: activateAutomatically(now: now)
    case .videoStart: videoStartDue(now: now)
    case .policyUpdate: sendPolicyUpdate()
    case .transportEventUpdate: sendTransportEventUpdate()
    case .alert: interactionDue(.alert, now: now)
    case .overlay: interactionDue(.overlay, now: now)
    case .speech: promptDue(now: now)
    case .microphone: recordingDue(now: now)
    case .stopGrace: graceOver(.video)
    case .audioStopGrace: graceOver(.audio)
    case .endServiceACK: acknowledgementDue(.video, now: now)
    case .audioEndServiceACK: acknowledgementDue(.audio, now: now)
    case .videoData:
      guard case .open = video else { return }
      checker.expectRestart()
      report(.videoDataStopped(after: behaviour.videoDataTimeout ?? CoreLimits.videoDataStopped))
    case .heartbeat: heartbeatDue(now: now)
    case .handshake:
      // SDL Core waits for ever. So does a head unit that was told not to say a word.
      if behaviour.handshake != .silence { handshakeFailed("the app does not answer", now: now) }
    case .incompleteMessage:
      assembler.dropExpired(now: readingTime(at: now))
      armIncompleteMessageTimer()
    }
  }

  /// Opens the app. Only navigation and projection apps may stream video; projection apps are audible only if they are
  /// media apps as well.
  mutating func openApp(now: Duration) {
    guard let app else { return }
    let isAudible = app.isMedia || app.types.contains(.navigation)
    apply(
      HMIStatus(
        level: activationStatus.level,
        audioStreamingState: isAudible ? activationStatus.audioStreamingState : .notAudible,
        videoStreamingState: app.mayStream ? activationStatus.videoStreamingState : .notStreamable),
      now: now)
  }

  /// Sends the app the status that the driver chose, as restricted by the active events.
  mutating func apply(_ chosen: HMIStatus, now: Duration) {
    guard var changed = app else { return }
    if chosen.windowID == 0 { changed.chosenStatus = chosen }
    let level = effectiveStatus(of: changed).level
    let aborted =
      chosen.windowID == 0 ? changed.takeInteractions(notAllowedAt: level, by: configuration.policy) : []
    let status = chosen.windowID == 0 ? effectiveStatus(of: changed) : chosen
    app = changed
    notify(.onHMIStatus, status.json)
    report(status.differsOnlyInContext(from: changed.status) ? .systemContextSent(status) : .hmiStatusSent(status))
    for interaction in aborted { answer(interaction, .aborted) }
    abortSpeech(notAllowedAt: level)
    // Other windows are widgets and do not concern the stream.
    guard status.windowID == 0 else { return }
    timers.cancel(.activation)
    isActivationDeferred = false
    app?.status = status
    // SDL Core ends audio first.
    permit(.audio, status, now: now)
    permit(.video, status, now: now)
  }

  func effectiveStatus(of app: RegisteredApp) -> HMIStatus {
    var status = HMIEvent.allCases.filter(hmiEvents.contains).reduce(app.chosenStatus) { status, event in
      event.status(from: status, of: app.role, isMedia: app.isMedia)
    }
    if let context = app.shownContext {
      status.systemContext = context
    } else if status.level == .full, !overlaysOfOthers.until.isEmpty {
      status.systemContext = .obscured
    }
    return status
  }

  /// Sets the level NONE, as SDL Core 6 and later do after a refused start of video or audio.
  mutating func dropToNone(now: Duration) {
    guard let app, app.status.level != HMILevel.none else { return }
    apply(HMIStatus(level: HMILevel.none, videoStreamingState: .notStreamable), now: now)
  }

  mutating func sendCapabilityUpdate(_ update: VideoStreamingCapability, now: Duration) {
    guard let app else { return }
    guard app.isSubscribedToVideoCapability else {
      self.app?.deferredUpdate = app.deferredUpdate?.updated(by: update) ?? update
      return report(.capabilityUpdateDeferred)
    }
    self.app?.knowsVideoCapability = true
    capability = capability?.updated(by: update) ?? update
    notify(
      .onSystemCapabilityUpdated, SystemCapability(type: .videoStreaming, videoStreaming: update).json)
    checker.setLimits(streamLimits(for: checker.size), now: now)
  }

  /// SDL Core's answer to GetSystemCapability is the one that it started with, so that an app which subscribes late has to
  /// be sent what has changed before.
  mutating func sendDeferredUpdate(now: Duration) {
    guard app?.isSubscribedToVideoCapability == true, let update = app?.deferredUpdate.take() else { return }
    sendCapabilityUpdate(update, now: now)
  }

  mutating func forgetUpdates() {
    capability = configuration.videoCapability
    window = nil
  }

  mutating func unregister(_ reason: UnregisteredReason, now: Duration) {
    guard app != nil else { return }
    let notification = OnAppInterfaceUnregistered(reason: reason).json
    sendEndService(.audio, reason: .unregistered, now: now)
    sendEndService(.video, reason: .unregistered, now: now)
    switch reason {
    case .ignitionOff, .masterReset, .factoryDefaults:
      send(.endService, service: .rpc)
      notify(.onAppInterfaceUnregistered, notification)
    case .languageChange, .protocolViolation:
      // The session goes on, and the app may register again in it.
      notify(.onAppInterfaceUnregistered, notification)
      endRegistration(.headUnit(reason), now: now)
      return
    default:
      notify(.onAppInterfaceUnregistered, notification)
      send(.endService, service: .rpc)
    }
    endRegistration(.headUnit(reason), now: now)
    endSession(now: now)
    close()
  }

  /// Ends the registration and the app's services.
  mutating func endRegistration(_ reason: UnregistrationReason, now: Duration) {
    closeMedia(reason == .transportLost ? .transportLost : .unregistered, now: now)
    guard app != nil else { return }
    app = nil
    resetSecurity()
    timers.cancel(.activation, .policyUpdate, .alert, .overlay, .speech, .microphone)
    isActivationDeferred = false
    forgetUpdates()
    report(.appUnregistered(reason: reason))
  }
}

extension HMIStatus {
  /// Whether something else is in front of the screen, and the rest is the same.
  fileprivate func differsOnlyInContext(from other: HMIStatus) -> Bool {
    var same = other
    same.systemContext = systemContext
    return systemContext != other.systemContext && self == same
  }
}
