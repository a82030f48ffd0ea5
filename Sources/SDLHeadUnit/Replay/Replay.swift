import SDLMessages
import SDLWire

/// Plays a recorded head unit to an app, and says where the app differs from the recorded one.
///
/// What the head unit did on its own follows the app's message that it followed then, after the same time. Answers are
/// set before the requests come. A message of the app that comes neither when it did, nor within ``patience``, is passed
/// over, so that the rest is played all the same.
package struct Replay: Equatable, Sendable {
  /// A message of the recorded app, and what the head unit did until the next one.
  private struct Step: Equatable, Sendable {
    let line: Int
    let time: Duration
    let key: Key
    /// Of a start of video.
    let video: VideoServiceParameters
    var actions: [Action] = []
    /// When it came, or was passed over.
    var doneAt: Duration?
  }

  private struct Action: Equatable, Sendable {
    /// Since the app's message.
    let delay: Duration
    let command: HeadUnitCommand
  }

  /// What messages of an app are compared by.
  private enum Key: Hashable, Sendable, CustomStringConvertible {
    case request(FunctionID)
    case notification(FunctionID)
    case start(ServiceType)
    case end(ServiceType)

    /// Nil for what depends on timing, such as heartbeats, and for data.
    init?(_ message: ConversationMessage) {
      guard message.sender == .app else { return nil }
      switch message.content {
      case .rpc(let rpc):
        switch rpc.type {
        case .request: self = .request(rpc.function)
        case .notification: self = .notification(rpc.function)
        case .response: return nil
        }
      case .control(.startService, let service, _, _) where service != .control: self = .start(service)
      case .control(.endService, let service, _, _): self = .end(service)
      case .control: return nil
      }
    }

    var description: String {
      switch self {
      case .request(let function), .notification(let function): "\(function)"
      case .start(let service): "StartService(\(service))"
      case .end(let service): "EndService(\(service))"
      }
    }
  }

  /// How long a message of the app may be late.
  package static let patience = Duration.seconds(10)
  /// How long the app may send more after the last message of the recording.
  private static let rest = Duration.seconds(1)
  /// How much earlier than in the recording a message may come, in messages.
  private static let lookAhead = 50
  /// How long a message may come behind a later one of the recording. Apps and SDL's libraries send from several queues
  /// and threads, and over two transports, so that what is sent at about the same time has no order.
  private static let tolerance = Duration.seconds(1)
  private static let maximumOutcomes = 100
  /// What is faster is not delayed.
  private static let shortestDelay = Duration.milliseconds(5)

  /// How much faster than it was recorded.
  private let speed: Double
  private var steps: [Step] = []
  /// The commands that set the answers to the messages of a kind, in their order.
  private var answers: [Key: [[HeadUnitCommand]]] = [:]
  /// How many of them have been set.
  private var answerCounts: [Key: Int] = [:]
  /// The first step that is not done.
  private var next = 0
  /// When it is passed over; nil before the app's first message, and after the last step.
  private var deadline: Duration?
  private var end: Duration?
  private(set) var isOver = false
  /// The one app that is compared; nil before it has come, and after its connection has ended.
  private(set) var app: UInt8?
  /// What the head unit did on its own, sorted, the next one last.
  private var due: [(time: Duration, command: HeadUnitCommand)] = []
  /// The next answers, which come first.
  private var nextAnswers: [HeadUnitCommand] = []
  private var outcomes: [TestOutcome] = []
  private var differenceCount = 0

  package static func == (one: Replay, other: Replay) -> Bool {
    one.steps == other.steps && one.next == other.next && one.speed == other.speed
  }

  /// - Parameter speed: how much faster than it was recorded; above 0.
  package init(_ recording: ConversationRecording, speed: Double = 1) {
    self.speed = speed
    var unsent = OwnNotifications()
    for (index, entry) in recording.entries.enumerated() {
      switch entry.content {
      case .message(let message):
        if let key = Key(message) {
          let video = message.control.map { VideoServiceParameters(json: $0.parameters) } ?? VideoServiceParameters()
          steps.append(Step(line: entry.line, time: entry.time, key: key, video: video))
          if message.request?.function == .registerAppInterface { unsent = OwnNotifications() }
          addAnswer(to: message, key, at: index, of: recording)
        } else if let command = unsent.command(message) {
          add(command, at: entry.time)
        }
      case .cut: add(.cut, at: entry.time)
      }
    }
    // The recording ends there, and not the connection of the app that is compared.
    if let last = steps.indices.last, steps[last].actions.last?.command == .cut { steps[last].actions.removeLast() }
  }

  private mutating func add(_ command: HeadUnitCommand, at time: Duration) {
    guard let last = steps.indices.last else { return }
    let delay = (time - steps[last].time) / speed
    // Recorded times are whole milliseconds: what followed at once does so again.
    steps[last].actions.append(Action(delay: delay < Self.shortestDelay ? .zero : delay, command: command))
  }

  private mutating func addAnswer(
    to message: ConversationMessage, _ key: Key, at index: Int, of recording: ConversationRecording
  ) {
    let time = recording.entries[index].time
    var commands: [HeadUnitCommand] = []
    switch key {
    case .request(let function):
      guard let request = message.request else { break }
      let response = recording.response(to: request, behind: index)
      commands = Self.answer(to: function, response?.parameters, after: response.map { ($0.time - time) / speed })
    case .start(let service):
      let answer = recording.answer(toStartOf: service, behind: index)
      commands = Self.answer(
        toStartOf: service, answer.map { ($0.isAccepted, $0.parameters) },
        after: answer.map { ($0.time - time) / speed })
    case .notification, .end: break
    }
    if !commands.isEmpty { answers[key, default: []].append(commands) }
  }

  /// - Parameter response: nil for none.
  private static func answer(
    to function: FunctionID, _ response: JSONObject?, after time: Duration?
  ) -> [HeadUnitCommand] {
    guard let response else {
      let silence = HeadUnitBehaviour.ScriptedAnswer(answer: .silence, isOnce: true)
      return function == .registerAppInterface
        ? [.behave(.registration(.silence))] : [.behave(.answer(function, silence))]
    }
    let result = RPCResult(json: response)
    let code = ResultCode(rawValue: result.resultCode) ?? (result.success ? .success : .genericError)
    var scripted = HeadUnitBehaviour.ScriptedAnswer(answer: .regular, isOnce: true, members: response)
    switch function {
    // The head unit has to know what it has granted and announced.
    case .registerAppInterface where result.success:
      return [.behave(.registration(.regular)), .behave(.answer(function, scripted))]
    case .registerAppInterface: return [.behave(.registration(.result(code, success: false)))]
    case .unregisterAppInterface where result.success, .getSystemCapability where result.success,
      .sendHapticData where result.success:
      return [.behave(.answer(function, scripted))]
    default:
      scripted.answer = .result(code, success: result.success)
      scripted.delay = time.flatMap { $0 < shortestDelay ? nil : $0 }
      return [.behave(.answer(function, scripted))]
    }
  }

  /// - Parameter answer: nil for none.
  private static func answer(
    toStartOf service: ServiceType, _ answer: (isAccepted: Bool, parameters: JSONObject)?, after time: Duration?
  ) -> [HeadUnitCommand] {
    switch service {
    case .rpc:
      return [.behave(.rpcStart(answer.map { $0.isAccepted ? .acknowledge : .reject } ?? .silence))]
    case .audio:
      return [.behave(.audioStart(answer.map { $0.isAccepted ? .acknowledge : .reject } ?? .silence))]
    case .video:
      let delay = time.map { [HeadUnitCommand.behave(.videoStartDelay($0))] } ?? []
      guard let answer else { return [.answerOnce(.silence)] }
      guard answer.isAccepted else {
        let rejection = ServiceRejection(json: answer.parameters)
        return delay + [.answerOnce(.reject(rejection.rejectedParameters, reason: rejection.reason))]
      }
      var parameters = VideoServiceParameters(json: answer.parameters)
      parameters.mtu = nil
      return delay + [.answerOnce(parameters == VideoServiceParameters() ? .echo : .acknowledge(parameters))]
    case .control, .hybrid: return []
    }
  }
}

