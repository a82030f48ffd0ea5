import GStreamerKit
import SDLHeadUnit
import SDLWire

/// Properties of a secondary transport.
extension Property where Owner: HeadUnitElement {
  static var secondaryPort: Property {
    .integer(
      "secondary-port", \.headUnit.effectiveSecondaryPort, -1...65535, "Secondary port",
      "TCP port of a secondary transport that apps are offered for video and sound; 0 takes any that is free, which current-secondary-port tells; -1 offers none",
      .mutableReady)
  }

  static var currentSecondaryPort: Property {
    .unsigned(
      .currentSecondaryPort, 0...65535, default: 0, "Current secondary port",
      "TCP port at which secondary transports are taken; 0 while none has been offered"
    ) { UInt32($0.run?.headUnit?.server?.secondaryPort ?? 0) }
  }

  static var videoTransports: Property {
    .text(
      "video-transports", \.headUnit.effectiveVideoTransports, "Video transports",
      "Where apps may start video, in order of preference: 1 the primary transport, 2 the secondary one if it is offered, such as \"2,1\"; or none",
      .mutableReady, parse: parseTransports, text: transportsText)
  }

  static var audioTransports: Property {
    .text(
      "audio-transports", \.headUnit.effectiveAudioTransports, "Audio transports",
      "Where apps may start sound, in the same form", .mutableReady, parse: parseTransports, text: transportsText)
  }

  private static func parseTransports(
    _ text: String?
  ) throws(InvalidPropertyValue) -> [TransportRole]? {
    guard let text, !text.isEmpty else { return nil }
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
