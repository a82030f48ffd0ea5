import GStreamerKit
import SDLHeadUnit
import SDLMessages
import SDLWire

/// The structures of messages and properties.
extension AppRecord {
  /// An entry of the property `apps`.
  var structure: Structure {
    let structure = Structure("application/x-sdl-app")
    fill(structure)
    if let status { status.fill(structure) }
    structure.set("streaming", video != nil)
    structure.set("audio", audioTransport != nil)
    structure.set("secondary-transport", hasSecondaryTransport)
    if video != nil {
      structure.set("video-transport", "\(videoTransport)")
      fillVideo(structure)
    }
    if let audioTransport { structure.set("audio-transport", "\(audioTransport)") }
    return structure
  }

  func fillIdentity(_ structure: borrowing Structure) {
    structure.set("app", Int32(id))
    structure.set("name", name)
    structure.set("app-id", appID)
  }

  func fill(_ structure: borrowing Structure) {
    fillIdentity(structure)
    structure.set("types", types.map(\.rawValue.nick).joined(separator: ", "))
    structure.set("protocol-version", "\(protocolVersion)")
    structure.set("peer", peer)
  }

  func fillVideo(_ structure: borrowing Structure) {
    if let width = video?.width, let height = video?.height {
      structure.set("width", width)
      structure.set("height", height)
    }
    structure.set("protocol", video?.videoProtocol ?? VideoStreamingFormat.rawH264.videoProtocol)
    structure.set("codec", video?.videoCodec ?? VideoStreamingFormat.rawH264.codec)
  }
}

extension HMIStatus {
  func fill(_ structure: borrowing Structure) {
    structure.set("level", level ?? HMILevel.none)
    structure.set("video-streaming-state", videoStreamingState.rawValue.nick)
    structure.set("audio-streaming-state", audioStreamingState.rawValue.nick)
    structure.set("system-context", systemContext.rawValue.nick)
  }
}

extension ViolationRecord {
  /// An entry of the property `violations`, and the message `sdl-violation`.
  var structure: Structure {
    let structure = Structure("sdl-violation")
    structure.set("app", Int32(appID))
    structure.set("name", appName)
    structure.set("rule", violation.rule)
    structure.set("text", "\(violation)")
    for (name, value) in violation.numbers { structure.set(name, Int32(clamping: value)) }
    if let runningTime { structure.set("running-time", runningTime) }
    structure.set("suppressed", suppressed)
    return structure
  }
}

extension HeadUnitSession.UnregistrationReason {
  /// The field `reason` of `sdl-app-unregistered`.
  var name: String {
    switch self {
    case .requestedByApp: "app"
    case .sessionEndedByApp: "session-ended"
    case .headUnit(let reason): reason.rawValue.nick
    case .heartbeatTimeout: "heartbeat-timeout"
    case .malformedFrames: "malformed-frames"
    case .transportLost: "connection-lost"
    }
  }
}

extension HeadUnitSession.StreamStopReason {
  /// The field `reason` of `sdl-stream-stopped`, which `sdlvideosink` posts too, with the same values where it can.
  var name: String {
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

extension ServiceType {
  /// The field `service` of messages.
  var text: String { "\(self)" }
}

extension String {
  /// As GStreamer writes the values of enumerations: "not-streamable" for NOT_STREAMABLE.
  fileprivate var nick: String { String(lowercased().map { $0 == "_" ? "-" : $0 }) }
}
