import SDLMessages
import TestSupport
import Testing

/// What is replaced in the lines of a log, and by what.
@Suite struct BlankingTests {
  private func rpc(_ function: String, _ params: JSONObject, _ type: String = "request") -> JSONObject {
    ["kind": .string("rpc"), "type": .string(type), "function": .string(function), "params": .object(params)]
  }

  private func params(_ line: JSONObject) -> JSONObject { line["params"]?.object ?? [:] }

  @Test func theSameValueHasTheSameWordInAllLines() {
    var blanking = Blanking()
    let registration = blanking.blank(
      rpc(
        "RegisterAppInterface",
        [
          "appName": .string("Anna's Maps"), "appID": .string("4711-anna"),
          "ngnMediaScreenAppName": .string("Anna's Maps"),
          "vrSynonyms": .array([.string("Anna"), .string("Anna's Maps")]),
          "ttsName": .array([.object(["text": .string("Anna"), "type": .string("TEXT")])]),
        ]))
    #expect(
      params(registration) == [
        "appName": .string("name-1"), "appID": .string("id-1"), "ngnMediaScreenAppName": .string("name-1"),
        "vrSynonyms": .array([.string("name-2"), .string("name-1")]),
        "ttsName": .array([.object(["text": .string("name-2"), "type": .string("TEXT")])]),
      ])
    let other = blanking.blank(rpc("ChangeRegistration", ["appName": .string("Bert")]))
    #expect(params(other) == ["appName": .string("name-3")])
    var line = rpc("Show", ["mainField1": .string("Hello from Anna's Maps")])
    line["app"] = .string("Anna's Maps")
    #expect(blanking.blank(line)["app"] == .string("name-1"))
    #expect(params(blanking.blank(line)) == ["mainField1": .string("Hello from name-1")])
  }

  /// Structures keep their shape, and what only has the name of a value stays.
  @Test func nestedValuesAndOthers() {
    var blanking = Blanking()
    let asked: JSONObject = ["vin": .bool(true), "gps": .bool(true)]
    #expect(params(blanking.blank(rpc("GetVehicleData", asked))) == asked)
    let subscribed: JSONObject = [
      "gps": .object(["dataType": .string("VEHICLEDATA_GPS"), "resultCode": .string("SUCCESS")])
    ]
    #expect(params(blanking.blank(rpc("SubscribeVehicleData", subscribed, "response"))) == subscribed)
    let data: JSONObject = [
      "vin": .string("WVWZZZ1JZXW000001"), "speed": .number(50.5),
      "gps": .object([
        "latitudeDegrees": .number(52.52), "longitudeDegrees": .number(13.405), "compassDirection": .string("NORTH"),
      ]),
    ]
    let blank: JSONObject = [
      "vin": .string("vin-1"), "speed": .number(50.5),
      "gps": .object([
        "latitudeDegrees": .string("position-1"), "longitudeDegrees": .string("position-2"),
        "compassDirection": .string("NORTH"),
      ]),
    ]
    #expect(params(blanking.blank(rpc("GetVehicleData", data, "response"))) == blank)
    let place: JSONObject = [
      "wayPoints": .array([
        .object([
          "coordinate": .object(["latitudeDegrees": .number(52.52), "longitudeDegrees": .integer(13)]),
          "addressLines": .array([.string("Main Street 1")]), "phoneNumber": .string("+49 30 123"),
          "searchAddress": .object(["locality": .string("Springfield"), "countryCode": .string("DE")]),
        ])
      ])
    ]
    #expect(
      params(blanking.blank(rpc("OnWayPointChange", place, "notification"))) == [
        "wayPoints": .array([
          .object([
            "coordinate": .object([
              "latitudeDegrees": .string("position-1"), "longitudeDegrees": .string("position-4"),
            ]),
            "addressLines": .array([.string("position-3")]), "phoneNumber": .string("phone-1"),
            "searchAddress": .object(["locality": .string("position-6"), "countryCode": .string("position-5")]),
          ])
        ])
      ])
  }

  /// Nothing else in the RPC specification says who drives which car to where.
  @Test(
    arguments: [
      ("name", ["app", "appName", "ngnMediaScreenAppName", "vrSynonyms", "nicknames", "serviceName"]),
      ("id", ["appID", "fullAppID", "policyAppID", "cloudAppVehicleID", "authToken", "serialNumber"]),
      ("vin", ["vin"]),
      (
        "position",
        [
          "latitudeDegrees", "longitudeDegrees", "altitude", "heading", "locationName", "locationDescription",
          "addressLines", "countryName", "countryCode", "postalCode", "administrativeArea", "subAdministrativeArea",
          "locality", "subLocality", "thoroughfare", "subThoroughfare", "navigationText", "navigationText1",
          "navigationText2",
        ]
      ),
      ("phone", ["phoneNumber"]), ("device", ["hardware", "firmwareRev", "carrier", "deviceName", "deviceID"]),
      ("text", ["manualTextEntry", "autoCompleteText", "autoCompleteList"]), ("address", ["peer", "tcpIpAddress"]),
    ] as [(String, [String])])
  func membersOfAllOwners(word: String, members: [String]) {
    for member in members {
      var blanking = Blanking()
      let line = blanking.blank(rpc("Any", [member: .string("Who?"), "other": .string("stays")]))
      #expect(params(line) == [member: .string("\(word)-1"), "other": .string("stays")])
    }
  }

  /// Some names mean this in one RPC or event alone.
  @Test func membersOfOneOwner() {
    var blanking = Blanking()
    #expect(params(blanking.blank(rpc("DialNumber", ["number": .string("110")]))) == ["number": .string("phone-1")])
    #expect(params(blanking.blank(rpc("OnKeyboardInput", ["data": .string("A")]))) == ["data": .string("text-1")])
    let buttons: JSONObject = ["buttonCapabilities": .array([.object(["name": .string("OK")])])]
    #expect(params(blanking.blank(rpc("RegisterAppInterface", buttons, "response"))) == buttons)
    let event: JSONObject = [
      "kind": .string("state"), "type": .string("registered"), "text": .string(#"registered "X" (id "77", MEDIA)"#),
      "params": .object(["name": .string("X"), "id": .string("77")]),
    ]
    let blank = blanking.blank(event)
    #expect(params(blank) == ["name": .string("name-1"), "id": .string("id-1")])
    #expect(blank["text"] == .string(#"registered "name-1" (id "id-1", MEDIA)"#))
    for (type, name, id) in [
      ("registration-refused", "name-1", "id-1"), ("name-changed", "name-1", "77"), ("other", "X", "77"),
    ] {
      var fresh = Blanking()
      var line = event
      line["type"] = .string(type)
      #expect(params(fresh.blank(line)) == ["name": .string(name), "id": .string(id)], "\(type)")
    }
  }

  @Test(
    arguments: [
      (#"Show "Anna's Maps" and more"#, #"Show "name-1" and more"#), ("annanas", "annanas"),
      // The end may be cut off.
      ("it shows Anna's M…", "it shows name-1…"), ("it shows An…", "it shows An…"),
      // Escaped, as texts for people have it.
      (#"it is "Bert\u{A}\"B\"" now"#, #"it is "name-2" now"#),
      ("icon of Anna's Maps.png", "icon of name-1.png"),
    ])
  func repeats(text: String, expected: String) {
    var blanking = Blanking()
    _ = blanking.blank(rpc("RegisterAppInterface", ["appName": .string("Anna's Maps")]))
    _ = blanking.blank(rpc("RegisterAppInterface", ["appName": .string("Bert\n\"B\"")]))
    let line = blanking.blank(["kind": .string("event"), "type": .string("icon"), "text": .string(text)])
    #expect(line["text"] == .string(expected))
  }

  /// Whichever of them came first.
  @Test func aNameThatBeginsWithAnother() {
    var blanking = Blanking()
    for name in ["Anna", "Anna Maria", "Anna M"] {
      _ = blanking.blank(rpc("RegisterAppInterface", ["appName": .string(name)]))
    }
    let line = blanking.blank(["text": .string("Anna Maria, \"Anna\" and Anna M.")])
    #expect(line["text"] == .string("name-2, \"name-1\" and name-3."))
  }

  /// Inputs and commands have values without names.
  @Test(
    arguments: [
      ("keyboard Anna B", "keyboard text-1"), ("gps 52.5 13.4 90", "gps position-1 position-2 position-3"),
      ("vehicle vin WVWZZZ1JZXW000001", "vehicle vin vin-1"), ("vehicle speed 50", "vehicle speed 50"),
      (#"vehicle gps {"latitudeDegrees": 52.5}"#, "vehicle gps position-1"),
      ("at 2.5: keyboard Anna", "at 2.5: keyboard text-1"),
      ("on Show: press soft-button 7", "on Show: press soft-button 7"),
    ])
  func commands(text: String, expected: String) {
    var blanking = Blanking()
    let line: JSONObject = ["kind": .string("event"), "dir": .string("driver"), "text": .string(text)]
    #expect(blanking.blank(line)["text"] == .string(expected))
    // Nor do later lines have what an input named first.
    blanking = Blanking()
    let input: JSONObject = ["type": .string("driver-input"), "params": .object(["input": .string(text)])]
    #expect(params(blanking.blank(input))["input"] == .string(expected))
    #expect(blanking.blank(["text": .string("it was \"\(text)\"")])["text"]?.string?.contains("Anna") == false)
  }

  /// Neither files nor certificates are recognisable, and an app can't change the members of the format by its name.
  @Test func otherMembers() {
    var blanking = Blanking()
    var line = rpc("PutFile", [:])
    line["bulk"] = .object(["bytes": .integer(3), "sha256": .string("ab"), "file": .string("files/1-PutFile")])
    #expect(blanking.blank(line)["bulk"] == .object(["bytes": .integer(3)]))
    let secured: JSONObject = ["type": .string("secured"), "text": .string("TLSv1.2, CN=Anna")]
    #expect(blanking.blank(secured)["text"] == nil)
    let named = rpc("RegisterAppInterface", ["appName": .string("request")])
    #expect(blanking.blank(named)["type"] == .string("request"))
    let connected: JSONObject = ["type": .string("connected"), "peer": .string("AA:BB:CC:DD:EE:FF")]
    #expect(blanking.blank(connected)["peer"] == .string("address-1"))
  }

  /// Values that are made to be compared with everywhere, and hardly ever found.
  @Test func boundedWork() {
    var blanking = Blanking()
    let synonyms = (1...31).map { JSONValue.string(String(repeating: "a", count: 959 + $0) + "b") }
    _ = blanking.blank(rpc("RegisterAppInterface", ["vrSynonyms": .array(synonyms)]))
    // 50 000 letters would need 1.5 billion comparisons.
    let text = "c" + String(repeating: "a", count: 50_000)
    let began = ContinuousClock.now
    let line = blanking.blank(["text": .string(text)])["text"]?.string
    #expect(ContinuousClock.now - began < .seconds(5))
    // Nothing of the rest is left.
    #expect(line?.hasPrefix("caa") == true && line?.hasSuffix("atext") == true && line?.count ?? .max < 10_000)
  }

  /// A drive has more positions than are remembered; those that were keep their words.
  @Test func boundedMemory() {
    var blanking = Blanking()
    func word(_ number: Int) -> JSONValue? {
      params(blanking.blank(rpc("OnVehicleData", ["latitudeDegrees": .number(50 + Double(number) / 10_000)])))[
        "latitudeDegrees"]
    }
    let words = (1...6000).map { word($0)?.string ?? "" }
    #expect(Set(words).count == 4097 && words.last == "position" && words.first == "position-1")
    #expect(word(1) == .string("position-1") && word(6000) == .string("position"))
    // Other kinds have words of their own, and long values none.
    #expect(params(blanking.blank(rpc("Show", ["vin": .string("A1")]))) == ["vin": .string("vin-1")])
    let long = String(repeating: "x", count: 2000)
    #expect(params(blanking.blank(rpc("Show", ["appName": .string(long)]))) == ["appName": .string("name")])
    for number in 1000..<2100 {
      let name = JSONValue.string("\(number)" + String(repeating: "x", count: 990))
      let word = params(blanking.blank(rpc("DialNumber", ["number": name])))["number"]
      if number == 1000 { #expect(word == .string("phone-1")) }
      if number == 2099 { #expect(word == .string("phone")) }
    }
  }
}
