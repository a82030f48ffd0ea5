import SDLMessages

/// The state of an app that matters for the other apps of a head unit.
public struct AppSummary: Equatable, Sendable {
  /// The kind of app, which decides how apps displace each other. An app of both kinds counts as a navigation app.
  public enum Role: Equatable, Sendable {
    case navigation
    case projection
    /// Never gets a video service.
    case other
  }

  /// The id of its session.
  public var id: UInt8
  public var role: Role
  /// The level that the driver chose, before events change it; nil as in ``HMIStatus``.
  public var level: HMILevel?
  /// Whether its video service is open.
  public var isStreaming: Bool
  /// When what it shows in front of the screen is over.
  var shownUntil: [AppInteraction.Layer: Duration] = [:]

  /// Creates a summary.
  public init(id: UInt8, role: Role, level: HMILevel?, isStreaming: Bool) {
    self.id = id
    self.role = role
    self.level = level
    self.isStreaming = isStreaming
  }
}

extension HeadUnitSession {
  /// Nil while no app is registered.
  public var summary: AppSummary? {
    guard let app else { return nil }
    var isStreaming = false
    if case .open = video { isStreaming = true }
    var summary = AppSummary(
      id: sessionID, role: app.role, level: app.chosenStatus.level, isStreaming: isStreaming)
    for layer in app.interactions.keys { summary.shownUntil[layer] = timers.deadline(of: layer.timer) }
    return summary
  }
}
