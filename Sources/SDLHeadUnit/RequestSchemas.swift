/// The requests that this head unit answers, as MOBILE_API.xml of RPC 8.0 defines them.
///
/// Members that came with a later version than the app's are taken as well. GetSystemCapability is checked where it is
/// answered: SDL Core has another answer to a type that it does not know.
enum RequestSchemas {
  /// The members by the name of the request; nil for requests that are not here.
  static func members(of name: String) -> [RPCSchema.Member]? { requests[name] }

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
      .optional("parentID", .integer(0...2_000_000_000)), .optional("secondaryText", .text(1...500)),
      .optional("tertiaryText", .text(1...500)), .optional("secondaryImage", .image),
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
    "ScrollableMessage": [
      .needed("scrollableMessageBody", .text(1...500)), .optional("timeout", .integer(1000...65_535)),
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
    "SendHapticData": [
      .optional("hapticRectData", .list(.hapticRect, 0...1000))
    ],
    "CancelInteraction": [
      .optional("cancelID", .anyInteger), .needed("functionID", .anyInteger),
    ],
  ]
}
