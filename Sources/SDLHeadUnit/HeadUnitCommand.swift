import SDLMessages

/// A command to a running head unit: one line of text, as listed in ``usage``.
public enum HeadUnitCommand: Equatable, Sendable {
  /// Another HMI status for the app on the screen.
  case level(HMILevel, VideoStreamingState)
  case event(HMIEvent, isActive: Bool)
  /// Whether the sound of the app on the screen is played.
  case audioStreaming(AudioStreamingState)
  /// Another size for the app on the screen; the scale is 1…10.
  case resize(ImageResolution, scale: Double?)
  /// Another `preferredFPS`, in frames per second, or `maxBitrate`, in kbit/s, for the app on the screen; 0 is no limit.
  case frameRate(Int)
  case maximumBitrate(Int)
  /// A partial capability for the app on the screen; what is absent is unchanged.
  case update(VideoStreamingCapability)
  case driverDistraction(OnDriverDistraction)
  /// Brings the app of this session to the screen; nil for the one that was there last.
  case activate(UInt8?)
  /// OnTouchEvent to the app on the screen. The time stamps are filled in when it is sent.
  case touch(OnTouchEvent)
  /// A gesture of one finger: several OnTouchEvents over a time.
  case gesture(TouchGesture)
  /// The driver uses a button, a menu or a choice of the app on the screen.
  case driverInput(DriverInput)
  /// The head unit's own EndService(video).
  case endVideo
  /// The head unit's own EndService(audio).
  case endAudio
  /// Closes the connection of the app on the screen without a message.
  case cut
  /// Closes the secondary transport of the app on the screen.
  case cutSecondary
  /// Offers a secondary transport that the head unit itself serves, at this port; 0 takes any other that is free, nil the
  /// one that it has.
  case serveSecondaryTransport(port: UInt16?)
  /// Ends the registration of the app on the screen.
  case unregister(UnregisteredReason)
  /// Ends all registrations.
  case ignitionOff
  /// StartServiceNAK for the next video start of the app on the screen, with the rejected keys.
  case refuse([String])
  /// The answer to the next video start of the app on the screen, after those that were set before.
  case answerOnce(HeadUnitBehaviour.VideoStartAnswer)
  /// A change of the behaviour towards all apps, also those that connect later.
  case behave(HeadUnitBehaviour.Change)
  /// No answers to StartService(video) and EndService(video) of any app.
  case silent(Bool)
  /// Neither reads nor writes for this time, as a head unit that hangs.
  case stall(Duration)
  /// Closes the port.
  case refuseConnections(Bool)
  case help

  /// A line that is no command.
  public struct Malformed: Error, Equatable, CustomStringConvertible {
    /// What is wrong with it, on one line.
    public var description: String
  }
}

extension HeadUnitCommand {
  /// Parses a line.
  /// - Returns: nil for an empty line.
  public static func parse(_ line: String) throws(Malformed) -> HeadUnitCommand? {
    let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    guard let name = words.first else { return nil }
    let arguments = Array(words.dropFirst())
    guard let command = make(name, arguments) else {
      if let fault = fault(name, arguments) { throw Malformed(description: fault) }
      let forms = forms(of: words)
      guard !forms.isEmpty else {
        throw Malformed(description: "unknown command \"\(name)\"; there are \(names.joined(separator: ", "))")
      }
      throw Malformed(
        description: "\"\(words.joined(separator: " "))\" is not of the form \(forms.joined(separator: " or "))")
    }
    return command
  }

  /// The forms of the command that fit its second word; all if none fits.
  private static func forms(of words: [String]) -> [Substring] {
    let forms = usage.split(separator: "\n").filter { $0.prefix { $0 != " " } == words[0] }
    let fitting = forms.filter { form in
      guard words.count > 1, let second = form.split(separator: " ").dropFirst().first else { return false }
      return second.split(separator: "|").contains { $0 == words[1] }
    }
    return fitting.isEmpty ? forms : fitting
  }

