import Glibc
import SDLApp
import SDLLink

/// What an ``AppConnection`` reports: in this order for each attempt to connect, `lost` between two of them, and
/// `ended` as the very last.
package enum ConnectionEvent: Sendable {
  case attempting
  case resolving(host: String)
  /// May come several times, for the addresses of a host.
  case connecting(address: String)
  /// A peer has to connect by itself, which may take any time, or can't for the reason given.
  case waiting(TransportStatus)
  case connected(peer: String)
  /// Something has happened that leaves the session's status as it is.
  case session(AppSession.Event)
  /// The session has this status now, because of these events, if any.
  case sessionChanged(AppSession.Status, by: [AppSession.Event])
  /// The time of ``AppConnection/setTimer(at:)`` has come.
  case timerFired
  /// The head unit has not read for this long, while bytes wait. It may recover, or the connection may end later.
  case stalled(for: Duration)
  /// The built-in head unit found a fault of the app: a sentence without a full stop.
  case faultFound(String)
  /// The connection is gone, and is made again after a pause.
  case lost(ConnectionFailure, retryAfter: Duration)
  /// Exactly once. Nil after ``AppConnection/stop(grace:)``.
  case ended(ConnectionFailure?)
}

package protocol AppConnectionObserver: AnyObject, Sendable {
  /// Called on the connection thread with no lock held; any method of the connection may be called back, but one that
  /// waits does not wait there.
  func connection(_ connection: AppConnection, didReport event: ConnectionEvent)
}

/// Why a connection has broken, or could not be made.
package enum ConnectionFailure: Error, Equatable, Sendable, CustomStringConvertible {
  case link(LinkError)
  /// The session failed, on an established transport.
  case session(AppSessionFailure)

  /// For users: what happened.
  package var description: String {
    switch self {
    case .link(let error): error.description
    case .session(let failure): failure.description
    }
  }

  /// Whether another attempt may succeed, once the app has been registered with this head unit.
  var canHeal: Bool {
    switch self {
    case .session(let failure): failure.canHeal
    case .link(.system), .link(.cannotListen), .link(.transport): false
    case .link: true
    }
  }

  /// The head unit has not yet ended this app's former session, however long that takes.
  var isRegisteredAlready: Bool {
    if case .session(let failure) = self { failure.isRegisteredAlready } else { false }
  }

  /// Whether another attempt may succeed before the app has been registered for the first time, when most failures are
  /// likely mistakes in the settings: only if an established transport was lost.
  var mayHealAtFirst: Bool {
    switch self {
    // A peer that accepts and resets at once may be faster than the check whether connect(2) has succeeded.
    case .link(.cannotConnect(_, ECONNRESET)): true
    case .link(.closedByPeer), .link(.closedUnanswered), .link(.connectionLost), .session(.connectionLost),
      .session(.endedByHeadUnit):
      true
    case .link(.noWebSocket(_, let failure)): failure.kind == .brokenOff
    case .link, .session: false
    }
  }
}
