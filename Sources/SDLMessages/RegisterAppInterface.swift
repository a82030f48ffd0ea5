import SDLWire

/// A version of the RPC set (`SyncMsgVersion`).
package struct RPCVersion: Comparable, Hashable, Sendable, CustomStringConvertible {
  package var major: Int
  package var minor: Int
  package var patch: Int

  package init(_ major: Int, _ minor: Int = 0, _ patch: Int = 0) {
    self.major = major
    self.minor = minor
    self.patch = patch
  }

  init?(json: JSONValue?) {
    guard let object = json?.object, let major = object["majorVersion"]?.integer else { return nil }
    self.init(major, object["minorVersion"]?.integer ?? 0, object["patchVersion"]?.integer ?? 0)
  }

  var json: JSONValue {
    .object(["majorVersion": .integer(major), "minorVersion": .integer(minor), "patchVersion": .integer(patch)])
  }

  /// "8.0.0".
  package var description: String { "\(major).\(minor).\(patch)" }

  package static func < (lhs: Self, rhs: Self) -> Bool {
    (lhs.major, lhs.minor, lhs.patch) < (rhs.major, rhs.minor, rhs.patch)
  }
}

/// RegisterAppInterface, request.
package struct RegisterAppInterface: RPCParameters {
  /// Highest RPC version of the app.
  package var rpcVersion: RPCVersion
  /// 1 to 100 characters.
  package var appName: String
  /// 1 to 100 characters; identifies the app in the head unit's policies.
  package var appID: String
  /// The long form of ``appID``, since RPC 5.0, of 1 to 100 characters; nil if there is none.
  package var fullAppID: String?
  /// A language tag such as EN-US.
  package var language: String
  package var isMediaApplication: Bool
  package var appTypes: [AppHMIType]
  /// The name for speech output (`ttsName`).
  package var spokenName: String?
  /// Other names by which the driver can call the app (`vrSynonyms`).
  package var synonyms: [String] = []

  package init(
    rpcVersion: RPCVersion, appName: String, appID: String, language: String, isMediaApplication: Bool,
    appTypes: [AppHMIType], spokenName: String? = nil, synonyms: [String] = []
  ) {
    self.rpcVersion = rpcVersion
    self.appName = appName
    self.appID = appID
    fullAppID = appID
    self.language = language
    self.isMediaApplication = isMediaApplication
    self.appTypes = appTypes
    self.spokenName = spokenName
    self.synonyms = synonyms
  }

  /// Members that the specification calls mandatory become empty when missing.
  package init(json: JSONObject) {
    rpcVersion = RPCVersion(json: json["syncMsgVersion"]) ?? RPCVersion(0)
    appName = json["appName"]?.string ?? ""
    appID = json["appID"]?.string ?? ""
    fullAppID = json["fullAppID"]?.string
    language = json["languageDesired"]?.string ?? ""
    isMediaApplication = json["isMediaApplication"]?.bool ?? false
    appTypes = json.enumerations("appHMIType") ?? []
    spokenName = json["ttsName"]?.array?.first?.object?["text"]?.string
    synonyms = (json["vrSynonyms"]?.array ?? []).compactMap(\.string)
  }

  package var json: JSONObject {
    JSONObject(present: [
      "syncMsgVersion": rpcVersion.json,
      "appName": .string(appName),
      "appID": .string(appID),
      "fullAppID": fullAppID.map(JSONValue.string),
      "languageDesired": .string(language),
      "hmiDisplayLanguageDesired": .string(language),
      "isMediaApplication": .bool(isMediaApplication),
      "appHMIType": .array(appTypes.map { .string($0.rawValue) }),
      "ttsName": spokenName.map { .array([.object(["text": .string($0), "type": .string("TEXT")])]) },
      "vrSynonyms": synonyms.isEmpty ? nil : .array(synonyms.map(JSONValue.string)),
    ])
  }
}

/// ChangeRegistration, request: another language of the app's name.
package struct ChangeRegistration: Equatable, Sendable {
  /// A language tag such as DE-DE, for speech and display.
  package var language: String
  /// 1 to 100 characters.
  package var appName: String

  package init(language: String, appName: String) {
    self.language = language
    self.appName = appName
  }

  package var json: JSONObject {
    [
      "language": .string(language), "hmiDisplayLanguage": .string(language), "appName": .string(appName),
    ]
  }
}

