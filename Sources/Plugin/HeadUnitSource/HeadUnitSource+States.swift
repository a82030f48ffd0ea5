import CPluginTypes
import GStreamerKit
import Glibc
import Glibc
import SDLHeadUnit
import SDLLink
import SDLMessages

extension HeadUnitSource {
  /// READY to PAUSED: listens from now on.
  func start() -> Bool {
    let settings = self.settings.withLock { $0 }
    if let (id, malformed) = settings.malformed.min(by: { $0.key < $1.key }) {
      let name = HeadUnitSourceProperty(rawValue: id)?.specification.nameText ?? "?"
      ElementError.resource(GST_RESOURCE_ERROR_SETTINGS, "The property \(name) can't be used: \(malformed)")
        .post(as: GST_MESSAGE_ERROR, from: gstElement)
      return false
    }
    output = HeadUnitSourceOutput()
    // Before the port, so that none is left open.
    let script: HeadUnitScript
    do {
      script = try settings.script.map(HeadUnitScriptFile.read) ?? HeadUnitScript()
    } catch {
      failure(error).post(as: GST_MESSAGE_ERROR, from: gstElement)
      return false
    }
    do {
      let server = try HeadUnitServer(
        configuration: settings.configuration, address: settings.listeningAddress, port: settings.port,
        admission: Self.admission, script: script, listener: ProtocolLog(gstElement), observer: self)
      server.setCondition(.activationStatus(settings.status.level ?? HMILevel.none, settings.status.videoStreamingState))
      state.withLock { $0.server = server }
      try server.start()
      announce(server)
      return true
    } catch {
      state.withLock { $0.end() }
      failure(error).post(as: GST_MESSAGE_ERROR, from: gstElement)
      return false
    }
  }

  /// PAUSED to READY.
  func stop() {
    endServer()
    output = HeadUnitSourceOutput()
  }

  /// Enough for any desk; and who says nothing gives way to others.
  private static var admission: HeadUnitServer.Admission {
    var admission = HeadUnitServer.Admission()
    admission.maximumConnectionCount = 16
    admission.refusesMore = true
    admission.registrationTime = .seconds(10)
    return admission
  }

  private func announce(_ server: HeadUnitServer) {
    let address = server.address ?? ""
    HeadUnitSourceProperty.currentPort.notify(element)
    // Twice, because gst-launch shows the details only.
    let text = "Listening for SmartDeviceLink apps on \(address), for example: sdlvideosink uri=sdl://\(address)"
    ElementError.resource(GST_RESOURCE_ERROR_SETTINGS, text, details: text).post(as: GST_MESSAGE_INFO, from: gstElement)
    log(GST_LEVEL_INFO, text)
  }

  private func failure(_ error: HeadUnitScriptFile.Failure) -> ElementError {
    switch error {
    case .unreadable(_, let code):
      .resource(
        code == ENOENT ? GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_OPEN_READ,
        "The script \(error). Check the property script.")
    case .malformed: .resource(GST_RESOURCE_ERROR_SETTINGS, "The script \(error).")
    }
  }

  private func failure(_ error: LinkError) -> ElementError {
    let text = error.description
    let sentence = text.prefix(1).uppercased() + text.dropFirst() + "."
    switch error {
    case .cannotListen(_, errno: EADDRNOTAVAIL):
      return .resource(
        GST_RESOURCE_ERROR_OPEN_READ,
        "\(sentence) This machine has no such address; check the property address, or use * for all that it has.")
    case .cannotListen:
      return .resource(
        GST_RESOURCE_ERROR_OPEN_READ,
        "\(sentence) Is another head unit there (SDL Core, another sdlheadunitsrc)? End it, or choose a port that is free with port=N; port=0 takes any, and current-port tells which."
      )
    case .cannotResolve, .resolvingTimedOut:
      return .resource(GST_RESOURCE_ERROR_NOT_FOUND, "\(sentence) Check the property address.")
    default: return .resource(GST_RESOURCE_ERROR_FAILED, sentence)
    }
  }

  /// Closes all connections and waits for the server's thread, unless this is it. Does nothing when there is none.
  func endServer() {
    guard let server = state.withLock({ $0.server }) else { return }
    state.withLock { $0.interruptTouches(now: MonotonicClock.now) }
    server.stop()
    server.join()
    let hadApps = state.withLock { state in
      defer { state.end() }
      return !state.apps.all.isEmpty
    }
    state.broadcast()
    HeadUnitSourceProperty.currentPort.notify(element)
    if hadApps { HeadUnitSourceProperty.apps.notify(element) }
  }

  func setFlushing(_ isFlushing: Bool) {
    state.withLock { $0.isFlushing = isFlushing }
    state.broadcast()
  }

  /// How late buffers may be, which is what a pipeline's latency is made of.
  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    guard query.pointee.type == GST_QUERY_LATENCY else {
      return gst_sdl_head_unit_src_parent_query(baseSource, query) != 0
    }
    let latency = state.withLock { $0.usesRTP } ? RTPTime.longestLag : .zero
    gst_query_set_latency(query, 1, GstClockTime(clamping: latency.nanoseconds), .max)
    return true
  }
}
