import SDLMessages

/// The permissions that SDL Core's policies grant an app: the groups of `sdl_preloaded_pt.json`, which a maker's own
/// table refers to.
public enum AppPolicy: Equatable, Sendable {
  /// "Base-4", for an app that no policy table names. It may stream, but gets no touches.
  case unknownApp
  /// "Base-4", "Navigation-1", "HapticGroup", "Location-1", "DrivingCharacteristics-3" and "VehicleInfo-3": as a maker
  /// grants them to a navigation app.
  case listedApp

  /// Whether an RPC is allowed at a level.
  func allows(_ function: FunctionID, at level: HMILevel?) -> Bool {
    guard let level, let levels = levels[function.description] else { return false }
    return levels.contains(level)
  }

  /// Whether a soft button may have this action (`steal_focus` and `keep_context` of the policy table).
  func allows(_ action: SoftButton.Action) -> Bool { action == .close || self == .listedApp }

  /// The levels in which an RPC is allowed, by the name of the RPC; one that is missing is allowed in none.
  var levels: [String: [HMILevel]] {
    switch self {
    case .unknownApp: Self.base
    case .listedApp: Self.base.merging(Self.navigation) { first, _ in first }
    }
  }

  private static let anyButNone: [HMILevel] = [.full, .limited, .background]

  private static let base = levels([
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

  private static let navigation = levels([
    (
      [
        "AlertManeuver", "GetVehicleData", "OnTBTClientState", "OnVehicleData", "ShowConstantTBT",
        "SubscribeVehicleData", "UnsubscribeVehicleData", "UpdateTurnList",
      ], anyButNone
    ),
    (["OnTouchEvent", "SendHapticData"], [.full]),
  ])

  private static func levels(_ groups: [(names: [String], allowed: [HMILevel])]) -> [String: [HMILevel]] {
    groups.reduce(into: [:]) { levels, group in
      for name in group.names { levels[name] = group.allowed }
    }
  }
}
