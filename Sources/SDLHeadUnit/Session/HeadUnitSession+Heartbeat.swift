import SDLMessages
import SDLWire

extension HeadUnitSession {
  private static let granularity = Duration.milliseconds(100)

  mutating func answerHeartbeat(_ header: FrameHeader, on transport: TransportRole, now: Duration) {
    guard header.version >= 3, behaviour.heartbeat != .silence else { return }
    send(.heartbeatACK, service: .control, on: transport, messageID: header.messageID)
    guard behaviour.heartbeat == .likeCore, heartbeat == nil else { return }
    startHeartbeat(Heartbeat(period: CoreLimits.heartbeat, isPutOffByTraffic: true), now: now)
  }

  /// Starts the pings of ``HeadUnitBehaviour/heartbeat-swift.property``, if any.
  mutating func startScriptedHeartbeat(now: Duration) {
    guard case .pings(let period) = behaviour.heartbeat, heartbeat == nil else { return }
    startHeartbeat(Heartbeat(period: max(period, Self.granularity), isPutOffByTraffic: false), now: now)
  }

  private mutating func startHeartbeat(_ heartbeat: Heartbeat, now: Duration) {
    self.heartbeat = heartbeat
    timers.arm(.heartbeat, at: now + heartbeat.period)
  }

  /// Any frame of the app counts as an answer.
  mutating func noteTraffic(now: Duration) {
    guard let heartbeat else { return }
    self.heartbeat?.isAnswerPending = false
    if heartbeat.isPutOffByTraffic { timers.arm(.heartbeat, at: now + heartbeat.period) }
  }

  mutating func heartbeatDue(now: Duration) {
    guard let heartbeat else { return }
    guard heartbeat.isAnswerPending else {
      send(.heartbeat, service: .control)
      self.heartbeat?.isAnswerPending = true
      timers.arm(.heartbeat, at: now + heartbeat.period)
      return
    }
    report(.heartbeatUnanswered(after: heartbeat.period))
    endRegistration(.heartbeatTimeout, now: now)
    send(.endService, service: .rpc)
    endSession(now: now)
    close()
  }
}
