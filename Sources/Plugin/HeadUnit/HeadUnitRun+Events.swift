import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire

/// Reports of the server's thread, which holds no lock. Each member of a head unit gets them all, and one of them tells the
/// application.
extension HeadUnitRun {
  func receive(_ event: HeadUnitServerEvent, _ report: HeadUnitReport) {
    switch event {
    case .session(let id, let event):
      switch event {
      // Often, and without a change of the apps.
      case .videoData, .videoTimestamp, .audioData:
        receiveStream(event, from: id, isReporting: report.isReporting)
      default: receive(event, from: id, report)
      }
    case .connected, .disconnected: changeConnections(event, report)
    case .refused: state.withLock { $0.part.totals.refusals &+= 1 }
    case .secondaryTransportRefused, .secondaryPortFailed, .carriedOut, .leftOut, .stepsDropped, .ended: break
    case .transport(let event): if report.isReporting { tell(event) }
    }
    if report.isReporting { log(event) }
  }

  /// How the transport stands that connects to a phone.
  private func tell(_ event: TransportEvent) {
    switch event {
    case .status(.waiting(let peer)): reporter.log(GST_LEVEL_INFO, "waiting for \(peer)")
    case .status(.hindered(let failure)): reporter.warn(ElementError(failure))
    case .failed(let failure): reporter.fail(ElementError(failure))
    case .connected, .faultFound: break
    }
  }

  private func changeConnections(_ event: HeadUnitServerEvent, _ report: HeadUnitReport) {
    state.withLock { state in
      if report.apps.connectionCount > state.part.apps.connectionCount { state.part.totals.connections &+= 1 }
      state.part.apps = report.apps
      guard case .disconnected(let id, _, _) = event else { return }
      state.appsChanged(formerApp: id, now: MonotonicClock.now)
    }
  }

  private func receive(_ event: HeadUnitSession.Event, from id: UInt8, _ report: HeadUnitReport) {
    switch event {
    case .appRegistered: register(id, report)
    case .hmiStatusSent(let status), .systemContextSent(let status): changeStatus(status, of: id, report)
    case .appUnregistered(let reason): unregister(id, reason, report)
    case .secondaryTransportRegistered, .secondaryTransportLost:
      state.withLock { $0.part.apps = report.apps }
      reporter.changed(.apps)
    case .audioInClear: if report.isReporting, let app = report.apps[id] { reporter.streamInClear(app, .audio) }
    case .violation(let violation): if report.isReporting { noteViolation(violation, of: id) }
    default:
      state.withLock { $0.part.apps = report.apps }
      receiveStream(event, from: id, isReporting: report.isReporting)
    }
  }

  private func register(_ id: UInt8, _ report: HeadUnitReport) {
    state.withLock { state in
      state.part.totals.registrations &+= 1
      state.part.apps = report.apps
    }
    if report.isReporting, let app = report.apps[id] {
      reporter.registered(app)
    }
    reporter.changed(.apps)
  }

  private func unregister(_ id: UInt8, _ reason: HeadUnitSession.UnregistrationReason, _ report: HeadUnitReport) {
    let (app, isEnd) = state.withLock { state in
      let app = state.part.apps[id]
      state.part.apps = report.apps
      state.appsChanged(formerApp: nil, now: MonotonicClock.now)
      return (app, state.part.endsWithApp && state.streamingApp == id)
    }
    if let app {
      if report.isReporting {
        reporter.unregistered(app, reason)
      }
      reporter.changed(.apps)
      reporter.changed(.hmiLevel)
    }
    guard isEnd else { return }
    // Behind the message, since applications stop listening at the end.
    state.withLock { state in
      state.streamEnded(now: MonotonicClock.now)
      state.part.isAtEnd = true
    }
    state.broadcast()
  }

  private func changeStatus(_ status: HMIStatus, of id: UInt8, _ report: HeadUnitReport) {
    // Other windows are widgets.
    guard status.windowID == 0 else { return }
    let (before, after) = state.withLock { state in
      let before = state.part.apps.onScreen?.status?.level
      state.part.apps = report.apps
      state.appsChanged(formerApp: nil, now: MonotonicClock.now)
      return (before, report.apps.onScreen?.status?.level)
    }
    receiveStream(.hmiStatusSent(status), from: id, isReporting: report.isReporting)
    if report.isReporting, let app = report.apps[id] { reporter.statusChanged(status, of: app) }
    reporter.changed(.apps)
    if before != after { reporter.changed(.hmiLevel) }
  }

  private func noteViolation(_ violation: Violation, of id: UInt8) {
    let runningTime = reporter.runningTime
    let record = state.withLock { state in
      state.part.violations.note(
        ViolationRecord(
          appID: id, appName: state.part.apps[id]?.name, violation: violation, runningTime: runningTime),
        now: MonotonicClock.now)
    }
    guard let record else { return }
    reporter.log(GST_LEVEL_WARNING, "app \(id): \(violation)")
    reporter.violated(record)
    reporter.changed(.violations)
  }
}

/// The log.
extension HeadUnitRun {
  private func log(_ event: HeadUnitServerEvent) {
    guard let level = event.logLevel else { return }
    reporter.log(level, (event.sessionID.map { "app \($0): " } ?? "") + (event.text ?? ""))
  }
}

extension HeadUnitServerEvent {
  /// Nil for what is not logged.
  fileprivate var logLevel: GstDebugLevel? {
    switch self {
    case .connected, .disconnected: GST_LEVEL_DEBUG
    case .carriedOut: GST_LEVEL_INFO
    case .refused, .secondaryTransportRefused, .secondaryPortFailed, .leftOut, .stepsDropped: GST_LEVEL_WARNING
    case .session(_, let event): event.logLevel
    case .transport, .ended: nil
    }
  }
}

extension HeadUnitSession.Event {
  fileprivate var logLevel: GstDebugLevel? {
    switch self {
    case .handshakeFailed, .audioInClear, .secondaryTransportRefused, .driverInputWithoutEffect: GST_LEVEL_WARNING
    case .appRegistered, .registrationRefused, .appUnregistered, .secured, .rpcProtected, .secondaryTransportRegistered,
      .secondaryTransportLost, .videoDataStopped:
      GST_LEVEL_INFO
    case .appHMIStatus, .appCapability, .hapticRectangles, .capabilityUpdateDeferred, .driverInput, .interactionShown,
      .interactionEnded, .videoStartRequested, .audioStartRequested, .audioStarted, .audioRefused, .audioStopped,
      .hmiStatusSent, .systemContextSent, .videoStarted, .videoRefused, .videoStopped, .touchSent:
      GST_LEVEL_DEBUG
    // Violations are limited first.
    case .videoData, .videoTimestamp, .videoMissed, .audioData, .violation: nil
    }
  }
}
