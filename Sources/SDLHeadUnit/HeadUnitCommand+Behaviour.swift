import SDLMessages
import SDLWire

/// The parser of commands that change the behaviour, and of `update`.
extension HeadUnitCommand {
  static func behaviour(_ name: String, _ arguments: [String]) -> HeadUnitCommand? {
    if name == "answer", let request = arguments.first { return answer(to: request, Array(arguments.dropFirst())) }
    return change(name, arguments).map { .behave($0) }
  }

  private static func change(_ name: String, _ arguments: [String]) -> HeadUnitBehaviour.Change? {
    switch (name, arguments.count) {
    case ("delay", 2) where arguments[0] == "start-video":
      arguments[1] == "0" ? .videoStartDelay(.zero) : seconds(arguments[1]).map { .videoStartDelay($0) }
    case ("none-after-refusal", 1): isOn(arguments[0]).map { .dropsToNoneAfterRefusal($0) }
    case ("heartbeat", 1):
      switch arguments[0] {
      case "core": .heartbeat(.likeCore)
      case "silence": .heartbeat(.silence)
      default: seconds(arguments[0]).map { .heartbeat(.pings(every: $0)) }
      }
    case ("player", 1):
      switch arguments[0] {
      case "on": .player(.connects(after: .zero))
      case "off": .player(.absent)
      default: seconds(arguments[0]).map { .player(.connects(after: $0)) }
      }
    case ("data-timeout", 1):
      arguments[0] == "off" ? .videoDataTimeout(nil) : seconds(arguments[0]).map { .videoDataTimeout($0) }
    case ("delay", 2) where arguments[0] == "secondary-transport":
      arguments[1] == "0" ? .secondaryTransportDelay(nil) : seconds(arguments[1]).map { .secondaryTransportDelay($0) }
    case ("secondary-transport", 1) where arguments[0] == "off": .secondaryTransport(.off)
    case ("secondary-transport", 2):
      Int32(arguments[1]).map {
        .secondaryTransport(.elsewhere(TransportEventUpdate(address: arguments[0], port: $0)))
      }
    case ("video-transports", 1): TransportRole.list(arguments[0]).map { .videoTransports($0) }
    case ("audio-transports", 1): TransportRole.list(arguments[0]).map { .audioTransports($0) }
    default: nil
    }
  }

  static func serveSecondaryTransport(_ port: String?) -> HeadUnitCommand? {
    guard let port else { return .serveSecondaryTransport(port: nil) }
    return UInt16(port).map { .serveSecondaryTransport(port: $0) }
  }

  private static func answer(to request: String, _ arguments: [String]) -> HeadUnitCommand? {
    let word = arguments.count == 1 ? arguments[0] : ""
    switch request {
    case "start-session": return control(word).map { .behave(.rpcStart($0)) }
    case "start-tls": return HeadUnitBehaviour.Handshake(rawValue: word).map { .behave(.handshake($0)) }
    case "end-service": return control(word).map { .behave(.serviceEnd($0)) }
    case "start-audio":
      return HeadUnitBehaviour.AudioStartAnswer(rawValue: word).map { .behave(.audioStart($0)) }
    case "register-secondary":
      return HeadUnitBehaviour.SecondaryRegistrationAnswer(rawValue: word).map { .behave(.secondaryRegistration($0)) }
    case "register": return result(word).map { .behave(.registration($0)) }
    case "get-capability": return result(word).map { .behave(.systemCapability($0)) }
    case "start-video":
      guard arguments.first == "once" else { return videoStart(arguments).map { .behave(.videoStart($0)) } }
      return videoStart(Array(arguments.dropFirst())).map { .answerOnce($0) }
    default: return nil
    }
  }

  private static func control(_ word: String) -> HeadUnitBehaviour.ControlAnswer? {
    switch word {
    case "ack": .acknowledge
    case "nak": .reject
    case "silence": .silence
    default: nil
    }
  }

  private static func result(_ word: String) -> HeadUnitBehaviour.RPCAnswer? {
    switch word {
    case "regular": .regular
    case "silence": .silence
    default: ResultCode(rawValue: constant(word)).map { .result($0, success: $0.isSuccess) }
    }
  }

