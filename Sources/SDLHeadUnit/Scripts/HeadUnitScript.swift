import SDLMessages

/// A parsed behaviour script: the actions of a head unit, and their times.
///
/// UTF-8, one step per line: `WHEN: COMMAND`. What follows a `#` at the beginning of a line or after a space is a
/// comment; empty lines do nothing. A command is one of ``HeadUnitCommand/usage`` except `help`. When is
///
///     at SECONDS                        since the head unit began to listen
///     on EVENT [NUMBER] [after SECONDS] with each event, or only the one of that number (from 1 on), or later than it
///     then                              once the step of the line before has been carried out, or its expectation met
///
/// with the events of ``Event``. Steps that are due at the same time are carried out in the order of the lines.
///
/// A command for one app goes to the app of the event; if that app has gone by then, the step is skipped. A step at a
/// time, and one of `disconnected` or `unregistered`, goes to the app on the screen. Without an app it is skipped as
/// well, except for an answer that is given `once` (``HeadUnitCommand/answerOnce(_:)``): it waits
/// for the next app.
package struct HeadUnitScript: Equatable, Sendable {
  /// An event that steps can wait for.
  package enum Event: String, CaseIterable, Sendable {
    /// An app's connection.
    case connected
    case registered
    /// OnHMIStatus with this level was sent.
    case hmiFull = "hmi-full"
    case hmiLimited = "hmi-limited"
    case hmiBackground = "hmi-background"
    case hmiNone = "hmi-none"
    /// The app shows an alert (Alert, SubtleAlert).
    case alert
    /// The app shows another overlay (PerformInteraction, ScrollableMessage, Slider).
    case interaction
    /// StartService(video) has come; the answer to it comes after the step.
    case startVideo = "start-video"
    /// StartServiceACK(video).
    case streamStarted = "stream-started"
    /// StartServiceNAK(video).
    case streamRefused = "stream-refused"
    /// A picture of the stream; the count restarts with each `stream-started`.
    case frame
    /// No video has come for SDL Core's VideoDataStoppedTimeout.
    case dataStopped = "data-stopped"
    case streamStopped = "stream-stopped"
    /// StartService(audio) has come; the answer to it comes before the step.
    case startAudio = "start-audio"
    /// StartServiceACK(audio).
    case audioStarted = "audio-started"
    /// StartServiceNAK(audio).
    case audioRefused = "audio-refused"
    case audioStopped = "audio-stopped"
    /// OnAppCapabilityUpdated.
    case appCapability = "app-capability"
    /// SendHapticData.
    case haptics
    case violation
    case unregistered
    case disconnected
    /// RegisterSecondaryTransportACK.
    case secondaryRegistered = "secondary-registered"
    /// RegisterSecondaryTransportNAK.
    case secondaryRefused = "secondary-refused"
    /// The secondary transport is gone, by either side.
    case secondaryLost = "secondary-lost"
    case registrationRefused = "registration-refused"
    /// OnHMIStatus in which only the system context is new.
    case systemContext = "system-context"
    /// OnTouchEvent was sent, or withheld because of the policies.
    case touch
    case touchWithheld = "touch-withheld"
    /// An input of the driver has reached the app, or has no effect.
    case driverInput = "driver-input"
    case noEffect = "no-effect"
    /// The app has subscribed to other buttons of the car.
    case buttons
    case interactionEnded = "interaction-ended"
    /// Texts of the app are shown or spoken.
    case textShown = "text-shown"
    /// ChangeRegistration.
    case nameChanged = "name-changed"
    /// SetAppIcon.
    case icon
    case systemRequest = "system-request"
    /// Encrypted sound was requested, but is sent in clear.
    case audioInClear = "audio-in-clear"
    /// The RPCs are encrypted from now on.
    case rpcProtected = "rpc-protected"
    /// A TLS handshake is complete, or has failed.
    case secured
    case handshakeFailed = "handshake-failed"
    /// An update of the capability waits until the app subscribes to updates.
    case capabilityDeferred = "capability-deferred"
    /// OnHMIStatus from the app.
    case appHMIStatus = "app-hmi-status"
  }

  /// When a step is due.
  package enum Trigger: Equatable, Sendable {
    /// The time since the head unit began to listen.
    case time(Duration)
    /// `number` counts from 1; nil stands for each.
    case event(Event, number: Int?, delay: Duration)
    /// The end of the step before; the beginning for the first step. After an expectation that was not met, the rest of
    /// a sequence is left out.
    case then
  }

  /// One line.
  package struct Step: Equatable, Sendable {
    /// From 1 on.
    package var line: Int
    package var trigger: Trigger
    package var command: HeadUnitCommand
    /// As written, without the comment.
    package var text: String

    /// Whether its event means that the app has gone or is about to go.
    package var followsAppsEnd: Bool {
      switch trigger {
      case .event(.disconnected, _, _), .event(.unregistered, _, _): true
      case .event, .time, .then: false
      }
    }

    /// Whether a test is over only after it.
    var isAwaited: Bool { command.isAwaited }
  }

  /// In the order of the lines.
  package var steps: [Step]
  /// A recorded head unit that is played beside the steps.
  package var replay: Replay?

  /// Creates a script of these steps; by default it does nothing.
  package init(steps: [Step] = []) {
    self.steps = steps
  }

  /// The rest of the sequence to which a step belongs.
  func steps(after step: Step) -> [Step] {
    Array(steps.drop { $0.line <= step.line }.prefix { $0.trigger == .then })
  }

  /// Whether it has expectations, for which the head unit has to report RPCs.
  package var isTest: Bool { replay != nil || steps.contains(where: \.isAwaited) }
  /// Whether it says what passes and what fails.
  package var hasTestCommands: Bool { replay != nil || steps.contains { $0.command.isTest } }
  /// Whether pictures are looked at.
  package var needsPictures: Bool { steps.contains { if case .picture = $0.command { true } else { false } } }

  /// The first step that names a group which the policies do not have; nil if there is none.
  package func fault(in policies: PolicyTable) -> MalformedLine? {
    for step in steps {
      if let fault = policies.fault(of: step.command) { return MalformedLine(line: step.line, text: fault) }
    }
    return nil
  }

  /// Whether a step waits for `event`.
  package func reacts(to event: Event) -> Bool {
    steps.contains { step in
      if case .event(event, _, _) = step.trigger { true } else { false }
    }
  }
}

