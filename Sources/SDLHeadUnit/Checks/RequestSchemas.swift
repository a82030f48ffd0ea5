import SDLMessages

/// The requests that this head unit answers, as defined in MOBILE_API.xml of RPC 8.0.
///
/// Members of later versions than the app's are accepted as well.
enum RequestSchemas {
  /// A request as SDL Core understands it, with a warning that lists omitted values. A request without a schema is
  /// accepted as it is.
  static func checked(_ received: RPCMessage) throws(RPCFault) -> (RPCMessage, warning: String?) {
    guard let members = requests[received.function.description] else { return (received, nil) }
    var check = RPCCheck()
    var request = received
    request.parameters = try RPCSchema.checked(received.parameters, members, &check)
    return (request, check.warning)
  }

  private static let vehicleData = VehicleDataItem.all.keys.map { RPCSchema.Member.optional($0, .flag) }
  /// The vehicle's number never changes.
  private static let subscribableData = vehicleData.filter { $0.name != "vin" }

  private static let requests: [String: [RPCSchema.Member]] = [
    "RegisterAppInterface": [
      .needed("syncMsgVersion", .syncMsgVersion), .needed("appName", .text(1...100)),
      .optional("ttsName", .list(.ttsChunk, 1...100)), .optional("ngnMediaScreenAppName", .text(1...100)),
      .optional("vrSynonyms", .list(.text(1...40), 1...100)), .needed("isMediaApplication", .flag),
      .needed("languageDesired", .language), .needed("hmiDisplayLanguageDesired", .language),
      .optional("appHMIType", .list(.appHMIType, 1...100)), .optional("hashID", .text(1...100)),
      .optional("deviceInfo", .deviceInfo), .needed("appID", .text(1...100)), .optional("fullAppID", .text(1...100)),
      .optional("appInfo", .appInfo), .optional("dayColorScheme", .templateColorScheme),
      .optional("nightColorScheme", .templateColorScheme),
    ],
    "SetGlobalProperties": [
      .optional("userLocation", .seatLocation), .optional("helpPrompt", .list(.ttsChunk, 1...100)),
      .optional("timeoutPrompt", .list(.ttsChunk, 1...100)), .optional("vrHelpTitle", .text(1...500)),
      .optional("vrHelp", .list(.vrHelpItem, 1...100)), .optional("menuTitle", .text(1...500)),
      .optional("menuIcon", .image), .optional("keyboardProperties", .keyboardProperties),
      .optional("menuLayout", .menuLayout),
    ],
    "ResetGlobalProperties": [
      .needed("properties", .list(.globalProperty, 1...100))
    ],
    "AddCommand": [
      .needed("cmdID", .integer(0...2_000_000_000)), .optional("menuParams", .menuParams),
      .optional("vrCommands", .list(.text(1...99), 1...100)), .optional("cmdIcon", .image),
      .optional("secondaryImage", .image),
    ],
    "DeleteCommand": [
      .needed("cmdID", .integer(0...2_000_000_000))
    ],
    "AddSubMenu": [
      .needed("menuID", .integer(1...2_000_000_000)), .optional("position", .integer(0...1000)),
      .needed("menuName", .text(1...500)), .optional("menuIcon", .image), .optional("menuLayout", .menuLayout),
      .optional("parentID", .integer(0...2_000_000_000)), .optional("secondaryText", .raw(1...500)),
      .optional("tertiaryText", .raw(1...500)), .optional("secondaryImage", .image),
    ],
    "DeleteSubMenu": [
      .needed("menuID", .integer(1...2_000_000_000))
    ],
    "ShowAppMenu": [
      .optional("menuID", .integer(1...2_000_000_000))
    ],
    "CreateInteractionChoiceSet": [
      .needed("interactionChoiceSetID", .integer(0...2_000_000_000)), .needed("choiceSet", .list(.choice, 1...100)),
    ],
    "PerformInteraction": [
      .needed("initialText", .text(1...500)), .optional("initialPrompt", .list(.ttsChunk, 1...100)),
      .needed("interactionMode", .interactionMode),
      .needed("interactionChoiceSetIDList", .list(.integer(0...2_000_000_000), 0...100)),
      .optional("helpPrompt", .list(.ttsChunk, 1...100)), .optional("timeoutPrompt", .list(.ttsChunk, 1...100)),
      .optional("timeout", .integer(5000...100_000)), .optional("vrHelp", .list(.vrHelpItem, 1...100)),
      .optional("interactionLayout", .layoutMode), .optional("cancelID", .anyInteger),
    ],
    "DeleteInteractionChoiceSet": [
      .needed("interactionChoiceSetID", .integer(0...2_000_000_000))
    ],
    "Alert": [
      .optional("alertText1", .text(1...500)), .optional("alertText2", .text(1...500)),
      .optional("alertText3", .text(1...500)), .optional("ttsChunks", .list(.ttsChunk, 1...100)),
      .optional("duration", .integer(3000...10_000)), .optional("playTone", .flag),
      .optional("progressIndicator", .flag), .optional("softButtons", .list(.softButton, 0...4)),
      .optional("alertIcon", .image), .optional("cancelID", .anyInteger),
    ],
    "SubtleAlert": [
      .optional("alertText1", .text(1...500)), .optional("alertText2", .text(1...500)),
      .optional("alertIcon", .image), .optional("ttsChunks", .list(.ttsChunk, 1...100)),
      .optional("duration", .integer(3000...10_000)), .optional("softButtons", .list(.softButton, 0...2)),
      .optional("cancelID", .anyInteger),
    ],
    "Show": [
      .optional("mainField1", .text(0...500)), .optional("mainField2", .text(0...500)),
      .optional("mainField3", .text(0...500)), .optional("mainField4", .text(0...500)),
      .optional("alignment", .textAlignment), .optional("statusBar", .text(0...500)),
      .optional("mediaClock", .text(0...500)), .optional("mediaTrack", .text(0...500)), .optional("graphic", .image),
      .optional("secondaryGraphic", .image), .optional("softButtons", .list(.softButton, 0...8)),
      .optional("customPresets", .list(.text(1...500), 0...10)), .optional("metadataTags", .metadataTags),
      .optional("templateTitle", .text(0...100)), .optional("windowID", .anyInteger),
      .optional("templateConfiguration", .templateConfiguration),
    ],
    "Speak": [
      .needed("ttsChunks", .list(.ttsChunk, 1...100))
    ],
    "SetMediaClockTimer": [
      .optional("startTime", .startTime), .optional("endTime", .startTime), .needed("updateMode", .updateMode),
      .optional("audioStreamingIndicator", .audioStreamingIndicator),
      .optional("forwardSeekIndicator", .seekStreamingIndicator),
      .optional("backSeekIndicator", .seekStreamingIndicator), .optional("countRate", .number(0.1...100.0)),
    ],
    "PerformAudioPassThru": [
      .optional("initialPrompt", .list(.ttsChunk, 1...100)), .optional("audioPassThruDisplayText1", .text(1...500)),
      .optional("audioPassThruDisplayText2", .text(1...500)), .needed("samplingRate", .samplingRate),
      .needed("maxDuration", .integer(1...1_000_000)), .needed("bitsPerSample", .bitsPerSample),
      .needed("audioType", .audioType), .optional("muteAudio", .flag),
    ],
    "SubscribeButton": [
      .needed("buttonName", .buttonName)
    ],
    "UnsubscribeButton": [
      .needed("buttonName", .buttonName)
    ],
    "GetVehicleData": vehicleData, "SubscribeVehicleData": subscribableData,
    "UnsubscribeVehicleData": subscribableData,
    "ScrollableMessage": [
      .needed("scrollableMessageBody", .raw(1...500)), .optional("timeout", .integer(1000...65_535)),
      .optional("softButtons", .list(.softButton, 0...8)), .optional("cancelID", .anyInteger),
    ],
    "Slider": [
      .needed("numTicks", .integer(2...26)), .needed("position", .integer(1...26)),
      .needed("sliderHeader", .text(1...500)), .optional("sliderFooter", .list(.text(1...500), 1...26)),
      .optional("timeout", .integer(1000...65_535)), .optional("cancelID", .anyInteger),
    ],
    "ShowConstantTBT": [
      .optional("navigationText1", .text(0...500)), .optional("navigationText2", .text(0...500)),
      .optional("eta", .text(0...500)), .optional("timeToDestination", .text(0...500)),
      .optional("totalDistance", .text(0...500)), .optional("turnIcon", .image), .optional("nextTurnIcon", .image),
      .optional("distanceToManeuver", .number(0...1000000000)),
      .optional("distanceToManeuverScale", .number(0...1000000000)), .optional("maneuverComplete", .flag),
      .optional("softButtons", .list(.softButton, 0...3)),
    ],
    "AlertManeuver": [
      .optional("ttsChunks", .list(.ttsChunk, 1...100)), .optional("softButtons", .list(.softButton, 0...3)),
    ],
    "UpdateTurnList": [
      .optional("turnList", .list(.turn, 1...100)), .optional("softButtons", .list(.softButton, 0...1)),
    ],
    "ChangeRegistration": [
      .needed("language", .language), .needed("hmiDisplayLanguage", .language), .optional("appName", .text(1...100)),
      .optional("ttsName", .list(.ttsChunk, 1...100)), .optional("ngnMediaScreenAppName", .text(1...100)),
      .optional("vrSynonyms", .list(.text(1...40), 1...100)),
    ],
    "PutFile": [
      .needed("syncFileName", .raw(1...255)), .needed("fileType", .fileType), .optional("persistentFile", .flag),
      .optional("systemFile", .flag), .optional("offset", .integer(0...2_000_000_000)),
      .optional("length", .integer(0...2_000_000_000)), .optional("crc", .integer(0...4_294_967_295)),
    ],
    "DeleteFile": [
      .needed("syncFileName", .raw(1...500))
    ],
    "SetAppIcon": [
      .needed("syncFileName", .raw(1...500))
    ],
    "SetDisplayLayout": [
      .needed("displayLayout", .raw(1...500)), .optional("dayColorScheme", .templateColorScheme),
      .optional("nightColorScheme", .templateColorScheme),
    ],
    "SystemRequest": [
      .needed("requestType", .requestType), .optional("requestSubType", .raw(1...255)),
      .optional("fileName", .raw(1...255)),
    ],
    // SDL Core answers unknown types in its own way.
    "GetSystemCapability": [
      .needed("systemCapabilityType", .raw(0...500)), .optional("subscribe", .flag),
    ],
    "SendHapticData": [
      .optional("hapticRectData", .list(.hapticRect, 0...1000))
    ],
    "CancelInteraction": [
      .optional("cancelID", .anyInteger), .needed("functionID", .anyInteger),
    ],
  ]
}

