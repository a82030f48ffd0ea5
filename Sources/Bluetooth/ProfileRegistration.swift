/// What BlueZ is told of the service (`org.bluez.ProfileManager1.RegisterProfile`).
enum ProfileRegistration {
  /// SmartDeviceLink's service on phones, by which cars find it (sdl_core, `bluetooth_device_scanner.cc`).
  static let uuid = "936da01f-9abd-4d9d-80c7-02af85c822a8"

  /// The arguments as GVariant's text.
  ///
  /// Channel 0 takes any that is free: without the option, BlueZ listens on none. Devices have to be paired, which is what
  /// authentication means here; asking the user again for each connection, as authorization does, would need somebody who answers.
  static func arguments(path: String, role: ProfileSession.Role) -> String {
    let options =
      switch role {
      case .app: "'Role': <'server'>, 'Channel': <uint16 0>, 'RequireAuthorization': <false>"
      case .headUnit: "'Role': <'client'>"
      }
    return """
      (objectpath '\(path)', '\(uuid)', {'Name': <'SmartDeviceLink'>, \(options), \
      'RequireAuthentication': <true>, 'AutoConnect': <false>})
      """
  }

  /// What BlueZ calls.
  static let interface = """
    <node>
      <interface name='org.bluez.Profile1'>
        <method name='Release'/>
        <method name='NewConnection'>
          <arg type='o' direction='in'/><arg type='h' direction='in'/><arg type='a{sv}' direction='in'/>
        </method>
        <method name='RequestDisconnection'><arg type='o' direction='in'/></method>
        <method name='Cancel'/>
      </interface>
    </node>
    """
}
