import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// What SDL Core 8.2.0 was seen to answer to odd requests of apps. Which texts it looks at is from its source.
@Suite struct OddConversationTests {
  private static let core = HeadUnitPreset.core.configuration

  private static func parameters(_ text: String) throws -> JSONObject {
    try JSONObject(parsing: Array(text.utf8)[...])
  }

  private func code(_ app: inout TestApp, _ function: FunctionID, _ text: String) throws -> String? {
    let id = app.request(function, try Self.parameters(text))
    return app.result(id)?.resultCode
  }

  private static func letters(_ count: Int) -> JSONValue { .string(String(repeating: "n", count: count)) }
  private static func deviceInfo(_ key: String, _ value: JSONValue) -> JSONValue { .object([key: value]) }

  /// Each is answered INVALID_DATA, and then the session is ended.
  @Test(
    arguments: [
      ("a name of blanks", "appName", .string("   ")), ("a line break", "appName", .string("Map\n")),
      ("a tab", "appName", .string("Map\t2")), ("a line break as in C", "appName", .string("Map\\n")),
      ("a tab in a synonym", "vrSynonyms", .array([.string("a\tb")])),
      ("an empty full id", "fullAppID", .string("")), ("an empty hash", "hashID", .string("")),
      ("no synonym", "vrSynonyms", .array([])), ("a long synonym", "vrSynonyms", .array([letters(41)])),
      ("no spoken name", "ttsName", .array([])), ("a long short name", "ngnMediaScreenAppName", letters(101)),
      (
        "a colour of 256", "dayColorScheme",
        .object(["primaryColor": .object(["red": .integer(256), "green": .integer(0), "blue": .integer(0)])])
      ),
      ("a spoken name of blanks", "ttsName", .array([.object(["text": .string(" "), "type": .string("TEXT")])])),
      ("a carrier of blanks", "deviceInfo", deviceInfo("carrier", .string(" "))),
      ("a number as carrier", "deviceInfo", deviceInfo("carrier", .integer(7))),
      ("a text as port count", "deviceInfo", deviceInfo("maxNumberRFCOMMPorts", .string("7"))),
      ("a list as device", "deviceInfo", .array([])),
      (
        "a version with a fraction", "syncMsgVersion",
        .object(["majorVersion": .number(8.5), "minorVersion": .integer(0)])
      ),
      ("an unknown language", "hmiDisplayLanguageDesired", .string("XX-XX")),
    ] as [(String, String, JSONValue)])
  func registrationsThatAreRefused(what: String, key: String, value: JSONValue) {
    var app = TestApp(Self.core)
    app.startSession()
    let id = app.register { $0[key] = value }
    #expect(app.result(id)?.resultCode == "INVALID_DATA", "\(what)")
    #expect(app.controls == ["rpc startServiceACK", "rpc endService"] && app.isClosed)
  }

  /// The limits themselves are within.
  @Test(
    arguments: [
      ("appName", letters(100)), ("vrSynonyms", .array([letters(40)])), ("ngnMediaScreenAppName", letters(100)),
      ("deviceInfo", deviceInfo("carrier", .string(""))), ("newMember", .object([:])),
      ("ttsName", .array([.object(["text": .string(""), "type": .string("TEXT")])])),
    ] as [(String, JSONValue)])
  func registrationsThatAreTaken(key: String, value: JSONValue) {
    var app = TestApp(Self.core)
    app.startSession()
    let id = app.register { $0[key] = value }
    #expect(app.result(id) == RPCResult(success: true, resultCode: .success))
  }

