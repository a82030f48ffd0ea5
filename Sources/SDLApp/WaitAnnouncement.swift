/// Which wait for a transport the app has heard of. One that is over before anybody could act on it is not told: a transport may be
/// lost a moment before the connection itself is.
struct WaitAnnouncement: Equatable, Sendable {
  /// How long a wait must have lasted.
  static let settlingTime = Duration.milliseconds(500)

  private(set) var reported: TransportWait?
  private var isPending = false
  private var waitsSince: Duration = .zero

  /// When ``update(_:now:)`` has something to say, if nothing changes before.
  var nextDeadline: Duration? { isPending ? waitsSince + Self.settlingTime : nil }

  /// - Parameter wait: what holds now; nil for no wait.
  /// - Returns: whether the app is to be told of it now.
  mutating func update(_ wait: TransportWait?, now: Duration) -> Bool {
    guard wait != reported else {
      isPending = false
      return false
    }
    if wait != nil, reported == nil {
      if !isPending { waitsSince = now }
      isPending = now < waitsSince + Self.settlingTime
      guard !isPending else { return false }
    }
    isPending = false
    reported = wait
    return true
  }
}
