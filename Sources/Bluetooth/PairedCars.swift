import DBus

/// A car that is paired with this machine, as BlueZ knows it.
package struct PairedCar: Hashable, Sendable {
  package var address: BluetoothAddress
  /// The name for users; the address if it has none.
  package var name: String

  package init(address: BluetoothAddress, name: String) {
    self.address = address
    self.name = name
  }

  /// Nil for a device that is not paired, or no car.
  init?(interfaces: borrowing Variant) {
    guard let device = interfaces["org.bluez.Device1"], device["Paired"]?.boolean == true,
      let address = device["Address"]?.text.flatMap({ BluetoothAddress($0) }),
      Self.offersService(device) || device["Class"]?.unsigned.map(Self.isCar) == true
    else { return nil }
    self.address = address
    name = device["Alias"]?.text ?? address.description
  }

  private static func offersService(_ device: borrowing Variant) -> Bool {
    guard let uuids = device["UUIDs"] else { return false }
    for index in 0..<uuids.count where uuids[index]?.text?.lowercased() == ProfileRegistration.uuid { return true }
    return false
  }

  /// By the class of device (Bluetooth Assigned Numbers, 2.8): audio and video, as a hands-free device or a car's
  /// audio. Cars need not offer SmartDeviceLink's service: they look for it on phones.
  private static func isCar(_ deviceClass: UInt32) -> Bool { [0x0408, 0x0420].contains(deviceClass & 0x1FFC) }
}

/// The cars that are paired with this machine. BlueZ is asked again only after it has signalled a change.
///
/// `@unchecked Sendable`: one thread at a time uses it.
package final class PairedCars: @unchecked Sendable {
  private static let objectManager = "org.freedesktop.DBus.ObjectManager"

  private let busAddress: String?
  private let timeout: Duration
  private lazy var bluez = BusService("org.bluez", busAddress: busAddress, timeout: timeout) { [unowned self] _, _ in
    isCurrent = false
  }
  private var cars: [PairedCar] = []
  private var isCurrent = false

  /// - Parameters:
  ///   - busAddress: of the bus on which BlueZ is; nil for the system bus.
  ///   - timeout: of the connection to the bus, and of each answer.
  package init(busAddress: String? = nil, timeout: Duration = .milliseconds(500)) {
    self.busAddress = busAddress
    self.timeout = timeout
  }

  /// The cars that are paired now, in the order of their names. Empty without BlueZ, which is not started for this; the
  /// last ones if it does not answer in time.
  package func list() -> [PairedCar] {
    switch bluez.look() {
    case .absent: cars = []
    case .started:
      bluez.subscribe(to: Self.objectManager)
      bluez.subscribe(to: "org.freedesktop.DBus.Properties", argument: "org.bluez.Device1")
      isCurrent = false
    case .running: break
    }
    guard !isCurrent else { return cars }
    // Before the call, during which they may change again.
    isCurrent = true
    guard let objects = bluez.call("/", Self.objectManager, "GetManagedObjects")?[0] else {
      isCurrent = false
      return cars
    }
    cars = (0..<objects.count).compactMap { index in
      guard let interfaces = objects[index]?[1] else { return nil }
      return PairedCar(interfaces: interfaces)
    }
    cars.sort { ($0.name, $0.address.description) < ($1.name, $1.address.description) }
    return cars
  }
}
