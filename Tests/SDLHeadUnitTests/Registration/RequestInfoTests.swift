import SDLMessages
import SDLWire
import Testing

@testable import SDLHeadUnit

/// Each refusal, and each warning, says in `info` what is wrong, and names the member, where SDL Core does so.
@Suite struct RequestInfoTests {
  private static func parameters(_ text: String) throws -> JSONObject {
    try JSONObject(parsing: Array(text.utf8))
  }

  private static let schema: [RPCSchema.Member] = [
    .needed("id", .integer(1...9)), .optional("flag", .flag), .optional("speed", .number(0...100)),
    .optional("name", .text(1...5)), .optional("file", .raw(0...3)), .optional("mode", .enumeration(["A", "B"])),
    .optional(
      "list", .list(.object([.needed("kind", .enumeration(["X"])), .optional("size", .integer(0...1))]), 1...2)),
    .optional("place", .object([.needed("row", .integer(0...9))])),
  ]

  @Test(
    arguments: [
      ("{}", "id is missing"),
      (#"{"id":10}"#, "id is 10, but 1 to 9 are allowed"), (#"{"id":0}"#, "id is 0, but 1 to 9 are allowed"),
      (#"{"id":2.5}"#, "id is a number with a fraction or an exponent, but has to be a whole number"),
      (#"{"id":"2"}"#, "id is a text, but has to be a whole number"),
      (#"{"id":null}"#, "id is null, but has to be a whole number"),
      (#"{"id":1,"flag":0}"#, "flag is a whole number, but has to be true or false"),
      (#"{"id":1,"speed":100.5}"#, "speed is 100.5, but 0.0 to 100.0 are allowed"),
      (#"{"id":1,"speed":true}"#, "speed is true, but has to be a number"),
      (#"{"id":1,"name":""}"#, "name has 0 characters, but 1 to 5 are allowed"),
      (#"{"id":1,"name":"abcdef"}"#, "name has 6 characters, but 1 to 5 are allowed"),
      (#"{"id":1,"name":"  "}"#, "name has blanks alone"),
      (#"{"id":1,"name":"a\nb"}"#, "name has a tab or a line break"),
      (#"{"id":1,"name":"a\\nb"}"#, "name has an escaped tab or line break"),
      (#"{"id":1,"name":{}}"#, "name is an object, but has to be a text"),
      (#"{"id":1,"file":"abcd"}"#, "file has 4 characters, but 0 to 3 are allowed"),
      (#"{"id":1,"mode":[]}"#, "mode is a list, but has to be a text"),
      (#"{"id":1,"list":[]}"#, "list has 0 elements, but 1 to 2 are allowed"),
      (#"{"id":1,"list":[{"kind":"X"},{"kind":"X"},{"kind":"X"}]}"#, "list has 3 elements, but 1 to 2 are allowed"),
      (#"{"id":1,"list":[{"kind":"X"},{"kind":"X","size":2}]}"#, "list[1].size is 2, but 0 to 1 are allowed"),
      (#"{"id":1,"list":[{}]}"#, "list[0].kind is missing"),
      (#"{"id":1,"list":{}}"#, "list is an object, but has to be a list"),
      (#"{"id":1,"place":{}}"#, "place.row is missing"),
      (#"{"id":1,"place":7}"#, "place is a whole number, but has to be an object"),
    ])
  func faults(text: String, info: String) throws {
    var check = RPCCheck()
    let parameters = try Self.parameters(text)
    let fault = #expect(throws: RPCFault.self) { try RPCSchema.checked(parameters, Self.schema, &check) }
    #expect(fault?.text == info)
    #expect(check.warning == nil)
  }

  /// Unknown values are left out, unless they are needed.
  @Test(
    arguments: [
      (#"{"id":1,"mode":"C"}"#, #"Ignored: mode has the unknown value "C""#),
      (#"{"id":1,"list":[{"kind":"Y"},{"kind":"X"}]}"#, #"Ignored: list[0].kind has the unknown value "Y""#),
      (
        #"{"id":1,"mode":"C","list":[{"kind":"Y\n"}]}"#,
        #"Ignored: mode has the unknown value "C"; list[0].kind has the unknown value "Y\u{A}""#
      ),
      (#"{"id":1,"mode":"A"}"#, nil),
    ] as [(String, String?)])
  func warnings(text: String, warning: String?) throws {
    var check = RPCCheck()
    _ = try RPCSchema.checked(try Self.parameters(text), Self.schema, &check)
    #expect(check.warning == warning)
  }

  /// However many and however long they are.
  @Test func warningsAreBounded() throws {
    let values = [JSONValue](repeating: .string(String(repeating: "v", count: 5000)), count: 500)
    let schema: [RPCSchema.Member] = [.optional("list", .list(.enumeration(["X"]), 0...1000))]
    var check = RPCCheck()
    _ = try RPCSchema.checked(["list": .array(values)], schema, &check)
    let warning = try #require(check.warning)
    #expect(warning.hasPrefix("Ignored: list[0] has") && warning.contains("list[2]") && !warning.contains("list[3]"))
    #expect(warning.count < 600)
  }

  /// Each in the state of an app that navigates, is not a media app, and has the submenu 5, the command 6, the file
  /// "here", and a subscription to OK.
  @Test(
    arguments: [
      (.show, "{}", "INVALID_DATA", "A parameter is needed"),
      (.show, #"{"mainField1":5}"#, "INVALID_DATA", "mainField1 is a whole number, but has to be a text"),
      (
        .show, #"{"mainField1":"a","alignment":"DIAGONAL"}"#, "WARNINGS",
        #"Ignored: alignment has the unknown value "DIAGONAL""#
      ),
      (
        .performInteraction, #"{"initialText":"a","interactionMode":"BY_MIND","interactionChoiceSetIDList":[1]}"#,
        "INVALID_DATA", #"interactionMode has the unknown value "BY_MIND""#
      ),
      (
        .show, #"{"graphic":{"imageType":"DYNAMIC","value":"gone"}}"#, "WARNINGS", #"There is no image "gone""#
      ),
      (
        .show, #"{"mainField1":"a","templateConfiguration":{"template":"COMIC"}}"#, "WARNINGS",
        #"Ignored: this head unit has no template "COMIC""#
      ),
      (
        .setDisplayLayout, #"{"displayLayout":"DEFAULT"}"#, "WARNINGS",
        "SetDisplayLayout is deprecated; use templateConfiguration of Show"
      ),
      (
        .setDisplayLayout, #"{"displayLayout":"COMIC"}"#, "UNSUPPORTED_REQUEST",
        #"This head unit has no layout "COMIC""#
      ),
      (.updateTurnList, "{}", "INVALID_DATA", "turnList or softButtons is needed"),
      (
        .show, #"{"softButtons":[{"softButtonID":1,"type":"TEXT"}]}"#, "INVALID_DATA",
        "Soft button 1 of type TEXT is without a text"
      ),
      (
        .show, #"{"softButtons":[{"softButtonID":1,"type":"TEXT","systemAction":"FLY"}]}"#, "DISALLOWED",
        #"The policies do not grant "FLY" of soft button 1"#
      ),
      (.setMediaClockTimer, #"{"updateMode":"PAUSE"}"#, "REJECTED", "The app is no media app (isMediaApplication)"),
      (.showAppMenu, #"{"menuID":9}"#, "INVALID_ID", "There is no submenu with the menuID 9"),
      (.setAppIcon, #"{"syncFileName":"gone"}"#, "INVALID_DATA", #"There is no file "gone""#),
      (.deleteFile, #"{"syncFileName":"gone"}"#, "REJECTED", #"There is no file "gone""#),
      (.putFile, #"{"syncFileName":"a","fileType":"BINARY"}"#, "INVALID_DATA", "The request has no data"),
      (.putFile, #"{"syncFileName":"a/b","fileType":"BINARY"}"#, "INVALID_DATA", "syncFileName has a slash"),
      (.putFile, #"{"syncFileName":"a"}"#, "INVALID_DATA", "fileType is missing"),
      (.addCommand, #"{"cmdID":6,"vrCommands":["x"]}"#, "INVALID_ID", "cmdID 6 exists already"),
      (.addCommand, #"{"cmdID":1}"#, "INVALID_DATA", "menuParams or vrCommands is needed"),
      (
        .addCommand, #"{"cmdID":1,"menuParams":{"menuName":"A","parentID":9}}"#, "INVALID_ID",
        "There is no submenu with the parentID 9"
      ),
      (
        .addCommand, #"{"cmdID":1,"vrCommands":["go ON"]}"#, "DUPLICATE_NAME",
        "Another command has one of these vrCommands"
      ),
      (.deleteCommand, #"{"cmdID":1}"#, "INVALID_ID", "There is no cmdID 1"),
      (.deleteSubMenu, #"{"menuID":1}"#, "INVALID_ID", "There is no menuID 1"),
      (
        .createInteractionChoiceSet,
        #"{"interactionChoiceSetID":1,"choiceSet":[{"choiceID":1,"menuName":"A","vrCommands":["a"]},"#
          + #"{"choiceID":2,"menuName":"B"}]}"#, "INVALID_DATA", "1 of 2 choices have vrCommands; all or none may"
      ),
      (
        .createInteractionChoiceSet,
        #"{"interactionChoiceSetID":1,"choiceSet":[{"choiceID":1,"menuName":"A"},{"choiceID":1,"menuName":"B"}]}"#,
        "INVALID_ID", "Two choices have the same choiceID"
      ),
      (
        .performInteraction, #"{"initialText":"a","interactionMode":"BOTH","interactionChoiceSetIDList":[4]}"#,
        "INVALID_ID", "There is no interactionChoiceSetID 4"
      ),
      (
        .performInteraction, #"{"initialText":"a","interactionMode":"BOTH","interactionChoiceSetIDList":[]}"#,
        "INVALID_DATA", "interactionChoiceSetIDList is empty, but interactionLayout is not KEYBOARD"
      ),
      (.alert, #"{"alertText3":"a"}"#, "INVALID_DATA", "alertText1, alertText2 or ttsChunks is needed"),
      (
        .slider, #"{"numTicks":3,"position":4,"sliderHeader":"a"}"#, "INVALID_DATA", "position is 4, but numTicks is 3"
      ),
      (
        .cancelInteraction, #"{"functionID":13}"#, "INVALID_ID", "functionID is 13, which can't be cancelled"
      ),
      (
        .cancelInteraction, #"{"functionID":12,"cancelID":3}"#, "IGNORED",
        "No Alert with the cancelID 3 is being shown"
      ),
      (.speak, #"{"ttsChunks":[{"type":"FILE","text":"gone"}]}"#, "FILE_NOT_FOUND", #"There is no file "gone""#),
      (.endAudioPassThru, "{}", "REJECTED", "No recording is running"),
      (
        .subscribeButton, #"{"buttonName":"PRESET_0"}"#, "REJECTED",
        "PRESET_0 is for apps that are media apps (isMediaApplication)"
      ),
      (.subscribeButton, #"{"buttonName":"SEARCH"}"#, "UNSUPPORTED_RESOURCE", "This head unit has no button SEARCH"),
      (.subscribeButton, #"{"buttonName":"HORN"}"#, "INVALID_DATA", #"buttonName has the unknown value "HORN""#),
      (.subscribeButton, #"{"buttonName":"OK"}"#, "IGNORED", "The app has already subscribed to OK"),
      (.unsubscribeButton, #"{"buttonName":"NAV_ZOOM_IN"}"#, "IGNORED", "The app has not subscribed to NAV_ZOOM_IN"),
      (
        .changeRegistration, #"{"language":"EN-US","hmiDisplayLanguage":"EN-US","appName":"radio"}"#,
        "DUPLICATE_NAME", "Another app has this name, or the driver calls it so"
      ),
      (.systemRequest, #"{"requestType":"HTTP"}"#, "REJECTED", "No OnSystemRequest has asked for HTTP"),
      (.getSystemCapability, "{}", "INVALID_DATA", "systemCapabilityType is missing"),
      (
        .getSystemCapability, #"{"systemCapabilityType":"WINGS"}"#, "UNSUPPORTED_RESOURCE",
        #"There is no capability "WINGS""#
      ),
      (
        .getSystemCapability, #"{"systemCapabilityType":"REMOTE_CONTROL"}"#, "DISALLOWED",
        "The app is not of the type REMOTE_CONTROL"
      ),
      (
        .sendHapticData, #"{"hapticRectData":[{"id":1}]}"#, "INVALID_DATA", "hapticRectData[0].rect is missing"
      ),
      (FunctionID(rawValue: 4711), "{}", "UNSUPPORTED_REQUEST", "There is no request function 4711"),
      (FunctionID(rawValue: 23), "{}", "DISALLOWED", "The policies do not allow ReadDID"),
      (
        .registerAppInterface, #"{"appName":"a"}"#, "INVALID_DATA", "syncMsgVersion is missing"
      ),
    ] as [(FunctionID, String, String, String)])
  func refusals(function: FunctionID, text: String, code: String, info: String) throws {
    var app = TestApp.active(HeadUnitPreset.listedInCore.configuration)
    app.run { $0.setApps([], samePhone: [AppIdentity(id: "9", name: "Radio")], now: $1) }
    app.send(
      RPCMessage(
        type: .request, function: .putFile, correlationID: 100,
        parameters: ["syncFileName": .string("here"), "fileType": .string("GRAPHIC_PNG")], bulk: [1]))
    app.request(.addSubMenu, ["menuID": .integer(5), "menuName": .string("More")])
    app.request(.addCommand, ["cmdID": .integer(6), "vrCommands": .array([.string("Go on")])])
    app.request(.subscribeButton, ["buttonName": .string("OK")])
    let id = app.request(function, try Self.parameters(text))
    #expect(app.result(id)?.resultCode == code)
    #expect(app.result(id)?.info == info)
  }

  @Test func levels() {
    var app = TestApp.registered(HeadUnitPreset.listedInCore.configuration)
    let alert = app.request(.alert, ["alertText1": .string("a")])
    #expect(app.result(alert)?.info == "The policies allow Alert at FULL, LIMITED, but the HMI level is NONE")
    let haptics = app.request(.sendHapticData)
    #expect(app.result(haptics)?.info == "The policies allow SendHapticData at FULL, but the HMI level is NONE")
  }

  @Test func files() {
    var app = TestApp.active()
    func put(_ parameters: JSONObject, _ id: Int32) -> String? {
      let file: JSONObject = ["syncFileName": .string("a"), "fileType": .string("BINARY")]
      app.send(
        RPCMessage(
          type: .request, function: .putFile, correlationID: id, parameters: file.merging(parameters) { $1 },
          bulk: [1, 2]))
      return app.result(id)?.info
    }
    #expect(put([:], 1) == nil)
    #expect(put(["offset": .integer(5)], 2) == "offset is 5, but the file has 2 bytes so far")
    #expect(put(["crc": .integer(5)], 3) == "crc is 5, but the data has 3066839698")
    #expect(put(["offset": .integer(2_000_000_001)], 4) == "offset is 2000000001, but 0 to 2000000000 are allowed")
  }

  @Test func overlaysAtATime() {
    var app = TestApp.active()
    app.request(.alert, ["alertText1": .string("a")])
    let second = app.request(.subtleAlert, ["alertText1": .string("a")])
    #expect(app.result(second)?.info == "Alert is being shown")
  }

  /// Before, and instead of, a registration.
  @Test func registrations() {
    var app = TestApp(HeadUnitPreset.core.configuration)
    let first = app.register()
    #expect(app.result(first)?.info == "Session 1 has not been started")
    app.startSession()
    let files = app.request(.listFiles)
    #expect(app.result(files)?.info == "No app is registered in this session")
    app.send(RPCMessage(type: .request, function: .listFiles, correlationID: -4))
    #expect(app.result(-4)?.resultCode == "APPLICATION_NOT_REGISTERED")
    app.register()
    app.send(RPCMessage(type: .request, function: .listFiles, correlationID: -4))
    #expect(app.result(-4)?.info == "The correlation id -4 is negative")
    let second = app.register()
    #expect(app.result(second)?.info == "An app is registered in this session")
    for (change, info): (@Sendable (inout JSONObject) -> Void, String) in [
      ({ $0["appName"] = nil }, "appName is missing"),
      ({ $0["appHMIType"] = .array([.string("WEB_VIEW")]) }, "The policies list no such app of the type WEB_VIEW"),
      ({ $0["appName"] = .string("Radio") }, "Another app has this name, or the driver calls it so"),
      ({ $0["fullAppID"] = .string("9") }, "An app with this id is registered"),
    ] {
      var other = TestApp(HeadUnitPreset.core.configuration)
      other.run { $0.setApps([], samePhone: [AppIdentity(id: "9", name: "Radio")], now: $1) }
      other.startSession()
      let id = other.register(change)
      #expect(other.result(id)?.info == info)
    }
  }

  @Test(arguments: [5, 6]) func versions(major: Int) {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.rpcVersion = RPCVersion(major)
    var app = TestApp.active(configuration)
    let id = app.request(.cancelInteraction, ["functionID": .integer(12)])
    let refusal = "CancelInteraction needs RPC 6.0.0, but 5.0.0 was agreed on"
    #expect((app.result(id)?.info == refusal) == (major == 5))
  }

  @Test func json() {
    var app = TestApp.active()
    let header = RPCHeader(type: .request, functionID: FunctionID.show.rawValue, correlationID: 9, jsonSize: 2)
    app.send(data: header.bytes + Array("{]".utf8), .rpc)
    #expect(app.result(9)?.info == "the JSON of Show is no object")
  }
}
