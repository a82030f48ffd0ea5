@testable import SDLHeadUnit
import SDLMessages
import Testing

/// What a script says that the car measures, and what apps are told of it.
@Suite struct VehicleDataTests {
  private func answer(_ app: inout TestApp, _ function: FunctionID, _ names: String...) -> JSONObject {
    app.request(function, Dictionary(uniqueKeysWithValues: names.map { ($0, .bool(true)) }))
    return app.rpcs.last { $0.type == .response && $0.function == function }?.parameters ?? [:]
  }

  private func read(_ app: inout TestApp, _ line: String) throws {
    guard case .vehicle(let reading)? = try HeadUnitCommand.parse(line) else {
      Issue.record("no reading: \(line)")
      return
    }
    app.run { $0.apply(.vehicle(reading), now: $1) }
  }

  private func told(_ app: TestApp) -> [JSONObject] {
    app.rpcs.filter { $0.function == .onVehicleData }.map(\.parameters)
  }

  @Test func request() throws {
    var app = TestApp.active()
    #expect(answer(&app, .getVehicleData, "speed")["resultCode"]?.string == "VEHICLE_DATA_NOT_AVAILABLE")
    try read(&app, "vehicle speed 50")
    try read(&app, "vehicle prndl drive")
    try read(&app, "gps 52.5 13.375 90")
    #expect(answer(&app, .getVehicleData, "speed", "gps")["resultCode"]?.string == "SUCCESS")
    let known = answer(&app, .getVehicleData, "speed", "gps", "rpm")
    #expect(known["resultCode"]?.string == "VEHICLE_DATA_NOT_AVAILABLE" && known["success"] == .bool(true))
    #expect(known["speed"] == .integer(50) && known["prndl"] == nil && known["info"]?.string?.contains("rpm") == true)
    let gps: JSONObject = [
      "latitudeDegrees": .number(52.5), "longitudeDegrees": .number(13.375), "heading": .integer(90),
    ]
    #expect(known["gps"] == .object(gps) && known["rpm"] == nil)
    #expect(answer(&app, .getVehicleData)["resultCode"]?.string == "INVALID_DATA")
    #expect(told(app).isEmpty)
  }

