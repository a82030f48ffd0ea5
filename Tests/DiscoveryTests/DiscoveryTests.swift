import DBus
import Foundation
import TestSupport
import Testing

@testable import Discovery

/// What is announced is found, by Avahi itself, on a bus of the test's own.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DiscoveryTests {
  @Test(.enabled(if: Avahi.canStart)) func anAnnouncementComesAndGoes() throws {
    let avahi = try Avahi()
    let announced = AnnouncedHeadUnits(busAddress: avahi.bus.address)
    #expect(announced.list().isEmpty)
    var announcement: HeadUnitAnnouncement? = try HeadUnitAnnouncement(port: 12345, busAddress: avahi.bus.address)
    let name = try #require(announcement?.name)
    #expect(eventually { !announced.list().isEmpty })
    let found = try #require(announced.list().first)
    #expect(found.name == name && found.port == 12345)
    #expect(found.uri == "sdl://\(found.address):12345")
    // One that looks only now, and another head unit of the same machine.
    let other = try HeadUnitAnnouncement(port: 12346, busAddress: avahi.bus.address)
    let names = Set([name, other.name])
    #expect(names.count == 2)
    #expect(eventually { Set(AnnouncedHeadUnits(busAddress: avahi.bus.address).list().map(\.name)) == names })
    announcement = nil
    #expect(eventually { announced.list().map(\.name) == [other.name] })
  }

  @Test(.enabled(if: Avahi.canStart)) func avahiStartsLaterAndAgain() throws {
    let bus = try PrivateBus()
    let announced = AnnouncedHeadUnits(busAddress: bus.address)
    #expect(announced.list().isEmpty)
    for port: UInt16 in [12345, 12346] {
      let avahi = try Avahi(on: bus)
      let announcement = try HeadUnitAnnouncement(port: port, busAddress: bus.address)
      #expect(eventually { announced.list().map(\.name) == [announcement.name] })
      avahi.end()
      #expect(eventually { announced.list().isEmpty })
    }
  }

  @Test(.enabled(if: Avahi.canStart)) func announcementsWithoutAnAddress() throws {
    let avahi = try Avahi()
    let lost = try LostHeadUnits(count: 20, busAddress: avahi.bus.address)
    let announcement = try HeadUnitAnnouncement(port: 12345, busAddress: avahi.bus.address)
    #expect(eventually { lost.canResolve(announcement.name) })
    let announced = AnnouncedHeadUnits(busAddress: avahi.bus.address, timeout: .seconds(4))
    #expect(announced.list().map(\.name) == [announcement.name])
    // They are not waited for again.
    let began = ContinuousClock.now
    #expect(announced.list().map(\.name) == [announcement.name])
    #expect(ContinuousClock.now - began < .seconds(4))
  }

  @Test(.enabled(if: Avahi.canStart)) func moreAnnouncementsThanAreKept() throws {
    let avahi = try Avahi()
    let announced = AnnouncedHeadUnits(busAddress: avahi.bus.address)
    var lost: LostHeadUnits? = try LostHeadUnits(count: 300, busAddress: avahi.bus.address)
    #expect(announced.list().isEmpty)
    // Comes when there is no place for it.
    let announcement = try HeadUnitAnnouncement(port: 12345, busAddress: avahi.bus.address)
    #expect(eventually { lost?.canResolve(announcement.name) == true })
    _ = announced.list()
    lost = nil
    #expect(eventually { announced.list().map(\.name) == [announcement.name] })
  }

  @Test func withoutAvahi() throws {
    let bus = try PrivateBus()
    #expect(AnnouncedHeadUnits(busAddress: bus.address).list().isEmpty)
    #expect(AnnouncedHeadUnits(busAddress: "unix:path=/nonexistent/bus").list().isEmpty)
    let failure = try #require(throws: HeadUnitAnnouncement.Failure.self) {
      _ = try HeadUnitAnnouncement(port: 12345, busAddress: bus.address)
    }
    #expect(failure.description.contains("avahi-daemon"))
  }

  /// Of a head unit that listens there.
  @Test(
    arguments: [
      (nil, true), ("0.0.0.0", true), ("192.168.1.5", true), ("::", true), ("fd00::1", true), ("12.7.0.1", true),
      ("127.0.0.1", false), ("127.9.9.9", false), ("::1", false), ("localhost", false),
    ] as [(String?, Bool)])
  func canBeReached(address: String?, isReachable: Bool) {
    #expect(HeadUnitAnnouncement.canReach(address) == isReachable)
  }

  @Test(arguments: [("192.0.2.7", "sdl://192.0.2.7:12345"), ("2001:db8::7", "sdl://[2001:db8::7]:12345")])
  func uris(_ address: String, _ uri: String) {
    #expect(AnnouncedHeadUnit(name: "", address: address, port: 12345).uri == uri)
  }
}

