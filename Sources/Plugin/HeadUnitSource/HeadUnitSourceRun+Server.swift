import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire

/// Reports of the server's thread, which holds no lock.
extension HeadUnitSourceRun: HeadUnitServerObserver {
  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    switch event {
    case .connected(let id, let peer):
      state.withLock { state in
        if state.apps.connected(id, peer: peer) { state.totals.connections &+= 1 }
      }
      reporter.log(GST_LEVEL_DEBUG, "session \(id) from \(peer)")
    case .refused(let peer):
      state.withLock { $0.totals.refusals &+= 1 }
      reporter.log(GST_LEVEL_WARNING, "there are too many connections; \(peer) was refused")
    case .session(let id, let event): receive(event, from: id)
    case .disconnected(let id, let error, _):
      reporter.log(GST_LEVEL_DEBUG, "connection \(id) is over\(error.map { ": \($0)" } ?? "")")
      state.withLock { state in
        state.apps.disconnected(id)
        interruptTouchesIfHidden(&state)
        state.touches.forget(id)
      }
    case .carriedOut(let step, let id):
      reporter.log(GST_LEVEL_INFO, "script, line \(step.line)\(id.map { ", app \($0)" } ?? ""): \(step.text)")
    case .leftOut(let step, let id):
      let reason = id.map { "app \($0) is gone" } ?? "no app is registered"
      reporter.log(GST_LEVEL_WARNING, "script, line \(step.line) without effect, \(reason): \(step.text)")
    case .stepsDropped:
      let limit = HeadUnitScriptRun.maximumWaitingCount
      reporter.log(GST_LEVEL_WARNING, "steps of the script are dropped, because \(limit) are waiting already")
    case .ended:
      state.withLock { $0.hasServerEnded = true }
      state.broadcast()
    }
  }

  private func receive(_ event: HeadUnitSession.Event, from id: UInt8) {
    switch event {
    case .videoData(let bytes): receiveVideo(bytes, from: id)
    case .videoTimestamp(let timestamp): state.withLock { $0.video.setTimestamp(timestamp, from: id) }
    case .appRegistered(let name, let appID, let types, let version):
      register(
        AppRecord(id: id, name: name, appID: appID, types: types, protocolVersion: version, peer: ""))
    case .hmiStatusSent(let status), .systemContextSent(let status): changeStatus(status, of: id)
    case .videoStarted(let parameters): startVideo(parameters, by: id)
    case .videoRefused(let rejection):
      let app = state.withLock { state in
        state.totals.streamRefusals &+= 1
        return state.apps[id]
      }
      reporter.streamRefused(rejection, of: app)
    case .videoStopped(let reason): stopVideo(reason, of: id)
    case .appUnregistered(let reason): unregister(id, reason)
    case .secured(let summary):
      reporter.log(
        GST_LEVEL_INFO,
        "app \(id): \(summary.protocolVersion), \(summary.cipher)" + (summary.peer.map { ", \($0.subject)" } ?? ""))
    case .rpcProtected: reporter.log(GST_LEVEL_INFO, "app \(id): RPCs are encrypted from now on")
    case .handshakeFailed(let reason):
      reporter.log(GST_LEVEL_WARNING, "the TLS handshake with app \(id) failed: \(reason)")
    case .violation(let violation): noteViolation(violation, of: id)
    case .videoMissed: noteGap(from: id)
    case .videoDataStopped(let time):
      reporter.log(GST_LEVEL_INFO, "no video of app \(id) for \(time)")
      // SDL Core has closed its output, and opens another with the next video.
      noteGap(from: id)
    case .videoStartRequested(let parameters): reporter.log(GST_LEVEL_DEBUG, "app \(id) asks for \(parameters)")
    case .audioData: break
    case .touchSent: state.withLock { $0.totals.touches &+= 1 }
    case .driverInputWithoutEffect(let input, let fault):
      reporter.log(GST_LEVEL_WARNING, "app \(id): \"\(input)\" without effect, because \(fault)")
    case .appHMIStatus, .appCapability, .hapticRectangles, .capabilityUpdateDeferred, .driverInput, .interactionShown,
      .interactionEnded, .audioStartRequested, .audioStarted, .audioRefused, .audioStopped:
      reporter.log(GST_LEVEL_DEBUG, "app \(id): \(event)")
    }
  }
}

