import Glibc
import SDLHeadUnit
import Testing

@testable import SDLHeadUnitLink
@testable import SDLLink

/// What many connections of one address leave to the others.
@Suite struct ConnectionPlacesTests {
  private typealias Occupant = ConnectionPlaces.Occupant

  private let now = Duration.seconds(100)

  private func occupants(
    _ count: Int, of address: String, _ state: ConnectionPlaces.State, age: Duration = .seconds(50)
  ) -> [Occupant] {
    (0..<count).map { Occupant(address: address, connectTime: now - age + .milliseconds($0), state: state) }
  }

  private func closed(for newcomer: String, _ occupants: [Occupant]) -> String? {
    ConnectionPlaces(most: 16).place(for: newcomer, among: occupants, now: now).map {
      "\(occupants[$0].address) \(occupants[$0].state)"
    }
  }

  @Test func someoneElseGetsAPlace() {
    let young = Duration.milliseconds(1)
    // Connections that come again and again.
    #expect(closed(for: "b", occupants(16, of: "a", .unregistered, age: young)) == "a unregistered")
    // Apps that register and do nothing.
    #expect(closed(for: "b", occupants(16, of: "a", .idle)) == "a idle")
    let four = ["a", "c", "d", "e"].flatMap { occupants(4, of: $0, .idle) }
    #expect(closed(for: "b", four)?.hasSuffix("idle") == true)
    // The busiest address, whatever has been there longest, and however slow the others are to register; and its
    // connections without apps before those with.
    #expect(closed(for: "b", occupants(5, of: "c", .idle) + occupants(11, of: "a", .idle, age: young)) == "a idle")
    #expect(closed(for: "b", occupants(15, of: "a", .idle) + occupants(1, of: "c", .unregistered)) == "a idle")
    #expect(
      closed(for: "b", occupants(8, of: "a", .idle) + occupants(8, of: "a", .unregistered, age: young))
        == "a unregistered")
  }

  @Test func oneIsNotKeptOutByItself() {
    let apps = occupants(15, of: "a", .idle)
    #expect(closed(for: "a", apps + occupants(1, of: "a", .unregistered)) == "a unregistered")
    // It may have just connected.
    #expect(closed(for: "a", apps + occupants(1, of: "a", .unregistered, age: .milliseconds(999))) == nil)
    #expect(closed(for: "a", occupants(16, of: "a", .idle)) == nil)
  }

  @Test func placesThatNobodyGets() {
    // The apps that the driver uses.
    #expect(closed(for: "b", occupants(16, of: "a", .active)) == nil)
    // Apps of addresses that have few.
    #expect(closed(for: "b", (0..<16).flatMap { occupants(1, of: "a\($0)", .idle) }) == nil)
    #expect(closed(for: "b", (0..<8).flatMap { occupants(2, of: "a\($0)", .idle) }) == nil)
    // One that would have more than the other then.
    let third = occupants(1, of: "c", .active)
    #expect(closed(for: "b", occupants(7, of: "b", .idle) + occupants(8, of: "a", .idle) + third) == nil)
    let young = occupants(8, of: "a", .unregistered, age: .milliseconds(1))
    #expect(closed(for: "b", occupants(7, of: "b", .idle) + young + third) == nil)
    // One that has its part already.
    #expect(closed(for: "b", occupants(8, of: "b", .idle) + occupants(8, of: "a", .idle)) == nil)
  }

  @Test func oldestOfTheBusiest() {
    let all = occupants(6, of: "a", .unregistered) + occupants(10, of: "c", .unregistered)
    #expect(ConnectionPlaces(most: 16).place(for: "b", among: all, now: now) == 6)
  }

  /// A peer that always waits has no effect on another.
  @Test func waitingPeers() throws {
    var waiting = WaitingPeers()
    func peer(_ address: String) throws -> WaitingPeers.Peer {
      WaitingPeers.Peer(
        try Socket.pair().0, .primary, name: address,
        address: ServedConnection.Address(device: address, network: address, isIP: true))
    }
    for _ in 0..<64 {
      let refused = waiting.append(try peer("a"))
      #expect(refused == nil)
    }
    for address in ["b"] + [String](repeating: "a", count: 10) {
      let refused = waiting.append(try peer(address))
      #expect(refused?.name == "a")
    }
    #expect(waiting.peers.count == 64)
    let first = waiting.takeNext { $0 == "a" ? 3 : 0 }
    let second = waiting.takeNext { _ in 0 }
    #expect(first?.name == "b" && second?.name == "a")
  }

  @Test func handshakes() {
    var budget = HandshakeBudget()
    // One that is alone may use all.
    let alone = (0..<200).count { _ in budget.allows("a", at: now) }
    // Another has its share all the same.
    let other = (0..<200).count { _ in budget.allows("b", at: now) }
    #expect(alone == 100 && other == 25)
    let later = [9999, 10_000].map { budget.allows("a", at: now + .milliseconds($0)) }
    #expect(later == [false, true])
  }

  @Test func addressesAreForgotten() {
    var limits = AddressLimits(RateLimit(limit: 1, window: .seconds(60)))
    limits.count("a", at: now)
    #expect(limits.isReached(by: "a", at: now) && !limits.isReached(by: "b", at: now))
    for index in 0..<1000 { limits.count("b\(index)", at: now + .seconds(1)) }
    #expect(!limits.isReached(by: "a", at: now) && limits.isReached(by: "b999", at: now + .seconds(1)))
  }

  /// Of 256 addresses, the one that has been quiet longest.
  @Test func addressForgottenFirst() {
    var limits = AddressLimits(RateLimit(limit: 2, window: .seconds(60)))
    func count(_ address: String, after seconds: Int) { limits.count(address, at: now + .seconds(seconds)) }
    func reached() -> [Bool] { ["a", "c"].map { limits.isReached(by: $0, at: now + .seconds(9)) } }
    for (second, address) in ["a", "a", "c", "c"].enumerated() { count(address, after: second) }
    for index in 0..<254 { count("b\(index)", after: 4) }
    #expect(reached() == [true, true])
    count("a", after: 5)
    count("b254", after: 6)
    #expect(reached() == [true, false])
  }

  @Test func sessionIDs() {
    let used = Set((1...UInt8.max).filter { $0 != 77 })
    #expect(SessionIDs.random.next(for: 1, besides: used) == 77)
    // Ids that count up are guessed at once.
    let ids = (0..<100).map { _ in SessionIDs.random.next(for: 1, besides: []) }
    #expect(Set(ids).count > 10)
    #expect(SessionIDs.ascending.next(for: 3, besides: [1, 2]) == 3)
    #expect(SessionIDs.ascending.next(for: 255, besides: [2, 255]) == 1)
  }
}

