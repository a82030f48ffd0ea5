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
    let cars = PairedCar.list(busAddress: bluez.bus.address, timeout: testTimeout)
    #expect(cars == (isListed ? [PairedCar(address: try address(car), name: car)] : []), "\(what)")
  }

  @Test func namesAndTheirOrder() throws {
    let bluez = try BlueZStandIn()
    for (address, name) in [(car, "My-Car"), (otherCar, "Another")] {
      try bluez.command("pair", address)
      try bluez.command("describe", address, "{'Paired': <true>, 'Class': <uint32 0x420>, 'Alias': <'\(name)'>}")
    }
    let cars = PairedCar.list(busAddress: bluez.bus.address, timeout: testTimeout)
    #expect(cars.map(\.name) == ["Another", "My-Car"])
    #expect(cars.map(\.address) == [try address(otherCar), try address(car)])
  }

  @Test func withoutBlueZ() throws {
    let bluez = try BlueZStandIn(isOnBus: false)
    #expect(PairedCar.list(busAddress: bluez.bus.address, timeout: testTimeout).isEmpty)
  }

  @Test func withoutABus() {
    #expect(PairedCar.list(busAddress: "unix:path=/nonexistent/bus", timeout: testTimeout).isEmpty)
  }
}
