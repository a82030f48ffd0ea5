import SDLMessages
import SDLWire

enum CommandParser {
  /// Nil for an empty line.
  static func parse(_ line: String) throws(HeadUnitCommand.Malformed) -> HeadUnitCommand? {
    let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    guard let name = words.first else { return nil }
    let arguments = Array(words.dropFirst())
    if let command = try testCommand(name, line) { return command }
    if name == "shape", !arguments.isEmpty { return .shape(try LinkShape.parse(arguments)) }
    guard let command = make(name, arguments) else {
      if let fault = fault(name, arguments) { throw HeadUnitCommand.Malformed(description: fault) }
      let forms = forms(of: words)
      guard !forms.isEmpty else {
        throw HeadUnitCommand.Malformed(
          description: "unknown command \"\(name)\"; there are \(HeadUnitCommand.names.joined(separator: ", "))")
      }
      throw HeadUnitCommand.Malformed(
        description: "\"\(words.joined(separator: " "))\" is not of the form \(forms.joined(separator: " or "))")
    }
    return command
  }

  /// A command whose values may have spaces, in quotation marks.
  private static func testCommand(_ name: String, _ line: String) throws(HeadUnitCommand.Malformed) -> HeadUnitCommand?
  {
    let text = String(line.drop(while: \.isWhitespace))
    switch name {
    case "screenshot":
      let words = try quotedWords(text.dropFirst(name.count))
      return words.count == 1 ? .picture(PictureTask(file: words[0], text: text)) : nil
    case "drive":
      let words = try quotedWords(text.dropFirst(name.count))
      return words == ["off"] ? .drive(nil) : DriveTask(words).map { .drive($0) }
    case "expect", "never":
      guard let kind = Expectation.Kind(rawValue: name) else { return nil }
      let words = try quotedWords(text.dropFirst(name.count))
      if words.isEmpty { return nil }
      if kind == .expect, words.first == "picture" {
        return picture(Array(words.dropFirst()), text).map { .picture($0) }
      }
      return .expect(try Expectation(kind, words, text: text))
    case "fail":
      let reason = text.dropFirst(name.count).drop(while: \.isWhitespace)
      return reason.isEmpty ? nil : .fail(String(reason))
    default: return nil
    }
  }

  /// `FILE [psnr DECIBELS] [within SECONDS]`.
  private static func picture(_ words: [String], _ text: String) -> PictureTask? {
    guard let file = words.first, !words.count.isMultiple(of: 2) else { return nil }
    var task = PictureTask(file: file, minimumPSNR: PictureTask.usualPSNR, text: text)
    for index in stride(from: 1, to: words.count, by: 2) {
      switch words[index] {
      case "psnr":
        guard let ratio = Double(words[index + 1]), (0...100).contains(ratio) else { return nil }
        task.minimumPSNR = ratio
      case "within":
        guard let time = seconds(words[index + 1]) else { return nil }
        task.time = time
      default: return nil
      }
    }
    return task
  }

