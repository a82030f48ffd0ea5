import SDLMessages

/// What the other apps of a head unit have to know about one.
public struct AppSummary: Equatable, Sendable {
  /// The kind of app, as far as apps displace each other by it. One that is both counts as a navigation app.
  public enum Role: Equatable, Sendable {
    case navigation
    case projection
    /// Never gets a video service.
    case other
  }

  /// Of its session.
  public var id: UInt8
  public var role: Role
  /// What the driver chose for it, whatever events make of that; nil as in ``HMIStatus``.
  public var level: HMILevel?
  /// Whether its video service is open.
  public var isStreaming: Bool

  /// Memberwise.
  public init(id: UInt8, role: Role, level: HMILevel?, isStreaming: Bool) {
    self.id = id
    self.role = role
    self.level = level
    self.isStreaming = isStreaming
  }
}

extension HeadUnitSession {
  /// Nil before the registration, and after its end.
  public var summary: AppSummary? {
    guard let app else { return nil }
    var isStreaming = false
    if case .open = video { isStreaming = true }
    return AppSummary(id: sessionID, role: app.role, level: app.chosenStatus.level, isStreaming: isStreaming)
  }
}
