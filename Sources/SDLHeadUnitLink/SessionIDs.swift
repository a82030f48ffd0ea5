/// How a ``HeadUnitServer`` chooses the ids of its sessions.
public enum SessionIDs: Sendable {
  /// Any that is free: what an app may do on a second connection depends on nothing but its session's id, so that it
  /// should not be guessed at once.
  case random
  /// 1, 2, 3 …; for tests.
  case ascending

  /// An id that is not in `used`. There are fewer sessions than ids.
  /// - Parameter number: that of the app.
  func next(for number: UInt8, besides used: Set<UInt8>) -> UInt8 {
    let free = (1...UInt8.max).filter { !used.contains($0) }
    switch self {
    case .random: return free.randomElement() ?? number
    case .ascending: return free.first { $0 >= number } ?? free.first ?? number
    }
  }
}
