import GStreamerKit
import SDLHeadUnit
import SDLMessages
import SDLWire

/// What the element tells the application: element messages, and the structures behind its properties.
extension HeadUnitSource {
  private func post(_ structure: consuming Structure) {
    gst_element_post_message(gstElement, gst_message_new_element(gstElement.cast(), structure.take()))
  }

  /// `sdl-app-registered`, and others that say nothing but of whom they are.
  func post(_ app: AppRecord, as name: String) {
    let message = Structure(name)
    fill(message, app)
    post(message)
  }

  /// `sdl-app-unregistered`.
  func postUnregistered(_ app: AppRecord, _ reason: HeadUnitSession.UnregistrationReason) {
    let message = Structure("sdl-app-unregistered")
    fill(message, app)
    message.set("reason", reason.name)
    post(message)
  }

  /// `sdl-hmi-status`: how an app stands on the head unit.
  func postStatus(_ status: HMIStatus, of app: AppRecord) {
    let message = Structure("sdl-hmi-status")
    fillIdentity(message, app)
    fill(message, status)
    post(message)
  }

  /// `sdl-stream-started`: an app has a video service.
  func postStreamStarted(_ app: AppRecord) {
    let message = Structure("sdl-stream-started")
    fillIdentity(message, app)
    fillVideo(message, app)
    post(message)
  }

  /// `sdl-stream-refused`: an app was refused one.
  func postStreamRefused(_ rejection: ServiceRejection, of id: UInt8) {
    let message = Structure("sdl-stream-refused")
    if let app = state.withLock({ $0.apps[id] }) { fillIdentity(message, app) }
    message.set("rejected", rejection.rejectedParameters.joined(separator: ", "))
    message.set("reason", rejection.reason)
    post(message)
  }

  /// `sdl-stream-stopped`: an app has no video service any more.
  func postStreamStopped(_ app: AppRecord, _ reason: HeadUnitSession.VideoStopReason) {
    let message = Structure("sdl-stream-stopped")
    fillIdentity(message, app)
    message.set("reason", reason.name)
    message.set("frames-out", state.withLock { $0.queue.counters.framesOut })
    post(message)
  }

  /// `sdl-violation`: an app broke a rule.
  func post(_ violation: ViolationRecord) {
    post(structure(violation))
  }

  /// An entry of the property `violations`, and the message `sdl-violation`.
  func structure(_ record: ViolationRecord) -> Structure {
    let structure = Structure("sdl-violation")
    structure.set("app", Int32(record.appID))
    structure.set("name", record.appName)
    structure.set("rule", record.violation.rule)
    structure.set("text", "\(record.violation)")
    for (name, value) in record.violation.numbers { structure.set(name, Int32(clamping: value)) }
    if let time = record.runningTime { structure.set("running-time", time) }
    structure.set("suppressed", record.suppressed)
    return structure
  }

  /// An entry of the property `apps`.
  func structure(_ app: AppRecord) -> Structure {
    let structure = Structure("application/x-sdl-app")
    fill(structure, app)
    if let status = app.status { fill(structure, status) }
    structure.set("streaming", app.video != nil)
    if app.video != nil { fillVideo(structure, app) }
    return structure
  }

  private func fillIdentity(_ structure: borrowing Structure, _ app: AppRecord) {
    structure.set("app", Int32(app.id))
    structure.set("name", app.name)
    structure.set("app-id", app.appID)
  }

  private func fill(_ structure: borrowing Structure, _ app: AppRecord) {
    fillIdentity(structure, app)
    structure.set("types", app.types.map { Self.nick($0.rawValue) }.joined(separator: ", "))
    structure.set("protocol-version", "\(app.protocolVersion)")
    structure.set("peer", app.peer)
  }

  private func fill(_ structure: borrowing Structure, _ status: HMIStatus) {
    structure.set("level", enumeration: HMILevel.enumeration, (status.level ?? HMILevel.none).enumValue)
    structure.set("video-streaming-state", Self.nick(status.videoStreamingState.rawValue))
    structure.set("audio-streaming-state", Self.nick(status.audioStreamingState.rawValue))
    structure.set("system-context", Self.nick(status.systemContext.rawValue))
  }

  private func fillVideo(_ structure: borrowing Structure, _ app: AppRecord) {
    if let width = app.video?.width, let height = app.video?.height {
      structure.set("width", width)
      structure.set("height", height)
    }
    structure.set("protocol", app.video?.videoProtocol ?? VideoStreamingFormat.rawH264.videoProtocol)
    structure.set("codec", app.video?.videoCodec ?? VideoStreamingFormat.rawH264.codec)
  }

  /// As GStreamer writes the values of enumerations: "not-streamable" for NOT_STREAMABLE.
  fileprivate static func nick(_ name: String) -> String {
    String(name.lowercased().map { $0 == "_" ? "-" : $0 })
  }
}

extension HeadUnitSession.UnregistrationReason {
  fileprivate var name: String {
    switch self {
    case .requestedByApp: "app"
    case .sessionEndedByApp: "session-ended"
    case .headUnit(let reason): HeadUnitSource.nick(reason.rawValue)
    case .heartbeatTimeout: "heartbeat-timeout"
    case .malformedFrames: "malformed-frames"
    case .transportLost: "connection-lost"
    }
  }
}

extension HeadUnitSession.VideoStopReason {
  /// In the words of the sink, where it has some.
  fileprivate var name: String {
    switch self {
    case .endedByApp: "app"
    case .endedByHeadUnit: "head-unit"
    case .hmiLevelNone: "hmi-status"
    case .streamingForbidden: "streaming-forbidden"
    case .otherAppStarted: "other-app"
    case .unregistered: "session-ended"
    case .transportLost: "connection-lost"
    }
  }
}
