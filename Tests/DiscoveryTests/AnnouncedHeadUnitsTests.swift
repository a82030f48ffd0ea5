import TestSupport
import Testing

@testable import Discovery

/// Announcements that no test network has, from a stand-in for Avahi.
@Suite(.serialized, .timeLimit(.minutes(3))) struct AnnouncedHeadUnitsTests {
  private let avahi: AvahiStandIn
  private let announced: AnnouncedHeadUnits

  init() throws {
    avahi = try AvahiStandIn()
    announced = AnnouncedHeadUnits(busAddress: avahi.bus.address, timeout: testTimeout)
  }

  private var uris: [String] { announced.list().map { "\($0.name) \($0.uri)" } }

  /// By its name, and by IPv4 where there is both.
  @Test func eachHeadUnitOnce() throws {
    for (name, address) in [
      ("B", "192.168.1.7"), ("A", "fd00::1"), ("A", "192.168.1.5"), ("C", "2001:db8::1"),
    ] {
      try avahi.command("add", name, address, "12345")
    }
    #expect(uris == ["A sdl://192.168.1.5:12345", "B sdl://192.168.1.7:12345", "C sdl://[2001:db8::1]:12345"])
    // Avahi signals changes, and is not asked again.
    #expect(announced.list().count == 3 && announced.list().count == 3)
    #expect(avahi.count(of: "browse") == 1 && avahi.count(of: "resolve") == 4)
    #expect(try avahi.wait(for: "browse")["type"] == "_smartdevicelink._tcp")
  }

  /// A port of 0, and addresses that mean nothing without the interface, in upper or lower case.
  @Test func announcementsToWhichNothingConnects() throws {
    for (name, address, port) in [("A", "fe80::1", "1"), ("B", "FE80::2", "1"), ("C", "192.168.1.7", "0")] {
      try avahi.command("add", name, address, port)
    }
    #expect(uris == [])
    try avahi.command("add", "D", "192.168.1.8", "1")
    #expect(eventually { uris == ["D sdl://192.168.1.8:1"] })
  }

  @Test func moreThanAreListed() throws {
    for number in 100..<170 { try avahi.command("add", "\(number)", "192.168.1.7", "\(number)") }
    #expect(announced.list().map(\.name) == (100..<164).map { "\($0)" })
    try avahi.command("remove", "100")
    #expect(eventually { announced.list().map(\.name) == (101..<165).map { "\($0)" } })
  }

  /// Avahi stops resolving those that have gone, and one that comes back is resolved again.
  @Test func goesAndComesBack() throws {
    try avahi.command("add", "A", "192.168.1.5", "1")
    try avahi.command("add", "B", "192.168.1.6", "1")
    #expect(uris.count == 2)
    try avahi.command("remove", "A")
    #expect(eventually { uris == ["B sdl://192.168.1.6:1"] })
    // The next look frees the resolver, if that one has not.
    _ = uris
    #expect(try avahi.wait(for: "free")["name"] == "A")
    try avahi.command("add", "A", "192.168.1.9", "2")
    #expect(eventually { uris == ["A sdl://192.168.1.9:2", "B sdl://192.168.1.6:1"] })
    #expect(avahi.count(of: "free") == 0 && avahi.count(of: "resolve") == 3)
  }

  /// A browse that fails is made again by the next look.
  @Test func browseThatFails() throws {
    try avahi.command("add", "A", "192.168.1.5", "1")
    try avahi.command("fail", "on")
    #expect(uris == [] && uris == [])
    #expect(avahi.count(of: "browse") == 2)
    try avahi.command("fail", "off")
    #expect(uris == ["A sdl://192.168.1.5:1"] && uris.count == 1)
    #expect(avahi.count(of: "browse") == 3)
  }

  /// Its address is not waited for, and Avahi stops looking for it.
  @Test func goesWhileItIsResolved() throws {
    try avahi.command("add", "A", "192.168.1.5", "1")
    try avahi.command("vanish", "A")
    try avahi.command("add", "B", "192.168.1.6", "1")
    let began = ContinuousClock.now
    #expect(uris == ["B sdl://192.168.1.6:1"] && uris.count == 1)
    #expect(ContinuousClock.now - began < testTimeout)
    // A look frees the resolvers of those that had gone before it.
    #expect(eventually { uris.count == 1 && avahi.count(of: "free") == 1 })
    #expect(try avahi.wait(for: "free")["name"] == "A")
  }

  /// An address that Avahi does not look for is not waited for, and asked for again by the next look.
  @Test func resolverThatIsRefused() throws {
    try avahi.command("add", "A", "192.168.1.5", "1")
    try avahi.command("refuse", "on")
    let began = ContinuousClock.now
    #expect(uris == [] && uris == [])
    #expect(ContinuousClock.now - began < testTimeout)
    try avahi.command("refuse", "off")
    #expect(uris == ["A sdl://192.168.1.5:1"] && avahi.count(of: "resolve") == 3)
  }
}
