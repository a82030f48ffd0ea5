import SDLHeadUnit

/// The connections that may become an app's secondary transport.
public enum SecondaryOrigin: String, CaseIterable, Sendable {
  /// Those from the address of the app's primary transport. If that has no address (Bluetooth, a descriptor), the
  /// first one that names its session, soon after an offer.
  case same
  /// Those from any address, for phones that have several.
  case any
}

/// Whether a connection that names a session may become its secondary transport. Nothing but the address shows whether
/// it belongs to the app.
struct SecondaryAdmission {
  /// Wrong sessions that an address may name before it is refused for a while.
  static let wrongSessions = RateLimit(limit: 3, window: .seconds(60))

  /// What the session has to know of a connection that may be its app's.
  enum Verdict: Equatable {
    /// It comes from the app's address.
    case known
    /// The app's primary transport has no address to compare with.
    case unknown
    case refused(HeadUnitSession.SecondaryRefusal)
  }

  let origin: SecondaryOrigin
  private var wrong = AddressLimits(Self.wrongSessions)

  init(_ origin: SecondaryOrigin) { self.origin = origin }

  /// - Parameter app: the connection of the session that is named; nil if there is none.
  mutating func verdict(
    on connection: ServedConnection.Address, naming id: UInt8, of app: ServedConnection.Address?, now: Duration
  ) -> Verdict {
    // Before the session is looked for, so that a right guess comes too late as well.
    guard !wrong.isReached(by: connection.network, at: now) else { return .refused(.tooManyAttempts) }
    guard let app else {
      noteWrong(connection, now: now)
      return .refused(id == 0 ? .noSessionID : .unknownSession)
    }
    if origin == .any || app.device == connection.device { return .known }
    guard app.isIP else { return .unknown }
    noteWrong(connection, now: now)
    return .refused(.otherAddress)
  }

  /// The session did not await the connection.
  mutating func noteWrong(_ connection: ServedConnection.Address, now: Duration) {
    wrong.count(connection.network, at: now)
  }
}
