import SDLMessages

/// The RPCs that apps may use, by HMI level: the policies that SDL Core ships for apps that it does not know, and its group for
/// navigation (`sdl_preloaded_pt.json`, "Base-4" and "Navigation-1"), as far as they concern this head unit.
enum AppPermissions {
  /// The levels in which an RPC is allowed, by the name of the RPC; one that is missing is allowed in none.
  static let levels: [String: [HMILevel]] = {
    var levels: [String: [HMILevel]] = [:]
    for (names, allowed) in groups {
      for name in names { levels[name] = allowed }
    }
    return levels
  }()

  private static let groups: [(names: [String], allowed: [HMILevel])] = [
    (
      [
        "ChangeRegistration", "DeleteFile", "GetSystemCapability", "ListFiles", "OnAppInterfaceUnregistered",
        "OnDriverDistraction", "OnHMIStatus", "OnPermissionsChange", "OnSystemCapabilityUpdated", "OnSystemRequest",
        "PutFile", "RegisterAppInterface", "ResetGlobalProperties", "SetAppIcon", "SetDisplayLayout",
        "SetGlobalProperties", "SystemRequest", "UnregisterAppInterface",
      ], HMILevel.allCases
    ),
    (
      [
        "AddCommand", "AddSubMenu", "AlertManeuver", "CancelInteraction", "CloseApplication",
        "CreateInteractionChoiceSet", "DeleteCommand", "DeleteInteractionChoiceSet", "DeleteSubMenu",
        "EndAudioPassThru", "OnAppCapabilityUpdated", "OnButtonEvent", "OnButtonPress", "OnCommand",
        "SetMediaClockTimer", "Show", "ShowConstantTBT",
        "SubscribeButton", "UnsubscribeButton", "UpdateTurnList",
      ], [.full, .limited, .background]
    ),
    (["Alert", "PerformAudioPassThru", "PerformInteraction", "Speak", "SubtleAlert"], [.full, .limited]),
    (["OnTouchEvent", "ScrollableMessage", "SendHapticData", "ShowAppMenu", "Slider"], [.full]),
  ]

  /// The RPC version that introduced a request; 1.0 for all before 4.1.
  static func introduction(of function: FunctionID) -> RPCVersion {
    switch function.rawValue {
    case 41...44, 48, 49: RPCVersion(4, 5)
    case 45...47: RPCVersion(4, 1)
    case 50...55: RPCVersion(5, 1)
    case 56...63: RPCVersion(6)
    case 64: RPCVersion(7)
    default: RPCVersion(1)
    }
  }

  /// The members that a request must have (MOBILE_API.xml).
  static func mandatoryMembers(of function: FunctionID) -> [String] {
    mandatory[function.description] ?? []
  }

  private static let mandatory: [String: [String]] = [
    "AddCommand": ["cmdID"],
    "AddSubMenu": ["menuID", "menuName"],
    "CancelInteraction": ["functionID"],
    "ChangeRegistration": ["language", "hmiDisplayLanguage"],
    "CreateInteractionChoiceSet": ["interactionChoiceSetID", "choiceSet"],
    "DeleteCommand": ["cmdID"],
    "DeleteFile": ["syncFileName"],
    "DeleteInteractionChoiceSet": ["interactionChoiceSetID"],
    "DeleteSubMenu": ["menuID"],
    "PerformAudioPassThru": ["samplingRate", "maxDuration", "bitsPerSample", "audioType"],
    "PerformInteraction": ["initialText", "interactionMode", "interactionChoiceSetIDList"],
    "PutFile": ["syncFileName", "fileType"],
    "ResetGlobalProperties": ["properties"],
    "ScrollableMessage": ["scrollableMessageBody"],
    "SetAppIcon": ["syncFileName"],
    "SetDisplayLayout": ["displayLayout"],
    "SetMediaClockTimer": ["updateMode"],
    "Slider": ["numTicks", "position", "sliderHeader"],
    "Speak": ["ttsChunks"],
    "SubscribeButton": ["buttonName"],
    "SystemRequest": ["requestType"],
    "UnsubscribeButton": ["buttonName"],
  ]
}
