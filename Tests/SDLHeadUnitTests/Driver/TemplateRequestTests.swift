@testable import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// Requests that SDL's libraries send by themselves, and responses that their managers wait for. The parameters are
/// those of the JavaScript library 1.8.0 and the Java library 5.7.0.
@Suite struct TemplateRequestTests {
  private func answer(
    _ app: inout TestApp, _ function: UInt32, _ text: String, bulk: [UInt8] = []
  ) throws -> JSONObject {
    let header = RPCHeader(
      type: .request, functionID: function, correlationID: 7, jsonSize: UInt32(text.utf8.count))
    // On the RPC service also with bytes after the JSON.
    app.send(data: header.bytes + Array(text.utf8) + bulk, .rpc)
    let response = try #require(app.rpcs.last { $0.type == .response })
    #expect(response.function.rawValue == function && response.correlationID == 7)
    return response.parameters
  }

  @Test(
    arguments: [
      (3, #"{"helpPrompt":[{"text":"Say","type":"TEXT"}]}"#, "SUCCESS"),
      (4, #"{"properties":["HELPPROMPT"]}"#, "SUCCESS"),
      (5, #"{"cmdID":1900000001,"vrCommands":["Option 1"]}"#, "SUCCESS"),
      (5, #"{"cmdID":1,"menuParams":{"menuName":"Hello Menu 1","position":0},"vrCommands":["Hello"]}"#, "SUCCESS"),
      (5, #"{"vrCommands":["Option 1"]}"#, "INVALID_DATA"),
      (7, #"{"menuID":2,"menuName":"Hello Menu 2","position":1}"#, "SUCCESS"),
      (9, #"{"choiceSet":[{"choiceID":0,"menuName":"Test Cell"}],"interactionChoiceSetID":0}"#, "SUCCESS"),
      // What is shown for a time is in InteractionTests.
      (
        10,
        #"{"initialText":"choice","interactionMode":"MANUAL_ONLY","interactionChoiceSetIDList":[1],"cancelID":30000}"#,
        "INVALID_ID"
      ),
      (13, #"{"mainField1":"Hello SDL!","mainField2":"","metadataTags":{"mainField1":[]}}"#, "SUCCESS"),
      // What is said and recorded is in SpeechTests.
      (14, #"{"ttsChunks":[]}"#, "INVALID_DATA"),
      (18, #"{"buttonName":"NAV_CENTER_LOCATION"}"#, "SUCCESS"),
      (18, #"{"buttonName":"SEARCH"}"#, "UNSUPPORTED_RESOURCE"),
      (19, #"{"buttonName":"OK"}"#, "IGNORED"),
      // No permission allows it; vehicle data are in VehicleDataTests.
      (23, "{}", "DISALLOWED"), (22, "{}", "INVALID_DATA"),
      (33, #"{"syncFileName":"nothing"}"#, "REJECTED"),
      (35, #"{"syncFileName":"nothing"}"#, "INVALID_DATA"),
      (36, #"{"displayLayout":"NAV_FULLSCREEN_MAP"}"#, "WARNINGS"),
      (38, #"{"requestType":"FOTA"}"#, "SUCCESS"),
      (16, #"{"samplingRate":"8KHZ","maxDuration":1000}"#, "INVALID_DATA"),
      // Neither is anything recorded, nor shown.
      (17, "{}", "REJECTED"), (57, #"{"functionID":12}"#, "IGNORED"), (57, "{}", "INVALID_DATA"),
      (31, "{}", "UNSUPPORTED_REQUEST"), (42, "{}", "UNSUPPORTED_REQUEST"), (0x0FFF_FFFF, "{}", "UNSUPPORTED_REQUEST"),
    ] as [(UInt32, String, String)])
  func answers(function: UInt32, parameters: String, code: String) throws {
    var app = TestApp.active()
    let answer = try answer(&app, function, parameters)
    #expect(answer["resultCode"]?.string == code)
    #expect(answer["success"]?.bool == ["SUCCESS", "WARNINGS"].contains(code))
    #expect(answer["info"] == nil || code != "SUCCESS")
    let isVehicleData = (20...22).contains(function)
    #expect(answer["info"] != nil || code == "SUCCESS" || isVehicleData, "a refusal says why")
    #expect(app.violations == [] && !app.isClosed)
  }

  /// SDL Core's policies: files and the icon in each level, the rest from BACKGROUND on.
  @Test func levels() throws {
    var app = TestApp.registered()
    #expect(try answer(&app, 34, "{}")["resultCode"]?.string == "SUCCESS")
    #expect(try answer(&app, 13, #"{"mainField1":""}"#)["resultCode"]?.string == "DISALLOWED")
    app.set(.background, .notStreamable)
    #expect(try answer(&app, 13, #"{"mainField1":""}"#)["resultCode"]?.string == "SUCCESS")
    #expect(try answer(&app, 12, #"{"alertText1":"Text"}"#)["resultCode"]?.string == "DISALLOWED")
    // The permissions of OnPermissionsChange.
    var other = TestApp()
    other.startSession()
    other.register()
    let notification = try #require(other.rpcs.first { $0.function == .onPermissionsChange })
    let levels = OnPermissionsChange(json: notification.parameters).allowedLevels
    #expect(levels["Show"] == [.full, .limited, .background] && levels["PutFile"]?.count == 4)
    #expect(levels["OnTouchEvent"] == [.full] && levels["GetVehicleData"]?.count == 3)
  }

  /// An id can be used again only after what has it was deleted.
  @Test(
    arguments: [
      (5, 6, #"{"cmdID":7,"vrCommands":["Go"]}"#, #"{"cmdID":7}"#),
      (7, 8, #"{"menuID":7,"menuName":"More"}"#, #"{"menuID":7}"#),
      (
        9, 11, #"{"choiceSet":[{"choiceID":0,"menuName":"Cell"}],"interactionChoiceSetID":7}"#,
        #"{"interactionChoiceSetID":7}"#
      ),
    ] as [(UInt32, UInt32, String, String)])
  func idsOfMenus(add: UInt32, delete: UInt32, parameters: String, id: String) throws {
    var app = TestApp.active()
    let codes = try [(delete, id), (add, parameters), (add, parameters), (delete, id), (delete, id), (add, parameters)]
      .map { try answer(&app, $0, $1)["resultCode"]?.string }
    #expect(codes == ["INVALID_ID", "SUCCESS", "INVALID_ID", "SUCCESS", "INVALID_ID", "SUCCESS"])
    #expect(try answer(&app, add, parameters.replacing("7", with: "true"))["resultCode"]?.string == "INVALID_DATA")
    // They are the registration's.
    app.request(.unregisterAppInterface)
    app.register()
    app.wait(.seconds(1))
    #expect(try answer(&app, add, parameters)["resultCode"]?.string == "SUCCESS")
  }

  @Test func menusAreBounded() throws {
    var menu = AppMenu()
    let command = AppMenu.Command(name: "", isSpoken: false)
    for id in 0..<2000 { try menu.add(id, command, to: \.commands) }
    let refusal = #expect(throws: RequestRefusal.self) { try menu.add(-1, command, to: \.commands) }
    #expect(refusal?.code == .outOfMemory)
    try menu.add(-1, [1], to: \.choiceSets)
    // So are the texts, and the choices of a set.
    let accents = String(repeating: "\u{301}", count: 60_000)
    var app = TestApp.active()
    let long = app.request(.addCommand, ["cmdID": .integer(1), "vrCommands": .array([.string(accents)])])
    let choices = (0...100).map { JSONValue.object(["choiceID": .integer($0), "menuName": .string("Cell")]) }
    let many = app.request(
      .createInteractionChoiceSet, ["interactionChoiceSetID": .integer(1), "choiceSet": .array(choices)])
    let most = app.request(
      .createInteractionChoiceSet,
      ["interactionChoiceSetID": .integer(1), "choiceSet": .array(Array(choices.dropLast()))])
    #expect([long, many, most].map { app.result($0)?.resultCode } == ["INVALID_DATA", "INVALID_DATA", "SUCCESS"])
    // 99 texts of each command can be said, until there are 4000.
    let codes = (10...50).map { id in
      let texts = (1...99).map { JSONValue.string("Go \(id) \($0)") }
      let command = app.request(.addCommand, ["cmdID": .integer(id), "vrCommands": .array(texts)])
      return app.result(command)?.resultCode
    }
    #expect(codes == [String](repeating: "SUCCESS", count: 40) + ["OUT_OF_MEMORY"])
  }

  /// A choice can't be told from another with the same id.
  @Test(
    arguments: [
      (5, #"{"cmdID":7}"#, "INVALID_DATA"), (5, #"{"cmdID":7,"menuParams":{}}"#, "INVALID_DATA"),
      (9, #"{"choiceSet":[],"interactionChoiceSetID":7}"#, "INVALID_DATA"),
      (9, #"{"choiceSet":[{"choiceID":-1}],"interactionChoiceSetID":7}"#, "INVALID_DATA"),
      (
        9, #"{"choiceSet":[{"choiceID":1,"menuName":"A"},{"choiceID":1,"menuName":"B"}],"interactionChoiceSetID":7}"#,
        "INVALID_ID"
      ),
    ] as [(UInt32, String, String)])
  func incompleteEntries(function: UInt32, parameters: String, code: String) throws {
    var app = TestApp.active()
    #expect(try answer(&app, function, parameters)["resultCode"]?.string == code)
  }

  /// A request may be used from the version on that has introduced it.
  @Test(arguments: [(RPCVersion(6), true), (RPCVersion(5, 1), false)])
  func firstVersion(version: RPCVersion, isSupported: Bool) throws {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.rpcVersion = version
    var app = TestApp.active(configuration)
    let code = try answer(&app, 58, "{}")["resultCode"]?.string
    #expect(code == (isSupported ? "SUCCESS" : "UNSUPPORTED_REQUEST"))
  }

  /// Head units of RPC 4.4 do not support later requests.
  @Test func versions() throws {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.rpcVersion = RPCVersion(4, 4)
    var app = TestApp.active(configuration)
    #expect(try answer(&app, 13, #"{"mainField1":""}"#)["resultCode"]?.string == "SUCCESS")
    let capability = #"{"systemCapabilityType":"VIDEO_STREAMING"}"#
    for (function, text) in [(48, capability), (49, "{}"), (58, "{}"), (64, "{}")] as [(UInt32, String)] {
      #expect(try answer(&app, function, text)["resultCode"]?.string == "UNSUPPORTED_REQUEST")
    }
  }

  @Test func closingLosesTheScreen() throws {
    var app = TestApp.streaming()
    let id = app.request(.closeApplication)
    #expect(app.result(id) == RPCResult(success: true, resultCode: .success))
    #expect(app.levels == [HMILevel.none])
    #expect(app.controls == ["video endService"])
  }

  @Test func icon() throws {
    var app = TestApp.registered()
    let icon =
      #"{"crc":2949610505,"fileType":"GRAPHIC_PNG","length":25896,"offset":0,"persistentFile":true,"#
      + #""syncFileName":"hello-sdl-tcp_icon","systemFile":false}"#
    let put = try answer(&app, 32, icon, bulk: [UInt8](repeating: 1, count: 25_896))
    #expect(put["success"]?.bool == true && put["spaceAvailable"]?.integer == 104_857_600 - 7 * 4096)
    #expect(try answer(&app, 35, #"{"syncFileName":"hello-sdl-tcp_icon"}"#)["success"]?.bool == true)
    let list = try answer(&app, 34, "{}")
    #expect(list["filenames"]?.array == [.string("hello-sdl-tcp_icon")])
    let deleted = try answer(&app, 33, #"{"syncFileName":"hello-sdl-tcp_icon"}"#)
    #expect(deleted["spaceAvailable"]?.integer == 104_857_600 && deleted["success"]?.bool == true)
  }

  /// A file may come in parts; what does not fit is refused, and takes no memory.
  @Test(
    arguments: [
      (#"{"syncFileName":"a","fileType":"BINARY","offset":3}"#, 4, "SUCCESS"),
      (#"{"syncFileName":"a","fileType":"BINARY","offset":2}"#, 4, "INVALID_DATA"),
      (#"{"syncFileName":"b","fileType":"BINARY","offset":3}"#, 4, "INVALID_DATA"),
      (#"{"syncFileName":"a","fileType":"BINARY","offset":9223372036854775807}"#, 4, "INVALID_DATA"),
      (#"{"syncFileName":"a","fileType":"BINARY","offset":-1}"#, 4, "INVALID_DATA"),
      (#"{"syncFileName":"a","fileType":"BINARY","crc":2949610505}"#, 4, "CORRUPTED_DATA"),
      (#"{"syncFileName":"a","fileType":"BINARY","crc":558161692}"#, 4, "SUCCESS"),
      (#"{"syncFileName":"a","fileType":"FILM"}"#, 4, "INVALID_DATA"),
      (#"{"syncFileName":"a","fileType":"BINARY"}"#, 0, "INVALID_DATA"),
      (#"{"syncFileName":"../a","fileType":"BINARY"}"#, 4, "INVALID_DATA"),
      (#"{"syncFileName":"","fileType":"BINARY"}"#, 4, "INVALID_DATA"),
      (#"{"syncFileName":7,"fileType":"BINARY"}"#, 4, "INVALID_DATA"),
      (#"{"syncFileName":"a"}"#, 4, "INVALID_DATA"),
    ])
  func files(parameters: String, bytes: Int, code: String) throws {
    var app = TestApp.registered()
    let bulk = [UInt8](repeating: 0, count: bytes)
    _ = try answer(&app, 32, #"{"syncFileName":"a","fileType":"BINARY"}"#, bulk: [1, 2, 3])
    let answer = try answer(&app, 32, parameters, bulk: bulk)
    #expect(answer["resultCode"]?.string == code)
    let space = try self.answer(&app, 34, "{}")["spaceAvailable"]?.integer
    #expect(space == 104_857_600 - 4096)
  }

  /// Names are kept, so their length is limited; a letter with many accents is one Character of Swift.
  @Test func namesAreBounded() throws {
    var app = TestApp.registered()
    let accents = String(repeating: "\u{301}", count: 60_000)
    let long = try answer(&app, 32, #"{"syncFileName":"a\#(accents)","fileType":"BINARY"}"#, bulk: [1])
    #expect(long["resultCode"]?.string == "INVALID_DATA")

    var files = AppFiles()
    let codes = (0..<1000).map { files.put("\($0)", offset: 0, count: 1) }
    #expect(codes.allSatisfy { $0 == .success } && files.names.count == 1000)
    let oneMore = files.put("one more", offset: 0, count: 1)
    let continued = files.put("7", offset: 1, count: 1)
    #expect(oneMore == .outOfMemory && continued == .success)
    let isDeleted = files.delete("7")
    let instead = files.put("one more", offset: 0, count: AppFiles.quota - 999 * 4096)
    let tooMuch = files.put("8", offset: 1, count: 4096)
    #expect(isDeleted && instead == .success && tooMuch == .outOfMemory)
  }

  @Test func buttonsAreSubscribedOnce() throws {
    var app = TestApp.active()
    let codes = try [18, 18, 19, 19].map {
      try answer(&app, $0, #"{"buttonName":"OK"}"#)["resultCode"]?.string
    }
    #expect(codes == ["SUCCESS", "IGNORED", "SUCCESS", "IGNORED"])
  }

  /// The example apps read these members without asking whether they are there.
  @Test func registrationListsTemplateCapabilities() throws {
    var app = TestApp()
    app.startSession()
    app.register()
    let response = try #require(app.rpcs.first).parameters
    #expect(response["buttonCapabilities"]?.array?.first?.object?["name"]?.string == "NAV_CENTER_LOCATION")
    #expect(response["softButtonCapabilities"]?.array?.count == 1)
    let display = try #require(response["displayCapabilities"]?.object)
    #expect(display["textFields"]?.array?.isEmpty == false)
    let resolution = display["screenParams"]?.object?["resolution"]?.object
    #expect(resolution?["resolutionWidth"]?.integer == 800)
    let promised = try #require(response["hmiCapabilities"]?.object)
    #expect(promised["videoStreaming"]?.bool == true && promised["displays"]?.bool == true)
    #expect(promised["remoteControl"]?.bool == false)
  }

  @Test func names() {
    #expect(FunctionID(rawValue: 34).description == "ListFiles")
    #expect(FunctionID(rawValue: 0x8002).description == "OnButtonEvent")
    #expect(FunctionID(rawValue: 42).description == "function 42")
  }
}
