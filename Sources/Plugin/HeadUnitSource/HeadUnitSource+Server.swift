import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire

/// News from the server's thread. It comes without any lock held.
extension HeadUnitSource: HeadUnitServerObserver {
  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    // An application may stop and let go of the pipeline in a callback of this very thread, which is not waited for:
    // during this one the element is kept, and after the end it is not touched.
    guard state.withLock({ $0.server === server }) else { return }
    gst_object_ref(element)
    defer { gst_object_unref(element) }
    switch event {
    case .connected(let id, let peer):
      state.withLock { state in
        state.totals.connections &+= 1
        state.apps.connected(id, peer: peer)
      }
      log(GST_LEVEL_DEBUG, "connection \(id) from \(peer)")
    case .refused(let peer):
      state.withLock { $0.totals.refusals &+= 1 }
      log(GST_LEVEL_WARNING, "there are too many connections; \(peer) was refused")
    case .session(let id, let event): receive(event, from: id)
    case .disconnected(let id, let error, _):
      log(GST_LEVEL_DEBUG, "connection \(id) is over\(error.map { ": \($0)" } ?? "")")
      let now = MonotonicClock.now
      state.withLock { state in
        state.apps.disconnected(id)
        state.settleTouches(now: now)
      }
    case .carriedOut(let step, let id):
      log(GST_LEVEL_INFO, "script, line \(step.line)\(id.map { ", app \($0)" } ?? ""): \(step.text)")
    case .leftOut(let step, let id):
      let reason = id.map { "app \($0) is gone" } ?? "no app is registered"
      log(GST_LEVEL_WARNING, "script, line \(step.line) without effect, \(reason): \(step.text)")
    case .stepsDropped:
      log(
        GST_LEVEL_WARNING,
        "steps of the script are dropped, because \(HeadUnitScriptRun.maximumWaitingCount) are waiting already")
    case .ended: break
    }
  }

  private func receive(_ event: HeadUnitSession.Event, from id: UInt8) {
    switch event {
    case .videoData(let bytes): videoCame(bytes, from: id)
    case .videoTimestamp(let timestamp): state.withLock { $0.timestamp = timestamp }
    case .appRegistered(let name, let appID, let types, let version):
      register(id, name: name, appID: appID, types: types, version)
    case .hmiStatusSent(let status): statusChanged(status, of: id)
    case .videoStarted(let parameters): videoStarted(parameters, by: id)
    case .videoRefused(let rejection):
      state.withLock { $0.totals.streamRefusals &+= 1 }
      postStreamRefused(rejection, of: id)
    case .videoStopped(let reason): videoStopped(reason, of: id)
    case .appUnregistered(let reason): unregister(id, reason)
    case .violation(let violation): broke(violation, id)
    case .videoMissed: missVideo(of: id)
    case .videoDataStopped(let time):
      log(GST_LEVEL_INFO, "no video of app \(id) for \(time)")
      // SDL Core has closed its output, and opens another with the next video.
      missVideo(of: id)
    case .videoStartRequested(let parameters): log(GST_LEVEL_DEBUG, "app \(id) asks for \(parameters)")
    case .touchSent: state.withLock { $0.totals.touches &+= 1 }
    case .capabilityUpdateDeferred:
      log(GST_LEVEL_INFO, "app \(id) gets an update of the capability once it subscribes to them")
    case .appHMIStatus, .appCapability, .hapticRectangles: log(GST_LEVEL_DEBUG, "app \(id): \(event)")
    }
  }

  private func register(
    _ id: UInt8, name: String, appID: String, types: [AppHMIType], _ version: ProtocolVersion
  ) {
    let app = state.withLock { state in
      let app = AppRecord(
        id: id, name: name, appID: appID, types: types, protocolVersion: version, peer: state.apps.peers[id] ?? "")
      state.apps.add(app)
      state.totals.registrations &+= 1
      return app
    }
    log(GST_LEVEL_INFO, "app \(id) \"\(name)\" is registered over protocol \(version)")
    post(app, as: "sdl-app-registered")
    HeadUnitSourceProperty.apps.notify(element)
  }

  private func unregister(_ id: UInt8, _ reason: HeadUnitSession.UnregistrationReason) {
    let endsWithApp = settings.withLock { $0.endsWithApp }
    let (app, isEnd) = state.withLock { state in
      let app = state.apps[id]
      state.apps.remove(id)
      state.settleTouches(now: MonotonicClock.now)
      return (app, endsWithApp && state.streamingApp == id)
    }
    if let app {
      log(GST_LEVEL_INFO, "app \(id) \"\(app.name)\" is unregistered: \(reason)")
      postUnregistered(app, reason)
      HeadUnitSourceProperty.apps.notify(element)
      HeadUnitSourceProperty.hmiLevel.notify(element)
    }
    guard isEnd else { return }
    // Behind the message, since applications stop listening at the end.
    state.withLock { state in
      state.queue.flushPending(now: MonotonicClock.now)
      state.isEnding = true
    }
    state.broadcast()
  }

  private func statusChanged(_ status: HMIStatus, of id: UInt8) {
    // Other windows are widgets.
    guard status.windowID == 0 else { return }
    let (app, before, after) = state.withLock { state in
      let before = state.apps.onScreen?.status?.level
      state.apps.setStatus(status, of: id)
      // What the app sends while it may not is left out.
      if !status.allowsVideo, state.streamingApp == id { state.queue.noteGap(now: MonotonicClock.now) }
      state.settleTouches(now: MonotonicClock.now)
      return (state.apps[id], before, state.apps.onScreen?.status?.level)
    }
    if let app { postStatus(status, of: app) }
    HeadUnitSourceProperty.apps.notify(element)
    if before != after { HeadUnitSourceProperty.hmiLevel.notify(element) }
  }

  private func videoStarted(_ parameters: VideoServiceParameters, by id: UInt8) {
    let usesRTP = parameters.videoProtocol == VideoStreamingFormat.rtpH264.videoProtocol
    let isH264 = parameters.videoCodec.map { $0 == VideoStreamingFormat.rawH264.codec } ?? true
    let (app, isLatencyNew) = state.withLock { state in
      let isLatencyNew = state.usesRTP != usesRTP
      state.totals.streamStarts &+= 1
      state.interruptTouches(now: MonotonicClock.now)
      state.streamingApp = id
      state.isH264 = isH264
      state.usesRTP = usesRTP
      state.timestamp = nil
      state.queue.beginStream(now: MonotonicClock.now)
      state.apps.setVideo(parameters, of: id)
      return (state.apps[id], isLatencyNew)
    }
    state.broadcast()
    if isLatencyNew { gst_element_post_message(gstElement, gst_message_new_latency(gstElement.cast())) }
    guard let app else { return }
    if !isH264 {
      warn(
        .stream(
          GST_STREAM_ERROR_FORMAT,
          "\"\(app.name)\" sends \(parameters.videoCodec ?? "?"), which is not shown: formats should list H264 only."))
    }
    postStreamStarted(app)
    HeadUnitSourceProperty.apps.notify(element)
  }

  private func videoCame(_ bytes: [UInt8], from id: UInt8) {
    let now = MonotonicClock.now
    state.withLock { state in
      guard state.streamingApp == id, state.isH264 else { return }
      state.queue.append(bytes, timestamp: state.timestamp.take(), now: now)
    }
    state.broadcast()
  }

  private func missVideo(of id: UInt8) {
    state.withLock { state in
      if state.streamingApp == id { state.queue.noteGap(now: MonotonicClock.now) }
    }
  }

  private func videoStopped(_ reason: HeadUnitSession.VideoStopReason, of id: UInt8) {
    let app = state.withLock { state in
      if state.streamingApp == id { state.queue.flushPending(now: MonotonicClock.now) }
      state.apps.setVideo(nil, of: id)
      state.settleTouches(now: MonotonicClock.now)
      return state.apps[id]
    }
    state.broadcast()
    guard let app else { return }
    postStreamStopped(app, reason)
    HeadUnitSourceProperty.apps.notify(element)
  }

  private func broke(_ violation: Violation, _ id: UInt8) {
    let runningTime = UInt64(gst_element_get_current_running_time(gstElement))
    let record = state.withLock { state in
      state.violations.note(
        ViolationRecord(
          appID: id, appName: state.apps[id]?.name, violation: violation,
          runningTime: runningTime == .max ? nil : runningTime), now: MonotonicClock.now)
    }
    guard let record else { return }
    log(GST_LEVEL_WARNING, "app \(id): \(violation)")
    post(record)
    HeadUnitSourceProperty.violations.notify(element)
  }
}
