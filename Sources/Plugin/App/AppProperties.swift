import GStreamerKit
import SDLApp

/// The app's properties, the same in every sink.
extension Property where Owner: AppElement {
  /// The app's identity, its head unit, and its time-outs.
  static var app: [Property<Owner>] {
    [
      .string(
        "uri", \.app.uri, "URI",
        "Head unit: sdl://HOST[:PORT], sdl+ws[s]://HOST[:PORT][/PATH] (WebSocket), sdl+ws[s]-listen://[ADDRESS]:PORT (waits for a WebSocket of the head unit), sdl+bluetooth:[ADDRESS] (waits for the car with this address, or for any), sdl+builtin:PRESET (default, core, core-listed, generic-hmi, legacy, bluetooth-and-wifi, hostile), or sdl+fd:NUMBER[?local=true], a connected stream socket that the element takes over. Unset: the built-in head unit",
        .mutableReady),
      .string(
        "app-name", \.app.name, "App name",
        "Name under which the head unit shows the app, at most 100 characters; the default gets a number if it is taken",
        .mutableReady),
      .string(
        "app-id", \.app.id, "App id",
        "Identifies the app in the head unit's policies, at most 100 characters; the default gets a number if it is taken",
        .mutableReady),
      .enumeration(
        "app-type", \.app.type, "App type",
        "Type of the app; head units show video only of navigation and projection apps", .mutableReady),
      .string(
        "language", \.app.language, "Language",
        "Language and country of the app, such as DE-DE (enumeration Language of the RPC specification)",
        .mutableReady),
      .structure(
        "app-names", \.app.names, "App names",
        "The app's name in other languages, for head units in one of them: names,DE-DE=Karte,FR-FR=Carte",
        .mutableReady,
        parse: { value throws(InvalidPropertyValue) in try AppNames(value) }, structure: { $0.structure }),
      .string(
        "tts-name", \.app.spokenName, "TTS name",
        "The app's name for speech output, at most 500 characters; unset: app-name", .mutableReady),
      .text(
        "vr-synonyms", \.app.synonyms, "VR synonyms",
        "Other names of the app for voice commands, separated by commas, at most 100 of 40 characters each",
        .mutableReady, parse: { text throws(InvalidPropertyValue) in try AppNames.synonyms(text ?? "") },
        text: { $0.joined(separator: ",") }),
      .string(
        "app-icon", \.app.icon, "App icon",
        "PNG file with the app's icon; not sent again while the head unit keeps it",
        .mutableReady),
      .unsigned(
        "connect-timeout", \.app.connectTimeout, 1...3_600_000, "Connect time-out",
        "Longest wait for the connection, and again for the head unit's first answer, in milliseconds", .mutableReady),
      .unsigned(
        "open-timeout", \.app.openTimeout, 0...3_600_000, "Open time-out",
        "Longest wait for the head unit's formats in the change to READY, in milliseconds, so that upstream chooses its first caps from them; 0: none; the connection goes on after it",
        .mutableReady),
      .unsigned(
        "heartbeat-interval", \.app.heartbeatInterval, 0...3_600_000, "Heartbeat interval",
        "Silence after which the head unit is sent a heartbeat, in milliseconds; without an answer for the same time, the connection of a head unit that has answered one before is lost; 0: never",
        .mutableReady),
      .boolean(
        "auto-reconnect", \.app.autoReconnect, "Reconnect automatically",
        "Connect again when the connection breaks, after 0.5 s to 10 s, while the pipeline stays in PLAYING; if false, a broken connection is an error",
        .mutableReady),
      .unsigned(
        "start-timeout", \.app.startTimeout, 1...3_600_000, "Start time-out",
        "Longest wait for the answer to StartService, in milliseconds; a second attempt waits at least 12 s, since some head units take 11 s",
        .mutableReady),
      .unsigned(
        "max-retry-interval", \.app.maxRetryInterval, 1...3_600_000, "Maximum retry interval",
        "Longest pause before a refused start of the service is tried again (2 s, 4 s, …), in milliseconds",
        .mutableReady),
    ]
  }

  static var rpcNotifications: Property<Owner> {
    .text(
      "rpc-notifications", \.rpcNotifications, "RPC notifications",
      "Notifications of the head unit to post as sdl-rpc: names of the RPC specification, separated by commas, such as OnVehicleData",
      .mutablePlaying,
      parse: { text throws(InvalidPropertyValue) in try FunctionID.notifications(text ?? "") },
      text: { $0.map(\.description).joined(separator: ",") },
      changed: { $0.app?.setNotifications($0.wantedNotifications, of: $0) })
  }

