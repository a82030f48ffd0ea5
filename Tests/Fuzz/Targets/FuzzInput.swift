import SDLMessages
import SDLWire

/// Numbers and pieces from the front of a fuzzer's bytes; zeros and nothing once they are used up.
struct FuzzInput {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) {
    rest = bytes[...]
  }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func flag() -> Bool { byte() & 1 == 1 }

  /// 0 to `limit` - 1, at most 65 535.
  mutating func number(below limit: Int) -> Int {
    (limit > 256 ? Int(byte()) << 8 | Int(byte()) : Int(byte())) % limit
  }

  mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[number(below: choices.count)] }

  /// A piece with its length in front.
  mutating func piece(limit: Int = 256) -> [UInt8] {
    let piece = rest.prefix(number(below: limit))
    rest = rest.dropFirst(piece.count)
    return Array(piece)
  }

  mutating func text() -> String { String(decoding: piece(limit: 64), as: UTF8.self) }

  /// 0 to 65 s, in steps that grow.
  mutating func time() -> Duration {
    let step = byte()
    return .milliseconds(step < 200 ? Int(step) : (Int(step) - 199) * (Int(step) - 199) * 20)
  }

  /// Parameters of an RPC: names that one knows, and values of any kind.
  mutating func parameters(depth: Int = 0) -> JSONObject {
    var object: JSONObject = [:]
    for _ in 0..<number(below: 6) { object[pick(Self.names)] = value(depth: depth) }
    return object
  }

  private mutating func value(depth: Int) -> JSONValue {
    switch number(below: depth < 4 ? 10 : 7) {
    case 0: .null
    case 1: .bool(flag())
    case 2: .integer(Int(byte()))
    case 3: .integer(pick([-1, 0, 65_535, 65_536, .max, .min, 1 << 31, 800, 480]))
    case 4: .number(pick([0.5, 1e300, -1e300, 0x1p53, .infinity, 1.5]))
    case 5: .string(pick(Self.values))
    case 6: .string(text())
    case 7: .array((0..<number(below: 8)).map { _ in value(depth: depth + 1) })
    default: .object(parameters(depth: depth + 1))
    }
  }

  /// Of members that either side reads.
  private static let names = [
    "success", "resultCode", "info", "hmiLevel", "audioStreamingState", "systemContext", "videoStreamingState",
    "windowID", "appName", "appID", "appHMIType", "isMediaApplication", "syncMsgVersion", "majorVersion",
    "minorVersion", "language", "languageDesired", "hmiDisplayLanguageDesired", "ngnMediaScreenAppName", "vrSynonyms",
    "ttsName", "text", "type", "fullAppID", "hashID", "deviceInfo", "displayCapabilities", "screenParams",
    "resolution", "resolutionWidth", "resolutionHeight", "touchEventAvailable", "pressAvailable", "hmiCapabilities",
    "videoStreaming", "vehicleType", "make", "model", "pcmStreamCapabilities", "samplingRate", "bitsPerSample",
    "audioType", "systemCapability", "systemCapabilityType", "videoStreamingCapability", "preferredResolution",
    "maxBitrate", "supportedFormats", "protocol", "codec", "hapticSpatialDataSupported", "diagonalScreenSize",
    "pixelPerInch", "scale", "preferredFPS", "additionalVideoStreamingCapabilities", "subscribe", "event", "id", "ts",
    "c", "x", "y", "hapticRectData", "rect", "width", "height", "permissionItem", "rpcName", "hmiPermissions",
    "allowed", "userDisallowed", "parameterPermissions", "requireEncryption", "state", "lockScreenDismissalEnabled",
    "reason", "buttonName", "buttonPressMode", "buttonEventMode", "customButtonID", "requestType", "url", "fileType",
    "timeout", "offset", "length", "cmdID", "menuParams", "menuName", "parentID", "position", "menuID", "choiceSet",
    "choiceID", "interactionChoiceSetIDList", "initialText", "interactionMode", "softButtons", "softButtonID",
    "isHighlighted", "systemAction", "alertText1", "ttsChunks", "duration", "playTone", "scrollableMessageBody",
    "numTicks", "sliderHeader", "sliderFooter", "mainField1", "templateConfiguration", "displayLayout",
    "syncFileName", "persistentFile", "crc", "startTime", "hours", "minutes", "seconds", "updateMode", "vrCommands",
    "helpPrompt", "timeoutPrompt", "vrHelp", "keyboardProperties", "maxDuration", "bitsPerSample", "muteAudio",
    "image", "value", "imageType", "appCapability", "appCapabilityType", "cancelID", "functionID", "turnList",
    "cmdIcon",
  ]

  private static let values = [
    "", "SUCCESS", "DISALLOWED", "REJECTED", "WRONG_LANGUAGE", "RESUME_FAILED", "GENERIC_ERROR", "FULL", "LIMITED",
    "BACKGROUND", "NONE", "STREAMABLE", "NOT_STREAMABLE", "AUDIBLE", "ATTENUATED", "NOT_AUDIBLE", "MAIN", "MENU",
    "VIDEO_STREAMING", "RAW", "RTP", "H264", "VP8", "NAVIGATION", "PROJECTION", "MEDIA", "EN-US", "16KHZ", "44KHZ",
    "8_BIT", "16_BIT", "PCM", "BEGIN", "MOVE", "END", "CANCEL", "DD_ON", "DD_OFF", "OK", "PLAY_PAUSE", "PRESET_0",
    "SHORT", "LONG", "BUTTONDOWN", "BUTTONUP", "CUSTOM_BUTTON", "PROPRIETARY", "HTTP", "LOCK_SCREEN_ICON_URL",
    "MANUAL_ONLY", "BOTH", "VR_ONLY", "TEXT", "IMAGE", "DYNAMIC", "GRAPHIC_PNG", "COUNTUP", "CLEAR", "SILENCE",
    "FILE", "RemoteTouch", "OnTouchEvent", "MAIN_MENU", "DEFAULT_ACTION", "IGNITION_OFF", "PROTOCOL_VIOLATION",
  ]
}

/// Traps unless a rule holds, in release builds too, and names it.
func rule(_ holds: Bool, _ text: @autoclosure () -> String) {
  if !holds { fatalError(text()) }
}