/// The structures of MOBILE_API.xml in requests.
extension RPCSchema {
  static let syncMsgVersion = RPCSchema.object([
    .needed("majorVersion", .integer(1...10)), .needed("minorVersion", .integer(0...1000)),
    .optional("patchVersion", .integer(0...1000)),
  ])
  static let ttsChunk = RPCSchema.object([
    .needed("text", .text(0...500)), .needed("type", .speechCapabilities),
  ])
  static let deviceInfo = RPCSchema.object([
    .optional("hardware", .text(0...500)), .optional("firmwareRev", .text(0...500)), .optional("os", .text(0...500)),
    .optional("osVersion", .text(0...500)), .optional("carrier", .text(0...500)),
    .optional("maxNumberRFCOMMPorts", .integer(0...100)),
  ])
  static let appInfo = RPCSchema.object([
    .needed("appDisplayName", .raw(1...100)), .needed("appBundleID", .raw(1...256)),
    .needed("appVersion", .raw(1...256)), .optional("appIcon", .raw(1...500)),
  ])
  static let templateColorScheme = RPCSchema.object([
    .optional("primaryColor", .rgbColor), .optional("secondaryColor", .rgbColor),
    .optional("backgroundColor", .rgbColor),
  ])
  static let seatLocation = RPCSchema.object([
    .optional("grid", .grid)
  ])
  static let vrHelpItem = RPCSchema.object([
    .needed("text", .text(1...500)), .optional("image", .image), .needed("position", .integer(1...100)),
  ])
  static let image = RPCSchema.object([
    .needed("value", .raw(0...65_535)), .needed("imageType", .imageType), .optional("isTemplate", .flag),
  ])
  static let keyboardProperties = RPCSchema.object([
    .optional("language", .language), .optional("keyboardLayout", .keyboardLayout),
    .optional("keypressMode", .keypressMode), .optional("limitedCharacterList", .list(.raw(1...1), 1...100)),
    .optional("autoCompleteText", .raw(1...1000)), .optional("autoCompleteList", .list(.raw(1...1000), 0...100)),
    .optional("maskInputCharacters", .keyboardInputMask), .optional("customKeys", .list(.raw(1...1), 1...10)),
  ])
  static let menuParams = RPCSchema.object([
    .optional("parentID", .integer(0...2_000_000_000)), .optional("position", .integer(0...1000)),
    .needed("menuName", .text(1...500)), .optional("secondaryText", .raw(1...500)),
    .optional("tertiaryText", .raw(1...500)),
  ])
  static let choice = RPCSchema.object([
    .needed("choiceID", .integer(0...65_535)), .needed("menuName", .text(1...500)),
    .optional("vrCommands", .list(.text(1...99), 1...100)), .optional("image", .image),
    .optional("secondaryText", .text(1...500)), .optional("tertiaryText", .text(1...500)),
    .optional("secondaryImage", .image),
  ])
  static let softButton = RPCSchema.object([
    .needed("type", .softButtonType), .optional("text", .text(0...500)), .optional("image", .image),
    .optional("isHighlighted", .flag), .needed("softButtonID", .integer(0...65_535)),
    // SDL Core leaves out unknown actions, and then finds no action that its policies allow.
    .optional("systemAction", .raw(0...500)),
  ])
  static let metadataTags = RPCSchema.object([
    .optional("mainField1", .list(.metadataType, 0...5)), .optional("mainField2", .list(.metadataType, 0...5)),
    .optional("mainField3", .list(.metadataType, 0...5)), .optional("mainField4", .list(.metadataType, 0...5)),
  ])
  static let templateConfiguration = RPCSchema.object([
    .needed("template", .raw(1...500)), .optional("dayColorScheme", .templateColorScheme),
    .optional("nightColorScheme", .templateColorScheme),
  ])
  static let startTime = RPCSchema.object([
    .needed("hours", .integer(0...59)), .needed("minutes", .integer(0...59)), .needed("seconds", .integer(0...59)),
  ])
  static let seekStreamingIndicator = RPCSchema.object([
    .needed("type", .seekIndicatorType), .optional("seekTime", .integer(1...99)),
  ])
  static let turn = RPCSchema.object([
    .optional("navigationText", .text(1...500)), .optional("turnIcon", .image),
  ])
  static let hapticRect = RPCSchema.object([
    .needed("id", .integer(0...2_000_000_000)), .needed("rect", .rectangle),
  ])
  static let rgbColor = RPCSchema.object([
    .needed("red", .integer(0...255)), .needed("green", .integer(0...255)), .needed("blue", .integer(0...255)),
  ])
  static let grid = RPCSchema.object([
    .needed("col", .integer(-1...100)), .needed("row", .integer(-1...100)), .optional("level", .integer(-1...100)),
    .optional("colspan", .integer(1...100)), .optional("rowspan", .integer(1...100)),
    .optional("levelspan", .integer(1...100)),
  ])
  static let rectangle = RPCSchema.object([
    .needed("x", .anyNumber), .needed("y", .anyNumber), .needed("width", .anyNumber), .needed("height", .anyNumber),
  ])
}

