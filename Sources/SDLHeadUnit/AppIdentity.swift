import SDLMessages

/// What tells the apps of a phone apart.
public struct AppIdentity: Equatable, Sendable {
  /// The full id, if the app gives one.
  public var id: String
  public var name: String

  /// Creates an identity.
  public init(id: String, name: String) {
    self.id = id
    self.name = name
  }

  /// Why SDL Core does not register an app beside others of the same phone; nil if it does. Capital and small letters are
  /// the same to it.
  func conflict(with others: [AppIdentity]) -> ResultCode? {
    if others.contains(where: { $0.id.lowercased() == id.lowercased() }) { return .applicationRegisteredAlready }
    return others.contains { $0.name.lowercased() == name.lowercased() } ? .duplicateName : nil
  }
}

extension HeadUnitSession {
  /// Nil while no app is registered.
  public var identity: AppIdentity? { app?.identity }

  /// Sets the apps of the same phone that are registered in other sessions, whose ids and names are taken.
  public mutating func setOtherApps(_ others: [AppIdentity]) {
    otherApps = others
  }
}
