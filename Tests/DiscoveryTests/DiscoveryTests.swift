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

  @Test func withoutAvahi() throws {
    let bus = try PrivateBus()
    #expect(AnnouncedHeadUnits(busAddress: bus.address).list().isEmpty)
    #expect(AnnouncedHeadUnits(busAddress: "unix:path=/nonexistent/bus").list().isEmpty)
    let failure = try #require(throws: HeadUnitAnnouncement.Failure.self) {
      _ = try HeadUnitAnnouncement(port: 12345, busAddress: bus.address)
    }
    #expect(failure.description.contains("avahi-daemon"))
  }

  @Test(arguments: [("192.0.2.7", "sdl://192.0.2.7:12345"), ("2001:db8::7", "sdl://[2001:db8::7]:12345")])
  func uris(_ address: String, _ uri: String) {
    #expect(AnnouncedHeadUnit(name: "", address: address, port: 12345).uri == uri)
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