  @Test(
    arguments: [
      ("appHMIType", .array([.string("WEB_VIEW")]), "DISALLOWED", false),
      ("appHMIType", .array([.string("STREAMER")]), "WARNINGS", true),
      ("appHMIType", .array([.string("STREAMER"), .string("NAVIGATION")]), "WARNINGS", true),
      ("hashID", .string("of another time"), "RESUME_FAILED", true),
      ("hmiDisplayLanguageDesired", .string("DE-DE"), "WRONG_LANGUAGE", true),
      ("languageDesired", .string("DE-DE"), "WRONG_LANGUAGE", true),
    ] as [(String, JSONValue, String, Bool)])
  func registrationsWithAnotherResult(key: String, value: JSONValue, code: String, success: Bool) {
    var app = TestApp(Self.core)
    app.startSession()
    let id = app.register { $0[key] = value }
    #expect(app.result(id)?.resultCode == code && app.result(id)?.success == success)
    #expect(app.isClosed == !success)
  }

  /// Unknown values of enumerations are left out, so that newer apps can register.
  @Test func unknownTypesOfApps() throws {
    var app = TestApp(Self.core)
    app.startSession()
    let id = app.register { $0["appHMIType"] = .array([.string("STREAMER"), .string("NAVIGATION")]) }
    #expect(app.result(id)?.info == #"Ignored: appHMIType[0] has the unknown value "STREAMER""#)
    let types = app.events.compactMap { if case .appRegistered(_, _, let types, _, _) = $0 { types } else { nil } }
    #expect(types == [[.navigation]])
  }

  @Test(
    arguments: [
      ("Map", ["Roads"], AppIdentity(id: "9", name: "roads")),
      ("Map", [], AppIdentity(id: "9", name: "Radio", spokenNames: ["Music", "MAP"])),
    ])
  func spokenNamesAreTaken(name: String, spoken: [String], other: AppIdentity) {
    var app = TestApp(Self.core)
    app.run { $0.setApps([], samePhone: [other], now: $1) }
    app.startSession()
    let id = app.register { $0["vrSynonyms"] = spoken.isEmpty ? nil : .array(spoken.map { .string($0) }) }
    #expect(app.result(id)?.resultCode == "DUPLICATE_NAME")
    // Two apps may listen to the same words.
    var second = TestApp(Self.core)
    second.run { $0.setApps([], samePhone: [AppIdentity(id: "9", name: "Radio", spokenNames: ["Go"])], now: $1) }
    second.startSession()
    let both = second.register { $0["vrSynonyms"] = .array([.string("go")]) }
    #expect(second.result(both)?.success == true)
  }

