import SDLMessages

/// The ids of what an app has added to its menus. Nothing else of it is kept, because nothing shows it.
struct AppMenu: Sendable {
  /// Of each kind; SDL Core has no limit, but an app must not take all memory.
  static let maximumCount = 10_000

  var commands: Set<Int> = []
  var subMenus: Set<Int> = []
  var choiceSets: Set<Int> = []

  /// Adds an id, which SDL Core refuses if it is there already.
  mutating func add(_ id: Int, to ids: WritableKeyPath<AppMenu, Set<Int>>) -> ResultCode {
    guard !self[keyPath: ids].contains(id) else { return .invalidID }
    guard self[keyPath: ids].count < Self.maximumCount else { return .outOfMemory }
    self[keyPath: ids].insert(id)
    return .success
  }
}
