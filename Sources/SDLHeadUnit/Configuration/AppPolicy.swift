import SDLMessages

/// The permissions that a maker's policies grant an app.
package struct AppPolicy: Equatable, Sendable {
  /// By the name of the RPC; one that is missing is allowed at no level.
  let permissions: [String: PolicyGroup.Permission]
  /// Those that a soft button may have beside the default (`steal_focus` and `keep_context` of the policy table).
  private let actions: Set<SoftButton.Action>
  /// The RPCs that have to be encrypted where RPCs are; nil for all.
  private let protectedFunctions: Set<String>?

  init(
    _ permissions: [String: PolicyGroup.Permission], actions: Set<SoftButton.Action> = [],
    protectedFunctions: Set<String>? = nil
  ) {
    self.permissions = permissions
    self.actions = actions
    self.protectedFunctions = protectedFunctions
  }

  func allows(_ function: FunctionID, at level: HMILevel?) -> Bool {
    guard let level else { return false }
    return permissions[function.description]?.levels.contains(level) == true
  }

  /// Why an RPC is not allowed at a level, for the `info` of an answer.
  func refusal(of function: FunctionID, at level: HMILevel?) -> String {
    guard let levels = permissions[function.description]?.levels, !levels.isEmpty else {
      return "The policies do not allow \(function)"
    }
    let allowed = levels.map(\.rawValue).joined(separator: ", ")
    return "The policies allow \(function) at \(allowed), but the HMI level is \(level?.rawValue ?? "unknown")"
  }

  /// Whether an RPC may have this parameter.
  func allows(_ parameter: String, of function: FunctionID) -> Bool {
    permissions[function.description].map { $0.parameters?.contains(parameter) ?? true } ?? false
  }

  /// Whether an RPC has to be encrypted where the policies demand that. As with SDL Core, one that they do not grant is
  /// refused in clear.
  func protects(_ function: FunctionID) -> Bool {
    let name = function.description
    return !Encryption.mayBeClear(function) && permissions[name] != nil && protectedFunctions?.contains(name) != false
  }

  func allows(_ action: SoftButton.Action) -> Bool { action == .close || actions.contains(action) }
}

/// A functional group of SDL Core's policies (`sdl_preloaded_pt.json`): RPCs, and the levels in which an app of the
/// group may use them. Core's other groups are for RPCs that this head unit does not have.
package enum PolicyGroup: String, CaseIterable, Sendable {
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
  package static let names = allCases.map(\.rawValue)

  /// Groups with commas between them; nil if one of them is unknown.
  package static func list(_ text: String) -> Set<PolicyGroup>? {
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
