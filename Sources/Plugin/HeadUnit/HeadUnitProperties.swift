import GStreamerKit
import HeadUnitControl
import SDLHeadUnit
import SDLMessages
import SDLWire

extension PropertyName {
  static let currentPort: PropertyName = "current-port"
  static let currentSecondaryPort: PropertyName = "current-secondary-port"
  static let currentWebURI: PropertyName = "current-web-uri"
  static let apps: PropertyName = "apps"
  static let violations: PropertyName = "violations"
}

/// The properties of a head unit, the same in each of its elements.
extension Property where Owner: HeadUnitElement {
  static var headUnit: [Property<Owner>] {
    [
      // Address and identity.
      .string(
        "address", \.headUnit.address, "Address",
        "Host name or numeric address to listen on, \"*\" for all addresses: then every machine in the network can connect; or bluetooth:AA:BB:CC:DD:EE:FF, to connect to this phone's app",
        .mutableReady),
      .unsigned(
        "port", \.headUnit.port, 0...(.max), "Port",
        "TCP port to listen on; 0 takes any free port (see current-port)", .mutableReady),
      .unsigned(
        .currentPort, 0...65535, default: 0, "Current port", "Current TCP port; 0 while not listening"
      ) { UInt32($0.run?.headUnit?.port ?? 0) },
      .boolean(
        "announce", \.headUnit.isAnnounced, "Announce",
        "Announce the head unit on the local network (DNS-SD) while it listens, by Avahi", .mutableReady),
      .enumeration(
        "preset", \.headUnit.preset, "Preset",
        "Head unit to emulate; provides the values of unset properties", .mutableReady),
      .string("make", \.headUnit.effectiveMake, "Make", "Make of the car", .mutableReady),
      .string("model", \.headUnit.effectiveModel, "Model", "Model of the car", .mutableReady),
      .text(
        "pcm-capabilities", \.headUnit.effectiveSound, "PCM capabilities",
        "Sound format that the head unit announces: 8KHZ, 16KHZ, 22KHZ or 44KHZ, with 8_BIT or 16_BIT, such as \"16KHZ/16_BIT\"; \"none\" announces nothing, and apps assume 16KHZ/16_BIT",
        .mutableReady, parse: parseSound, text: { $0?.text }),
      // A secondary transport.
      .integer(
        "secondary-port", \.headUnit.effectiveSecondaryPort, -1...65535, "Secondary port",
        "TCP port of a secondary transport for video and sound; 0 takes any free port (see current-secondary-port); -1 offers none",
        .mutableReady),
      .enumeration(
        "secondary-from", \.headUnit.secondaryOrigin, "Secondary from",
        "Addresses from which apps may use the secondary port", .mutableReady),
      .unsigned(
        .currentSecondaryPort, 0...65535, default: 0, "Current secondary port",
        "Current TCP port of secondary transports; 0 until one has been offered"
      ) { UInt32($0.run?.headUnit?.server?.secondaryPort ?? 0) },
      .text(
        "video-transports", \.headUnit.effectiveVideoTransports, "Video transports",
        "Transports over which apps may start video, in order of preference: 1 is the primary transport, 2 the secondary one if it is offered, such as \"2,1\"; or none",
        .mutableReady, parse: parseTransports, text: transportsText),
      .text(
        "audio-transports", \.headUnit.effectiveAudioTransports, "Audio transports",
        "Transports over which apps may start sound; see video-transports", .mutableReady, parse: parseTransports,
        text: transportsText),
      // How it treats apps.
      .boolean(
        "strict", \.headUnit.isStrict, "Strict",
        "Unregister apps that stream without permission (PROTOCOL_VIOLATION), as SDL Core does; otherwise only report it",
        .mutableReady),
      .enumeration(
        .hmiLevel, \.headUnit.hmiLevel, "HMI level",
        "HMI level of the app on the screen, and of later ones: none keeps apps from streaming",
        .mutablePlaying,
        reading: { element in
          element.run?.headUnit.map { $0.apps.levelOnScreen ?? $0.setup.settings.hmiLevel }
            ?? element.settings.current.headUnit.hmiLevel
        },
        changed: { element in
          element.run?.headUnit?.changeStatus { $0.settings.hmiLevel = element.settings.current.headUnit.hmiLevel }
        }),
      .enumeration(
        "audio-streaming", \.headUnit.audioStreaming, "Audio streaming",
        "Whether the driver hears the app on the screen, and later ones, in the levels full and limited",
        .mutablePlaying,
        reading: { $0.run?.headUnit?.setup.settings.audioStreaming ?? $0.settings.current.headUnit.audioStreaming },
        changed: { $0.run?.headUnit?.changeAudioStreaming(to: $0.settings.current.headUnit.audioStreaming) }),
      .string(
        "script", \.headUnit.script, "Script",
        "Path of a behaviour script: the head unit's actions and their times, one step per line, read at the start",
        .mutableReady),
      .string(
        "conversation-log", \.headUnit.conversation.path, "Conversation log",
        "File for the conversations with the apps, a JSON object on each line, decrypted; each start begins it anew; unset: none",
        .mutableReady),
      .conversationBlank(\.headUnit.conversation.isBlank),
      .text(
        "web", \.headUnit.web, "Web",
        "[ADDRESS:]PORT at which browsers get the car's screen, on this machine unless an address is given, with the token that current-web-uri has; port 0 takes any free one; unset: none",
        .mutableReady, parse: parseWeb, text: { $0 }),
      .text(
        "web-token", \.headUnit.webToken, "Web token",
        "What requests to the port of web have to know; unset: a new one at each start", .mutableReady,
        parse: parseWebToken, text: { $0 }),
      .string(
        .currentWebURI, "Current web URI", "Address of the page for browsers, with its token; NULL while there is none"
      ) { $0.run?.headUnit?.pageURI },
      .structures(.apps, "Apps", "Registered apps, in order (application/x-sdl-app)") {
        StructureArray($0.run?.headUnit?.apps.all ?? []) { $0.structure }
      },
      .structures(
        .violations, "Violations",
        "The last 100 violations by apps, in order; structures as in the message sdl-violation"
      ) { StructureArray($0.violations) { $0.structure } },
    ]
  }

