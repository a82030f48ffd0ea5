import Glibc
import SDLApp
import SDLLink

/// Why a connection has broken, or could not be made.
public enum ConnectionFailure: Error, Equatable, Sendable, CustomStringConvertible {
  case link(LinkError)
  /// The session failed, on an established transport.
  case session(AppSessionFailure)

  /// For users: what happened.
  public var description: String {
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
    case .link(.closedByPeer), .link(.connectionLost), .session(.connectionLost), .session(.endedByHeadUnit): true
    case .link, .session: false
    }
  }
}
