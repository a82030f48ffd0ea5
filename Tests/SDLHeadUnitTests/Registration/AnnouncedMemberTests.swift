import SDLHeadUnit
import SDLMessages
import Testing

/// The members that SDL Core 8.2.0 sends with its own HMI, in what it announces to apps. Libraries read some of them
/// without asking whether they are there, although the RPC specification calls them optional.
@Suite struct AnnouncedMemberTests {
  private static let button = ["name", "shortPressAvailable", "longPressAvailable", "upDownAvailable"]
  private static let softButton = [
    "shortPressAvailable", "longPressAvailable", "upDownAvailable", "imageSupported", "textSupported",
  ]
  private static let audio = ["samplingRate", "bitsPerSample", "audioType"]
  private static let template = joined(
    ["templatesAvailable", "numCustomPresetsAvailable"],
    members(of: "textFields", ["name", "characterSet", "width", "rows"]),
    members(
      of: "imageFields",
      ["name", "imageTypeSupported", "imageResolution.resolutionWidth", "imageResolution.resolutionHeight"]))

  private static let registration = joined(
    [
      "success", "resultCode", "language", "hmiDisplayLanguage", "hmiZoneCapabilities", "speechCapabilities",
      "prerecordedSpeech", "vrCapabilities", "supportedDiagModes", "sdlVersion", "systemSoftwareVersion", "iconResumed",
      "presetBankCapabilities.onScreenPresetsAvailable",
    ],
    members(of: "syncMsgVersion", ["majorVersion", "minorVersion", "patchVersion"]),
    members(of: "buttonCapabilities", button), members(of: "softButtonCapabilities", softButton),
    members(of: "audioPassThruCapabilities", audio), members(of: "pcmStreamCapabilities", audio),
    members(of: "vehicleType", ["make", "model", "modelYear", "trim"]),
    members(
      of: "hmiCapabilities",
      [
        "navigation", "phoneCall", "videoStreaming", "remoteControl", "appServices", "displays", "seatLocation",
        "driverDistraction",
      ]),
    members(
      of: "displayCapabilities",
      [
        "displayType", "displayName", "mediaClockFormats", "graphicSupported",
        "screenParams.resolution.resolutionWidth", "screenParams.resolution.resolutionHeight",
        "screenParams.touchEventAvailable.pressAvailable", "screenParams.touchEventAvailable.multiTouchAvailable",
        "screenParams.touchEventAvailable.doublePressAvailable",
      ]),
    members(of: "displayCapabilities", template))

  private static let window = joined(
    ["imageTypeSupported", "menuLayoutsAvailable"], template,
    members(of: "buttonCapabilities", button), members(of: "softButtonCapabilities", softButton),
    [
      "dynamicUpdateCapabilities.supportedDynamicImageFieldNames",
      "dynamicUpdateCapabilities.supportsDynamicSubMenus", "keyboardCapabilities.maskInputCharactersSupported",
      "keyboardCapabilities.supportedKeyboards.keyboardLayout",
      "keyboardCapabilities.supportedKeyboards.numConfigurableKeys",
    ])
  private static let displays = joined(
    ["displayName", "windowTypeSupported.type", "windowTypeSupported.maximumNumberOfWindows"],
    members(of: "windowCapabilities", window))

  private static let seat = ["row", "col", "level", "rowspan", "colspan", "levelspan"]

  private static let capabilities: [String: [String]] = [
    "NAVIGATION": members(of: "navigationCapability", ["sendLocationEnabled", "getWayPointsEnabled"]),
    "PHONE_CALL": ["phoneCapability.dialNumberEnabled"],
    "SEAT_LOCATION": joined(
      members(of: "seatLocationCapability", ["rows", "columns", "levels"]),
      members(of: "seatLocationCapability.seats", seat)),
    "DRIVER_DISTRACTION": members(of: "driverDistractionCapability", ["menuLength", "subMenuDepth"]),
    "APP_SERVICES": ["appServicesCapabilities.appServices"],
    "DISPLAYS": members(of: "displayCapabilities", displays),
    "VIDEO_STREAMING": members(
      of: "videoStreamingCapability",
      [
        "preferredResolution.resolutionWidth", "preferredResolution.resolutionHeight", "maxBitrate",
        "supportedFormats.protocol", "supportedFormats.codec", "hapticSpatialDataSupported", "diagonalScreenSize",
        "pixelPerInch", "scale", "preferredFPS",
        "additionalVideoStreamingCapabilities.preferredResolution.resolutionWidth",
        "additionalVideoStreamingCapabilities.preferredResolution.resolutionHeight",
        "additionalVideoStreamingCapabilities.hapticSpatialDataSupported",
        "additionalVideoStreamingCapabilities.scale", "additionalVideoStreamingCapabilities.diagonalScreenSize",
      ]),
  ]

