import SDLMessages
import SDLWire

/// What SDL Core does alike for its two services that carry media, video and audio.
extension HeadUnitSession {
  /// Of ``ServiceType/audio``, otherwise of video.
  private subscript(service: ServiceType) -> MediaService {
    get { service == .audio ? audio : video }
    set { if service == .audio { audio = newValue } else { video = newValue } }
  }

  private static func stopGrace(_ service: ServiceType) -> TimerTable.Purpose {
    service == .audio ? .audioStopGrace : .stopGrace
  }

  private static func endServiceACK(_ service: ServiceType) -> TimerTable.Purpose {
    service == .audio ? .audioEndServiceACK : .endServiceACK
  }

  /// Whether no service runs, and no start of one waits for its answer.
  private func isClosed(_ service: ServiceType) -> Bool {
    guard case .closed = self[service] else { return false }
    return service == .audio || !isVideoStartPending
  }

  /// Whether a start of video waits for its time, or for a handshake.
  var isVideoStartPending: Bool { pendingVideoStart != nil || security.isVideoStartPending }

  static let disallowedReason = "The service is disallowed with the current HMI level"

  func isOpen(_ service: ServiceType) -> Bool {
    if case .open = self[service] { true } else { false }
  }

  /// The reasons for which SDL Core refuses a start without asking the HMI.
  mutating func reasonToRefuse(_ service: ServiceType, _ app: RegisteredApp, version: UInt8) -> String? {
    guard version >= 3 else { return "The service needs protocol 3" }
    guard app.mayStream else { return "The app type may not use this service" }
    guard isClosed(service) else {
      report(.startWhileActive(service))
      return "The service is active already"
    }
    return app.allows(service, app.status) ? nil : Self.disallowedReason
  }

  /// A head unit that is not strict accepts a start without the acknowledgement of its own EndService. SDL's libraries for
  /// apps never acknowledge; a strict SDL Core then refuses every start.
  mutating func forgetUnacknowledgedEnd(_ service: ServiceType, now: Duration) {
    guard case .ending(let since) = self[service], !configuration.isStrict else { return }
    if now - since < CoreLimits.endServiceACK { report(.endServiceNotAcknowledged(service, after: now - since)) }
    closeMedia(service, .endedByHeadUnit, now: now)
  }

  /// The app's status has changed.
  mutating func permit(_ service: ServiceType, _ status: HMIStatus, now: Duration) {
    guard let app else { return }
    if service == .video, !app.allows(service, status) { cancelVideoStart() }
    guard case .open(let permission) = self[service] else { return }
    if app.allows(service, status) {
      timers.cancel(Self.stopGrace(service))
      self[service] = .open(.allowed)
    } else if status.level == HMILevel.none {
      sendEndService(service, reason: .hmiLevelNone, now: now)
    } else if case .allowed = permission {
      self[service] = .open(.grace(since: now))
      timers.arm(Self.stopGrace(service), at: now + CoreLimits.stopStreaming)
    }
  }

  /// From now on the app must know that it may not stream.
  mutating func graceOver(_ service: ServiceType) {
    if case .open(.grace(let since)) = self[service] { self[service] = .open(.forbidden(since: since)) }
  }

  mutating func receiveMedia(_ frame: Frame, now: Duration) {
    let service = frame.header.service
    switch self[service] {
    case .open(let permission):
      guard let message = assemble(frame, now: now) else { return }
      if service == .audio {
        takeAudio(message.payload, permission, now: now)
      } else {
        takeVideo(message.payload, permission, now: now)
      }
    case .ending(let since):
      // What was on the way when EndService was sent is no violation.
      if now - since > CoreLimits.stopStreaming {
        refuseData(.dataAfterEndService(service, after: now - since), now: now)
      }
    case .closed(let endedAt?):
      let violation = Violation.dataAfterEndService(service, after: now - endedAt)
      // Observed on SDL Core: a frame just after EndService is tolerated, one 1.5 s later is not.
      if now - endedAt > CoreLimits.stopStreaming { refuseData(violation, now: now) } else { report(violation) }
    case .closed(nil), .unanswered:
      let isStarting = !isClosed(service)
      refuseData(isStarting ? .dataBeforeAcknowledgement(service) : .dataWithoutService(service), now: now)
    }
  }

