import SDLMessages

/// What SDL Core keeps of an app whose connection has broken. If the app names the hash in its next registration, it goes on
/// with this.
public struct SavedApp: Sendable {
  public let id: String
  let hash: String
  let menu: AppMenu
  let subscribedButtons: Set<String>

  /// The requests that change it. Each is followed by OnHashChange.
  fileprivate static let changes: Set<FunctionID> = [
    .addCommand, .deleteCommand, .addSubMenu, .deleteSubMenu, .createInteractionChoiceSet, .deleteInteractionChoiceSet,
    .subscribeButton, .unsubscribeButton, .setGlobalProperties, .resetGlobalProperties,
  ]
}

extension HeadUnitSession {
  /// What is to be kept of the app; nil while none is registered, or it has nothing to lose.
  public var savedApp: SavedApp? {
    guard let app, let hash = app.hash else { return nil }
    return SavedApp(id: app.identity.id, hash: hash, menu: app.menu, subscribedButtons: app.subscribedButtons)
  }

  /// Tells the app the hash of what it has now.
  mutating func noteChange(by function: FunctionID) {
    guard app != nil, SavedApp.changes.contains(function) else { return }
    updateHash()
  }

  mutating func updateHash() {
    hashCount &+= 1
    // Unlike those of other sessions, also of the same app.
    let hash = "\(hashID)-\(hashCount)"
    app?.hash = hash
    notify(.onHashChange, ["hashID": .string(hash)])
  }
}