// MARK: The run

extension Replay {
  /// When ``takeDue(at:)`` has something to do; nil while it waits for the app's first message, and after the end.
  var nextDeadline: Duration? {
    if isOver { return nil }
    return nextAnswers.isEmpty ? [due.last?.time, deadline, end].compactMap(\.self).min() : .zero
  }

  /// What has to be set before the app comes.
  mutating func start() -> [HeadUnitCommand] {
    answers.keys.sorted { "\($0)" < "\($1)" }.flatMap { nextAnswer(to: $0) }
  }

  private mutating func nextAnswer(to key: Key) -> [HeadUnitCommand] {
    let count = answerCounts[key, default: 0]
    guard let all = answers[key] else { return [] }
    answerCounts[key] = count + 1
    if count < all.count { return all[count] }
    // Later requests are answered as usual.
    guard count == all.count else { return [] }
    switch key {
    case .request(let function): return [.behave(.answer(function, .init(answer: .regular)))]
    case .start, .end, .notification: return []
    }
  }

  /// A message between the head unit and an app.
  mutating func note(_ message: ConversationMessage, app id: UInt8, now: Duration) {
    guard !isOver, let key = Key(message), app == nil || app == id else { return }
    app = id
    nextAnswers += nextAnswer(to: key)
    guard let index = steps[next...].prefix(Self.lookAhead).firstIndex(where: { $0.doneAt == nil && $0.key == key })
    else {
      return differ("\(key)", "the recorded app did not send it here")
    }
    let later = steps[index...].prefix(Self.lookAhead)
    if let early = later.first(where: { $0.doneAt.map { now - $0 > Self.tolerance } == true }) {
      differ(name(index), "it came behind \(early.key) of line \(early.line)")
    }
    if case .start(.video) = key, let control = message.control { compare(control.parameters, index) }
    finish(index, now: now)
  }

  /// The connection of an app has ended.
  mutating func noteEnd(of id: UInt8) {
    // What comes behind the recording's end is not compared.
    if app == id, next < steps.count { app = nil }
  }

