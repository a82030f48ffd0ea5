import SDLWire

/// Heartbeats: answers those of the app, and sends its own.
struct SessionHeartbeat: Sendable {
  private static let granularity = Duration.milliseconds(100)

  private struct Pings: Sendable {
    let period: Duration
    /// Whether traffic of the app puts off the next one.
    let isPutOffByTraffic: Bool
    var isAnswerPending = false
  }

  private var pings: Pings?

  mutating func answer(_ header: FrameHeader, on transport: TransportRole, _ context: inout ServedContext) {
    guard header.version >= 3, context.behaviour.heartbeat != .silence else { return }
    context.send(.heartbeatACK, service: .control, on: transport, messageID: header.messageID)
    guard transport == .primary, context.behaviour.heartbeat == .likeCore, pings == nil else { return }
    start(Pings(period: CoreLimits.heartbeat, isPutOffByTraffic: true), &context)
  }

  /// Starts the pings of ``HeadUnitBehaviour/heartbeat-swift.property``, if any.
  mutating func startScripted(_ context: inout ServedContext) {
    guard case .pings(let period) = context.behaviour.heartbeat, pings == nil else { return }
    start(Pings(period: max(period, Self.granularity), isPutOffByTraffic: false), &context)
  }

  /// The behaviour has changed.
  mutating func change(isRegistered: Bool, _ context: inout ServedContext) {
    stop(&context)
    if isRegistered { startScripted(&context) }
  }

  private mutating func start(_ pings: Pings, _ context: inout ServedContext) {
    self.pings = pings
    context.timers.arm(.heartbeat, at: context.now + pings.period)
  }

  mutating func stop(_ context: inout ServedContext) {
    pings = nil
    context.timers.cancel(.heartbeat)
  }

  /// Any frame of the app counts as an answer.
  mutating func noteTraffic(_ context: inout ServedContext) {
    guard let pings else { return }
    self.pings?.isAnswerPending = false
    if pings.isPutOffByTraffic { context.timers.arm(.heartbeat, at: context.now + pings.period) }
  }

  /// - Returns: whether the last one was not answered.
  mutating func isUnanswered(_ context: inout ServedContext) -> Bool {
    guard let pings else { return false }
    guard !pings.isAnswerPending else {
      context.report(.heartbeatUnanswered(after: pings.period))
      return true
    }
    context.send(.heartbeat, service: .control)
    self.pings?.isAnswerPending = true
    context.timers.arm(.heartbeat, at: context.now + pings.period)
    return false
  }
}
