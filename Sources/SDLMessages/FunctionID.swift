/// The number of an RPC (MOBILE_API.xml, enum `FunctionID`).
package struct FunctionID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package var rawValue: UInt32

  /// Creates an id from any number; unknown functions are legal on the wire.
  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  package static let registerAppInterface = FunctionID(rawValue: 1)
  package static let unregisterAppInterface = FunctionID(rawValue: 2)
  package static let setGlobalProperties = FunctionID(rawValue: 3)
  package static let resetGlobalProperties = FunctionID(rawValue: 4)
  package static let addCommand = FunctionID(rawValue: 5)
  package static let deleteCommand = FunctionID(rawValue: 6)
  package static let addSubMenu = FunctionID(rawValue: 7)
  package static let deleteSubMenu = FunctionID(rawValue: 8)
  package static let createInteractionChoiceSet = FunctionID(rawValue: 9)
  package static let performInteraction = FunctionID(rawValue: 10)
  package static let deleteInteractionChoiceSet = FunctionID(rawValue: 11)
  package static let alert = FunctionID(rawValue: 12)
  package static let show = FunctionID(rawValue: 13)
  package static let speak = FunctionID(rawValue: 14)
  package static let setMediaClockTimer = FunctionID(rawValue: 15)
  package static let performAudioPassThru = FunctionID(rawValue: 16)
  package static let endAudioPassThru = FunctionID(rawValue: 17)
  package static let subscribeButton = FunctionID(rawValue: 18)
  package static let unsubscribeButton = FunctionID(rawValue: 19)
  package static let subscribeVehicleData = FunctionID(rawValue: 20)
  package static let unsubscribeVehicleData = FunctionID(rawValue: 21)
  package static let getVehicleData = FunctionID(rawValue: 22)
  package static let scrollableMessage = FunctionID(rawValue: 25)
  package static let slider = FunctionID(rawValue: 26)
  package static let showConstantTBT = FunctionID(rawValue: 27)
  package static let alertManeuver = FunctionID(rawValue: 28)
  package static let updateTurnList = FunctionID(rawValue: 29)
  package static let changeRegistration = FunctionID(rawValue: 30)
  package static let genericResponse = FunctionID(rawValue: 31)
  package static let putFile = FunctionID(rawValue: 32)
  package static let deleteFile = FunctionID(rawValue: 33)
  package static let listFiles = FunctionID(rawValue: 34)
  package static let setAppIcon = FunctionID(rawValue: 35)
  package static let setDisplayLayout = FunctionID(rawValue: 36)
  package static let systemRequest = FunctionID(rawValue: 38)
  package static let getSystemCapability = FunctionID(rawValue: 48)
  package static let sendHapticData = FunctionID(rawValue: 49)
  package static let cancelInteraction = FunctionID(rawValue: 57)
  package static let closeApplication = FunctionID(rawValue: 58)
  package static let showAppMenu = FunctionID(rawValue: 59)
  package static let subtleAlert = FunctionID(rawValue: 64)
  package static let onHMIStatus = FunctionID(rawValue: 0x8000)
  package static let onAppInterfaceUnregistered = FunctionID(rawValue: 0x8001)
  package static let onButtonEvent = FunctionID(rawValue: 0x8002)
  package static let onButtonPress = FunctionID(rawValue: 0x8003)
  package static let onVehicleData = FunctionID(rawValue: 0x8004)
  package static let onAudioPassThru = FunctionID(rawValue: 0x8009)
  package static let onCommand = FunctionID(rawValue: 0x8005)
  package static let onDriverDistraction = FunctionID(rawValue: 0x8007)
  package static let onPermissionsChange = FunctionID(rawValue: 0x8008)
  package static let onLanguageChange = FunctionID(rawValue: 0x800A)
  package static let onKeyboardInput = FunctionID(rawValue: 0x800B)
  package static let onTouchEvent = FunctionID(rawValue: 0x800C)
  package static let onSystemRequest = FunctionID(rawValue: 0x800D)
  package static let onHashChange = FunctionID(rawValue: 0x800E)
  package static let onSystemCapabilityUpdated = FunctionID(rawValue: 0x8013)
  package static let onAppCapabilityUpdated = FunctionID(rawValue: 0x8017)

  /// The name in the RPC specification, or "function N".
  package var description: String { Self.names[rawValue] ?? "function \(rawValue)" }

  /// The names of all functions in the RPC specification, sorted.
  package static var allNames: [String] { names.values.sorted() }

  /// The function of that name in the RPC specification; nil for one that it does not have.
  package init?(name: String) {
    guard let number = Self.numbers[name] else { return nil }
    self.init(rawValue: number)
  }

  private static let numbers = Dictionary(names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })

  /// Whether RPC specification 8.0 has it.
  package var isKnown: Bool { Self.names[rawValue] != nil }

  /// Whether it is a request of RPC specification 8.0.
  package var isKnownRequest: Bool { rawValue < 0x8000 && self != .genericResponse && Self.names[rawValue] != nil }

  /// Whether it is a notification of RPC specification 8.0 from a head unit.
  package var isKnownNotification: Bool {
    (0x8000..<0x10000).contains(rawValue) && self != .onAppCapabilityUpdated && Self.names[rawValue] != nil
  }

  /// The RPC version that introduced a request; 1.0 for all before 4.1.
  package var introduction: RPCVersion {
    switch rawValue {
    case 41...44, 48, 49: RPCVersion(4, 5)
    case 45...47: RPCVersion(4, 1)
    case 50...55: RPCVersion(5, 1)
    case 56...63: RPCVersion(6)
    case 64: RPCVersion(7)
    default: RPCVersion(1)
    }
  }
}

