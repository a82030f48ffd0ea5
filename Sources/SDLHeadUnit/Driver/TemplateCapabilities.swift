import SDLMessages

/// The capabilities of the templates in which apps show texts and buttons: the members that SDL Core sends with its own
/// HMI, because SDL's libraries read some of them without asking whether they are there. What this head unit does not do
/// is left out.
enum TemplateCapabilities {
  /// The buttons that can be subscribed to.
  static let buttons: Set = [
    "OK", "PLAY_PAUSE", "SEEKLEFT", "SEEKRIGHT", "TUNEUP", "TUNEDOWN", "PRESET_0", "PRESET_1", "PRESET_2", "PRESET_3",
    "PRESET_4", "PRESET_5", "PRESET_6", "PRESET_7", "PRESET_8", "PRESET_9", "NAV_CENTER_LOCATION", "NAV_ZOOM_IN",
    "NAV_ZOOM_OUT", "NAV_PAN_UP", "NAV_PAN_DOWN", "NAV_PAN_LEFT", "NAV_PAN_RIGHT", "NAV_TILT_TOGGLE",
    "NAV_ROTATE_CLOCKWISE", "NAV_ROTATE_COUNTERCLOCKWISE", "NAV_HEADING_TOGGLE",
  ]

  /// The name of all buttons that apps show themselves.
  static let ownButton = "CUSTOM_BUTTON"

  /// The layouts that an app may choose; MEDIA is for media apps.
  static let templates = [
    "DEFAULT", "MEDIA", "NON-MEDIA", "ONSCREEN_PRESETS", "NAV_FULLSCREEN_MAP", "NAV_KEYBOARD", "GRAPHIC_WITH_TEXT",
    "TEXT_WITH_GRAPHIC", "TILES_ONLY", "TEXTBUTTONS_ONLY", "GRAPHIC_WITH_TILES", "TILES_WITH_GRAPHIC",
    "GRAPHIC_WITH_TEXT_AND_SOFTBUTTONS", "TEXT_AND_SOFTBUTTONS_WITH_GRAPHIC", "GRAPHIC_WITH_TEXTBUTTONS",
    "TEXTBUTTONS_WITH_GRAPHIC", "LARGE_GRAPHIC_WITH_SOFTBUTTONS", "DOUBLE_GRAPHIC_WITH_SOFTBUTTONS",
    "LARGE_GRAPHIC_ONLY",
  ]

