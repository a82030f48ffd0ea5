import SDLMessages

/// The capabilities of the templates in which apps show texts and buttons. This head unit shows only video, but SDL's
/// libraries send such requests, whose responses apps wait for, only if these members are present.
enum TemplateCapabilities {
  /// The buttons that can be subscribed to.
  static let buttons: Set = [
    "OK", "PLAY_PAUSE", "SEEKLEFT", "SEEKRIGHT", "TUNEUP", "TUNEDOWN", "PRESET_0", "PRESET_1", "PRESET_2", "PRESET_3",
    "PRESET_4", "PRESET_5", "PRESET_6", "PRESET_7", "PRESET_8", "PRESET_9", "NAV_CENTER_LOCATION", "NAV_ZOOM_IN",
    "NAV_ZOOM_OUT", "NAV_PAN_UP", "NAV_PAN_DOWN", "NAV_PAN_LEFT", "NAV_PAN_RIGHT", "NAV_TILT_TOGGLE",
    "NAV_ROTATE_CLOCKWISE", "NAV_ROTATE_COUNTERCLOCKWISE", "NAV_HEADING_TOGGLE",
  ]

  /// The layouts that an app may choose; MEDIA is for media apps.
  static let templates = ["DEFAULT", "MEDIA", "NON-MEDIA", "NAV_FULLSCREEN_MAP", "NAV_KEYBOARD", "NAV_LIST"]

  /// The response to RegisterAppInterface with the members that concern templates.
  static func added(to response: JSONObject) -> JSONObject {
    var response = response.merging(members) { given, _ in given }
    if let display = response["displayCapabilities"]?.object {
      response["displayCapabilities"] = .object(display.merging(displayMembers) { _, new in new })
    }
    if response["hmiCapabilities"] != nil { response["hmiCapabilities"] = .object(SystemCapabilities.promised) }
    return response
  }

  /// `DisplayCapability` of the screen, which has one window.
  static let display: JSONValue = .object([
    "displayName": .string("SDL"),
    "windowTypeSupported": .array([.object(["type": .string("MAIN"), "maximumNumberOfWindows": .integer(1)])]),
    "windowCapabilities": .array([.object(windowMembers.merging(displayMembers) { first, _ in first })]),
  ])

  private static let windowMembers: JSONObject = [
    "windowID": .integer(0), "imageTypeSupported": .array(["STATIC", "DYNAMIC"].map(JSONValue.string)),
    "menuLayoutsAvailable": .array([.string("LIST")]),
  ].merging(members.filter { ["buttonCapabilities", "softButtonCapabilities"].contains($0.key) }) { first, _ in first }

  private static let pressed: JSONObject = [
    "shortPressAvailable": .bool(true), "longPressAvailable": .bool(true), "upDownAvailable": .bool(true),
  ]

  private static let members: JSONObject = [
    "buttonCapabilities": .array(
      buttons.sorted().map { name in .object(pressed.merging(["name": .string(name)]) { first, _ in first }) }),
    "softButtonCapabilities": .array([
      .object(pressed.merging(["imageSupported": .bool(true), "textSupported": .bool(true)]) { first, _ in first })
    ]),
    "presetBankCapabilities": .object(["onScreenPresetsAvailable": .bool(true)]),
    "hmiZoneCapabilities": .array([.string("FRONT")]),
    "speechCapabilities": .array([.string("TEXT")]),
    "vrCapabilities": .array([.string("TEXT")]),
  ]

  private static let displayMembers: JSONObject = [
    "textFields": .array(
      [
        "mainField1", "mainField2", "mainField3", "mainField4", "statusBar", "mediaTrack", "alertText1", "alertText2",
        "alertText3", "menuName", "templateTitle",
      ].map { name in
        .object([
          "name": .string(name), "characterSet": .string("UTF_8"), "width": .integer(500), "rows": .integer(1),
        ])
      }),
    "imageFields": .array(
      ["graphic", "menuIcon", "softButtonImage", "appIcon"].map { name in
        .object([
          "name": .string(name), "imageTypeSupported": .array(["GRAPHIC_PNG", "GRAPHIC_JPEG"].map(JSONValue.string)),
        ])
      }),
    "templatesAvailable": .array(templates.map(JSONValue.string)),
    "numCustomPresetsAvailable": .integer(10),
  ]
}

/// The capabilities besides video, as SDL Core ships them (`hmi_capabilities.json`), and that of the templates.
enum SystemCapabilities {
  /// The members of `hmiCapabilities` in the registration.
  static let promised: JSONObject = [
    "navigation": .bool(true), "phoneCall": .bool(true), "videoStreaming": .bool(true), "remoteControl": .bool(false),
    "appServices": .bool(true), "displays": .bool(true), "seatLocation": .bool(true), "driverDistraction": .bool(true),
  ]

  /// The member of a response, or of OnSystemCapabilityUpdated; nil for a type that is not here.
  static func answer(_ type: String) -> JSONObject? {
    capability(type).map { member, value in
      ["systemCapability": .object(["systemCapabilityType": .string(type), member: value])]
    }
  }

  /// The member of `SystemCapability` and its value.
  private static func capability(_ type: String) -> (member: String, value: JSONValue)? {
    switch type {
    case "NAVIGATION":
      ("navigationCapability", .object(["sendLocationEnabled": .bool(true), "getWayPointsEnabled": .bool(true)]))
    case "PHONE_CALL": ("phoneCapability", .object(["dialNumberEnabled": .bool(true)]))
    case "APP_SERVICES": ("appServicesCapabilities", .object(["appServices": .array([])]))
    case "SEAT_LOCATION":
      (
        "seatLocationCapability",
        .object([
          "rows": .integer(2), "columns": .integer(3), "levels": .integer(1), "seats": .array([.object(driverSeat)]),
        ])
      )
    case "DRIVER_DISTRACTION":
      ("driverDistractionCapability", .object(["menuLength": .integer(10), "subMenuDepth": .integer(3)]))
    case "DISPLAYS": ("displayCapabilities", .array([TemplateCapabilities.display]))
    default: nil
    }
  }

  private static let driverSeat: JSONObject = [
    "row": .integer(0), "col": .integer(0), "level": .integer(0), "rowspan": .integer(1), "levelspan": .integer(1),
    "colspan": .integer(1),
  ]
}