  /// The paths of an object's members.
  private static func members(of object: String, _ members: [String]) -> [String] {
    members.map { "\(object).\($0)" }
  }

  private static func joined(_ parts: [String]...) -> [String] { parts.flatMap { $0 } }

  /// What this head unit does not send, and why.
  private static let leftOut = [
    "supportedDiagModes": "DiagnosticMessage is not answered",
    "displayCapabilities.windowCapabilities.dynamicUpdateCapabilities.supportedDynamicImageFieldNames":
      "no file is asked for (OnUpdateFile)",
    "displayCapabilities.windowCapabilities.dynamicUpdateCapabilities.supportsDynamicSubMenus":
      "no submenu is asked for (OnUpdateSubMenu)",
  ]

  /// The paths of all members that are no objects. An entry of a list has those that every entry has, as libraries read
  /// them of every entry.
  private static func paths(_ value: JSONValue, _ path: String = "") -> Set<String> {
    switch value {
    case .object(let members):
      return members.reduce(into: []) { $0.formUnion(paths($1.value, path.isEmpty ? $1.key : "\(path).\($1.key)")) }
    case .array(let entries):
      guard let first = entries.first, case .object = first else { return [path] }
      return entries.dropFirst().reduce(paths(first, path)) { $0.intersection(paths($1, path)) }
    default: return [path]
    }
  }

  private static func check(_ sent: JSONValue?, has members: [String]) throws {
    let missing = Set(members).subtracting(paths(try #require(sent)))
    #expect(missing.subtracting(leftOut.keys) == [])
  }

  @Test func registration() throws {
    var app = TestApp(HeadUnitPreset.core.configuration)
    app.startSession()
    app.register()
    let response = try #require(app.rpcs.first { $0.type == .response }).parameters
    try Self.check(.object(response), has: Self.registration)
    #expect(response["supportedDiagModes"] == nil)
    let notification = try #require(app.rpcs.first { $0.function == .onSystemCapabilityUpdated }).parameters
    let capability = try #require(notification["systemCapability"])
    try Self.check(capability, has: Self.members(of: "displayCapabilities", Self.displays))
  }

  @Test(arguments: capabilities.keys.sorted()) func capability(type: String) throws {
    var app = TestApp.registered(HeadUnitPreset.core.configuration)
    app.request(.getSystemCapability, ["systemCapabilityType": .string(type)])
    var members = try #require(Self.capabilities[type])
    // Of some further sizes SDL Core states no scale.
    members.removeAll { $0.hasSuffix("additionalVideoStreamingCapabilities.scale") }
    try Self.check(app.rpcs.last?.parameters["systemCapability"], has: members)
  }

  /// What is not done is not announced. The rest can be granted.
  @Test func announced() throws {
    var app = TestApp()
    app.startSession()
    app.register()
    let promised = try #require(app.rpcs.first?.parameters["hmiCapabilities"]?.object)
    let supported = promised.filter { $0.value == .bool(true) }.keys.sorted()
    #expect(supported == ["displays", "driverDistraction", "seatLocation", "videoStreaming"])
    for (type, member) in [("NAVIGATION", "navigationCapability"), ("PHONE_CALL", "phoneCapability")] {
      app.request(.getSystemCapability, ["systemCapabilityType": .string(type)])
      let capability = app.rpcs.last?.parameters["systemCapability"]?.object?[member]?.object
      #expect(capability?.isEmpty == false && capability?.values.allSatisfy { $0 == .bool(false) } == true)
    }
  }

  /// Each app has the buttons that it shows itself.
  @Test func ownButtons() {
    var app = TestApp.active()
    let id = app.request(.subscribeButton, ["buttonName": .string("CUSTOM_BUTTON")])
    #expect(app.result(id)?.resultCode == "IGNORED")
  }
}