extension HeadUnitScript.Event {
  /// Nil for events that no script can wait for. ``frame`` is counted by the owner of the session.
  package init?(_ event: HeadUnitSession.Event) {
    switch event {
    case .appRegistered: self = .registered
    case .hmiStatusSent(let status):
      guard status.windowID == 0, let level = status.level else { return nil }
      switch level {
      case .full: self = .hmiFull
      case .limited: self = .hmiLimited
      case .background: self = .hmiBackground
      case .none: self = .hmiNone
      }
    case .videoStartRequested: self = .startVideo
    case .videoStarted: self = .streamStarted
    case .videoRefused: self = .streamRefused
    case .videoDataStopped: self = .dataStopped
    case .videoStopped: self = .streamStopped
    case .audioStartRequested: self = .startAudio
    case .audioStarted: self = .audioStarted
    case .audioRefused: self = .audioRefused
    case .audioStopped: self = .audioStopped
    case .appCapability: self = .appCapability
    case .hapticRectangles: self = .haptics
    case .violation: self = .violation
    case .appUnregistered: self = .unregistered
    case .secondaryTransportRegistered: self = .secondaryRegistered
    case .secondaryTransportRefused: self = .secondaryRefused
    case .secondaryTransportLost: self = .secondaryLost
    case .interactionShown(let function, _, _):
      self = AppInteraction.Layer(function) == .alert ? .alert : .interaction
    case .registrationRefused: self = .registrationRefused
    case .systemContextSent: self = .systemContext
    case .touchSent: self = .touch
    case .touchWithheld: self = .touchWithheld
    case .driverInput: self = .driverInput
    case .driverInputWithoutEffect: self = .noEffect
    case .buttonsSubscribed: self = .buttons
    case .interactionEnded: self = .interactionEnded
    case .textShown: self = .textShown
    case .nameChanged: self = .nameChanged
    case .iconSet: self = .icon
    case .systemRequestAnswered: self = .systemRequest
    case .audioInClear: self = .audioInClear
    case .rpcProtected: self = .rpcProtected
    case .secured: self = .secured
    case .handshakeFailed: self = .handshakeFailed
    case .capabilityUpdateDeferred: self = .capabilityDeferred
    case .appHMIStatus: self = .appHMIStatus
    case .message, .videoData, .videoMissed, .videoTimestamp, .audioData: return nil
    }
  }
}

extension HeadUnitScript {
  /// A script is written by hand; a longer file is something else.
  package static let maximumByteCount = 64 << 10
  package static let maximumStepCount = 1000
  /// A day, in seconds.
  private static let longestTime = 86_400.0
  private static let highestNumber = 1_000_000

