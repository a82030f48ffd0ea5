import DBus

/// A car that is paired with this machine, as BlueZ knows it.
public struct PairedCar: Hashable, Sendable {
  public var address: BluetoothAddress
  /// The name for users; the address if it has none.
  public var name: String

  /// A car of this address.
  public init(address: BluetoothAddress, name: String) {
    self.address = address
    self.name = name
  }

  /// Cars on the bus now, in the order of their names. Empty without BlueZ, or if it does not answer in time.
  ///
  /// BlueZ is not started for this.
  ///
  /// - Parameters:
  ///   - busAddress: of the bus on which BlueZ is; nil for the system bus.
  ///   - timeout: of the connection to the bus, and of the answer.
  public static func list(busAddress: String? = nil, timeout: Duration = .milliseconds(500)) -> [PairedCar] {
    let client = BusClient(address: busAddress, timeout: timeout)
    guard let answer = client?.call("org.bluez", "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"),
      let objects = answer[0]
    else { return [] }
    let cars = (0..<objects.count).compactMap { index -> PairedCar? in
      guard let interfaces = objects[index]?[1] else { return nil }
      return PairedCar(interfaces: interfaces)
    }
    return cars.sorted { ($0.name, $0.address.description) < ($1.name, $1.address.description) }
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