  private static func make(_ name: String, _ arguments: [String]) -> HeadUnitCommand? {
    switch (name, arguments.count) {
    case ("level", 1...2): level(arguments)
    case ("phone-call", 1), ("emergency", 1), ("embedded-navi", 1):
      HMIEvent(rawValue: name).flatMap { event in
        isOn(arguments[0]).map { .event(event, isActive: $0) }
      }
    case ("resize", 1), ("resize", 3): resize(arguments)
    case ("framerate", 1): rate(arguments[0]).map { .frameRate($0) }
    case ("max-bitrate", 1): rate(arguments[0]).map { .maximumBitrate($0) }
    case ("distraction", 1...): distraction(arguments)
    case ("activate", 0): .activate(nil)
    case ("activate", 1): UInt8(arguments[0]).map { .activate($0) }
    case ("update", 2...): update(arguments)
    case ("touch", 3...): TouchGesture(arguments).map { .gesture($0) } ?? touch(arguments)
    case ("press", _), ("menu", _), ("choose", _): driverInput(name, arguments)
    case ("end-video", 0): .endVideo
    case ("end-audio", 0): .endAudio
    case ("audio-streaming", 1): AudioStreamingState(rawValue: constant(arguments[0])).map { .audioStreaming($0) }
    case ("cut", 0): .cut
    case ("cut", 1): arguments[0] == "secondary" ? .cutSecondary : nil
    case ("secondary-transport", 1...2) where arguments[0] == "on": serveSecondaryTransport(arguments.dropFirst().first)
    case ("unregister", 1): UnregisteredReason(rawValue: constant(arguments[0])).map { .unregister($0) }
    case ("ignition-off", 0): .ignitionOff
    case ("refuse", _): arguments.allSatisfy(rejectable.contains) ? .refuse(arguments) : nil
    case ("silent", 1): isOn(arguments[0]).map { .silent($0) }
    case ("stall", 1): seconds(arguments[0]).map { .stall($0) }
    case ("refuse-connections", 1): isOn(arguments[0]).map { .refuseConnections($0) }
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
    return states[arguments[1]].map { .level(level, $0) }
  }

  private static func resize(_ arguments: [String]) -> HeadUnitCommand? {
    guard let size = ImageResolution(text: arguments[0]) else { return nil }
    guard arguments.count > 1 else { return .resize(size, scale: nil) }
    guard arguments[1] == "scale", let scale = Double(arguments[2]), (1...10).contains(scale) else { return nil }
    return .resize(size, scale: scale)
  }

  /// An integer within the limits of the RPC specification.
  static func rate(_ text: String) -> Int? {
    Int(text).flatMap { (0...Int(Int32.max)).contains($0) ? $0 : nil }
  }

  private static func distraction(_ arguments: [String]) -> HeadUnitCommand? {
    guard let isLimited = isOn(arguments[0]) else { return nil }
    let text = arguments.dropFirst().joined(separator: " ")
    return .driverDistraction(
      OnDriverDistraction(
        isDistractionLimited: isLimited, lockScreenDismissalEnabled: text.isEmpty ? nil : true,
        lockScreenDismissalWarning: text.isEmpty ? nil : text))
  }

  /// Several positions of one finger are its path, oldest first.
  private static func touch(_ arguments: [String]) -> HeadUnitCommand? {
    guard arguments.count > 3 else { return nil }
    let numbers = arguments.dropFirst().map { Int($0) }
    guard let kind = OnTouchEvent.Kind.allCases.first(where: { $0.rawValue.lowercased() == arguments[0] }),
      numbers.count.isMultiple(of: 3)
    else { return nil }
    var fingers: [OnTouchEvent.Finger] = []
    for start in stride(from: 0, to: numbers.count, by: 3) {
      guard let id = numbers[start], let x = numbers[start + 1], let y = numbers[start + 2],
        OnTouchEvent.ids.contains(id), OnTouchEvent.coordinates.contains(x), OnTouchEvent.coordinates.contains(y)
      else { return nil }
      let sample = OnTouchEvent.Sample(x: x, y: y)
      if let index = fingers.firstIndex(where: { $0.id == id }) {
        fingers[index].samples.append(sample)
      } else {
        fingers.append(OnTouchEvent.Finger(id: id, samples: [sample]))
      }
    }
    return .touch(OnTouchEvent(kind: kind, fingers: fingers))
  }
}