  private mutating func finish(_ index: Int, now: Duration) {
    steps[index].doneAt = now
    let actions = steps[index].actions.map { (time: now + $0.delay, command: $0.command) }
    if !actions.isEmpty {
      // Those of the same time in the order in which they were added.
      due = (due.reversed() + actions).enumerated()
        .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element).reversed()
    }
    while next < steps.count, steps[next].doneAt != nil { next += 1 }
    if next < steps.count {
      deadline = now + max(steps[next].time - steps[index].time, .zero) / speed + Self.patience
    } else {
      deadline = nil
      end = max(now, due.first?.time ?? now) + Self.rest
    }
  }

  private mutating func compare(_ parameters: JSONObject, _ index: Int) {
    let video = VideoServiceParameters(json: parameters)
    let recorded = steps[index].video
    guard video != recorded else { return }
    differ(name(index), "it asks for \(video.text), and the recorded app asked for \(recorded.text)")
  }

  private func name(_ index: Int) -> String { "\(steps[index].key) (line \(steps[index].line))" }

  private mutating func differ(_ name: String, _ text: String) {
    differenceCount += 1
    guard differenceCount <= Self.maximumOutcomes else { return }
    let isLast = differenceCount == Self.maximumOutcomes
    outcomes.append(
      TestOutcome(
        line: nil, text: "replay: \(name)", failure: text + (isLast ? "; further differences are not listed" : "")))
  }

  /// Removes and returns what the head unit does next; nil if nothing is due.
  mutating func takeDue(at now: Duration) -> HeadUnitCommand? {
    if isOver { return nil }
    while let deadline, deadline <= now {
      differ(name(next), "it did not come within \(Self.patience.inSeconds) of its time")
      finish(next, now: deadline)
    }
    if !nextAnswers.isEmpty { return nextAnswers.removeFirst() }
    if let last = due.last, last.time <= now {
      due.removeLast()
      return last.command
    }
    if let end, end <= now { close() }
    return nil
  }

  /// The head unit ends.
  mutating func finish() {
    guard !isOver else { return }
    for index in steps.indices[next...] where steps[index].doneAt == nil { differ(name(index), "it did not come") }
    close()
  }

  private mutating func close() {
    guard !isOver else { return }
    isOver = true
    (due, nextAnswers) = ([], [])
    if differenceCount == 0 { outcomes.append(TestOutcome(line: nil, text: "replay of \(steps.count) messages")) }
  }

  /// The differences since the last call, and at the end that there were none.
  mutating func takeOutcomes() -> [TestOutcome] {
    defer { outcomes = [] }
    return outcomes
  }
}

/// Turns notifications of a recorded head unit into commands, except for those that a head unit sends by itself after a
/// registration.
private struct OwnNotifications {
  private var hasStatus = false
  private var hasPermissions = false
  private var hasDisplays = false

  mutating func command(_ message: ConversationMessage) -> HeadUnitCommand? {
    if let control = message.control, message.sender == .headUnit, control.frame == .endService {
      return control.service == .video ? .endVideo : control.service == .audio ? .endAudio : nil
    }
    guard let rpc = message.notification else { return nil }
    switch rpc.function {
    case .onHMIStatus:
      let status = HMIStatus(json: rpc.parameters)
      defer { hasStatus = true }
      if !hasStatus, status.level == HMILevel.none { return nil }
      guard let level = status.level, status.windowID == 0, status.systemContext == .main else { break }
      return .level(level, status.videoStreamingState, status.audioStreamingState)
    case .onPermissionsChange:
      defer { hasPermissions = true }
      if !hasPermissions { return nil }
    case .onSystemCapabilityUpdated:
      let capability = rpc.parameters["systemCapability"]?.object
      if let video = capability?["videoStreamingCapability"]?.object {
        return .update(VideoStreamingCapability(json: video))
      }
      defer { hasDisplays = true }
      if !hasDisplays, capability?["systemCapabilityType"]?.string == "DISPLAYS" { return nil }
    case .onAppInterfaceUnregistered:
      guard let reason = OnAppInterfaceUnregistered(json: rpc.parameters).reason else { break }
      return .unregister(reason)
    default: break
    }
    return .notify(rpc.function, rpc.parameters)
  }
}

extension VideoServiceParameters {
  /// As in the log of a control frame.
  init(json: JSONObject) {
    self.init(
      width: json["width"]?.integer.flatMap(Int32.init(exactly:)),
      height: json["height"]?.integer.flatMap(Int32.init(exactly:)), videoProtocol: json["videoProtocol"]?.string,
      videoCodec: json["videoCodec"]?.string)
  }

  /// For people.
  fileprivate var text: String {
    let size = width.flatMap { width in height.map { "\(width)×\($0)" } }
    let parts = [size, videoCodec, videoProtocol.map { "over \($0)" }].compactMap(\.self)
    return parts.isEmpty ? "nothing" : parts.joined(separator: " ")
  }
}

extension ServiceRejection {
  fileprivate init(json: JSONObject) {
    self.init(
      rejectedParameters: json["rejectedParams"]?.array?.compactMap(\.string) ?? [], reason: json["reason"]?.string)
  }
}
