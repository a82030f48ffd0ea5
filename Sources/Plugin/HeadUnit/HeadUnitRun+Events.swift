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
    case .connected: break
    }
  }

  private func changeConnections(_ event: HeadUnitServerEvent, _ report: HeadUnitReport) {
    state.withLock { state in
      if report.apps.connectionCount > state.part.apps.connectionCount { state.part.totals.connections &+= 1 }
      state.part.apps = report.apps
      guard case .disconnected(let id, _, _) = event else { return }
      state.appsChanged(formerApp: id, now: clock.now)
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
      reporter.log(GST_LEVEL_INFO, "app \(id) \"\(app.name)\" is registered over protocol \(app.protocolVersion)")
      reporter.registered(app)
    }
    reporter.changed(.apps)
  }

  private func unregister(_ id: UInt8, _ reason: HeadUnitSession.UnregistrationReason, _ report: HeadUnitReport) {
    let (app, isEnd) = state.withLock { state in
      let app = state.part.apps[id]
      state.part.apps = report.apps
      state.appsChanged(formerApp: nil, now: clock.now)
      return (app, state.part.endsWithApp && state.streamingApp == id)
    }
    if let app {
      if report.isReporting {
        reporter.log(GST_LEVEL_INFO, "app \(id) \"\(app.name)\" is unregistered: \(reason)")
        reporter.unregistered(app, reason)
      }
      reporter.changed(.apps)
      reporter.changed(.hmiLevel)
    }
    guard isEnd else { return }
    // Behind the message, since applications stop listening at the end.
    state.withLock { state in
      state.streamEnded(now: clock.now)
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
      state.appsChanged(formerApp: nil, now: clock.now)
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
        now: clock.now)
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
    switch event {
    case .connected(let id, let peer): reporter.log(GST_LEVEL_DEBUG, "session \(id) from \(peer)")
    case .refused(let peer): reporter.log(GST_LEVEL_WARNING, "there are too many connections; \(peer) was refused")
    case .secondaryTransportRefused(let peer, let reason):
      reporter.log(GST_LEVEL_WARNING, "the secondary transport of \(peer) is refused: \(reason.rawValue)")
    case .secondaryPortFailed(let error):
      reporter.log(GST_LEVEL_WARNING, "the port for secondary transports stays as it was: \(error)")
    case .session(let id, let event): log(event, of: id)
    case .disconnected(let id, let error, _):
      reporter.log(GST_LEVEL_DEBUG, "connection \(id) is over\(error.map { ": \($0)" } ?? "")")
    case .carriedOut(let step, let id):
      reporter.log(GST_LEVEL_INFO, "script, line \(step.line)\(id.map { ", app \($0)" } ?? ""): \(step.text)")
    case .leftOut(let step, let id):
      let reason = id.map { "app \($0) is gone" } ?? "no app is registered"
      reporter.log(GST_LEVEL_WARNING, "script, line \(step.line) without effect, \(reason): \(step.text)")
    case .transport: break
    case .stepsDropped:
      let limit = HeadUnitScriptRun.maximumWaitingCount
      reporter.log(GST_LEVEL_WARNING, "steps of the script are dropped, because \(limit) are waiting already")
    case .ended: break
    }
  }

  private func log(_ event: HeadUnitSession.Event, of id: UInt8) {
    switch event {
    case .secured(let summary):
      reporter.log(
        GST_LEVEL_INFO,
        "app \(id): \(summary.protocolVersion), \(summary.cipher)" + (summary.peer.map { ", \($0.subject)" } ?? ""))
    case .audioInClear:
      reporter.log(
        GST_LEVEL_WARNING, "app \(id) asks for encrypted sound, and gets it in clear: only video and RPCs are encrypted"
      )
    case .rpcProtected: reporter.log(GST_LEVEL_INFO, "app \(id): RPCs are encrypted from now on")
    case .handshakeFailed(let reason):
      reporter.log(GST_LEVEL_WARNING, "the TLS handshake with app \(id) failed: \(reason)")
    case .secondaryTransportRegistered: reporter.log(GST_LEVEL_INFO, "app \(id) has a secondary transport")
    case .secondaryTransportRefused(let reason):
      reporter.log(GST_LEVEL_WARNING, "the secondary transport of app \(id) is refused: \(reason.rawValue)")
    case .secondaryTransportLost: reporter.log(GST_LEVEL_INFO, "the secondary transport of app \(id) is gone")
    case .videoDataStopped(let time): reporter.log(GST_LEVEL_INFO, "no video of app \(id) for \(time)")
    case .videoStartRequested(let parameters): reporter.log(GST_LEVEL_DEBUG, "app \(id) asks for \(parameters)")
    case .driverInputWithoutEffect(let input, let fault):
      reporter.log(GST_LEVEL_WARNING, "app \(id): \"\(input)\" without effect, because \(fault)")
    case .appHMIStatus, .appCapability, .hapticRectangles, .capabilityUpdateDeferred, .driverInput, .interactionShown,
      .interactionEnded, .audioStartRequested, .audioStarted, .audioRefused, .audioStopped:
      reporter.log(GST_LEVEL_DEBUG, "app \(id): \(event)")
    case .videoData, .videoTimestamp, .videoMissed, .audioData, .appRegistered, .hmiStatusSent, .systemContextSent,
      .appUnregistered, .videoStarted, .videoRefused, .videoStopped, .violation, .touchSent:
      break
    }
  }
}
