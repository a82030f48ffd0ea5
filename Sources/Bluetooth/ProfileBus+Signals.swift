import CGIO

/// Signals of BlueZ.
extension ProfileBus {
  func subscribe(_ connection: OpaquePointer) {
    let objectManager = "org.freedesktop.DBus.ObjectManager"
    subscribe(
      connection, "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", argument: Self.service)
    subscribe(connection, Self.service, objectManager, "InterfacesAdded")
    subscribe(connection, Self.service, objectManager, "InterfacesRemoved")
    subscribe(
      connection, Self.service, "org.freedesktop.DBus.Properties", "PropertiesChanged", argument: "org.bluez.Adapter1")
  }

  private func subscribe(
    _ connection: OpaquePointer, _ sender: String, _ interface: String, _ signal: String, argument: String? = nil
  ) {
    // As the exported object, it holds a reference until the connection has ended.
    _ = gio.pointee.g_dbus_connection_signal_subscribe(
      connection, sender, interface, signal, nil, argument, 0,
      { _, _, path, _, signal, parameters, context in
        guard let bus = borrow(context, as: ProfileBus.self) else { return }
        guard let path, let signal, let parameters else { return }
        bus.signalled(String(cString: signal), path: String(cString: path), parameters)
      }, Unmanaged.passRetained(self).toOpaque(), { releaseBus($0) })
  }

  private func signalled(_ signal: String, path: String, _ pointer: OpaquePointer) {
    // The caller keeps its reference.
    guard let parameters = Variant(owning: gio.pointee.g_variant_ref(pointer), gio) else { return }
    switch signal {
    case "NameOwnerChanged":
      let name = parameters[2]?.text ?? ""
      // A new owner without a gap is a new BlueZ all the same.
      if serviceName != nil, !name.isEmpty { perform { $0.serviceChanged(isThere: false, now: $1) } }
      serviceName = name.isEmpty ? nil : name
      perform { $0.serviceChanged(isThere: !name.isEmpty, now: $1) }
    case "InterfacesAdded":
      guard let path = parameters[0]?.text, let interfaces = parameters[1],
        let object = ProfileSession.Object(path: path, interfaces: interfaces)
      else { return }
      perform { $0.objectChanged(object, now: $1) }
    case "InterfacesRemoved":
      guard let path = parameters[0]?.text, let interfaces = parameters[1] else { return }
      let names = (0..<interfaces.count).compactMap { interfaces[$0]?.text }
      guard names.contains("org.bluez.Adapter1") || names.contains("org.bluez.Device1") else { return }
      perform { $0.objectRemoved(path: path, now: $1) }
    case "PropertiesChanged":
      guard let isPowered = parameters[1]?["Powered"]?.boolean else { return }
      perform { $0.objectChanged(ProfileSession.Object(path: path, isPowered: isPowered), now: $1) }
    default: break
    }
  }
}