@Suite(.serialized, .timeLimit(.minutes(5))) struct BusClientWholeProcessTests {
  /// GIO keeps a connection, and the descriptor of its main context, until its last callback has run.
  @Test func nothingIsLeftOpen() throws {
    let bus = try PrivateBus()
    func call() throws {
      let client = try #require(BusClient(address: bus.address, timeout: .seconds(10)))
      client.subscribe(to: "org.freedesktop.DBus", of: "org.freedesktop.DBus")
      let isAnswered = client.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping") != nil
      #expect(isAnswered)
    }
    try call()
    let before = ProcessCounts.descriptors
    for _ in 0..<50 { try call() }
    #expect(eventually { ProcessCounts.descriptors <= before }, "\(ProcessCounts.descriptors), and \(before) before")
  }
}

/// Announcements whose names do not resolve, as those of head units that have left without a goodbye.
private final class LostHeadUnits {
  /// Avahi ends the announcements with the connection.
  private let client: BusClient
  private let avahi = AnnouncedHeadUnits.avahi

  init(count: Int, busAddress: String) throws {
    client = try #require(BusClient(address: busAddress, timeout: .seconds(10)))
    // Avahi limits the records of a group.
    for first in stride(from: 0, to: count, by: 20) {
      guard let group = client.call(avahi, "/", "\(avahi).Server", "EntryGroupNew")?[0]?.text else {
        throw BusFailure(description: "Avahi has made no group")
      }
      for number in first..<min(first + 20, count) { try call(group, "AddRecord", Self.pointer("Lost \(number)")) }
      try call(group, "Commit", "()")
    }
  }

  /// Whether Avahi knows the address of the head unit of this name.
  func canResolve(_ name: String) -> Bool {
    let arguments =
      "(-1, -1, \(BusClient.quoted(name)), '\(AnnouncedHeadUnits.serviceType)', 'local', -1, uint32 0)"
    return client.call(avahi, "/", "\(avahi).Server", "ResolveService", arguments) != nil
  }

  private func call(_ group: String, _ method: String, _ arguments: String) throws {
    guard client.call(avahi, group, "\(avahi).EntryGroup", method, arguments) != nil else {
      throw BusFailure(description: "Avahi has refused \(method)")
    }
  }

  /// A record PTR of class IN alone, without the records SRV and A that it leads to.
  private static func pointer(_ name: String) -> String {
    let type = AnnouncedHeadUnits.serviceType
    let labels = [name] + type.split(separator: ".").map(String.init) + ["local"]
    let bytes: [UInt8] = labels.flatMap { joined([UInt8(clamping: $0.utf8.count)], Array($0.utf8)) } + [0]
    return "(-1, -1, uint32 0, '\(type).local', uint16 1, uint16 12, uint32 4500, @ay \(bytes))"
  }
}

@Suite struct BusClientTests {
  /// Names that come from another program, which GIO does not take: it would never answer the call.
  @Test(arguments: [("", "/"), ("no name", "/"), ("org.freedesktop.DBus", ""), ("org.freedesktop.DBus", "no path")])
  func callWithoutAName(service: String, object: String) throws {
    let bus = try PrivateBus()
    let client = try #require(BusClient(address: bus.address, timeout: .seconds(10)))
    let began = ContinuousClock.now
    let isAnswered = client.call(service, object, "org.freedesktop.DBus.Peer", "Ping") != nil
    #expect(!isAnswered && ContinuousClock.now - began < .seconds(10))
    // Its failure does not affect later calls.
    let isNextAnswered = client.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping") != nil
    #expect(isNextAnswered)
  }

  @Test(arguments: [
    ("Bob's car", #"'Bob\'s car'"#), (#"a\b"#, #"'a\\b'"#), ("é", "'é'"), ("a'\u{301}", "'a\\'\u{301}'"),
  ])
  func quoted(text: String, expected: String) {
    #expect(BusClient.quoted(text).utf8.elementsEqual(expected.utf8))
  }
}
