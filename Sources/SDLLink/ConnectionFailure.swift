import Glibc
import SDLApp

/// Why a connection has broken, or could not be made.
public enum ConnectionFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// The transport failed.
  case link(LinkError)
  /// The session failed, on a transport that stood.
  case session(AppSessionFailure)

  /// For people: what happened.
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
    case .link(.system), .link(.cannotListen): false
    case .link: true
    }
  }

  /// Whether a transport that stood has gone: all that may heal before the app has been registered for the first time,
  /// when everything else is likely to be a mistake in the settings.
  var isLoss: Bool {
    switch self {
    // A peer that accepts and resets at once may be quicker than the look at whether connect(2) has succeeded.
    case .link(.cannotConnect(_, ECONNRESET)): true
    case .link(.closedByPeer), .link(.connectionLost), .session(.connectionLost), .session(.endedByHeadUnit): true
    case .link, .session: false
    }
  }
}