/// RegisterAppInterface, response: the members that this project uses.
package struct RegisterAppInterfaceResponse: RPCParameters {
  package var result: RPCResult
  /// Negotiated RPC version.
  package var rpcVersion: RPCVersion?
  package var language: String?
  /// `hmiDisplayLanguage`.
  package var displayLanguage: String?
  /// Whether the head unit still has the app's icon (RPC 5.0).
  package var isIconResumed = false
  /// `hmiCapabilities.videoStreaming`; nil when the head unit does not say.
  package var videoStreaming: Bool?
  /// `displayCapabilities.graphicSupported`, which stands in for ``videoStreaming`` in RPC 3.0–4.4.
  package var graphicSupported: Bool?
  /// `displayCapabilities.screenParams.resolution`: the video size of head units without a video capability.
  package var screenResolution: VideoSize?
  /// `pcmStreamCapabilities`; nil when it is missing, or its values are not those of the specification.
  package var pcmFormat: PCMFormat?
  /// `buttonCapabilities` (deprecated in 6.0): the buttons that can be subscribed to; nil when the head unit does not
  /// say.
  package var buttons: [ButtonName]?
  /// `vehicleType` (deprecated in 7.1); texts that were sent are printable here.
  package var make: String?
  package var model: String?
  package var modelYear: String?
  package var trim: String?
  package var systemSoftwareVersion: String?

  package init(result: RPCResult) {
    self.result = result
  }

  package init(json: JSONObject) {
    self.init(result: RPCResult(json: json))
    rpcVersion = RPCVersion(json: json["syncMsgVersion"])
    language = json["language"]?.string
    displayLanguage = json["hmiDisplayLanguage"]?.string
    isIconResumed = json["iconResumed"]?.bool ?? false
    videoStreaming = json["hmiCapabilities"]?.object?["videoStreaming"]?.bool
    let display = json["displayCapabilities"]?.object
    graphicSupported = display?["graphicSupported"]?.bool
    screenResolution = VideoSize(json: display?["screenParams"]?.object?["resolution"])
    pcmFormat = PCMFormat(json: json["pcmStreamCapabilities"])
    buttons = ButtonName.list(in: json["buttonCapabilities"])
    let vehicle = json["vehicleType"]?.object
    make = vehicle?["make"]?.string?.printable(limit: 100)
    model = vehicle?["model"]?.string?.printable(limit: 100)
    modelYear = vehicle?["modelYear"]?.string?.printable(limit: 100)
    trim = vehicle?["trim"]?.string?.printable(limit: 100)
    systemSoftwareVersion = json["systemSoftwareVersion"]?.string?.printable(limit: 100)
  }

  package var json: JSONObject {
    var json = result.json
    json["syncMsgVersion"] = rpcVersion?.json
    json["language"] = language.map(JSONValue.string)
    json["hmiDisplayLanguage"] = displayLanguage.map(JSONValue.string)
    json["iconResumed"] = isIconResumed ? .bool(true) : nil
    json["hmiCapabilities"] = videoStreaming.map { .object(["videoStreaming": .bool($0)]) }
    json["systemSoftwareVersion"] = systemSoftwareVersion.map(JSONValue.string)
    json["displayCapabilities"] = displayCapabilities
    json["pcmStreamCapabilities"] = pcmFormat?.json
    json["buttonCapabilities"] = buttons.map(ButtonName.capabilities)
    let vehicle = JSONObject(present: [
      "make": make.map(JSONValue.string), "model": model.map(JSONValue.string),
      "modelYear": modelYear.map(JSONValue.string), "trim": trim.map(JSONValue.string),
    ])
    json["vehicleType"] = vehicle.isEmpty ? nil : .object(vehicle)
    return json
  }

  private var displayCapabilities: JSONValue? {
    guard screenResolution != nil || graphicSupported != nil else { return nil }
    let touch: JSONObject = [
      "pressAvailable": .bool(true), "multiTouchAvailable": .bool(true), "doublePressAvailable": .bool(false),
    ]
    return .object(
      JSONObject(present: [
        "displayType": .string("SDL_GENERIC"),
        "displayName": .string("SDL"),
        "graphicSupported": .bool(graphicSupported ?? true),
        "mediaClockFormats": .array([]),
        "textFields": .array([
          .object([
            "name": .string("mainField1"), "characterSet": .string("UTF_8"), "width": .integer(40), "rows": .integer(1),
          ])
        ]),
        "screenParams": screenResolution.map {
          .object(["resolution": $0.json, "touchEventAvailable": .object(touch)])
        },
      ]))
  }
}
