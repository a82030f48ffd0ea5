import DBus

/// Announces a head unit on the local network by DNS-SD (RFC 6763), for as long as this object exists. Avahi does it: the
/// announcement ends as well if Avahi is stopped or restarted, and only a new object announces the head unit again.
package final class HeadUnitAnnouncement: Sendable {
  /// Why there is no announcement, and what to do.
  package struct Failure: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) {
      self.description = description
    }
  }

  /// Whether the network can reach a head unit that listens on `address`; nil for all of this machine's.
  package static func canReach(_ address: String?) -> Bool {
    guard let address else { return true }
    return !address.hasPrefix("127.") && !["::1", "localhost"].contains(address)
  }

  package let name: String
  /// Avahi ends the announcement with the connection.
  private let client: BusClient

  /// - Parameters:
  ///   - port: that the head unit listens on.
  ///   - busAddress: of the bus on which Avahi is; nil for the system bus.
  package init(port: UInt16, busAddress: String? = nil, timeout: Duration = .seconds(2)) throws(Failure) {
    let avahi = AnnouncedHeadUnits.avahi
    guard let client = BusClient(address: busAddress, timeout: timeout),
      let host = client.call(avahi, "/", "\(avahi).Server", "GetHostName")?[0]?.text
    else {
      throw Failure(
        description: "Avahi, which would announce the head unit, is not running: install avahi-daemon, and start it")
    }
    // Hosts have different names, and no two listen on one port.
    name = "Head unit on \(host):\(port)"
    self.client = client
    let service =
      "(-1, -1, uint32 0, \(BusClient.quoted(name)), '\(AnnouncedHeadUnits.serviceType)', '', '', "
      + "uint16 \(port), @aay [])"
    guard let group = client.call(avahi, "/", "\(avahi).Server", "EntryGroupNew")?[0]?.text,
      client.call(avahi, group, "\(avahi).EntryGroup", "AddService", service) != nil,
      client.call(avahi, group, "\(avahi).EntryGroup", "Commit") != nil
    else { throw Failure(description: "Avahi has refused to announce the head unit: see its log") }
  }
}