/// Registration and status.
extension HeadUnitSourceRun {
  private func register(_ app: AppRecord) {
    let app = state.withLock { state in
      state.totals.registrations &+= 1
      return state.apps.add(app)
    }
    reporter.log(GST_LEVEL_INFO, "app \(app.id) \"\(app.name)\" is registered over protocol \(app.protocolVersion)")
    reporter.registered(app)
    reporter.changed(.apps)
  }

  private func unregister(_ id: UInt8, _ reason: HeadUnitSession.UnregistrationReason) {
    let (app, isEnd) = state.withLock { state in
      let app = state.apps[id]
      state.apps.remove(id)
      interruptTouchesIfHidden(&state)
      return (app, state.endsWithApp && state.video.app == id)
    }
    if let app {
      reporter.log(GST_LEVEL_INFO, "app \(id) \"\(app.name)\" is unregistered: \(reason)")
      reporter.unregistered(app, reason)
      reporter.changed(.apps)
      reporter.changed("hmi-level")
    }
    guard isEnd else { return }
    // Behind the message, since applications stop listening at the end.
    state.withLock { state in
      state.video.flushPending(now: clock.now)
      state.isAtEnd = true
    }
    state.broadcast()
  }

  private func changeStatus(_ status: HMIStatus, of id: UInt8) {
    // Other windows are widgets.
    guard status.windowID == 0 else { return }
    let (app, before, after) = state.withLock { state in
      let before = state.apps.onScreen?.status?.level
      state.apps.setStatus(status, of: id)
      // What the app sends while it may not stream is left out.
      if !status.allowsVideo { state.video.noteGap(from: id, now: clock.now) }
      interruptTouchesIfHidden(&state)
      return (state.apps[id], before, state.apps.onScreen?.status?.level)
    }
    if let app { reporter.statusChanged(status, of: app) }
    reporter.changed(.apps)
    if before != after { reporter.changed("hmi-level") }
  }
}

/// Video.
extension HeadUnitSourceRun {
  private func startVideo(_ parameters: VideoServiceParameters, by id: UInt8) {
    let (app, isLatencyNew) = state.withLock { state in
      let usedRTP = state.video.usesRTP
      state.totals.streamStarts &+= 1
      interruptTouches(&state)
      state.video.begin(parameters, by: id, now: clock.now)
      state.apps.setVideo(parameters, of: id)
      return (state.apps[id], state.video.usesRTP != usedRTP)
    }
    state.broadcast()
    if isLatencyNew { reporter.latencyChanged() }
    guard let app else { return }
    if !parameters.isH264 {
      reporter.warn(
        .stream(
          GST_STREAM_ERROR_FORMAT,
          "\"\(app.name)\" sends \(parameters.videoCodec ?? "?"), which is not shown: formats should list H264 only."))
    }
    reporter.streamStarted(app)
    reporter.changed(.apps)
  }

  private func receiveVideo(_ bytes: [UInt8], from id: UInt8) {
    let now = clock.now
    if state.withLock({ $0.video.append(bytes, from: id, now: now) }) { state.broadcast() }
  }

  private func noteGap(from id: UInt8) {
    state.withLock { $0.video.noteGap(from: id, now: clock.now) }
  }

  private func stopVideo(_ reason: HeadUnitSession.VideoStopReason, of id: UInt8) {
    let (app, framesOut) = state.withLock { state in
      state.video.end(by: id, now: clock.now)
      state.apps.setVideo(nil, of: id)
      interruptTouchesIfHidden(&state)
      return (state.apps[id], state.video.counters.framesOut)
    }
    state.broadcast()
    guard let app else { return }
    reporter.streamStopped(app, reason, framesOut: framesOut)
    reporter.changed(.apps)
  }

  private func noteViolation(_ violation: Violation, of id: UInt8) {
    let runningTime = reporter.runningTime
    let record = state.withLock { state in
      state.violations.note(
        ViolationRecord(
          appID: id, appName: state.apps[id]?.name, violation: violation, runningTime: runningTime), now: clock.now)
    }
    guard let record else { return }
    reporter.log(GST_LEVEL_WARNING, "app \(id): \(violation)")
    reporter.violated(record)
    reporter.changed(.violations)
  }
}
