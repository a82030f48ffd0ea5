/// The number of an RPC (MOBILE_API.xml, enum `FunctionID`).
public struct FunctionID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public var rawValue: UInt32

  /// Creates an id from any number; unknown functions are legal on the wire.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  public static let registerAppInterface = FunctionID(rawValue: 1)
  public static let unregisterAppInterface = FunctionID(rawValue: 2)
  public static let setGlobalProperties = FunctionID(rawValue: 3)
  public static let resetGlobalProperties = FunctionID(rawValue: 4)
  public static let addCommand = FunctionID(rawValue: 5)
  public static let deleteCommand = FunctionID(rawValue: 6)
  public static let addSubMenu = FunctionID(rawValue: 7)
  public static let deleteSubMenu = FunctionID(rawValue: 8)
  public static let createInteractionChoiceSet = FunctionID(rawValue: 9)
  public static let performInteraction = FunctionID(rawValue: 10)
  public static let deleteInteractionChoiceSet = FunctionID(rawValue: 11)
  public static let alert = FunctionID(rawValue: 12)
  public static let show = FunctionID(rawValue: 13)
  public static let speak = FunctionID(rawValue: 14)
  public static let setMediaClockTimer = FunctionID(rawValue: 15)
  public static let performAudioPassThru = FunctionID(rawValue: 16)
  public static let endAudioPassThru = FunctionID(rawValue: 17)
  public static let subscribeButton = FunctionID(rawValue: 18)
  public static let unsubscribeButton = FunctionID(rawValue: 19)
  public static let subscribeVehicleData = FunctionID(rawValue: 20)
  public static let unsubscribeVehicleData = FunctionID(rawValue: 21)
  public static let getVehicleData = FunctionID(rawValue: 22)
  public static let scrollableMessage = FunctionID(rawValue: 25)
  public static let slider = FunctionID(rawValue: 26)
  public static let showConstantTBT = FunctionID(rawValue: 27)
  public static let alertManeuver = FunctionID(rawValue: 28)
  public static let updateTurnList = FunctionID(rawValue: 29)
  public static let changeRegistration = FunctionID(rawValue: 30)
  public static let genericResponse = FunctionID(rawValue: 31)
  public static let putFile = FunctionID(rawValue: 32)
  public static let deleteFile = FunctionID(rawValue: 33)
  public static let listFiles = FunctionID(rawValue: 34)
  public static let setAppIcon = FunctionID(rawValue: 35)
  public static let setDisplayLayout = FunctionID(rawValue: 36)
  public static let systemRequest = FunctionID(rawValue: 38)
  public static let getSystemCapability = FunctionID(rawValue: 48)
  public static let sendHapticData = FunctionID(rawValue: 49)
  public static let cancelInteraction = FunctionID(rawValue: 57)
  public static let closeApplication = FunctionID(rawValue: 58)
  public static let showAppMenu = FunctionID(rawValue: 59)
  public static let subtleAlert = FunctionID(rawValue: 64)
  public static let onHMIStatus = FunctionID(rawValue: 0x8000)
  public static let onAppInterfaceUnregistered = FunctionID(rawValue: 0x8001)
  public static let onButtonEvent = FunctionID(rawValue: 0x8002)
  public static let onButtonPress = FunctionID(rawValue: 0x8003)
  public static let onVehicleData = FunctionID(rawValue: 0x8004)
  public static let onAudioPassThru = FunctionID(rawValue: 0x8009)
  public static let onCommand = FunctionID(rawValue: 0x8005)
  public static let onDriverDistraction = FunctionID(rawValue: 0x8007)
  public static let onPermissionsChange = FunctionID(rawValue: 0x8008)
  public static let onLanguageChange = FunctionID(rawValue: 0x800A)
  public static let onKeyboardInput = FunctionID(rawValue: 0x800B)
  public static let onTouchEvent = FunctionID(rawValue: 0x800C)
  public static let onSystemRequest = FunctionID(rawValue: 0x800D)
  public static let onHashChange = FunctionID(rawValue: 0x800E)
  public static let onSystemCapabilityUpdated = FunctionID(rawValue: 0x8013)
  public static let onAppCapabilityUpdated = FunctionID(rawValue: 0x8017)

  /// The name in the RPC specification, or "function N".
  public var description: String { Self.names[rawValue] ?? "function \(rawValue)" }

  /// The function of that name in the RPC specification; nil for one that it does not have.
  public init?(name: String) {
    guard let number = Self.numbers[name] else { return nil }
    self.init(rawValue: number)
  }

  private static let numbers = Dictionary(names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })

  /// Whether RPC specification 8.0 has it.
  public var isKnown: Bool { Self.names[rawValue] != nil }

  /// Whether it is a request of RPC specification 8.0.
  public var isKnownRequest: Bool { rawValue < 0x8000 && self != .genericResponse && Self.names[rawValue] != nil }

  /// Whether it is a notification of RPC specification 8.0 from a head unit.
  public var isKnownNotification: Bool {
    (0x8000..<0x10000).contains(rawValue) && self != .onAppCapabilityUpdated && Self.names[rawValue] != nil
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