  /// The response to RegisterAppInterface with the members that concern templates.
  static func added(to response: JSONObject) -> JSONObject {
    var response = response.merging(members) { given, _ in given }
    if let display = response["displayCapabilities"]?.object {
      let clocks = ["CLOCK1", "CLOCK2", "CLOCK3", "CLOCKTEXT1", "CLOCKTEXT2", "CLOCKTEXT3", "CLOCKTEXT4"]
      let more = displayMembers.merging(["mediaClockFormats": .array(clocks.map(JSONValue.string))]) { first, _ in first
      }
      response["displayCapabilities"] = .object(display.merging(more) { _, new in new })
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
    "menuLayoutsAvailable": .array(["LIST", "TILES"].map(JSONValue.string)),
    "keyboardCapabilities": .object([
      "maskInputCharactersSupported": .bool(true),
      "supportedKeyboards": .array(
        ["QWERTY", "QWERTZ", "AZERTY", "NUMERIC"].map { layout in
          .object([
            "keyboardLayout": .string(layout), "numConfigurableKeys": .integer(layout == "NUMERIC" ? 0 : 10),
          ])
        }),
    ]),
  ].merging(members.filter { ["buttonCapabilities", "softButtonCapabilities"].contains($0.key) }) { first, _ in first }

  private static let pressed: JSONObject = [
    "shortPressAvailable": .bool(true), "longPressAvailable": .bool(true), "upDownAvailable": .bool(true),
  ]

  private static let members: JSONObject = [
    "buttonCapabilities": .array(
      (buttons.sorted() + [ownButton]).map { name in
        .object(pressed.merging(["name": .string(name)]) { first, _ in first })
      }),
    "softButtonCapabilities": .array([
      .object(pressed.merging(["imageSupported": .bool(true), "textSupported": .bool(true)]) { first, _ in first })
    ]),
    "presetBankCapabilities": .object(["onScreenPresetsAvailable": .bool(true)]),
    "hmiZoneCapabilities": .array([.string("FRONT")]),
    "speechCapabilities": .array(["TEXT", "FILE"].map(JSONValue.string)),
    "prerecordedSpeech": .array([.string("HELP_JINGLE")]),
    "vrCapabilities": .array([.string("TEXT")]),
    "audioPassThruCapabilities": .array(
      PCMFormat.SamplingRate.allCases.flatMap { rate in
        PCMFormat.SampleSize.allCases.map { PCMFormat(samplingRate: rate, sampleSize: $0).json }
      }),
    "iconResumed": .bool(false),
    // Of the SDL Core that this head unit behaves like.
    "sdlVersion": .string("8.2.0"),
  ]

  private static let displayMembers: JSONObject = [
    "textFields": .array(
      [
        "mainField1", "mainField2", "mainField3", "mainField4", "statusBar", "mediaClock", "mediaTrack",
        "templateTitle", "alertText1", "alertText2", "alertText3", "scrollableMessageBody", "initialInteractionText",
        "navigationText1", "navigationText2", "ETA", "totalDistance", "audioPassThruDisplayText1",
        "audioPassThruDisplayText2", "sliderHeader", "sliderFooter", "menuName", "secondaryText", "tertiaryText",
        "menuTitle", "timeToDestination", "turnText", "subtleAlertText1", "subtleAlertText2",
        "subtleAlertSoftButtonText", "menuCommandSecondaryText", "menuCommandTertiaryText", "menuSubMenuSecondaryText",
        "menuSubMenuTertiaryText",
      ].map { name in
        .object([
          "name": .string(name), "characterSet": .string("UTF_8"), "width": .integer(500), "rows": .integer(1),
        ])
      }),
    "imageFields": .array(
      icons.map { imageField($0, side: 40) } + pictures.map { imageField($0, side: 225) }),
    "templatesAvailable": .array(templates.map(JSONValue.string)),
    "numCustomPresetsAvailable": .integer(8),
  ]

  private static let icons = [
    "softButtonImage", "choiceImage", "choiceSecondaryImage", "vrHelpItem", "turnIcon", "menuIcon", "cmdIcon",
    "subMenuIcon", "appIcon", "menuCommandSecondaryImage", "menuSubMenuSecondaryImage", "showConstantTBTIcon",
    "showConstantTBTNextTurnIcon",
  ]
  private static let pictures = ["graphic", "secondaryGraphic", "alertIcon", "subtleAlertIcon"]

  /// - Parameter side: in pixels.
  private static func imageField(_ name: String, side: Int) -> JSONValue {
    .object([
      "name": .string(name), "imageTypeSupported": .array(["GRAPHIC_PNG", "GRAPHIC_JPEG"].map(JSONValue.string)),
      "imageResolution": .object(["resolutionWidth": .integer(side), "resolutionHeight": .integer(side)]),
    ])
  }
}

/// The capabilities besides video: those of SDL Core (`hmi_capabilities.json`), without what this head unit does not do,
/// and that of the templates.
enum SystemCapabilities {
  /// The members of `hmiCapabilities` in the registration.
  static let promised: JSONObject = [
    "navigation": .bool(false), "phoneCall": .bool(false), "videoStreaming": .bool(true),
    "remoteControl": .bool(false), "appServices": .bool(false), "displays": .bool(true), "seatLocation": .bool(true),
    "driverDistraction": .bool(true),
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
      ("navigationCapability", .object(["sendLocationEnabled": .bool(false), "getWayPointsEnabled": .bool(false)]))
    case "PHONE_CALL": ("phoneCapability", .object(["dialNumberEnabled": .bool(false)]))
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
