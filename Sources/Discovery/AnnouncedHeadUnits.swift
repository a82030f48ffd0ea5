import DBus
import SDLLink

/// A head unit that announces itself on the local network.
package struct AnnouncedHeadUnit: Hashable, Sendable {
  /// The name for users.
  package var name: String
  /// Of IPv4 or IPv6, as text.
  package var address: String
  package var port: UInt16

  /// An app's way to it.
  package var uri: String { "sdl://\(address.contains(":") ? "[\(address)]" : address):\(port)" }
}

/// The head units that announce themselves on the local network by DNS-SD (RFC 6763), found by Avahi. The first look
/// queries the network; from then on Avahi is notified of changes.
///
/// `@unchecked Sendable`: one thread at a time uses it.
package final class AnnouncedHeadUnits: @unchecked Sendable {
  /// No standard names a service type; SmartDeviceLink's own proposal (SDL-0143) was rejected.
  static let serviceType = "_smartdevicelink._tcp"
  static let avahi = "org.freedesktop.Avahi"
  /// The most head units that are listed.
  private static let maximumCount = 64
  /// The most announcements that are kept, and resolved by Avahi at a time: a head unit has several.
  private static let maximumItems = 256

  /// One announcement, which comes once for each interface and protocol.
  private struct Item: Hashable {
    var interface: Int32
    var networkProtocol: Int32
    var name: String
    var domain: String

    /// Of the signals ItemNew and ItemRemove (`iisssu`), and of Found, which begins in the same way.
    init?(_ arguments: borrowing Variant) {
      guard let interface = arguments[0]?.integer, let networkProtocol = arguments[1]?.integer,
        let name = arguments[2]?.text, let domain = arguments[4]?.text
      else { return nil }
      (self.interface, self.networkProtocol, self.name, self.domain) = (interface, networkProtocol, name, domain)
    }
  }

  /// What is known of an announcement.
  private struct Resolution {
    /// The path of the object by which Avahi looks for the address, and follows it; nil if there is none yet.
    var resolver: String?
    /// Nil without an address to connect to.
    var headUnit: AnnouncedHeadUnit?
  }

  private let busAddress: String?
  private let timeout: Duration
  private lazy var service = BusService(Self.avahi, busAddress: busAddress, timeout: timeout) {
    [unowned self] name, arguments in receive(name, arguments)
  }
  private var isComplete = false
  private var hasFailed = false
  /// Whether there were more announcements than are kept; Avahi does not signal them again.
  private var isCutOff = false
  private var items: [Item: Resolution] = [:]
  /// Announcements that this look has Avahi resolve, and that have no answer yet.
  private var unanswered: Set<Item> = []
  /// Resolvers of announcements that have been removed.
  private var unusedResolvers: [String] = []

  /// - Parameters:
  ///   - busAddress: of the bus on which Avahi is; nil for the system bus.
  ///   - timeout: of each call to Avahi, of the first query to the network, and of the wait for new addresses.
  package init(busAddress: String? = nil, timeout: Duration = .milliseconds(500)) {
    self.busAddress = busAddress
    self.timeout = timeout
  }

  /// The head units that are announced now, ordered by name. Empty without Avahi, which is not started for this.
  package func list() -> [AnnouncedHeadUnit] {
    switch service.look() {
    case .absent:
      clear()
      return []
    case .started:
      guard browse() else { return [] }
    case .running: break
    }
    service.takeSignals { isComplete }
    isComplete = true
    unanswered = []
    resolveNewItems()
    service.takeSignals { unanswered.isEmpty }
    // Not while it signals.
    if hasFailed || (isCutOff && items.count < Self.maximumItems) { service.forget() }
    return headUnits
  }

  /// Each name once, and by IPv4 if it has that; not more than are listed.
  private var headUnits: [AnnouncedHeadUnit] {
    let sorted = items.values.compactMap(\.headUnit).sorted {
      ($0.name, $0.address.contains(":") ? 1 : 0, $0.address) < ($1.name, $1.address.contains(":") ? 1 : 0, $1.address)
    }
    var names: Set<String> = []
    return Array(sorted.filter { names.insert($0.name).inserted }.prefix(Self.maximumCount))
  }

  /// Nothing of an earlier browse counts: its objects have gone with its connection, or with Avahi.
  private func clear() {
    (isComplete, hasFailed, isCutOff) = (false, false, false)
    (items, unanswered, unusedResolvers) = ([:], [], [])
  }

  /// Makes a new Avahi browse.
  private func browse() -> Bool {
    clear()
    // Before the browser and resolvers are made, which signal at once.
    service.subscribe(to: "\(Self.avahi).ServiceBrowser")
    // Not its Failure, after which it still looks for an address.
    service.subscribe(to: "\(Self.avahi).ServiceResolver", signal: "Found")
    let arguments = "(-1, -1, '\(Self.serviceType)', '', uint32 0)"
    guard service.call("/", "\(Self.avahi).Server", "ServiceBrowserNew", arguments) != nil else {
      service.forget()
      return false
    }
    return true
  }

  private func receive(_ signal: String, _ arguments: borrowing Variant) {
    switch signal {
    case "ItemNew":
      guard let item = Item(arguments), items[item] == nil else { return }
      if items.count < Self.maximumItems { items[item] = Resolution() } else { isCutOff = true }
    case "ItemRemove":
      guard let item = Item(arguments), let resolution = items.removeValue(forKey: item) else { return }
      unanswered.remove(item)
      if let resolver = resolution.resolver { unusedResolvers.append(resolver) }
    case "Found":
      guard let item = Item(arguments), items[item] != nil else { return }
      unanswered.remove(item)
      items[item]?.headUnit = Self.headUnit(item, arguments)
    case "AllForNow": isComplete = true
    case "Failure": (isComplete, hasFailed) = (true, true)
    default: break
    }
  }

  /// Has Avahi look for the addresses of new announcements, and end that for removed ones. Avahi answers these calls at
  /// once, so that those that never get an address do not delay others.
  private func resolveNewItems() {
    let end = MonotonicClock.now + timeout
    while MonotonicClock.now < end, let resolver = unusedResolvers.popLast() {
      _ = service.call(resolver, "\(Self.avahi).ServiceResolver", "Free")
    }
    for item in items.filter({ $0.value.resolver == nil }).keys where MonotonicClock.now < end {
      // Signals come during the calls: it may have gone before this one, and after it.
      guard items[item] != nil else { continue }
      unanswered.insert(item)
      let arguments =
        "(\(item.interface), \(item.networkProtocol), \(BusClient.quoted(item.name)), '\(Self.serviceType)', "
        + "\(BusClient.quoted(item.domain)), \(item.networkProtocol), uint32 0)"
      let resolver = service.call("/", "\(Self.avahi).Server", "ServiceResolverNew", arguments)?[0]?.text
      if resolver == nil { unanswered.remove(item) }
      if items[item] != nil {
        items[item]?.resolver = resolver
      } else if let resolver {
        unusedResolvers.append(resolver)
      }
    }
  }

  /// What the signal Found (`iissssisqaayu`) tells of an announcement; nil if nothing can connect to it.
  private static func headUnit(_ item: Item, _ arguments: borrowing Variant) -> AnnouncedHeadUnit? {
    guard let address = arguments[7]?.text, let port = arguments[8]?.short, port > 0,
      // Means nothing without the interface.
      !address.lowercased().hasPrefix("fe80:")
    else { return nil }
    return AnnouncedHeadUnit(name: item.name, address: address, port: port)
  }
}