/// Which connections may name a session as theirs.
@Suite struct SecondaryAdmissionTests {
  private typealias Address = ServedConnection.Address

  private func ip(_ device: String, _ network: String? = nil) -> Address {
    Address(device: device, network: network ?? device, isIP: true)
  }

  private let phone = Address(device: "AA:BB", network: "AA:BB", isIP: false)

  @Test(
    arguments: [
      (SecondaryOrigin.same, SecondaryAdmission.Verdict.refused(.otherAddress), SecondaryAdmission.Verdict.unknown),
      (.any, .known, .known),
    ])
  private func origin(
    _ origin: SecondaryOrigin, ofAnother: SecondaryAdmission.Verdict, ofAPhone: SecondaryAdmission.Verdict
  ) {
    var admission = SecondaryAdmission(origin)
    func verdict(_ connection: Address, _ app: Address?, naming id: UInt8 = 7) -> SecondaryAdmission.Verdict {
      admission.verdict(on: connection, naming: id, of: app, now: .zero)
    }
    let app = ip("192.0.2.1")
    #expect(verdict(app, app) == .known)
    #expect(verdict(ip("192.0.2.2"), app) == ofAnother)
    #expect(verdict(app, phone) == ofAPhone)
    #expect(verdict(app, nil, naming: 0) == .refused(.noSessionID))
    // Machines of one network are not one machine.
    #expect(verdict(ip("2001:db8::1", "2001:db8::/64"), ip("2001:db8::2", "2001:db8::/64")) == ofAnother)
  }

  /// Also a right one comes too late then, from whichever address of the network.
  @Test func guesses() {
    var admission = SecondaryAdmission(.same)
    func verdict(_ connection: Address, _ app: Address?, _ seconds: Int) -> SecondaryAdmission.Verdict {
      admission.verdict(on: connection, naming: 7, of: app, now: .seconds(seconds))
    }
    let (stranger, app) = (ip("2001:db8::1", "2001:db8::/64"), ip("192.0.2.1"))
    #expect(verdict(stranger, nil, 0) == .refused(.unknownSession))
    #expect(verdict(stranger, app, 0) == .refused(.otherAddress))
    admission.noteWrong(stranger, now: .zero)
    let other = ip("2001:db8::2", "2001:db8::/64")
    #expect(verdict(other, phone, 59) == .refused(.tooManyAttempts))
    // Nobody else has to wait.
    #expect(verdict(app, app, 59) == .known)
    #expect(verdict(other, phone, 60) == .unknown)
  }

  @Test(
    arguments: [
      ("127.0.0.1", AF_INET, "127.0.0.1", "127.0.0.1"), ("::1", AF_INET6, "127.0.0.1", "127.0.0.1"),
      ("::ffff:192.0.2.7", AF_INET6, "192.0.2.7", "192.0.2.7"),
      ("127.0.0.2", AF_INET, "127.0.0.2", "127.0.0.2"),
      ("2001:db8:1:2:3:4:5:6", AF_INET6, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
      ("fe80::5", AF_INET6, "fe80::5", "fe80::5"),
    ])
  func addresses(text: String, family: Int32, device: String, network: String) throws {
    let addresses = try Resolver.addresses(host: text, port: 5, flags: AI_NUMERICHOST).get()
    let address = try #require(addresses.first { $0.family == family })
    #expect(address.device == device && address.network == network)
  }
}
