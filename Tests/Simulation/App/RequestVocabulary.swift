import SDLApp

/// The requests that applications send in scenarios, by their names in the RPC specification.
enum RequestVocabulary {
  /// One request, as ``AppConnection/request(_:_:bulk:)`` takes it.
  struct Request {
    var function: FunctionID
    var parameters: JSONObject = [:]
    var bulk: [UInt8] = []
  }

  /// What an application sends every few seconds while somebody drives.
  static let frequent = [
    "GetVehicleData", "SubscribeVehicleData", "UnsubscribeVehicleData", "AddCommand", "DeleteCommand", "Show", "Alert",
    "Speak", "ShowConstantTBT", "UpdateTurnList", "PutFile", "PutFile", "DeleteFile", "ListFiles",
  ]
  /// What it sends now and then, or should not.
  static let rare = [
    "AddSubMenu", "DeleteSubMenu", "ShowAppMenu", "CreateInteractionChoiceSet", "DeleteInteractionChoiceSet",
    "PerformInteraction", "SubtleAlert", "ScrollableMessage", "Slider", "AlertManeuver", "SetMediaClockTimer",
    "SetGlobalProperties", "ResetGlobalProperties", "PerformAudioPassThru", "EndAudioPassThru", "SetAppIcon",
    "SystemRequest", "ChangeRegistration", "CancelInteraction", "GetSystemCapability", "SubscribeButton",
    "UnsubscribeButton", "CloseApplication", "SendLocation", "RegisterAppInterface", "SendHapticData",
  ]
  /// Notifications that an application may ask for.
  static let notifications: [FunctionID] = [
    .onVehicleData, .onCommand, .onHMIStatus, .onButtonPress, .onButtonEvent, .onTouchEvent, .onDriverDistraction,
    .onLanguageChange, .onHashChange, .onPermissionsChange, .onSystemRequest, .onKeyboardInput,
  ]

  /// Whether it is over only when the driver has read, heard or answered something.
  static func waitsForDriver(_ function: FunctionID) -> Bool {
    [
      .alert, .subtleAlert, .alertManeuver, .performInteraction, .scrollableMessage, .slider, .speak,
      .performAudioPassThru,
    ].contains(function)
  }

  /// - Parameters:
  ///   - number: tells ids and names of requests from each other.
  ///   - byteCount: of a file.
  /// - Returns: nil for a name that is not in the vocabulary.
  static func request(_ name: String, number: Int, byteCount: Int) -> Request? {
    guard let function = functions[name] else { return nil }
    return Request(
      function: function, parameters: parameters(name, number),
      bulk: function == .putFile ? [UInt8](repeating: UInt8(number & 0x7F), count: max(byteCount, 1)) : [])
  }

  private static let functions: [String: FunctionID] = {
    // Only those of the specification have a name.
    let all = (1...200 as ClosedRange<UInt32>).map { FunctionID(rawValue: $0) }
    return Dictionary(all.map { ("\($0)", $0) }, uniquingKeysWith: { first, _ in first })
  }()

  private static func text(_ text: String) -> JSONValue { .string(text) }

  private static let speech = JSONValue.array([.object(["text": text("Turn left"), "type": text("TEXT")])])

  private static func fileName(_ number: Int) -> JSONValue { text("picture-\(number)") }

  private static func parameters(_ name: String, _ number: Int) -> JSONObject {
    let id = JSONValue.integer(number)
    switch name {
    case "GetVehicleData", "SubscribeVehicleData", "UnsubscribeVehicleData": return ["speed": .bool(true)]
    case "AddCommand":
      return [
        "cmdID": id, "menuParams": .object(["menuName": text("Command \(number)")]),
        "vrCommands": .array([text("command \(number)")]),
      ]
    case "DeleteCommand": return ["cmdID": id]
    case "AddSubMenu": return ["menuID": .integer(number + 1), "menuName": text("Menu \(number)")]
    case "DeleteSubMenu": return ["menuID": .integer(number + 1)]
    case "CreateInteractionChoiceSet":
      let choice: JSONObject = [
        "choiceID": id, "menuName": text("Choice \(number)"), "vrCommands": .array([text("choice \(number)")]),
      ]
      return ["interactionChoiceSetID": id, "choiceSet": .array([.object(choice)])]
    case "DeleteInteractionChoiceSet": return ["interactionChoiceSetID": id]
    case "PerformInteraction":
      return [
        "initialText": text("Where to?"), "interactionMode": text("MANUAL_ONLY"),
        "interactionChoiceSetIDList": .array([id]), "timeout": .integer(5000),
      ]
    case "Alert", "SubtleAlert":
      let button: JSONObject = [
        "softButtonID": id, "type": text("TEXT"), "text": text("Yes"), "systemAction": text("DEFAULT_ACTION"),
      ]
      return [
        "alertText1": text("Turn around"), "duration": .integer(3000), "softButtons": .array([.object(button)]),
      ]
    case "ScrollableMessage": return ["scrollableMessageBody": text("Much to read"), "timeout": .integer(3000)]
    case "Slider":
      return [
        "numTicks": .integer(5), "position": .integer(2), "sliderHeader": text("Volume"), "timeout": .integer(3000),
      ]
    case "Show": return ["mainField1": text("\(number) km")]
    case "ShowConstantTBT": return ["navigationText1": text("Turn left in \(number) m")]
    case "UpdateTurnList": return ["turnList": .array([.object(["navigationText": text("Turn left")])])]
    case "AlertManeuver", "Speak": return ["ttsChunks": speech]
    case "SetMediaClockTimer": return ["updateMode": text("CLEAR")]
    case "SetGlobalProperties": return ["helpPrompt": speech]
    case "ResetGlobalProperties": return ["properties": .array([text("HELPPROMPT")])]
    case "PerformAudioPassThru":
      return [
        "samplingRate": text("16KHZ"), "maxDuration": .integer(1500), "bitsPerSample": text("16_BIT"),
        "audioType": text("PCM"),
      ]
    case "PutFile": return ["syncFileName": fileName(number), "fileType": text("BINARY")]
    case "DeleteFile", "SetAppIcon": return ["syncFileName": fileName(number)]
    case "SystemRequest": return ["requestType": text("HTTP")]
    case "ChangeRegistration": return ["language": text("EN-US"), "hmiDisplayLanguage": text("EN-US")]
    case "CancelInteraction": return ["functionID": .integer(12)]
    case "GetSystemCapability": return ["systemCapabilityType": text("NAVIGATION")]
    case "SubscribeButton", "UnsubscribeButton": return ["buttonName": text("PRESET_\(number % 10)")]
    case "SendLocation": return ["longitudeDegrees": .number(9.5), "latitudeDegrees": .number(48.5)]
    default: return [:]
    }
  }
}
