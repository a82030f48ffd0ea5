import DBus
import SDLLink

/// A head unit that announces itself on the local network.
public struct AnnouncedHeadUnit: Hashable, Sendable {
  /// The name for users.
  public var name: String
  /// Of IPv4 or IPv6, as text.
  public var address: String
  public var port: UInt16

  /// An app's way to it.
  public var uri: String { "sdl://\(address.contains(":") ? "[\(address)]" : address):\(port)" }
}

/// The head units that announce themselves on the local network by DNS-SD (RFC 6763), found by Avahi. The first look
/// queries the network; from then on Avahi is notified of changes.
///
/// `@unchecked Sendable`: one thread at a time uses it.
public final class AnnouncedHeadUnits: @unchecked Sendable {
  /// No standard names a service type; SmartDeviceLink's own proposal (SDL-0143) was rejected.
  static let serviceType = "_smartdevicelink._tcp"
  static let avahi = "org.freedesktop.Avahi"
  /// The most that are listed.
  private static let maximumCount = 64

  /// One announcement, which comes once for each interface and protocol.
  private struct Item: Hashable {
    var interface: Int32
    var networkProtocol: Int32
    var name: String
    var domain: String

    /// Of the signals ItemNew and ItemRemove: `iisssu`.
    init?(_ arguments: borrowing Variant) {
      guard let interface = arguments[0]?.integer, let networkProtocol = arguments[1]?.integer,
        let name = arguments[2]?.text, let domain = arguments[4]?.text
      else { return nil }
      (self.interface, self.networkProtocol, self.name, self.domain) = (interface, networkProtocol, name, domain)
    }
  }

  private let busAddress: String?
  private let timeout: Duration
  private lazy var service = BusService(Self.avahi, busAddress: busAddress, timeout: timeout) {
    [unowned self] name, arguments in receive(name, arguments)
  }
  private var isComplete = false
  /// Announcements with their addresses; nil for an address that is not known yet.
  private var items: [Item: AnnouncedHeadUnit?] = [:]

  /// - Parameters:
  ///   - busAddress: of the bus on which Avahi is; nil for the system bus.
  ///   - timeout: of each call to Avahi, and of the first query to the network.
  public init(busAddress: String? = nil, timeout: Duration = .milliseconds(500)) {
    self.busAddress = busAddress
    self.timeout = timeout
  }

  /// The head units that are announced now, ordered by name. Empty without Avahi, which is not started for this.
  public func list() -> [AnnouncedHeadUnit] {
    switch service.look() {
    case .absent:
      items = [:]
      return []
    case .started:
      guard browse() else { return [] }
    case .running: break
    }
    service.takeSignals { isComplete }
    isComplete = true
    let end = MonotonicClock.now + timeout * 2
    for item in items.filter({ $0.value == nil }).keys where MonotonicClock.now < end {
      let headUnit = resolve(item)
      // It may be gone by now.
      if items.keys.contains(item) { items.updateValue(headUnit, forKey: item) }
    }
    return headUnits
  }

  /// Each name once, and by IPv4 if it has that.
  private var headUnits: [AnnouncedHeadUnit] {
    let sorted = items.values.compactMap { $0 }.sorted {
      ($0.name, $0.address.contains(":") ? 1 : 0, $0.address) < ($1.name, $1.address.contains(":") ? 1 : 0, $1.address)
    }
    var names: Set<String> = []
    return sorted.filter { names.insert($0.name).inserted }
  }

  /// Makes a new Avahi browse.
  private func browse() -> Bool {
    (isComplete, items) = (false, [:])
    // Before the browser is made, which signals at once.
    service.subscribe(to: "\(Self.avahi).ServiceBrowser")
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
      guard items.count < Self.maximumCount, let item = Item(arguments) else { return }
      items.updateValue(nil, forKey: item)
    case "ItemRemove": if let item = Item(arguments) { items.removeValue(forKey: item) }
    case "AllForNow", "Failure": isComplete = true
    default: break
    }
  }

  /// The address of an announcement; nil if nothing answers in time.
  private func resolve(_ item: Item) -> AnnouncedHeadUnit? {
    let arguments =
      "(\(item.interface), \(item.networkProtocol), \(BusClient.quoted(item.name)), '\(Self.serviceType)', "
      + "\(BusClient.quoted(item.domain)), \(item.networkProtocol), uint32 0)"
    // (iissssisqaayu)
    guard let answer = service.call("/", "\(Self.avahi).Server", "ResolveService", arguments),
      let address = answer[7]?.text, let port = answer[8]?.short, port > 0,
      // Means nothing without the interface.
      !address.lowercased().hasPrefix("fe80:")
    else { return nil }
    return AnnouncedHeadUnit(name: item.name, address: address, port: port)
  }
}
