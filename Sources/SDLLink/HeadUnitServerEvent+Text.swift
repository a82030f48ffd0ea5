import SDLHeadUnit
import SDLWire

extension HeadUnitServerEvent {
  /// The session that it is about, if it is about one.
  public var sessionID: UInt8? {
    switch self {
    case .connected(let id, _), .session(let id, _), .disconnected(let id, _, _): id
    case .carriedOut(_, let id), .leftOut(_, let id): id
    case .refused, .secondaryTransportRefused, .secondaryPortFailed, .transport, .stepsDropped, .ended: nil
    }
  }

  /// What happened, as a line of a log for people, without the session; nil for what is not logged.
  public var text: String? {
    switch self {
    case .connected(_, let peer): "connected \(peer)".printable()
    case .refused(let peer): "\(peer) refused: there are too many connections".printable()
    case .secondaryTransportRefused(let peer, let reason):
      "secondary transport of \(peer) refused: \(reason.rawValue)".printable()
    case .secondaryPortFailed(let error): "the port for secondary transports stays as it was: \(error)"
    case .session(_, let event): event.text
    case .disconnected(_, let error, _): "disconnected\(error.map { ": \($0)" } ?? "")".printable()
    case .carriedOut(let step, _): "script, line \(step.line): \(step.text)".printable()
    case .leftOut(let step, let id):
      "script, line \(step.line) without effect, \(id.map { "app \($0) is gone" } ?? "no app is registered"): \(step.text)"
        .printable()
    case .stepsDropped:
      "steps of the script are dropped, because \(HeadUnitScriptRun.maximumWaitingCount) are waiting already"
    case .transport, .ended: nil
    }
  }
}