  package init(_ bytes: [UInt8]) throws(MalformedLine) {
    self.init()
    guard bytes.count <= Self.maximumByteCount else {
      let line = bytes[..<Self.maximumByteCount].count { $0 == UInt8(ascii: "\n") } + 1
      throw MalformedLine(line: line, text: "a script has at most \(Self.maximumByteCount >> 10) KiB")
    }
    for (index, lineBytes) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
    {
      let line = index + 1
      guard var text = String(validating: lineBytes, as: UTF8.self) else {
        throw MalformedLine(line: line, text: "this is no UTF-8")
      }
      // Some editors begin a file with it.
      if line == 1, text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
      guard let step = try Self.step(Self.withoutComment(text), line: line) else { continue }
      guard steps.count < Self.maximumStepCount else {
        throw MalformedLine(line: line, text: "a script has at most \(Self.maximumStepCount) steps")
      }
      steps.append(step)
    }
  }

  package init(_ text: String) throws(MalformedLine) {
    try self.init(Array(text.utf8))
  }

  /// With single spaces, except in texts in quotation marks.
  private static func withoutComment(_ text: String) -> String {
    withoutComment(text, keepsTexts: true) ?? withoutComment(text, keepsTexts: false) ?? ""
  }

  /// - Parameter keepsTexts: whether a quotation mark begins a text; nil is returned if one does not end.
  private static func withoutComment(_ text: String, keepsTexts: Bool) -> String? {
    var rest = ""
    var isQuoted = false
    var isEscaped = false
    for character in text {
      if keepsTexts, character == "\"", !isEscaped { isQuoted.toggle() }
      isEscaped = isQuoted && character == "\\" && !isEscaped
      if !isQuoted, character == "#", rest.last.map({ $0 == " " }) ?? true { break }
      if isQuoted || !character.isWhitespace {
        rest.append(character)
      } else if let last = rest.last, last != " " {
        rest.append(" ")
      }
    }
    if isQuoted { return nil }
    return rest.last == " " ? String(rest.dropLast()) : rest
  }

  /// Nil where there is nothing.
  private static func step(_ text: String, line: Int) throws(MalformedLine) -> Step? {
    if text.isEmpty { return nil }
    guard let colon = text.firstIndex(of: ":") else {
      throw MalformedLine(line: line, text: "\"\(text)\" has no colon; \(form)")
    }
    let trigger = try trigger(text[..<colon].split(separator: " ").map(String.init), line: line)
    let command: HeadUnitCommand?
    do throws(HeadUnitCommand.Malformed) {
      command = try HeadUnitCommand.parse(String(text[text.index(after: colon)...]))
    } catch {
      throw MalformedLine(line: line, text: error.description)
    }
    guard let command, command != .help else {
      throw MalformedLine(line: line, text: "there is no command after the colon; \(form)")
    }
    return Step(line: line, trigger: trigger, command: command, text: text)
  }

  private static let form =
    "write \"at SECONDS: COMMAND\", \"on EVENT [NUMBER] [after SECONDS]: COMMAND\" or \"then: COMMAND\""

  private static func trigger(_ words: [String], line: Int) throws(MalformedLine) -> Trigger {
    switch (words.first, words.count) {
    case ("then", 1): return .then
    case ("at", 2): return .time(try time(words[1], line: line))
    case ("on", 2...):
      guard let event = Event(rawValue: words[1]) else {
        let names = Event.allCases.map(\.rawValue).joined(separator: ", ")
        throw MalformedLine(line: line, text: "there is no event \"\(words[1])\", but \(names)")
      }
      var rest = words.dropFirst(2)
      var number: Int?
      if let word = rest.first, word != "after" {
        guard let value = Int(word), (1...highestNumber).contains(value) else {
          throw MalformedLine(line: line, text: "\"\(word)\" is no number of an event, from 1 on; \(form)")
        }
        number = value
        rest.removeFirst()
      }
      if rest.isEmpty { return .event(event, number: number, delay: .zero) }
      guard rest.count == 2, rest.first == "after", let last = rest.last else { break }
      return .event(event, number: number, delay: try time(last, line: line))
    default: break
    }
    throw MalformedLine(line: line, text: "\"\(words.joined(separator: " "))\" is no time and no event; \(form)")
  }

  private static func time(_ text: String, line: Int) throws(MalformedLine) -> Duration {
    guard let seconds = Double(text), (0...longestTime).contains(seconds) else {
      throw MalformedLine(line: line, text: "\"\(text)\" is no time in seconds, 0 to \(Int(longestTime))")
    }
    return .seconds(seconds)
  }
}
