import SDLHeadUnit
import SDLLink
import SDLWire

/// The run of an element that is a head unit, or part of one.
protocol HeadUnitMember: AnyObject, Sendable {
  /// What the element takes from apps: video or audio.
  var service: ServiceType { get }
  /// The name of the element.
  var name: String { get }
  /// Called once, before any event, with locks held.
  func join(_ headUnit: HeadUnit, _ setup: HeadUnitSetup, _ apps: ServedApps)
  /// Called on the server's thread, without locks.
  func receive(_ event: HeadUnitServerEvent, _ report: HeadUnitReport)
}

/// What the members of a head unit get with an event.
struct HeadUnitReport: Sendable {
  /// After the event.
  var apps: ServedApps
  /// Whether this member is the one that tells the application.
  var isReporting: Bool
}

extension HeadUnitServerEvent {
  /// The service that the event is about; nil for the app and the connection.
  var service: ServiceType? {
    guard case .session(_, let event) = self else { return nil }
    switch event {
    case .videoStartRequested, .videoStarted, .videoRefused, .videoData, .videoTimestamp, .videoMissed,
      .videoDataStopped, .videoStopped, .secured, .rpcProtected, .handshakeFailed:
      return .video
    case .audioStartRequested, .audioInClear, .audioStarted, .audioRefused, .audioData, .audioStopped: return .audio
    case .violation(let violation): return violation.service
    default: return nil
    }
  }
}

extension Violation {
  /// The service whose rule the app broke; nil if it is that of another one.
  fileprivate var service: ServiceType? {
    switch self {
    case .audio, .audioWhileForbidden: .audio
    case .stream, .videoWhileForbidden: .video
    case .messageIDZero(let service), .encryptedFrame(let service), .clearFrame(let service),
      .undecryptableFrame(let service), .brokenMessage(let service, _), .startBeforeRegistration(let service),
      .startWhileActive(let service), .endOfServiceNotRunning(let service), .endServiceNotAcknowledged(let service, _),
      .dataWithoutService(let service), .dataAfterEndService(let service, _), .wrongTransport(let service, _):
      service
    default: nil
    }
  }
}