  /// Reports data that has no service; a strict head unit unregisters the app for it.
  private mutating func refuseData(_ violation: Violation, now: Duration) {
    report(violation)
    if configuration.isStrict { unregister(.protocolViolation, now: now) }
  }
}

/// The end of the services.
extension HeadUnitSession {
  /// EndService from the app. The service ends whatever the answer is: a NAK means "not running", and without an answer the
  /// app can only assume the end.
  mutating func endMedia(_ service: ServiceType, on transport: TransportRole, now: Duration) {
    if isClosed(service) {
      let isStartLost = service == .audio ? isAudioStartLost : isVideoStartLost
      if !isStartLost { report(.endOfServiceNotRunning(service)) }
      return sendEndServiceNAK(service, on: transport)
    }
    switch service == .video && isSilentOnVideo ? .silence : behaviour.serviceEnd {
    case .acknowledge: send(.endServiceACK, service: service, on: transport)
    case .reject: sendEndServiceNAK(service, on: transport)
    case .silence: break
    }
    closeMedia(service, .endedByApp, now: now)
  }

  /// The head unit's own EndService; nothing if the service is not open.
  mutating func sendEndService(_ service: ServiceType, reason: StreamStopReason, now: Duration) {
    guard case .open = self[service] else { return }
    let transport = transport(of: service)
    send(.endService, service: service, on: transport)
    if service == .video, behaviour.endsVideoServiceTwice { send(.endService, service: service, on: transport) }
    self[service] = .ending(since: now)
    timers.cancel(Self.stopGrace(service))
    if service == .video { timers.cancel(.videoData) }
    timers.arm(Self.endServiceACK(service), at: now + CoreLimits.endServiceACK)
    reportStop(of: service, reason)
  }

  mutating func endAcknowledged(_ service: ServiceType, now: Duration) {
    // A second acknowledgement, of an EndService that was sent twice, changes nothing.
    guard service == .audio || service == .video, case .ending = self[service] else { return }
    closeMedia(service, .endedByHeadUnit, now: now)
  }

  /// The app has not acknowledged EndService in time.
  mutating func acknowledgementDue(_ service: ServiceType, now: Duration) {
    if case .ending(let since) = self[service] { report(.endServiceNotAcknowledged(service, after: now - since)) }
  }

  /// Removes both services, without EndService.
  mutating func closeMedia(_ reason: StreamStopReason, now: Duration) {
    closeMedia(.audio, reason, now: now)
    closeMedia(.video, reason, now: now)
  }

  /// Removes the service; reports it unless its end was reported before.
  mutating func closeMedia(_ service: ServiceType, _ reason: StreamStopReason, now: Duration) {
    timers.cancel(Self.stopGrace(service), Self.endServiceACK(service))
    if service == .video {
      timers.cancel(.videoData, .videoStart)
      pendingVideoStart = nil
      cancelVideoHandshake()
    }
    switch self[service] {
    case .closed: return
    case .unanswered: self[service] = .closed(endedAt: nil)
    case .ending: self[service] = .closed(endedAt: now)
    case .open:
      self[service] = .closed(endedAt: now)
      reportStop(of: service, reason)
    }
  }

  private mutating func reportStop(of service: ServiceType, _ reason: StreamStopReason) {
    report(
      service == .audio
        ? .audioStopped(reason: reason, audioStatistics) : .videoStopped(reason: reason))
  }
}

extension HeadUnitSession.RegisteredApp {
  /// Whether the app may stream at this status.
  fileprivate func allows(_ service: ServiceType, _ status: HMIStatus) -> Bool {
    service == .audio ? status.allowsAudio(isMedia: isMedia) && status.isAudible : status.allowsVideo
  }
}
