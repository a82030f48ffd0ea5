import SDLMessages

/// A functional group of SDL Core's policies (`sdl_preloaded_pt.json`): RPCs, and the levels in which an app of the
/// group may use them. Core's other groups are for RPCs that this head unit does not have.
public enum PolicyGroup: String, CaseIterable, Sendable {
  /// For every app.
  case base = "Base-4"
  case location = "Location-1"
  case drivingCharacteristics = "DrivingCharacteristics-3"
  case vehicleInfo = "VehicleInfo-3"
  case emergency = "Emergency-1"
  case cloudApp = "CloudApp"
  case navigation = "Navigation-1"
  case haptics = "HapticGroup"
  case touches = "OnTouchEventOnlyGroup"
  case keyboard = "OnKeyboardInputOnlyGroup"
  /// Alerts in the background.
  case notifications = "Notifications"
  /// Recordings in the background.
  case backgroundRecording = "BackgroundAPT"

  /// The names of all groups, for users.
  public static let names = allCases.map(\.rawValue)

  /// Groups with commas between them; nil if one of them is unknown.
  public static func list(_ text: String) -> Set<PolicyGroup>? {
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
    let groups = names.compactMap(PolicyGroup.init(rawValue:))
    return groups.count == names.count ? Set(groups) : nil
  }

  /// What a group grants for an RPC.
  struct Permission: Equatable, Sendable {
    var levels: [HMILevel]
    /// The parameters that are allowed; nil allows all.
    var parameters: Set<String>?

    func union(_ other: Permission) -> Permission {
      let all = levels + other.levels
      return Permission(
        levels: HMILevel.allCases.filter(all.contains),
        parameters: parameters.flatMap { these in other.parameters.map(these.union) })
    }
  }

  /// By the name of the RPC.
  var permissions: [String: Permission] { Self.table[self] ?? [:] }

  private static let anyButNone: [HMILevel] = [.full, .limited, .background]

  private static let table: [PolicyGroup: [String: Permission]] = [
    .base: forEveryApp,
    .location: vehicleData(["gps", "speed"]),
    .drivingCharacteristics: vehicleData([
      "accPedalPosition", "beltStatus", "driverBraking", "electronicParkBrakeStatus", "gearStatus", "handsOffSteering",
      "myKey", "prndl", "rpm", "seatOccupancy", "steeringWheelAngle",
    ]),
    .vehicleInfo: vehicleData(
      [
        "bodyInformation", "climateData", "cloudAppVehicleID", "deviceStatus", "engineOilLife", "engineTorque",
        "externalTemperature", "fuelLevel", "fuelLevel_State", "fuelRange", "headLampStatus", "instantFuelConsumption",
        "odometer", "stabilityControlsStatus", "tirePressure", "turnSignal", "windowStatus", "wiperStatus",
      ], notSubscribable: ["vin"]),
    .emergency: vehicleData(["airbagStatus", "clusterModeStatus", "eCallInfo", "emergencyEvent"]),
    .cloudApp: vehicleData(["cloudAppVehicleID"]),
    .navigation: permissions([
      (["AlertManeuver", "OnTBTClientState", "ShowConstantTBT", "UpdateTurnList"], anyButNone)
    ]),
    .haptics: permissions([(["OnTouchEvent", "SendHapticData"], [.full])]),
    .touches: permissions([(["OnTouchEvent"], [.full])]),
    .keyboard: permissions([(["OnKeyboardInput"], [.full])]),
    .notifications: permissions([(["Alert"], [.background])]),
    .backgroundRecording: permissions([
      (["EndAudioPassThru", "OnAudioPassThru", "PerformAudioPassThru"], [.background])
    ]),
  ]

  private static let forEveryApp = permissions([
    (
      [
        "ChangeRegistration", "DeleteFile", "EncodedSyncPData", "GetSystemCapability", "ListFiles",
        "OnAppInterfaceUnregistered", "OnDriverDistraction", "OnEncodedSyncPData", "OnHMIStatus", "OnHashChange",
        "OnLanguageChange", "OnPermissionsChange", "OnSystemCapabilityUpdated", "OnSystemRequest", "PutFile",
        "RegisterAppInterface", "ResetGlobalProperties", "SetAppIcon", "SetDisplayLayout", "SetGlobalProperties",
        "SystemRequest", "UnregisterAppInterface",
      ], HMILevel.allCases
    ),
    (
      [
        "AddCommand", "AddSubMenu", "CancelInteraction", "CloseApplication", "CreateInteractionChoiceSet",
        "DeleteCommand", "DeleteInteractionChoiceSet", "DeleteSubMenu", "EndAudioPassThru", "GenericResponse",
        "OnAppCapabilityUpdated", "OnAudioPassThru", "OnButtonEvent", "OnButtonPress", "OnCommand",
        "OnSubtleAlertPressed", "OnUpdateFile", "OnUpdateSubMenu", "SetMediaClockTimer", "Show", "SubscribeButton",
        "SubtleAlert", "UnsubscribeButton",
      ], anyButNone
    ),
    (["Alert", "PerformAudioPassThru", "PerformInteraction", "Speak"], [.full, .limited]),
    (["ScrollableMessage", "ShowAppMenu", "Slider"], [.full]),
  ])

  private static func permissions(_ rows: [(names: [String], levels: [HMILevel])]) -> [String: Permission] {
    rows.reduce(into: [:]) { permissions, row in
      for name in row.names { permissions[name] = Permission(levels: row.levels) }
    }
  }

  private static func vehicleData(
    _ names: Set<String>, notSubscribable: Set<String> = []
  ) -> [String: Permission] {
    let all = Permission(levels: anyButNone, parameters: names.union(notSubscribable))
    let subscribable = Permission(levels: anyButNone, parameters: names)
    return [
      "GetVehicleData": all, "OnVehicleData": all, "SubscribeVehicleData": subscribable,
      "UnsubscribeVehicleData": subscribable,
    ]
  }
}
