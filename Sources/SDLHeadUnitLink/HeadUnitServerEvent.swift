import SDLHeadUnit
import SDLLink
import SDLWire

/// What a ``HeadUnitServer`` reports. Apps are named by numbers that count up, one for each session.
package enum HeadUnitServerEvent: Sendable {
  /// An app's connection, or a further session on one.
  case connected(id: UInt8, peer: String)
  /// There were as many connections as allowed, so this one was closed at once.
  case refused(peer: String)
  /// A RegisterSecondaryTransport that belongs to no session; the connection is closed. Others are events of their
  /// sessions.
  case secondaryTransportRefused(peer: String, HeadUnitSession.SecondaryRefusal)
  /// The port for secondary transports can't be opened, so that none is offered.
  case secondaryPortFailed(LinkError)
  case session(id: UInt8, HeadUnitSession.Event)
  /// The connection has ended, for each of its sessions. Nil when this side ended it; otherwise also for a peer that
  /// simply closed.
  case disconnected(id: UInt8, LinkError?, VideoStreamStatistics)
  /// A step of the script was carried out, for this app if an event of it was the cause.
  case stepExecuted(HeadUnitScript.Step, id: UInt8?)
  /// A step did nothing, because this app has gone; nil when there was no app for it.
  case stepSkipped(HeadUnitScript.Step, id: UInt8?)
  /// An expectation has ended.
  case tested(TestOutcome)
  /// Reported once for each reason; the server goes on.
  case testEnded(TestEnd)
  /// The status of a transport that brings connections, or what has failed; never a connection, which is an event of
  /// its own.
  case transport(TransportEvent)
  /// Steps of the script are dropped from now on, because ``HeadUnitScriptRun/maximumWaitingCount`` wait. Reported
  /// once.
  case stepsDropped
  /// Exactly once, as the last: after ``HeadUnitServer/stop()``, or after the end of an adopted connection.
  case ended
}

package protocol HeadUnitServerObserver: AnyObject, Sendable {
  /// Called on the server's thread with no lock held; any method of the server may be called back.
  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent)
  /// A test needs the picture of an app: ``HeadUnitServer/end(_:failure:)`` has to follow. An observer without this
  /// method takes none. Called as above.
  func server(_ server: HeadUnitServer, needs picture: HeadUnitScriptRun.Picture)
}

extension HeadUnitServerObserver {
  package func server(_ server: HeadUnitServer, needs picture: HeadUnitScriptRun.Picture) {
    server.end(picture, failure: "only the program sdl-head-unit looks at pictures")
  }
}

extension HeadUnitServerEvent {
  /// The number of the app's session on this server; nil without one.
  package var appNumber: UInt8? {
    switch self {
    case .connected(let id, _), .session(let id, _), .disconnected(let id, _, _): id
    case .stepExecuted(_, let id), .stepSkipped(_, let id): id
    case .refused, .secondaryTransportRefused, .secondaryPortFailed, .transport, .stepsDropped, .tested, .testEnded,
      .ended:
      nil
    }
  }

  /// A line for the log, without the session; nil for events that are not logged.
  package var text: String? {
    switch self {
    case .connected(_, let peer): "connected \(peer)".printable()
    case .refused(let peer): "\(peer) refused: there are too many connections".printable()
    case .secondaryTransportRefused(let peer, let reason):
      "secondary transport of \(peer) refused: \(reason.rawValue)".printable()
    case .secondaryPortFailed(let error): "the port for secondary transports stays as it was: \(error)"
    case .session(_, let event): event.text
    case .disconnected(_, let error, _): "disconnected\(error.map { ": \($0)" } ?? "")".printable()
    case .stepExecuted(let step, _): "script, line \(step.line): \(step.text)".printable()
    case .stepSkipped(let step, let id):
      ("script, line \(step.line) without effect, \(id.map { "app \($0) is gone" } ?? "no app is registered"): "
        + step.text).printable()
    case .stepsDropped:
      "steps of the script are dropped, because \(HeadUnitScriptRun.maximumWaitingCount) are waiting already"
    case .tested(let outcome): outcome.description
    case .transport(.faultFound(let text)): text.printable()
    case .transport(.status(.waiting(let awaited))): "waiting for \(awaited)".printable()
    case .transport, .testEnded, .ended: nil
    }
  }
}