  /// Words between spaces; in quotation marks, spaces belong to them, and \" and \\ are a mark and a backslash.
  private static func quotedWords(_ text: Substring) throws(HeadUnitCommand.Malformed) -> [String] {
    var words: [String] = []
    var word: String?
    var isQuoted = false
    var isEscaped = false
    for character in text {
      if isEscaped {
        word = (word ?? "") + (character == "\"" || character == "\\" ? "" : "\\") + String(character)
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
        word = word ?? ""
      } else if !isQuoted, character.isWhitespace {
        if let word { words.append(word) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    guard !isQuoted else {
      throw HeadUnitCommand.Malformed(description: "a quotation mark is missing in \"\(text)\"")
    }
    if let word { words.append(word) }
    return words
  }

  /// The forms of the command that fit its second word; all if none fits.
  private static func forms(of words: [String]) -> [Substring] {
    let forms = HeadUnitCommand.usage.split(separator: "\n").filter { $0.prefix { $0 != " " } == words[0] }
    let fitting = forms.filter { form in
      guard words.count > 1, let second = form.split(separator: " ").dropFirst().first else { return false }
      return second.split(separator: "|").contains { $0 == words[1] }
    }
    return fitting.isEmpty ? forms : fitting
  }

  private static func make(_ name: String, _ arguments: [String]) -> HeadUnitCommand? {
    switch (name, arguments.count) {
    case ("level", 1...3): level(arguments)
    case ("phone-call", 1), ("emergency", 1), ("embedded-navi", 1):
      HMIEvent(rawValue: name).flatMap { event in
        isOn(arguments[0]).map { .event(event, isActive: $0) }
      }
    case ("resize", 1), ("resize", 3): resize(arguments)
    case ("framerate", 1), ("max-bitrate", 1): update([name] + arguments)
    case ("distraction", 1...): distraction(arguments)
    case ("vehicle", 1): VehicleReading(arguments[0], nil).map { .vehicle($0) }
    case ("vehicle", 2...): VehicleReading(arguments[0], value(arguments)).map { .vehicle($0) }
    case ("gps", 2...3): gps(arguments)
    case ("language", 1): language(arguments[0])
    case ("policy-update", 1): .policyUpdate(arguments[0])
    case ("permit", 1...), ("deny", 1), ("grant", 1), ("revoke", 1):
      PolicyTable.Change(command: name, arguments).map { .policy($0) }
    case ("notify", 1...): notification(arguments)
    case ("activate", 0): .activate(nil)
    case ("activate", 1): UInt8(arguments[0]).map { .activate($0) }
    case ("close", 0): .close(nil)
    case ("close", 1): UInt8(arguments[0]).map { .close($0) }
    case ("dismiss", 0): .driverInput(.dismiss)
    case ("update", 2...): update(arguments)
    case ("touch", 3...):
      TouchGesture(arguments).map { .gesture($0) } ?? OnTouchEvent(command: arguments).map { .touch($0) }
    case ("press", _), ("menu", _), ("choose", _), ("slider", _), ("keyboard", _): driverInput(name, arguments)
    case ("end-video", 0): .endVideo
    case ("end-audio", 0): .endAudio
    case ("audio-streaming", 1): AudioStreamingState(rawValue: constant(arguments[0])).map { .audioStreaming($0) }
    case ("cut", 0): .cut
    case ("cut", 1): arguments[0] == "secondary" ? .cutSecondary : nil
    case ("secondary-transport", 1...2) where arguments[0] == "on": serveSecondaryTransport(arguments.dropFirst().first)
    case ("unregister", 1): UnregisteredReason(rawValue: constant(arguments[0])).map { .unregister($0) }
    case ("ignition-off", 0): .ignitionOff
    case ("refuse", _): arguments.allSatisfy(rejectable.contains) ? .answerOnce(.reject(arguments)) : nil
    case ("silent", 1): isOn(arguments[0]).map { .silent($0) }
    case ("stall", 1): seconds(arguments[0]).map { .stall($0) }
    case ("refuse-connections", 1): isOn(arguments[0]).map { .refuseConnections($0) }
    case ("quit", 0): .quit
    case ("help", 0): .help
    default: behaviour(name, arguments)
    }
  }

  /// The keys of a StartService(video) that an answer can name.
  static let rejectable: Set = ["videoCodec", "videoProtocol", "width", "height"]

  /// The longest time in a command, in seconds.
  private static let longestTime = 3600.0

  /// A time above 0.
  static func seconds(_ text: String) -> Duration? {
    guard let seconds = Double(text), seconds > 0, seconds <= longestTime else { return nil }
    return .seconds(seconds)
  }

  /// "TOO_MANY_REQUESTS" for "too-many-requests".
  static func constant(_ text: String) -> String {
    String(text.uppercased().map { $0 == "-" ? "_" : $0 })
  }

  static func isOn(_ text: String) -> Bool? {
    switch text {
    case "on": true
    case "off": false
    default: nil
    }
  }

  private static func level(_ arguments: [String]) -> HeadUnitCommand? {
    guard let level = HMILevel.allCases.first(where: { $0.rawValue.lowercased() == arguments[0] }) else { return nil }
    let states: [String: VideoStreamingState] = ["streamable": .streamable, "not-streamable": .notStreamable]
    guard arguments.count > 1 else {
      return .level(level, level == .full || level == .limited ? .streamable : .notStreamable)
    }
    guard let state = states[arguments[1]] else { return nil }
    guard arguments.count > 2 else { return .level(level, state) }
    return AudioStreamingState(rawValue: constant(arguments[2])).map { .level(level, state, $0) }
  }

  private static func resize(_ arguments: [String]) -> HeadUnitCommand? {
    guard let size = VideoSize(text: arguments[0]) else { return nil }
    guard arguments.count > 1 else { return .resize(size, scale: nil) }
    guard arguments[1] == "scale", let scale = Double(arguments[2]), (1...10).contains(scale) else { return nil }
    return .resize(size, scale: scale)
  }

  /// An integer within the limits of the RPC specification.
  static func rate(_ text: String) -> Int? {
    Int(text).flatMap { (0...Int(Int32.max)).contains($0) ? $0 : nil }
  }

  private static func language(_ tag: String) -> HeadUnitCommand? {
    let tag = tag.uppercased()
    return RPCSchema.language.contains(.string(tag)) ? .language(tag) : nil
  }

  private static func notification(_ arguments: [String]) -> HeadUnitCommand? {
    guard let function = FunctionID(name: arguments[0]), function.isKnownNotification else { return nil }
    let text = value(arguments)
    return (try? JSONObject(parsing: text.utf8)).map { .notify(function, $0) }
  }

  /// The value of a reading, which may have spaces.
  private static func value(_ arguments: [String]) -> String { arguments.dropFirst().joined(separator: " ") }

  private static func gps(_ arguments: [String]) -> HeadUnitCommand? {
    let numbers = arguments.compactMap { Double($0) }
    guard numbers.count == arguments.count else { return nil }
    return VehicleReading(
      latitude: numbers[0], longitude: numbers[1], heading: numbers.count > 2 ? numbers[2] : nil
    ).map { .vehicle($0) }
  }

  private static func distraction(_ arguments: [String]) -> HeadUnitCommand? {
    guard let isLimited = isOn(arguments[0]) else { return nil }
    let text = arguments.dropFirst().joined(separator: " ")
    return .driverDistraction(
      OnDriverDistraction(
        isDistractionLimited: isLimited, lockScreenDismissalEnabled: text.isEmpty ? nil : true,
        lockScreenDismissalWarning: text.isEmpty ? nil : text))
  }

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
    case "start-session": return HeadUnitBehaviour.ControlAnswer(rawValue: word).map { .behave(.rpcStart($0)) }
    case "start-tls": return HeadUnitBehaviour.Handshake(rawValue: word).map { .behave(.handshake($0)) }
    case "end-service": return HeadUnitBehaviour.ControlAnswer(rawValue: word).map { .behave(.serviceEnd($0)) }
    case "start-audio":
      return HeadUnitBehaviour.AudioStartAnswer(rawValue: word).map { .behave(.audioStart($0)) }
    case "register-secondary":
      return HeadUnitBehaviour.SecondaryRegistrationAnswer(rawValue: word).map { .behave(.secondaryRegistration($0)) }
    case "register": return result(word).map { .behave(.registration($0)) }
    case "get-capability":
      return result(word).map { .behave(.answer(.getSystemCapability, HeadUnitBehaviour.ScriptedAnswer(answer: $0))) }
    case "start-video":
      guard arguments.first == "once" else { return videoStart(arguments).map { .behave(.videoStart($0)) } }
      return videoStart(Array(arguments.dropFirst())).map { .answerOnce($0) }
    default:
      guard let function = FunctionID(name: request), function != .registerAppInterface else { return nil }
      return scripted(arguments).map { .behave(.answer(function, $0)) }
    }
  }

  /// `[once] ANSWER [after SECONDS] [MEMBERS]`, the members as JSON, which may have spaces.
  private static func scripted(_ arguments: [String]) -> HeadUnitBehaviour.ScriptedAnswer? {
    var rest = arguments[...]
    let isOnce = rest.first == "once"
    if isOnce { rest.removeFirst() }
    guard let answer = rest.popFirst().flatMap(result) else { return nil }
    var scripted = HeadUnitBehaviour.ScriptedAnswer(answer: answer, isOnce: isOnce)
    if answer == .silence { return rest.isEmpty ? scripted : nil }
    // The usual answer comes when it usually does.
    if answer != .regular, rest.first == "after" {
      guard rest.count > 1, let delay = seconds(rest[rest.startIndex + 1]) else { return nil }
      scripted.delay = delay
      rest.removeFirst(2)
    }
    guard !rest.isEmpty else { return scripted }
    guard let members = try? JSONObject(parsing: Array(rest.joined(separator: " ").utf8)) else { return nil }
    scripted.members = members
    return scripted
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

  static func driverInput(_ name: String, _ arguments: [String]) -> HeadUnitCommand? {
    switch (name, arguments.count) {
    case ("press", 2) where arguments[0] == "soft-button":
      return Int(arguments[1]).flatMap { $0 >= 0 ? .driverInput(.softButton($0)) : nil }
    case ("press", 1...2):
      let button = constant(arguments[0])
      guard TemplateCapabilities.buttons.contains(button) else { return nil }
      if arguments.count == 1 { return .driverInput(.button(button)) }
      return DriverInput.Press(rawValue: arguments[1]).map { .driverInput(.button(button, $0)) }
    case ("menu", 1...): return .driverInput(.menu(arguments.joined(separator: " ")))
    case ("choose", 1): return Int(arguments[0]).flatMap { $0 >= 0 ? .driverInput(.choice($0)) : nil }
    case ("slider", 1): return Int(arguments[0]).flatMap { $0 > 0 ? .driverInput(.slider($0)) : nil }
    case ("keyboard", 1...):
      let text = arguments.joined(separator: " ")
      return text.unicodeScalars.count <= longestEntry ? .driverInput(.keyboard(text)) : nil
    default: return nil
    }
  }

  /// Of `OnKeyboardInput`, in Unicode scalars.
  private static let longestEntry = 500

  /// The fault of a command in the right form; nil if there is none.
  static func fault(_ name: String, _ arguments: [String]) -> String? {
    if name == "vehicle", let item = arguments.first { return fault(ofReading: item, value(arguments)) }
    if name == "language", arguments.count == 1 {
      return "there is no language \"\(arguments[0])\" in SDL's RPC specification, but such as EN-US, DE-DE or FR-CA"
    }
    if name == "permit" || name == "deny", let function = arguments.first, FunctionID(name: function) == nil {
      return "there is no RPC \"\(function)\""
    }
    if name == "keyboard", !arguments.isEmpty { return "a text may have \(longestEntry) characters at most" }
    guard name == "press", (1...2).contains(arguments.count), arguments[0] != "soft-button",
      !TemplateCapabilities.buttons.contains(constant(arguments[0]))
    else { return nil }
    let buttons = TemplateCapabilities.buttons.sorted().joined(separator: ", ")
    return "there is no button \"\(arguments[0])\", but \(buttons), and the app's own with press soft-button ID"
  }
}

extension CommandParser {
  private static func fault(ofReading name: String, _ value: String) -> String {
    guard let item = VehicleDataItem.all[name] else {
      return "there is no reading \"\(name)\", but \(VehicleDataItem.all.keys.sorted().joined(separator: ", "))"
    }
    let isStructure = item.plausible.object != nil || item.plausible.array != nil
    let example: JSONObject = [name: item.plausible]
    return "\(name) can't be \(value)"
      + (isStructure ? "; the value of \(String(decoding: example.serialized, as: UTF8.self)) is an example" : "")
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
    case "size": take(\.preferredResolution, VideoSize(text: value))
    case "scale": take(\.scale, Double(value).flatMap { (1...10).contains($0) ? $0 : nil })
    case "framerate": take(\.preferredFPS, CommandParser.rate(value))
    case "max-bitrate": take(\.maxBitrate, CommandParser.rate(value))
    case "diagonal": take(\.diagonalScreenSize, Self.measure(value))
    case "density": take(\.pixelPerInch, Self.measure(value))
    case "haptics": take(\.hapticSpatialDataSupported, CommandParser.isOn(value))
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

extension TransportRole {
  /// A list of a property or a command such as "2,1", or "none"; each at most once. Nil for anything else.
  package static func list(_ text: String) -> [TransportRole]? {
    if text == "none" { return [] }
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
    let transports = numbers.compactMap { Int32($0).flatMap(TransportRole.init(rawValue:)) }
    return transports.count == numbers.count && Set(transports).count == numbers.count ? transports : nil
  }
}