  @Test func subscription() throws {
    var app = TestApp.active()
    let first = answer(&app, .subscribeVehicleData, "speed")
    #expect(first["resultCode"]?.string == "SUCCESS")
    #expect(
      first["speed"] == .object(["dataType": .string("VEHICLEDATA_SPEED"), "resultCode": .string("SUCCESS")]))
    let second = answer(&app, .subscribeVehicleData, "speed", "rpm")
    #expect(second["resultCode"]?.string == "IGNORED" && second["success"] == .bool(true))
    #expect(second["speed"]?.object?["resultCode"]?.string == "DATA_ALREADY_SUBSCRIBED")
    #expect(answer(&app, .subscribeVehicleData, "rpm")["resultCode"]?.string == "IGNORED")
    try read(&app, "vehicle speed 50.5")
    try read(&app, "vehicle odometer 7")
    #expect(told(app) == [["speed": .number(50.5)]])
    #expect(answer(&app, .subscribeVehicleData, "clusterModeStatus")["clusterModes"] != nil)
    #expect(answer(&app, .subscribeVehicleData, "vin")["resultCode"]?.string == "INVALID_DATA")
    #expect(answer(&app, .unsubscribeVehicleData, "speed")["success"] == .bool(true))
    #expect(answer(&app, .unsubscribeVehicleData, "speed")["resultCode"]?.string == "IGNORED")
    try read(&app, "vehicle speed 51")
    #expect(told(app).count == 1)
  }

  /// All data of the RPC specification, and SDL Core's answer for each: those of emergencies are not granted.
  @Test(arguments: VehicleDataItem.all.keys.sorted()) func allData(name: String) throws {
    let isForEmergencies = ["airbagStatus", "clusterModeStatus", "eCallInfo", "emergencyEvent"].contains(name)
    var app = TestApp.active()
    let code = isForEmergencies ? "DISALLOWED" : "VEHICLE_DATA_NOT_AVAILABLE"
    #expect(answer(&app, .getVehicleData, name)["resultCode"]?.string == code)
    var granted = HeadUnitPreset.core.configuration
    granted.policy.grant(PolicyGroup.allCases)
    app = TestApp.active(granted)
    let isSubscribed = answer(&app, .subscribeVehicleData, name)["success"]?.bool
    #expect(isSubscribed == (name != "vin"))
    try read(&app, "vehicle \(name)")
    let value = answer(&app, .getVehicleData, name)[name]
    #expect(value != nil && value == VehicleDataItem.all[name]?.plausible)
    #expect(told(app) == (name == "vin" ? [] : [[name: value ?? .null]]))
    // What is told is valid, and so are its type, and the command with a value.
    let item = try #require(VehicleDataItem.all[name])
    #expect(item.schema.contains(item.plausible) && Self.types.contains(item.type))
    let value2: JSONObject = ["value": item.plausible]
    let json = String(decoding: value2.serialized.dropFirst(9).dropLast(), as: UTF8.self)
    let text = item.plausible.string ?? json
    #expect(VehicleReading(name, text)?.value == item.plausible)
  }

  /// `VehicleDataType` of RPC 8.0, without what has no parameter.
  private static let types: Set = [
    "GPS", "SPEED", "RPM", "FUELLEVEL", "FUELLEVEL_STATE", "FUELCONSUMPTION", "CLIMATEDATA", "EXTERNTEMP", "VIN",
    "GEARSTATUS", "PRNDL", "TIREPRESSURE", "ODOMETER", "BELTSTATUS", "BODYINFO", "DEVICESTATUS", "ECALLINFO",
    "AIRBAGSTATUS", "EMERGENCYEVENT", "CLUSTERMODESTATUS", "MYKEY", "BRAKING", "WIPERSTATUS", "HEADLAMPSTATUS",
    "ENGINETORQUE", "ACCPEDAL", "STEERINGWHEEL", "TURNSIGNAL", "FUELRANGE", "ENGINEOILLIFE",
    "ELECTRONICPARKBRAKESTATUS", "CLOUDAPPVEHICLEID", "STABILITYCONTROLSSTATUS", "WINDOWSTATUS", "HANDSOFFSTEERING",
    "SEATOCCUPANCY",
  ]

  @Test func eachTypeOnce() {
    #expect(Set(VehicleDataItem.all.values.map(\.type)) == Self.types && VehicleDataItem.all.count == 36)
  }

  /// What the policies do not grant is refused item by item.
  @Test func disallowedItems() throws {
    var app = TestApp.active()
    try read(&app, "vehicle speed 50")
    let known = answer(&app, .getVehicleData, "speed", "airbagStatus")
    #expect(known["resultCode"]?.string == "SUCCESS" && known["airbagStatus"] == nil)
    #expect(known["info"]?.string == "The policies do not grant airbagStatus.")
    let subscription = answer(&app, .subscribeVehicleData, "speed", "airbagStatus")
    #expect(subscription["resultCode"]?.string == "SUCCESS")
    #expect(subscription["airbagStatus"]?.object?["resultCode"]?.string == "DISALLOWED")
    try read(&app, "vehicle airbagStatus")
    #expect(told(app).isEmpty)
    #expect(answer(&app, .subscribeVehicleData, "airbagStatus")["resultCode"]?.string == "DISALLOWED")
  }

  /// At most five requests within a second, as with SDL Core; refused ones do not count.
  @Test func frequency() throws {
    var app = TestApp.active()
    try read(&app, "vehicle speed 50")
    let codes = (0..<7).map { _ in answer(&app, .getVehicleData, "speed")["resultCode"]?.string }
    #expect(codes == Array(repeating: "SUCCESS", count: 5) + ["REJECTED", "REJECTED"])
    app.wait(.seconds(1))
    #expect(answer(&app, .getVehicleData, "speed")["resultCode"]?.string == "SUCCESS")
  }

  /// The members of a structure that a script leaves out are plausible.
  @Test(arguments: [
    ("vehicle headLampStatus {\"lowBeamsOn\": true}", "headLampStatus", "lowBeamsOn", JSONValue.bool(true)),
    ("vehicle headLampStatus {\"lowBeamsOn\": true}", "headLampStatus", "highBeamsOn", .bool(false)),
    ("vehicle beltStatus {\"driverBuckleBelted\":\"NO\"}", "beltStatus", "passengerBuckleBelted", .string("NO_EVENT")),
  ])
  func structures(line: String, name: String, member: String, value: JSONValue) throws {
    guard case .vehicle(let reading)? = try HeadUnitCommand.parse(line) else {
      Issue.record("no reading")
      return
    }
    #expect(reading.name == name && reading.value.object?[member] == value)
  }

  @Test(arguments: [
    ("vehicle vin ABC 1", JSONValue.string("ABC 1")), ("vehicle handsOffSteering on", .bool(true)),
    ("vehicle fuelRange [{\"type\":\"BATTERY\"}]", .array([.object(["type": .string("BATTERY")])])),
    ("vehicle wiperStatus man-low", .string("MAN_LOW")),
  ])
  func values(line: String, value: JSONValue) throws {
    guard case .vehicle(let reading)? = try HeadUnitCommand.parse(line) else {
      Issue.record("no reading")
      return
    }
    #expect(reading.value == value)
  }

  /// Subscriptions come back with the hash; a change of them changes it.
  @Test(arguments: [true, false]) func resumption(isHashRight: Bool) throws {
    var app = TestApp.active()
    _ = answer(&app, .subscribeVehicleData, "speed", "rpm")
    _ = answer(&app, .subscribeVehicleData, "speed")
    _ = answer(&app, .unsubscribeVehicleData, "rpm")
    let hashes = app.rpcs.filter { $0.function == .onHashChange }.compactMap { $0.parameters["hashID"] }
    #expect(hashes.count == 2 && hashes[0] != hashes[1])
    let saved = try #require(app.savedApp)
    var next = TestApp()
    next.session.setSavedApps([saved])
    next.startSession()
    let id = next.register { $0["hashID"] = hashes[isHashRight ? 1 : 0] }
    let info = isHashRight ? "The app's former state is restored" : "The hash is not that of a saved state of the app"
    #expect(next.result(id)?.info == info)
    next.wait(.milliseconds(100))
    try read(&next, "vehicle rpm 900")
    try read(&next, "vehicle speed 50")
    #expect(told(next) == (isHashRight ? [["speed": .integer(50)]] : []))
  }

  /// In NONE nothing is told, nor to apps that the maker does not list.
  @Test func policies() throws {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.policy = .unknownApp
    var unlisted = TestApp.active(configuration)
    #expect(answer(&unlisted, .getVehicleData, "speed")["resultCode"]?.string == "DISALLOWED")
    var app = TestApp.active()
    _ = answer(&app, .subscribeVehicleData, "speed")
    app.run { $0.setHMIStatus(HMIStatus(level: HMILevel.none, videoStreamingState: .notStreamable), now: $1) }
    try read(&app, "vehicle speed 50")
    #expect(told(app).isEmpty)
  }

  @Test(
    arguments: [
      ("vehicle speed 701", "speed can't be 701"), ("vehicle prndl up", "prndl can't be up"),
      ("vehicle rpm 1.5", "rpm can't be 1.5"), ("vehicle warp 9", #"there is no reading "warp", but"#),
      ("vehicle gps 1", "gps can't be 1; the value of"), ("gps 91 0", "is not of the form gps"),
      ("gps 1 x", "is not of the form gps"), ("gps 1", "is not of the form gps"),
      ("vehicle", "of the form vehicle"), (#"vehicle myKey {"e912Override":"ON"}"#, "myKey can't be"),
      ("vehicle speed nan", "speed can't be nan"),
    ])
  func invalid(line: String, reason: String) {
    #expect { try HeadUnitCommand.parse(line) } throws: { "\($0)".contains(reason) }
  }

  /// Of turns and alerts.
  @Test(
    arguments: [
      (
        .showConstantTBT, #"{"navigationText1":"Turn left","navigationText2":"200 m","eta":"12:00"}"#,
        #"ShowConstantTBT "Turn left", "200 m", "12:00""#
      ),
      (.updateTurnList, #"{"turnList":[{"navigationText":"A"},{"navigationText":"B"}]}"#, #"UpdateTurnList "A", "B""#),
      (.alertManeuver, #"{"ttsChunks":[{"text":"Left","type":"TEXT"}]}"#, #"AlertManeuver "Left""#),
      (.alert, #"{"alertText1":"Ice","alertText2":"ahead"}"#, #"Alert "Ice", "ahead""#),
    ] as [(FunctionID, String, String)])
  func texts(function: FunctionID, json: String, text: String) throws {
    var app = TestApp.active()
    app.request(function, try JSONObject(parsing: Array(json.utf8)))
    #expect(app.events.compactMap(\.text).contains(text), "\(app.events.compactMap(\.text))")
    #expect(app.violations == [])
  }

  /// A list of turns is as long as the app likes.
  @Test func textsAreBounded() {
    var app = TestApp.active()
    let turns = (1...12).map { JSONValue.object(["navigationText": .string("turn \($0)")]) }
    app.request(.updateTurnList, ["turnList": .array(turns)])
    let texts = app.events.compactMap { if case .textShown(_, let texts) = $0 { texts } else { nil } }
    #expect(texts == [(1...10).map { "turn \($0)" }])
  }

  /// Apps that come later get what the car measures now.
  @Test func readingsOfTheHeadUnit() throws {
    let first = try #require(VehicleReading("speed", "50"))
    let last = try #require(VehicleReading("speed", "60"))
    var conditions = HeadUnitConditions()
    conditions.apply(.vehicle(first))
    conditions.apply(.vehicle(last))
    #expect(conditions.changes == [.vehicle(last)])
  }
}