  static func endsWithApp(_ blurb: StaticString) -> Property {
    .boolean(
      "eos-on-disconnect", \.endsWithApp, "EOS on disconnect", blurb, .mutablePlaying,
      changed: { $0.run?.setEndsWithApp($0.settings.current.endsWithApp) })
  }

  private static func parseWeb(_ text: String?) throws(InvalidPropertyValue) -> String? {
    guard let text else { return nil }
    guard ControlAddress(text: text) != nil else {
      throw InvalidPropertyValue(
        "'\(text)' is no port; write PORT or ADDRESS:PORT, such as 8080, or *:8080 for all addresses")
    }
    return text
  }

  private static func parseWebToken(_ text: String?) throws(InvalidPropertyValue) -> String? {
    guard let text else { return nil }
    guard let token = ControlAddress.token(text: text) else {
      throw InvalidPropertyValue("the token can't be used: write letters and digits of ASCII")
    }
    return token
  }

  private static func parseSound(
    _ text: String?
  ) throws(InvalidPropertyValue) -> HeadUnitSettings.AnnouncedSound? {
    guard let text else { return nil }
    if text == "none" { return .nothing }
    guard let format = PCMFormat(text: text) else {
      throw InvalidPropertyValue(
        "'\(text)' is no sound; write a rate of 8KHZ, 16KHZ, 22KHZ or 44KHZ and a size of 8_BIT or 16_BIT, such as 16KHZ/16_BIT, or none"
      )
    }
    return .format(format)
  }

  private static func parseTransports(
    _ text: String?
  ) throws(InvalidPropertyValue) -> [TransportRole]? {
    guard let text else { return nil }
    guard let list = TransportRole.list(text) else {
      throw InvalidPropertyValue(
        "'\(text)' is no list of transports; write 1, 2, both with a comma between them, or none")
    }
    return list
  }

  private static func transportsText(_ transports: [TransportRole]?) -> String? {
    let list = transports ?? [.primary, .secondary]
    return list.isEmpty ? "none" : list.map { "\($0.rawValue)" }.joined(separator: ",")
  }
}

extension HeadUnitSettings.AnnouncedSound {
  /// The value of the property `pcm-capabilities`.
  fileprivate var text: String {
    switch self {
    case .nothing: "none"
    case .format(let format): format.text
    }
  }
}
