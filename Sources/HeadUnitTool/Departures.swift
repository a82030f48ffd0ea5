/// When the program ends by itself (`--app-exits`): connections without an app do not count.
struct Departures: Sendable {
  /// How many apps are waited for; nil for all.
  let awaitedCount: Int?
  /// Sessions that are connected, and in which an app was registered.
  private var sessions: Set<UInt8> = []
  private var count = 0

  init(awaiting awaitedCount: Int?) {
    self.awaitedCount = awaitedCount
  }

  mutating func noteRegistration(_ id: UInt8) {
    sessions.insert(id)
  }

  /// The connection of a session has ended.
  ///
  /// - Returns: whether the app was the last one to be waited for.
  mutating func noteEnd(_ id: UInt8) -> Bool {
    guard sessions.remove(id) != nil else { return false }
    count += 1
    return awaitedCount.map { count >= $0 } ?? sessions.isEmpty
  }
}
