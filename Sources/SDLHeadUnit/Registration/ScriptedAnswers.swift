import SDLMessages

/// Answers that a script gives in place of the head unit (``HeadUnitBehaviour/answers``), and those that are still due.
struct ScriptedAnswers: Sendable {
  /// More than wait are given at once: an app may send as many requests as it likes.
  private static let maximumWaitingCount = 1000

  /// Sorted by time.
  private var waiting: [(time: Duration, request: RPCMessage, parameters: JSONObject)] = []

  /// - Returns: whether a script answers the request.
  mutating func answer(_ request: RPCMessage, _ context: inout ServedContext) -> Bool {
    guard let scripted = context.behaviour.answers[request.function] else { return false }
    if scripted.isOnce { context.behaviour.answers[request.function] = nil }
    guard case .result(let code, let success) = scripted.answer else {
      if scripted.answer == .regular { context.setMembers(scripted.members, ofAnswerTo: request) }
      return scripted.answer == .silence
    }
    let parameters = RPCResult(success: success, resultCode: code).json.merging(scripted.members) { $1 }
    guard let delay = scripted.delay, waiting.count < Self.maximumWaitingCount else {
      context.respond(to: request, parameters)
      return true
    }
    let time = context.now + delay
    let index = waiting.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
    // Without the data, which no answer needs.
    let header = RPCMessage(type: .request, function: request.function, correlationID: request.correlationID)
    waiting.insert((time, header, parameters), at: index)
    armTimer(&context)
    return true
  }

  /// Gives the answers that are due.
  mutating func advance(_ context: inout ServedContext) {
    while let first = waiting.first, first.time <= context.now {
      waiting.removeFirst()
      context.respond(to: first.request, first.parameters)
    }
    armTimer(&context)
  }

  private func armTimer(_ context: inout ServedContext) {
    if let first = waiting.first { context.timers.arm(.scriptedAnswer, at: first.time) }
  }
}
