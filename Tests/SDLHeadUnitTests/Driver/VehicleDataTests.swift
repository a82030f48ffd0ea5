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
    let known = answer(&app, .getVehicleData, "speed", "gps", "rpm")
    #expect(known["resultCode"]?.string == "SUCCESS" && known["speed"] == .integer(50) && known["prndl"] == nil)
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
    #expect(second["resultCode"]?.string == "WARNINGS" && second["success"] == .bool(true))
    #expect(second["speed"]?.object?["resultCode"]?.string == "DATA_ALREADY_SUBSCRIBED")
    #expect(answer(&app, .subscribeVehicleData, "rpm")["resultCode"]?.string == "IGNORED")
    try read(&app, "vehicle speed 50.5")
    try read(&app, "vehicle odometer 7")
    #expect(told(app) == [["speed": .number(50.5)]])
    #expect(answer(&app, .unsubscribeVehicleData, "speed")["success"] == .bool(true))
    #expect(answer(&app, .unsubscribeVehicleData, "speed")["resultCode"]?.string == "IGNORED")
    try read(&app, "vehicle speed 51")
    #expect(told(app).count == 1)
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
      ("vehicle gps 1", #"there is no reading "gps", but"#), ("gps 91 0", "is not of the form gps"),
      ("gps 1 x", "is not of the form gps"), ("gps 1", "is not of the form gps"),
      ("vehicle speed", "of the form vehicle"),
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
}