extension FunctionID {
  /// The functions of RPC specification 8.0.
  private static let names: [UInt32: String] = [
    1: "RegisterAppInterface",
    2: "UnregisterAppInterface",
    3: "SetGlobalProperties",
    4: "ResetGlobalProperties",
    5: "AddCommand",
    6: "DeleteCommand",
    7: "AddSubMenu",
    8: "DeleteSubMenu",
    9: "CreateInteractionChoiceSet",
    10: "PerformInteraction",
    11: "DeleteInteractionChoiceSet",
    12: "Alert",
    13: "Show",
    14: "Speak",
    15: "SetMediaClockTimer",
    16: "PerformAudioPassThru",
    17: "EndAudioPassThru",
    18: "SubscribeButton",
    19: "UnsubscribeButton",
    20: "SubscribeVehicleData",
    21: "UnsubscribeVehicleData",
    22: "GetVehicleData",
    23: "ReadDID",
    24: "GetDTCs",
    25: "ScrollableMessage",
    26: "Slider",
    27: "ShowConstantTBT",
    28: "AlertManeuver",
    29: "UpdateTurnList",
    30: "ChangeRegistration",
    31: "GenericResponse",
    32: "PutFile",
    33: "DeleteFile",
    34: "ListFiles",
    35: "SetAppIcon",
    36: "SetDisplayLayout",
    37: "DiagnosticMessage",
    38: "SystemRequest",
    39: "SendLocation",
    40: "DialNumber",
    41: "ButtonPress",
    43: "GetInteriorVehicleData",
    44: "SetInteriorVehicleData",
    45: "GetWayPoints",
    46: "SubscribeWayPoints",
    47: "UnsubscribeWayPoints",
    48: "GetSystemCapability",
    49: "SendHapticData",
    50: "SetCloudAppProperties",
    51: "GetCloudAppProperties",
    52: "PublishAppService",
    53: "GetAppServiceData",
    54: "GetFile",
    55: "PerformAppServiceInteraction",
    56: "UnpublishAppService",
    57: "CancelInteraction",
    58: "CloseApplication",
    59: "ShowAppMenu",
    60: "CreateWindow",
    61: "DeleteWindow",
    62: "GetInteriorVehicleDataConsent",
    63: "ReleaseInteriorVehicleDataModule",
    64: "SubtleAlert",
    0x8000: "OnHMIStatus",
    0x8001: "OnAppInterfaceUnregistered",
    0x8002: "OnButtonEvent",
    0x8003: "OnButtonPress",
    0x8004: "OnVehicleData",
    0x8005: "OnCommand",
    0x8006: "OnTBTClientState",
    0x8007: "OnDriverDistraction",
    0x8008: "OnPermissionsChange",
    0x8009: "OnAudioPassThru",
    0x800A: "OnLanguageChange",
    0x800B: "OnKeyboardInput",
    0x800C: "OnTouchEvent",
    0x800D: "OnSystemRequest",
    0x800E: "OnHashChange",
    0x800F: "OnInteriorVehicleData",
    0x8010: "OnWayPointChange",
    0x8011: "OnRCStatus",
    0x8012: "OnAppServiceData",
    0x8013: "OnSystemCapabilityUpdated",
    0x8014: "OnSubtleAlertPressed",
    0x8015: "OnUpdateFile",
    0x8016: "OnUpdateSubMenu",
    0x8017: "OnAppCapabilityUpdated",
    0x10000: "EncodedSyncPData",
    0x10001: "SyncPData",
    0x18000: "OnEncodedSyncPData",
    0x18001: "OnSyncPData",
  ]
}