/// The enumerations in them.
extension RPCSchema {
  static let appHMIType = RPCSchema.enumeration(of: AppHMIType.self)
  static let audioStreamingIndicator = RPCSchema.enumeration(["PLAY_PAUSE", "PLAY", "PAUSE", "STOP"])
  static let audioType = RPCSchema.enumeration(["PCM"])
  static let bitsPerSample = RPCSchema.enumeration(of: PCMFormat.SampleSize.self)
  static let buttonName = RPCSchema.enumeration([
    "OK", "PLAY_PAUSE", "SEEKLEFT", "SEEKRIGHT", "TUNEUP", "TUNEDOWN", "PRESET_0", "PRESET_1", "PRESET_2", "PRESET_3",
    "PRESET_4", "PRESET_5", "PRESET_6", "PRESET_7", "PRESET_8", "PRESET_9", "CUSTOM_BUTTON", "SEARCH", "AC_MAX", "AC",
    "RECIRCULATE", "FAN_UP", "FAN_DOWN", "TEMP_UP", "TEMP_DOWN", "DEFROST_MAX", "DEFROST", "DEFROST_REAR",
    "UPPER_VENT", "LOWER_VENT", "VOLUME_UP", "VOLUME_DOWN", "EJECT", "SOURCE", "SHUFFLE", "REPEAT",
    "NAV_CENTER_LOCATION", "NAV_ZOOM_IN", "NAV_ZOOM_OUT", "NAV_PAN_UP", "NAV_PAN_UP_RIGHT", "NAV_PAN_RIGHT",
    "NAV_PAN_DOWN_RIGHT", "NAV_PAN_DOWN", "NAV_PAN_DOWN_LEFT", "NAV_PAN_LEFT", "NAV_PAN_UP_LEFT", "NAV_TILT_TOGGLE",
    "NAV_ROTATE_CLOCKWISE", "NAV_ROTATE_COUNTERCLOCKWISE", "NAV_HEADING_TOGGLE",
  ])
  static let fileType = RPCSchema.enumeration(of: FileType.self)
  static let globalProperty = RPCSchema.enumeration([
    "USER_LOCATION", "HELPPROMPT", "TIMEOUTPROMPT", "VRHELPTITLE", "VRHELPITEMS", "MENUNAME", "MENUICON",
    "KEYBOARDPROPERTIES",
  ])
  static let imageType = RPCSchema.enumeration(["STATIC", "DYNAMIC"])
  static let interactionMode = RPCSchema.enumeration(["MANUAL_ONLY", "VR_ONLY", "BOTH"])
  static let keyboardInputMask = RPCSchema.enumeration([
    "ENABLE_INPUT_KEY_MASK", "DISABLE_INPUT_KEY_MASK", "USER_CHOICE_INPUT_KEY_MASK",
  ])
  static let keyboardLayout = RPCSchema.enumeration(["QWERTY", "QWERTZ", "AZERTY", "NUMERIC"])
  static let keypressMode = RPCSchema.enumeration(["SINGLE_KEYPRESS", "QUEUE_KEYPRESSES", "RESEND_CURRENT_ENTRY"])
  static let language = RPCSchema.enumeration([
    "EN-US", "ES-MX", "FR-CA", "DE-DE", "ES-ES", "EN-GB", "RU-RU", "TR-TR", "PL-PL", "FR-FR", "IT-IT", "SV-SE",
    "PT-PT", "NL-NL", "EN-AU", "ZH-CN", "ZH-TW", "JA-JP", "AR-SA", "KO-KR", "PT-BR", "CS-CZ", "DA-DK", "NO-NO",
    "NL-BE", "EL-GR", "HU-HU", "FI-FI", "SK-SK", "EN-IN", "TH-TH", "EN-SA", "HE-IL", "RO-RO", "UK-UA", "ID-ID",
    "VI-VN", "MS-MY", "HI-IN",
  ])
  static let layoutMode = RPCSchema.enumeration([
    "ICON_ONLY", "ICON_WITH_SEARCH", "LIST_ONLY", "LIST_WITH_SEARCH", "KEYBOARD",
  ])
  static let menuLayout = RPCSchema.enumeration(["LIST", "TILES"])
  static let metadataType = RPCSchema.enumeration([
    "mediaTitle", "mediaArtist", "mediaAlbum", "mediaYear", "mediaGenre", "mediaStation", "rating",
    "currentTemperature", "maximumTemperature", "minimumTemperature", "weatherTerm", "humidity",
  ])
  static let requestType = RPCSchema.enumeration([
    "HTTP", "FILE_RESUME", "AUTH_REQUEST", "AUTH_CHALLENGE", "AUTH_ACK", "PROPRIETARY", "QUERY_APPS", "LAUNCH_APP",
    "LOCK_SCREEN_ICON_URL", "TRAFFIC_MESSAGE_CHANNEL", "DRIVER_PROFILE", "VOICE_SEARCH", "NAVIGATION", "PHONE",
    "CLIMATE", "SETTINGS", "VEHICLE_DIAGNOSTICS", "EMERGENCY", "MEDIA", "FOTA", "OEM_SPECIFIC", "ICON_URL",
  ])
  static let samplingRate = RPCSchema.enumeration(of: PCMFormat.SamplingRate.self)
  static let seekIndicatorType = RPCSchema.enumeration(["TRACK", "TIME"])
  static let softButtonType = RPCSchema.enumeration(["TEXT", "IMAGE", "BOTH"])
  static let speechCapabilities = RPCSchema.enumeration([
    "TEXT", "SAPI_PHONEMES", "LHPLUS_PHONEMES", "PRE_RECORDED", "SILENCE", "FILE",
  ])
  static let textAlignment = RPCSchema.enumeration(["LEFT_ALIGNED", "RIGHT_ALIGNED", "CENTERED"])
  static let updateMode = RPCSchema.enumeration(["COUNTUP", "COUNTDOWN", "PAUSE", "RESUME", "CLEAR"])
}