  /// In the state of an app that navigates, is not a media app, and has the submenu 5, the command 6 and the image
  /// "here".
  @Test(
    arguments: [
      ("an empty Show", .show, "{}", "INVALID_DATA"),
      ("a Show of unknown members", .show, #"{"field":"x"}"#, "INVALID_DATA"),
      ("a Show with a number", .show, #"{"mainField1":5}"#, "INVALID_DATA"),
      ("a line break", .show, #"{"mainField1":"a\nb"}"#, "INVALID_DATA"),
      ("a text of blanks", .show, #"{"mainField1":"  "}"#, "INVALID_DATA"),
      ("an empty text", .show, #"{"mainField1":""}"#, "SUCCESS"),
      (
        "lines that scroll", .scrollableMessage, #"{"scrollableMessageBody":"a\nb","timeout":1000}"#, "SUCCESS"
      ),
      ("a second text of lines", .addSubMenu, #"{"menuID":7,"menuName":"A","secondaryText":"a\nb"}"#, "SUCCESS"),
      ("an unknown alignment", .show, #"{"mainField1":"a","alignment":"DIAGONAL"}"#, "WARNINGS"),
      ("an image that is there", .show, #"{"graphic":{"imageType":"DYNAMIC","value":"here"}}"#, "SUCCESS"),
      ("an image of the car", .show, #"{"graphic":{"imageType":"STATIC","value":"0x11"}}"#, "SUCCESS"),
      ("a missing image", .show, #"{"graphic":{"imageType":"DYNAMIC","value":"gone"}}"#, "WARNINGS"),
      ("no kind of image", .show, #"{"graphic":{"imageType":"PAINTING","value":"here"}}"#, "INVALID_DATA"),
      (
        "a missing icon of a command", .addCommand,
        #"{"cmdID":1,"menuParams":{"menuName":"A"},"cmdIcon":{"imageType":"DYNAMIC","value":"gone"}}"#, "WARNINGS"
      ),
      (
        "an unknown template beside a text", .show,
        #"{"mainField1":"a","templateConfiguration":{"template":"COMIC"}}"#, "WARNINGS"
      ),
      ("an unknown layout", .setDisplayLayout, #"{"displayLayout":"COMIC"}"#, "UNSUPPORTED_REQUEST"),
      ("the layout of media apps", .setDisplayLayout, #"{"displayLayout":"MEDIA"}"#, "UNSUPPORTED_REQUEST"),
      ("an empty AlertManeuver", .alertManeuver, "{}", "INVALID_DATA"),
      ("an empty UpdateTurnList", .updateTurnList, "{}", "INVALID_DATA"),
      ("a turn", .updateTurnList, #"{"turnList":[{"navigationText":"left"}]}"#, "SUCCESS"),
      (
        "an unknown language", .changeRegistration, #"{"language":"XX","hmiDisplayLanguage":"EN-US"}"#,
        "INVALID_DATA"
      ),
      (
        "the name of another app", .changeRegistration,
        #"{"language":"EN-US","hmiDisplayLanguage":"EN-US","appName":"radio"}"#, "DUPLICATE_NAME"
      ),
      (
        "its own name", .changeRegistration,
        #"{"language":"EN-US","hmiDisplayLanguage":"EN-US","appName":"Map"}"#, "SUCCESS"
      ),
      ("a preset without being media", .subscribeButton, #"{"buttonName":"PRESET_0"}"#, "REJECTED"),
      ("a button of a map", .subscribeButton, #"{"buttonName":"NAV_ZOOM_IN"}"#, "SUCCESS"),
      ("an unknown button", .subscribeButton, #"{"buttonName":"HORN"}"#, "INVALID_DATA"),
      ("a clock without being media", .setMediaClockTimer, #"{"updateMode":"PAUSE"}"#, "REJECTED"),
      (
        "an absent parent", .addCommand, #"{"cmdID":1,"menuParams":{"menuName":"A","parentID":9}}"#, "INVALID_ID"
      ),
      ("a parent", .addCommand, #"{"cmdID":1,"menuParams":{"menuName":"A","parentID":5}}"#, "SUCCESS"),
      ("words that are taken", .addCommand, #"{"cmdID":1,"vrCommands":["stop","GO ON"]}"#, "DUPLICATE_NAME"),
      ("an absent parent of a menu", .addSubMenu, #"{"menuID":7,"menuName":"A","parentID":9}"#, "INVALID_ID"),
      (
        "choices with the same words", .createInteractionChoiceSet,
        #"{"interactionChoiceSetID":1,"choiceSet":[{"choiceID":1,"menuName":"A","vrCommands":["a"]},"#
          + #"{"choiceID":2,"menuName":"B","vrCommands":["A"]}]}"#, "DUPLICATE_NAME"
      ),
      (
        "choices of which one can be said", .createInteractionChoiceSet,
        #"{"interactionChoiceSetID":1,"choiceSet":[{"choiceID":1,"menuName":"A","vrCommands":["a"]},"#
          + #"{"choiceID":2,"menuName":"B"}]}"#, "INVALID_DATA"
      ),
      ("a menu that is not there", .showAppMenu, #"{"menuID":9}"#, "INVALID_ID"),
      ("a menu", .showAppMenu, #"{"menuID":5}"#, "SUCCESS"),
    ] as [(String, FunctionID, String, String)])
  func requests(what: String, function: FunctionID, text: String, code: String) throws {
    var app = TestApp.active(HeadUnitPreset.listedInCore.configuration)
    app.run { $0.setApps([], samePhone: [AppIdentity(id: "9", name: "Radio")], now: $1) }
    app.send(
      RPCMessage(
        type: .request, function: .putFile, correlationID: 100,
        parameters: ["syncFileName": .string("here"), "fileType": .string("GRAPHIC_PNG")], bulk: [1]))
    #expect(try self.code(&app, .addSubMenu, #"{"menuID":5,"menuName":"More"}"#) == "SUCCESS")
    #expect(try self.code(&app, .addCommand, #"{"cmdID":6,"vrCommands":["Go on"]}"#) == "SUCCESS")
    let id = app.request(function, try Self.parameters(text))
    app.wait(.seconds(1))
    #expect(app.result(id)?.resultCode == code, "\(what)")
    #expect(app.result(id)?.success == ["SUCCESS", "WARNINGS"].contains(code), "\(what)")
    #expect(app.violations == [] && !app.isClosed)
  }

  /// The warning belongs to the request, whatever is answered in between.
  @Test func warningsOfWhatIsShownForATime() throws {
    var app = TestApp.active(Self.core)
    let alert = app.request(
      .alert, try Self.parameters(#"{"alertText1":"Hi","alertIcon":{"imageType":"DYNAMIC","value":"gone"}}"#))
    #expect(try code(&app, .show, #"{"mainField1":"a"}"#) == "SUCCESS")
    app.wait(.seconds(5))
    #expect(app.result(alert) == RPCResult(success: true, resultCode: .warnings, info: "There is no image \"gone\""))
  }

  @Test(
    arguments: [
      ("NAVIGATION", "navigationCapability"), ("PHONE_CALL", "phoneCapability"),
      ("APP_SERVICES", "appServicesCapabilities"), ("SEAT_LOCATION", "seatLocationCapability"),
      ("DRIVER_DISTRACTION", "driverDistractionCapability"), ("DISPLAYS", "displayCapabilities"),
    ])
  func capabilities(type: String, member: String) throws {
    var app = TestApp.registered(Self.core)
    let id = app.request(.getSystemCapability, ["systemCapabilityType": .string(type)])
    #expect(app.result(id) == RPCResult(success: true, resultCode: .success))
    let capability = try #require(app.rpcs.last?.parameters["systemCapability"]?.object)
    #expect(capability["systemCapabilityType"]?.string == type && capability[member] != nil)
  }

  @Test func displays() throws {
    var app = TestApp.registered(Self.core)
    app.request(.getSystemCapability, ["systemCapabilityType": .string("DISPLAYS")])
    let displays = app.rpcs.last?.parameters["systemCapability"]?.object?["displayCapabilities"]?.array
    let window = try #require(displays?.first?.object?["windowCapabilities"]?.array?.first?.object)
    #expect(window["templatesAvailable"]?.array?.contains(.string("NAV_FULLSCREEN_MAP")) == true)
    #expect(window["textFields"]?.array?.isEmpty == false && window["buttonCapabilities"]?.array?.isEmpty == false)
  }

  /// Of SDL Core's preloaded policies, by the number of entries and what is among them.
  @Test(arguments: [(HeadUnitPreset.core, 52, false), (.listedInCore, 63, true), (.standard, 63, true)])
  func policies(preset: HeadUnitPreset, count: Int, isListed: Bool) throws {
    var app = TestApp(preset.configuration)
    app.startSession()
    app.register()
    app.wait(.milliseconds(100))
    let notification = try #require(app.rpcs.first { $0.function == .onPermissionsChange })
    let levels = OnPermissionsChange(json: notification.parameters).allowedLevels
    #expect(levels.count == count)
    #expect(levels["OnTouchEvent"] == (isListed ? [.full] : nil))
    #expect(levels["SubtleAlert"] == [.full, .limited, .background] && levels["Alert"] == [.full, .limited])
    #expect(try code(&app, .sendHapticData, "{}") == (isListed ? "SUCCESS" : "DISALLOWED"))
    #expect(
      try code(&app, .showConstantTBT, #"{"navigationText1":"left"}"#) == (isListed ? "SUCCESS" : "DISALLOWED"))
    app.forget()
    let touch = OnTouchEvent(kind: .begin, fingers: [OnTouchEvent.Finger(id: 0, samples: [.init(x: 1, y: 1)])])
    app.run { $0.touch(touch, now: $1) }
    #expect(app.rpcs.count == (isListed ? 1 : 0))
  }

  @Test func alertsInTheBackground() throws {
    var app = TestApp.registered(Self.core)
    app.set(.background, .notStreamable)
    let id = app.request(.subtleAlert, ["alertText1": .string("Hi")])
    app.wait(.seconds(5))
    #expect(app.result(id)?.resultCode == "SUCCESS")
  }

  /// The level comes back as well, also where the driver has to open apps; a driver who is quicker decides.
  @Test(arguments: [(HMILevel.limited, .milliseconds(100)), (.limited, nil), (.full, nil)] as [(HMILevel, Duration?)])
  func formerLevel(level: HMILevel, activation: Duration?) throws {
    var configuration = Self.core
    var app = TestApp.active(Self.core)
    #expect(try code(&app, .subscribeButton, #"{"buttonName":"OK"}"#) == "SUCCESS")
    let hash = app.rpcs.last?.parameters["hashID"]
    app.set(level, .streamable)
    let saved = try #require(app.savedApp)
    configuration.activation = activation
    for isDriverQuicker in [false, true] {
      var next = TestApp(configuration)
      next.session.setSavedApps([saved])
      next.startSession()
      next.register { $0["hashID"] = hash }
      next.forget()
      if isDriverQuicker { next.set(.background, .notStreamable) }
      next.wait((activation ?? .seconds(3)) - .milliseconds(1))
      #expect(next.levels == (isDriverQuicker ? [.background] : []))
      next.wait(.milliseconds(1))
      #expect(next.levels == [isDriverQuicker ? .background : level])
      next.wait(.seconds(10))
      #expect(next.levels.count == 1)
    }
  }

  /// Menus and buttons come back with the hash that the app was told last.
  @Test func resumption() throws {
    var app = TestApp.active(Self.core)
    #expect(try code(&app, .addCommand, #"{"cmdID":6,"vrCommands":["Go on"]}"#) == "SUCCESS")
    #expect(try code(&app, .addCommand, #"{"cmdID":6,"vrCommands":["Stop"]}"#) == "INVALID_ID")
    #expect(try code(&app, .subscribeButton, #"{"buttonName":"OK"}"#) == "SUCCESS")
    let hashes = app.rpcs.filter { $0.function == .onHashChange }.map { $0.parameters["hashID"]?.string }
    #expect(hashes.count == 2 && hashes[0] != hashes[1])
    let saved = try #require(app.savedApp)
    for (hash, code) in [(hashes[1], "SUCCESS"), (hashes[0], "RESUME_FAILED")] {
      var next = TestApp(Self.core)
      next.session.setSavedApps([saved])
      next.startSession()
      let id = next.register { $0["hashID"] = hash.map(JSONValue.string) }
      #expect(next.result(id)?.resultCode == code && next.result(id)?.success == true)
      #expect(next.rpcs.contains { $0.function == .onHashChange } == (code == "SUCCESS"))
      #expect(next.events.contains(.buttonsSubscribed(["OK"])) == (code == "SUCCESS"))
      next.wait(.milliseconds(100))
      next.forget()
      next.run { $0.take(.button("OK"), now: $1) }
      next.run { $0.take(.menu("6"), now: $1) }
      #expect(next.rpcs.contains { $0.function == .onCommand } == (code == "SUCCESS"))
      #expect(next.rpcs.contains { $0.function == .onButtonPress } == (code == "SUCCESS"))
    }
    app.request(.unregisterAppInterface)
    #expect(app.session.savedApp == nil)
  }
}
