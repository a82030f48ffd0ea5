import SDLApp
import SDLLink

/// What an ``AppConnection`` reports: in this order for each attempt to connect, `lost` between two of them, and
/// `ended` as the very last.
public enum ConnectionEvent: Sendable {
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
  /// The head unit has not read for this long, while video waits. It may recover, or the connection may end later.
  case stalled(for: Duration)
  /// The built-in head unit found a fault of the app: a sentence without a full stop.
  case faultFound(String)
  /// The connection is gone, and is made again after a pause.
  case lost(ConnectionFailure, retryAfter: Duration)
  /// Exactly once. Nil after ``AppConnection/stop(grace:)``.
  case ended(ConnectionFailure?)
}

public protocol AppConnectionObserver: AnyObject, Sendable {
  /// Called on the connection thread with no lock held; any method of the connection may be called back, but one that
  /// waits does not wait there.
  func connection(_ connection: AppConnection, didReport event: ConnectionEvent)
}
