import SDLLink
import SDLWire

/// Reasons why peers can't connect over Bluetooth, each with advice for the user.
extension TransportFailure {
  static func noBus(_ message: String) -> Self {
    Self(
      .failed, "can't connect to the system D-Bus, over which BlueZ is reached: \(message)",
      advice:
        "Is dbus running? A container needs the host's /run/dbus/system_bus_socket, or DBUS_SYSTEM_BUS_ADDRESS.")
  }

  static let noAnswerFromBus = Self.noBus("no answer within \(ProfileSession.busTimeout.inSeconds)")

  static let busClosed = Self(
    .failed, "the system D-Bus has closed the connection", advice: "Start again once dbus runs.")

  static let noService = Self(
    .serviceMissing, "BlueZ does not run: org.bluez has no owner on the system D-Bus",
    advice: "Install the package bluez, and start it with 'systemctl start bluetooth'.")

  static let noAdapter = Self(
    .deviceMissing, "this machine has no Bluetooth adapter that BlueZ knows",
    advice: "Plug one in; 'bluetoothctl list' lists the adapters.")

  static let switchedOff = Self(
    .deviceMissing, "Bluetooth is switched off",
    advice:
      "Switch it on in the desktop's settings, or with 'bluetoothctl power on' ('rfkill' shows whether it is blocked).")

  static func accessDenied(_ error: ProfileSession.CallError) -> Self {
    Self(
      .notAuthorized, "D-Bus does not let this process use BlueZ (\(error.message))",
      advice: "Run it as the user at the desktop, or as a member of the group bluetooth.")
  }

  static func taken(_ error: ProfileSession.CallError) -> Self {
    Self(
      .busy,
      "SmartDeviceLink's Bluetooth service is registered on this machine already (\(error.message)), "
        + "by another app or program",
      advice: "End that one first: a machine can be one phone, with one app, or one head unit.")
  }

  static func refused(_ error: ProfileSession.CallError) -> Self {
    Self(
      .failed, "BlueZ has refused to register SmartDeviceLink's service: \(error.name), \(error.message)",
      advice: "The log of bluetoothd may say why ('journalctl -u bluetooth').")
  }

  static func unknownPhone(_ phone: BluetoothAddress) -> Self {
    Self(
      .unknownPeer, "the phone \(phone) is not known to this machine",
      advice: "Pair it first, in the desktop's Bluetooth settings or with 'bluetoothctl pair \(phone)'.")
  }

  static func unreachable(_ phone: BluetoothAddress, _ error: ProfileSession.CallError) -> Self {
    Self(
      .unreachable, "can't connect to the phone \(phone) (\(error.name): \(error.message))",
      advice: "Is it near, and is its SDL app running? It is tried again every few seconds.")
  }

  static func noLibrary(_ name: String) -> Self {
    Self(.failed, "Bluetooth needs GIO: \(name) can't be loaded", advice: "Install it (Debian: libglib2.0-0).")
  }
}