  static var policyUpdates: Property<Owner> {
    .enumeration(
      "policy-updates", \.app.policyUpdates, "Policy updates",
      "How the head unit's requests for downloads are answered, such as policy updates, which may grant touches",
      .mutableReady)
  }

  static var conversation: [Property<Owner>] {
    [
      .string(
        "conversation-log", \.app.conversation.path, "Conversation log",
        "File for the conversation with the head unit, a JSON object on each line, decrypted; each start of the connection in READY begins it anew; unset: none",
        .mutableReady),
      .conversationBlank(\.app.conversation.isBlank),
    ]
  }

  static var connectionState: Property<Owner> {
    .enumeration(
      "connection-state", default: ConnectionState.idle, "Connection state",
      "State of the connection to the head unit", get: { $0.app?.status.connection ?? .idle })
  }

  static var secondaryTransport: Property<Owner> {
    .enumeration(
      "secondary-transport", \.app.secondaryTransport, "Secondary transport",
      "Whether video and sound may use a second connection that the head unit offers, as in cars that use Bluetooth for phones and Wi-Fi for their video",
      .mutableReady)
  }

  static var transports: Property<Owner> {
    .structure(
      "transports", "Transports",
      "The connections to the head unit (application/x-sdl-transports): primary and secondary, each with class, state, address and services; unset without a connection",
      get: { sink in
        sink.app.flatMap { app in
          app.status.transportsStructure(primary: app.connection.transportClass)
        }
      })
  }

  static var permissions: Property<Owner> {
    .structure(
      "permissions", "Permissions",
      "Permissions that the head unit's policy gives the app, and their HMI levels (application/x-sdl-permissions): touches, haptic-rectangles, keys; video and audio by app-type; unset until known",
      get: { sink in
        sink.app.flatMap { app in app.status.session.permissions?.structure(app.settings) }
      })
  }

  static var headUnit: Property<Owner> {
    .structure(
      "head-unit", "Head unit",
      "Description of the head unit (application/x-sdl-head-unit): make, model, versions, capabilities of video and sound; unset until known",
      get: { $0.app?.status.headUnit?.structure })
  }
}

extension PropertyName {
  static let connectionState: PropertyName = "connection-state"
  static let hmiLevel: PropertyName = "hmi-level"
  static let headUnit: PropertyName = "head-unit"
  static let permissions: PropertyName = "permissions"
  static let streamState: PropertyName = "stream-state"
}

extension FunctionID {
  /// The value of the property `rpc-notifications`.
  fileprivate static func notifications(_ text: String) throws(InvalidPropertyValue) -> [FunctionID] {
    var functions: [FunctionID] = []
    for name in text.split(separator: ",").map({ $0.filter { $0 != " " } }) {
      guard let function = FunctionID(name: name), function.isKnownNotification else {
        throw InvalidPropertyValue("\(name) is no notification of a head unit, such as OnVehicleData")
      }
      functions.append(function)
    }
    return functions
  }
}

extension AppPermissions {
  /// The property `permissions` of an app with `settings`.
  fileprivate func structure(_ settings: AppSettings) -> Structure {
    let rows = [
      ("touches", "touch-levels", touchLevels), ("haptic-rectangles", "haptic-levels", hapticLevels),
      ("keys", "key-levels", buttonLevels), ("video", "video-levels", settings.videoLevels),
      ("audio", "audio-levels", settings.audioLevels),
    ]
    let structure = Structure("application/x-sdl-permissions")
    for (name, field, levels) in rows {
      structure.set(name, !levels.isEmpty)
      structure.set(field, levels.map { "\($0.row.nick)" }.joined(separator: ", "))
    }
    return structure
  }
}

/// The levels in which SDL Core lets an app of this type stream, if it is streamable and audible: no policy changes
/// that.
extension AppSettings {
  fileprivate var videoLevels: [HMILevel] {
    guard type != .media else { return [] }
    return HMILevel.allCases.filter { HMIStatus(level: $0, videoStreamingState: .streamable).allowsVideo }
  }

  fileprivate var audioLevels: [HMILevel] {
    guard type == .navigation || isMedia else { return [] }
    return HMILevel.allCases.filter {
      HMIStatus(level: $0, videoStreamingState: .streamable).allowsAudio(isMedia: isMedia)
    }
  }
}
