import SDLHeadUnit

/// The connections that may become an app's secondary transport.
package enum SecondaryOrigin: String, CaseIterable, Sendable {
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

/// A rate limit for each of many addresses. Memory is bounded: of too many addresses those are forgotten whose last
/// event is longest ago.
struct AddressLimits: Sendable {
  private static let mostAddresses = 256

  private struct Entry: Sendable {
    var events: RateLimit
    var last: Duration
  }

  private let limit: RateLimit
  private var entries: [String: Entry] = [:]

  /// The same limit for each address.
  init(_ limit: RateLimit) { self.limit = limit }

  /// Whether one more event of the address would be too many.
  func isReached(by address: String, at now: Duration) -> Bool {
    entries[address]?.events.isReached(at: now) ?? false
  }

  mutating func count(_ address: String, at now: Duration) {
    if entries[address] == nil, entries.count >= Self.mostAddresses { removeOldest() }
    var entry = entries[address] ?? Entry(events: limit, last: now)
    _ = entry.events.exceeds(at: now)
    entry.last = now
    entries[address] = entry
  }

  private mutating func removeOldest() {
    if let oldest = entries.min(by: { $0.value.last < $1.value.last }) { entries[oldest.key] = nil }
  }
}

/// The TLS handshakes of all apps of a head unit, each of which takes some milliseconds of processor time.
///
/// Many of one address do not keep others from their share.
struct HandshakeBudget: Sendable {
  /// Of all addresses together; a quarter of it for each is there whatever the others do.
  static let total = RateLimit(limit: 100, window: .seconds(10))

  private var all = Self.total
  private var addresses = AddressLimits(RateLimit(limit: Self.total.limit / 4, window: Self.total.window))

  /// Whether an app at this address may make one more, which is counted then.
  mutating func allows(_ address: String, at now: Duration) -> Bool {
    guard !all.isReached(at: now) || !addresses.isReached(by: address, at: now) else { return false }
    _ = all.exceeds(at: now)
    addresses.count(address, at: now)
    return true
  }
}
