import SDLLink
import Testing

@testable import Bluetooth

/// What is found on a bus with a stand-in for BlueZ.
@Suite(.serialized, .timeLimit(.minutes(3))) struct PairedCarsTests {
  @Test(arguments: [
    ("paired, with the service", "{'Paired': <true>, 'UUIDs': <['\(ProfileRegistration.uuid)']>}", true),
    ("the service in capitals", "{'Paired': <true>, 'UUIDs': <['\(ProfileRegistration.uuid.uppercased())']>}", true),
    ("a car's audio", "{'Paired': <true>, 'Class': <uint32 0x240420>}", true),
    ("hands-free", "{'Paired': <true>, 'Class': <uint32 0x340408>}", true),
    ("headphones", "{'Paired': <true>, 'Class': <uint32 0x240418>, 'UUIDs': <@as []>}", false),
    ("not paired", "{'Paired': <false>, 'UUIDs': <['\(ProfileRegistration.uuid)']>}", false),
    ("values of other types", "{'Paired': <true>, 'UUIDs': <'x'>, 'Class': <'y'>}", false),
    ("nothing but an address", "@a{sv} {}", false),
  ])
  func devices(_ what: String, _ properties: String, _ isListed: Bool) throws {
    let bluez = try BlueZStandIn()
    try bluez.command("pair", car)
    try bluez.command("describe", car, properties)
    let cars = PairedCars(busAddress: bluez.bus.address, timeout: testTimeout).list()
    #expect(cars == (isListed ? [PairedCar(address: try address(car), name: car)] : []), "\(what)")
  }

  @Test func namesAndTheirOrder() throws {
    let bluez = try BlueZStandIn()
    for (address, name) in [(car, "My-Car"), (otherCar, "Another")] {
      try bluez.command("pair", address)
      try bluez.command("describe", address, "{'Paired': <true>, 'Class': <uint32 0x420>, 'Alias': <'\(name)'>}")
    }
    let cars = PairedCars(busAddress: bluez.bus.address, timeout: testTimeout).list()
    #expect(cars.map(\.name) == ["Another", "My-Car"])
    #expect(cars.map(\.address) == [try address(otherCar), try address(car)])
  }

  @Test func carsComeAndGo() throws {
    let bluez = try BlueZStandIn()
    let cars = PairedCars(busAddress: bluez.bus.address, timeout: testTimeout)
    let names = { cars.list().map(\.name) }
    #expect(names() == [])
    try bluez.command("pair", car)
    try bluez.command("describe", car, "{'Paired': <true>, 'Class': <uint32 0x420>, 'Alias': <'My-Car'>}")
    #expect(eventually { names() == ["My-Car"] })
    try bluez.command("describe", car, "{'Paired': <true>, 'Class': <uint32 0x420>, 'Alias': <'Renamed'>}")
    #expect(eventually { names() == ["Renamed"] })
    try bluez.command("describe", car, "{'Paired': <false>}")
    #expect(eventually { names() == [] })
    try bluez.command("describe", car, "{'Paired': <true>, 'Class': <uint32 0x420>, 'Alias': <'My-Car'>}")
    #expect(eventually { names() == ["My-Car"] })
    try bluez.command("leave")
    #expect(eventually { names() == [] })
    try bluez.command("own")
    #expect(eventually { names() == ["My-Car"] })
    try bluez.command("remove", car)
    #expect(eventually { names() == [] })
    try bluez.command("pair", car)
    #expect(eventually { names() == ["My-Car"] })
    bluez.bus.stop()
    #expect(eventually { names() == [] })
  }

  @Test func asksAgainAfterAChangeOnly() throws {
    let bluez = try BlueZStandIn()
    let cars = PairedCars(busAddress: bluez.bus.address, timeout: testTimeout)
    for _ in 0..<3 { #expect(cars.list().isEmpty) }
    #expect(bluez.count(of: "list-objects") == 1)
    try bluez.command("pair", car)
    try bluez.command("describe", car, "{'Paired': <true>, 'Class': <uint32 0x420>}")
    #expect(eventually { cars.list().count == 1 })
    // The signal of the description may have come during the last call.
    _ = cars.list()
    let count = bluez.count(of: "list-objects")
    for _ in 0..<3 { #expect(cars.list().count == 1) }
    #expect(bluez.count(of: "list-objects") == count)
  }

  @Test func withoutBlueZ() throws {
    let bluez = try BlueZStandIn(isOnBus: false)
    #expect(PairedCars(busAddress: bluez.bus.address, timeout: testTimeout).list().isEmpty)
  }

  @Test func withoutABus() {
    #expect(PairedCars(busAddress: "unix:path=/nonexistent/bus", timeout: testTimeout).list().isEmpty)
  }
}
