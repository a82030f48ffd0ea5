@testable import SDLHeadUnit
import SDLMessages
import Testing

/// OnPermissionsChange as SDL Core sends it, the groups of policies, and what the head unit then allows.
@Suite struct PolicyTests {
  private static func items(_ configuration: HeadUnitConfiguration) throws -> (JSONObject, [String: JSONObject]) {
    var app = TestApp(configuration)
    app.startSession()
    app.register()
    let notification = try #require(app.rpcs.first { $0.function == .onPermissionsChange }).parameters
    let items = (notification["permissionItem"]?.array ?? []).compactMap(\.object)
    return (notification, Dictionary(items.map { ($0["rpcName"]?.string ?? "", $0) }, uniquingKeysWith: { $1 }))
  }

  private static func parameters(_ item: JSONObject?) -> [String] {
    (item?["parameterPermissions"]?.object?["allowed"]?.array ?? []).compactMap(\.string)
  }

  /// Permission managers of SDL's libraries look for each parameter.
  @Test func parametersOfVehicleData() throws {
    let (_, items) = try Self.items(HeadUnitPreset.standard.configuration)
    for name in ["GetVehicleData", "SubscribeVehicleData", "UnsubscribeVehicleData", "OnVehicleData"] {
      let parameters = Self.parameters(items[name])
      #expect(Set(parameters).isSuperset(of: ["gps", "speed", "prndl", "odometer", "fuelLevel"]))
      #expect(!parameters.contains("airbagStatus"))
      #expect(parameters.contains("vin") == !name.contains("ubscribe"))
      #expect(parameters.count == (name.contains("ubscribe") ? 31 : 32))
    }
    #expect(items["Show"]?["parameterPermissions"] == .object(["allowed": .array([]), "userDisallowed": .array([])]))
    #expect(items.values.allSatisfy { $0["requireEncryption"] == nil })
  }

  /// The libraries begin to protect RPCs if an item is flagged. What is flagged is what is refused in clear.
  @Test func encryption() throws {
    var configuration = HeadUnitPreset.core.configuration
    configuration.requiresRPCEncryption = true
    let (notification, items) = try Self.items(configuration)
    #expect(notification["requireEncryption"] == .bool(true))
    for number in 2...64 {
      let function = FunctionID(rawValue: UInt32(number))
      guard function.isKnownRequest else { continue }
      var app = TestApp.active(configuration)
      let id = app.request(function)
      let code = app.result(id)?.resultCode
      // As by SDL Core, the members are checked first.
      guard code != "INVALID_DATA" else { continue }
      let isRefused = code == "ENCRYPTION_NEEDED"
      #expect(isRefused == (items[function.description]?["requireEncryption"]?.bool == true), "\(function)")
    }
    // What the specification leaves in clear.
    for name in ["PutFile", "SystemRequest", "OnHMIStatus"] { #expect(items[name]?["requireEncryption"] == nil) }
    #expect(items["Show"]?["requireEncryption"] == .bool(true))
  }

  @Test(arguments: [
    (PolicyGroup.emergency, "GetVehicleData", [HMILevel.full, .limited, .background]),
    (.notifications, "Alert", [.full, .limited, .background]),
    (.backgroundRecording, "PerformAudioPassThru", [.full, .limited, .background]),
    (.touches, "OnTouchEvent", [.full]), (.haptics, "SendHapticData", [.full]),
    (.keyboard, "OnKeyboardInput", [.full]), (.navigation, "AlertManeuver", [.full, .limited, .background]),
  ])
  func grants(group: PolicyGroup, name: String, levels: [HMILevel]) throws {
    var configuration = HeadUnitPreset.core.configuration
    configuration.policy.grant([group])
    let (_, items) = try Self.items(configuration)
    let allowed = items[name]?["hmiPermissions"]?.object?["allowed"]?.array ?? []
    #expect(Set(allowed.compactMap(\.string)) == Set(levels.map(\.rawValue)))
    #expect(configuration.policy != HeadUnitPreset.core.configuration.policy)
  }

  @Test func alertInTheBackgroundIfGranted() {
    for isGranted in [false, true] {
      var configuration = HeadUnitPreset.core.configuration
      if isGranted { configuration.policy.grant([.notifications]) }
      var app = TestApp.registered(configuration)
      app.set(.background, .notStreamable)
      let id = app.request(.alert, ["alertText1": .string("Hi")])
      app.wait(.seconds(5))
      #expect(app.result(id)?.resultCode == (isGranted ? "SUCCESS" : "DISALLOWED"))
    }
  }

  @Test(
    arguments: [
      ("HapticGroup", [.haptics] as Set), ("Location-1, Emergency-1", [.location, .emergency]), ("", nil),
      ("Location-1,", nil), ("RemoteControl", nil), ("location-1", nil),
    ] as [(String, Set<PolicyGroup>?)])
  func lists(text: String, groups: Set<PolicyGroup>?) {
    #expect(PolicyGroup.list(text) == groups)
  }

  /// The headers of the bytes of a policy update, which SDL's libraries read without asking whether they are there.
  @Test func policyUpdate() throws {
    var app = TestApp.active()
    app.run { $0.requestPolicyUpdate(from: "https://a.example/", now: $1) }
    let request = try #require(app.rpcs.first { $0.function == .onSystemRequest })
    let http = try JSONObject(parsing: request.bulk)["HTTPRequest"]?.object
    let body = try #require(http?["body"]?.string)
    #expect(
      http?["headers"]?.object == [
        "ContentType": .string("application/json"), "ConnectTimeout": .integer(60), "DoOutput": .bool(true),
        "DoInput": .bool(true), "UseCaches": .bool(false), "RequestMethod": .string("POST"),
        "ReadTimeout": .integer(60), "InstanceFollowRedirects": .bool(false), "charset": .string("utf-8"),
        "Content-Length": .integer(body.utf8.count),
      ])
    #expect(request.parameters["timeout"]?.integer == 60 && request.parameters["fileType"]?.string == "JSON")
  }
}
