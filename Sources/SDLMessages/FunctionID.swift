/// The number of an RPC (MOBILE_API.xml, enum `FunctionID`).
public struct FunctionID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public var rawValue: UInt32

  /// Any number; unknown functions are legal on the wire.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  public static let registerAppInterface = FunctionID(rawValue: 1)
  public static let unregisterAppInterface = FunctionID(rawValue: 2)
  public static let genericResponse = FunctionID(rawValue: 31)
  public static let getSystemCapability = FunctionID(rawValue: 48)
  public static let sendHapticData = FunctionID(rawValue: 49)
  public static let onHMIStatus = FunctionID(rawValue: 0x8000)
  public static let onAppInterfaceUnregistered = FunctionID(rawValue: 0x8001)
  public static let onDriverDistraction = FunctionID(rawValue: 0x8007)
  public static let onPermissionsChange = FunctionID(rawValue: 0x8008)
  public static let onTouchEvent = FunctionID(rawValue: 0x800C)
  public static let onSystemRequest = FunctionID(rawValue: 0x800D)
  public static let onHashChange = FunctionID(rawValue: 0x800E)
  public static let onSystemCapabilityUpdated = FunctionID(rawValue: 0x8013)
  public static let onAppCapabilityUpdated = FunctionID(rawValue: 0x8017)

  private static let names: [FunctionID: String] = [
    registerAppInterface: "RegisterAppInterface",
    unregisterAppInterface: "UnregisterAppInterface",
    genericResponse: "GenericResponse",
    getSystemCapability: "GetSystemCapability",
    sendHapticData: "SendHapticData",
    onHMIStatus: "OnHMIStatus",
    onAppInterfaceUnregistered: "OnAppInterfaceUnregistered",
    onDriverDistraction: "OnDriverDistraction",
    onPermissionsChange: "OnPermissionsChange",
    onTouchEvent: "OnTouchEvent",
    onSystemRequest: "OnSystemRequest",
    onHashChange: "OnHashChange",
    onSystemCapabilityUpdated: "OnSystemCapabilityUpdated",
    onAppCapabilityUpdated: "OnAppCapabilityUpdated",
  ]

  /// The name in the RPC specification, or "function N".
  public var description: String { Self.names[self] ?? "function \(rawValue)" }
}
