/// The structures of MOBILE_API.xml that requests are made of.
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
    .needed("menuName", .text(1...500)), .optional("secondaryText", .text(1...500)),
    .optional("tertiaryText", .text(1...500)),
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
    .optional("systemAction", .systemAction),
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
  static let appHMIType = RPCSchema.enumeration([
    "DEFAULT", "COMMUNICATION", "MEDIA", "MESSAGING", "NAVIGATION", "INFORMATION", "SOCIAL", "BACKGROUND_PROCESS",
    "TESTING", "SYSTEM", "PROJECTION", "REMOTE_CONTROL", "WEB_VIEW",
  ])
  static let audioStreamingIndicator = RPCSchema.enumeration(["PLAY_PAUSE", "PLAY", "PAUSE", "STOP"])
  static let audioType = RPCSchema.enumeration(["PCM"])
  static let bitsPerSample = RPCSchema.enumeration(["8_BIT", "16_BIT"])
  static let buttonName = RPCSchema.enumeration([
    "OK", "PLAY_PAUSE", "SEEKLEFT", "SEEKRIGHT", "TUNEUP", "TUNEDOWN", "PRESET_0", "PRESET_1", "PRESET_2", "PRESET_3",
    "PRESET_4", "PRESET_5", "PRESET_6", "PRESET_7", "PRESET_8", "PRESET_9", "CUSTOM_BUTTON", "SEARCH", "AC_MAX", "AC",
    "RECIRCULATE", "FAN_UP", "FAN_DOWN", "TEMP_UP", "TEMP_DOWN", "DEFROST_MAX", "DEFROST", "DEFROST_REAR",
    "UPPER_VENT", "LOWER_VENT", "VOLUME_UP", "VOLUME_DOWN", "EJECT", "SOURCE", "SHUFFLE", "REPEAT",
    "NAV_CENTER_LOCATION", "NAV_ZOOM_IN", "NAV_ZOOM_OUT", "NAV_PAN_UP", "NAV_PAN_UP_RIGHT", "NAV_PAN_RIGHT",
    "NAV_PAN_DOWN_RIGHT", "NAV_PAN_DOWN", "NAV_PAN_DOWN_LEFT", "NAV_PAN_LEFT", "NAV_PAN_UP_LEFT", "NAV_TILT_TOGGLE",
    "NAV_ROTATE_CLOCKWISE", "NAV_ROTATE_COUNTERCLOCKWISE", "NAV_HEADING_TOGGLE",
  ])
  static let fileType = RPCSchema.enumeration([
    "GRAPHIC_BMP", "GRAPHIC_JPEG", "GRAPHIC_PNG", "AUDIO_WAVE", "AUDIO_MP3", "AUDIO_AAC", "BINARY", "JSON",
  ])
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
  static let samplingRate = RPCSchema.enumeration(["8KHZ", "16KHZ", "22KHZ", "44KHZ"])
  static let seekIndicatorType = RPCSchema.enumeration(["TRACK", "TIME"])
  static let softButtonType = RPCSchema.enumeration(["TEXT", "IMAGE", "BOTH"])
  static let speechCapabilities = RPCSchema.enumeration([
    "TEXT", "SAPI_PHONEMES", "LHPLUS_PHONEMES", "PRE_RECORDED", "SILENCE", "FILE",
  ])
  static let systemAction = RPCSchema.enumeration(["DEFAULT_ACTION", "STEAL_FOCUS", "KEEP_CONTEXT"])
  static let textAlignment = RPCSchema.enumeration(["LEFT_ALIGNED", "RIGHT_ALIGNED", "CENTERED"])
  static let updateMode = RPCSchema.enumeration(["COUNTUP", "COUNTDOWN", "PAUSE", "RESUME", "CLEAR"])
}
