import SDLHeadUnit

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