  private static func videoStart(_ arguments: [String]) -> HeadUnitBehaviour.VideoStartAnswer? {
    let rest = arguments.dropFirst()
    switch (arguments.first, rest.isEmpty) {
    case ("regular", true): return .regular
    case ("echo", true): return .echo
    case ("silence", true): return .silence
    case ("ack", _): return acknowledgement(rest)
    case ("nak", _):
      let keys = Array(rest.prefix { $0 != "because" })
      let reason = rest.dropFirst(keys.count + 1).joined(separator: " ")
      guard keys.allSatisfy(rejectable.contains), keys.count == rest.count || !reason.isEmpty else { return nil }
      return .reject(keys, reason: reason.isEmpty ? nil : reason)
    default: return nil
    }
  }

  /// Any sizes and names of formats are accepted, because head units were observed to acknowledge 0×0.
  private static func acknowledgement(_ arguments: ArraySlice<String>) -> HeadUnitBehaviour.VideoStartAnswer? {
    var answer = VideoServiceParameters()
    for argument in arguments {
      let sides = argument.split(separator: "x", omittingEmptySubsequences: false).map { Int32($0) }
      if sides.count == 2, let width = sides[0], let height = sides[1], answer.width == nil {
        (answer.width, answer.height) = (width, height)
      } else if let format = VideoStreamingFormat(text: argument), answer.videoProtocol == nil {
        (answer.videoProtocol, answer.videoCodec) = (format.videoProtocol, format.codec)
      } else {
        return nil
      }
    }
    return .acknowledge(answer)
  }

  /// Pairs of a member and its value, each member at most once.
  static func update(_ arguments: [String]) -> HeadUnitCommand? {
    guard arguments.count.isMultiple(of: 2) else { return nil }
    var update = VideoStreamingCapability()
    var members: Set<String> = []
    for start in stride(from: 0, to: arguments.count, by: 2) {
      guard members.insert(arguments[start]).inserted, update.set(arguments[start], arguments[start + 1]) else {
        return nil
      }
    }
    return .update(update)
  }
}

extension VideoStreamingCapability {
  /// - Returns: false for an unknown member or an invalid value.
  fileprivate mutating func set(_ member: String, _ value: String) -> Bool {
    func take<Value>(_ place: WritableKeyPath<Self, Value?>, _ value: Value?) -> Bool {
      self[keyPath: place] = value
      return value != nil
    }
    return switch member {
    case "size": take(\.preferredResolution, ImageResolution(text: value))
    case "scale": take(\.scale, Double(value).flatMap { (1...10).contains($0) ? $0 : nil })
    case "framerate": take(\.preferredFPS, HeadUnitCommand.rate(value))
    case "max-bitrate": take(\.maxBitrate, HeadUnitCommand.rate(value))
    case "diagonal": take(\.diagonalScreenSize, Self.measure(value))
    case "density": take(\.pixelPerInch, Self.measure(value))
    case "haptics": take(\.hapticSpatialDataSupported, HeadUnitCommand.isOn(value))
    case "formats": take(\.supportedFormats, Self.list(value, VideoStreamingFormat.init(text:)))
    case "sizes": take(\.additionalCapabilities, Self.list(value, SizeWithScale.init(text:))?.map(\.capability))
    default: false
    }
  }

  private static func measure(_ text: String) -> Double? {
    Double(text).flatMap { (0...10_000).contains($0) ? $0 : nil }
  }

  /// Entries with commas between them; nil if one can't be read, or there are more than are allowed.
  private static func list<Entry>(_ text: String, _ read: (String) -> Entry?) -> [Entry]? {
    let entries = text.split(separator: ",", omittingEmptySubsequences: false).map { read(String($0)) }
    guard entries.count <= maximumAdditionalCapabilities, !entries.contains(where: { $0 == nil }) else { return nil }
    return entries.compactMap(\.self)
  }
}

extension ResultCode {
  /// Whether a response with it means that the request was carried out.
  fileprivate var isSuccess: Bool {
    switch self {
    case .success, .warnings, .wrongLanguage, .resumeFailed, .unsupportedResource: true
    default: false
    }
  }
}
