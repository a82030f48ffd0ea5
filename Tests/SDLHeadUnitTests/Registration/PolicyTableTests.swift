@testable import SDLHeadUnit
import SDLMessages
import Testing

/// Policies of the tester's choice: tables in SDL Core's format, and changes while the head unit runs.
@Suite struct PolicyTableTests {
  /// The app of the tests is listed with a group of its own.
  private static let text = """
    {"policy_table": {
      "module_config": {"exchange_after_x_days": 30},
      "functional_groupings": {
        "Base": {"rpcs": {
          "Show": {"hmi_levels": ["FULL", "LIMITED"]}, "OnHMIStatus": {"hmi_levels": ["FULL", "NONE"]},
          "GetVehicleData": {"hmi_levels": ["FULL"], "parameters": ["speed"]}}},
        "Consent": {"user_consent_prompt": "Consent", "rpcs": null},
        "Talk": {"encryption_required": true, "rpcs": {"Alert": {"hmi_levels": ["FULL", "BACKGROUND"]}}}
      },
      "app_policies": {
        "default": {"groups": ["Base"], "steal_focus": false, "keep_context": false},
        "device": {"groups": ["Consent"]},
        "pre_DataConsent": {"groups": ["Consent"]},
        "TEST-app": {
          "groups": ["Base", "Talk"], "steal_focus": true, "keep_context": true, "nicknames": ["Map", "Test App"],
          "AppHMIType": ["NAVIGATION"]},
        "other": "default",
        "gone": null
      }
    }}
    """

  private static func table(_ change: (String) -> String = { $0 }) throws -> PolicyTable {
    try PolicyTable(parsing: Array(change(text).utf8))
  }

  private static func configuration() throws -> HeadUnitConfiguration {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.policy = try table()
    return configuration
  }

  private static func register(
    _ id: String, name: String = "Map", types: [String] = ["NAVIGATION"]
  ) throws -> (TestApp, RPCMessage) {
    var app = TestApp(try configuration())
    app.startSession()
    app.register {
      $0["appID"] = .string(id)
      $0["fullAppID"] = .string(id)
      $0["appName"] = .string(name)
      $0["appHMIType"] = .array(types.map { .string($0) })
    }
    let response = try #require(app.rpcs.first { $0.function == .registerAppInterface })
    return (app, response)
  }

  private static func permissions(_ app: TestApp) throws -> [String: [String]] {
    let notification = try #require(app.rpcs.last { $0.function == .onPermissionsChange })
    let items = (notification.parameters["permissionItem"]?.array ?? []).compactMap(\.object)
    let pairs = items.map { item in
      let levels = item["hmiPermissions"]?.object?["allowed"]?.array ?? []
      return (item["rpcName"]?.string ?? "", levels.compactMap(\.string).sorted())
    }
    return Dictionary(pairs, uniquingKeysWith: { $1 })
  }

  @Test(arguments: [
    ("test-APP", ["Alert", "GetVehicleData", "OnHMIStatus", "Show"]),
    ("other", ["GetVehicleData", "OnHMIStatus", "Show"]), ("unheard of", ["GetVehicleData", "OnHMIStatus", "Show"]),
  ])
  func groupsOfTheApp(id: String, names: [String]) throws {
    let (app, response) = try Self.register(id)
    #expect(RPCResult(json: response.parameters).resultCode == "SUCCESS")
    let permissions = try Self.permissions(app)
    #expect(permissions.keys.sorted() == names)
    #expect(permissions["Show"] == ["FULL", "LIMITED"])
  }

  @Test func levelsAndParametersAreObeyed() throws {
    var (app, _) = try Self.register("unheard of")
    app.wait(.seconds(1))
    let alert = app.request(.alert, ["alertText1": .string("Hi")])
    #expect(app.result(alert)?.resultCode == "DISALLOWED")
    let show = app.request(.show, ["mainField1": .string("Hi")])
    #expect(app.result(show)?.resultCode == "SUCCESS")
    let rpm = app.request(.getVehicleData, ["rpm": .bool(true)])
    #expect(app.result(rpm)?.resultCode == "DISALLOWED")
    app.set(.background, .notStreamable)
    let hidden = app.request(.show, ["mainField1": .string("Hi")])
    #expect(app.result(hidden)?.resultCode == "DISALLOWED")
  }

  @Test(arguments: [
    ("gone", "Map", "revoked"), ("test-app", "Radio", "this name"),
  ])
  func appsThatMayNotBeRegistered(id: String, name: String, text: String) throws {
    let (app, response) = try Self.register(id, name: name)
    let result = RPCResult(json: response.parameters)
    #expect(result.resultCode == "DISALLOWED" && result.info?.contains(text) == true)
    #expect(app.session.identity == nil)
  }

  @Test func anUnlistedTypeIsAWarning() throws {
    let (_, response) = try Self.register("test-app", name: "TEST APP", types: ["NAVIGATION", "MEDIA"])
    let result = RPCResult(json: response.parameters)
    #expect(result.resultCode == "WARNINGS" && result.info?.contains("MEDIA") == true)
    #expect(result.info?.contains("NAVIGATION") == false)
  }

  /// Only the groups that ask for it.
  @Test func protectedGroups() throws {
    let policy = try #require(try Self.table().policy(of: "test-app"))
    #expect(policy.protects(.alert) && !policy.protects(.show))
    let unprotected = try Self.table {
      $0.replacing("\"nicknames\"", with: "\"encryption_required\": false, \"nicknames\"")
    }
    #expect(try #require(unprotected.policy(of: "test-app")).protects(.alert) == false)
    let plain = try Self.table { $0.replacing("\"encryption_required\": true, ", with: "") }
    #expect(try #require(plain.policy(of: "test-app")).protects(.show))
  }

  @Test func actionsOfSoftButtons() throws {
    let listed = try #require(try Self.table().policy(of: "test-app"))
    #expect(listed.allows(.stealFocus) && listed.allows(.keepContext))
    let other = try #require(try Self.table().policy(of: "other"))
    #expect(!other.allows(.stealFocus) && !other.allows(.keepContext) && other.allows(.close))
    let half = try Self.table { $0.replacing("\"steal_focus\": true", with: "\"steal_focus\": false") }
    let policy = try #require(half.policy(of: "test-app"))
    #expect(!policy.allows(.stealFocus) && policy.allows(.keepContext))
  }

  @Test(arguments: [
    ("{", "no JSON from byte 1 on"), ("[]", "JSON, but no object"), ("{}", "policy_table is missing"),
    ("{\"policy_table\": 1}", "policy_table is no object"),
    ("{\"policy_table\": {}}", "functional_groupings is missing"),
  ])
  func noTable(text: String, error: String) {
    let malformed = #expect(throws: PolicyTable.Malformed.self) { try PolicyTable(parsing: Array(text.utf8)) }
    #expect(malformed?.description.contains(error) == true, "\(String(describing: malformed))")
  }

  /// Each error says where.
  @Test(arguments: [
    ("\"default\": {", "\"standard\": {", "app_policies has no \"default\""),
    (
      "\"default\": {\"groups\": [\"Base\"], \"steal_focus\": false, \"keep_context\": false}", "\"default\": null",
      "null"
    ),
    ("[\"FULL\", \"LIMITED\"]", "[\"FULL\", \"HALF\"]", "Base.rpcs.Show.hmi_levels: there is no HMI level \"HALF\""),
    ("[\"FULL\", \"LIMITED\"]", "\"FULL\"", "Base.rpcs.Show.hmi_levels is no array"),
    ("[\"FULL\", \"LIMITED\"]", "[\"FULL\", 1]", "values that are no texts"),
    ("[\"Base\", \"Talk\"]", "[\"Base\", \"Sing\"]", "TEST-app.groups: functional_groupings has no \"Sing\""),
    ("\"other\": \"default\"", "\"other\": \"another\"", "app_policies.other: there is no entry \"another\""),
    ("\"other\": \"default\"", "\"other\": 3", "app_policies.other is no object"),
    ("[\"NAVIGATION\"]", "[\"NAVIGATOR\"]", "TEST-app.AppHMIType: there is no type \"NAVIGATOR\""),
    ("\"rpcs\": null", "\"rpcs\": [1]", "functional_groupings.Consent.rpcs is no object"),
  ])
  func errorsSayWhere(part: String, replacement: String, error: String) {
    let malformed = #expect(throws: PolicyTable.Malformed.self) {
      try Self.table { $0.replacing(part, with: replacement) }
    }
    #expect(malformed?.description.contains(error) == true, "\(String(describing: malformed))")
  }

  // MARK: Changes while the head unit runs

  private static func change(_ line: String) throws -> HeadUnitConditions.Change {
    guard case .policy(let change) = try HeadUnitCommand.parse(line) else {
      throw HeadUnitCommand.Malformed(description: "no change of the policies")
    }
    return .policy(change)
  }

  @Test func changesReachTheAppAndItsRequests() throws {
    var app = TestApp.active(HeadUnitPreset.core.configuration)
    func result(_ function: FunctionID) -> String? {
      let id = app.request(function, ["mainField1": .string("Hi")])
      return app.result(id)?.resultCode
    }
    #expect(result(.show) == "SUCCESS")
    let deny = try Self.change("deny Show")
    app.run { $0.apply(deny, now: $1) }
    #expect(try Self.permissions(app)["Show"] == nil)
    #expect(result(.show) == "DISALLOWED")
    let permit = try Self.change("permit Show FULL background")
    app.run { $0.apply(permit, now: $1) }
    #expect(try Self.permissions(app)["Show"] == ["BACKGROUND", "FULL"])
    #expect(result(.show) == "SUCCESS")
    let grant = try Self.change("grant HapticGroup")
    app.run { $0.apply(grant, now: $1) }
    #expect(try Self.permissions(app)["SendHapticData"] == ["FULL"])
    let revoke = try Self.change("revoke Base-4")
    app.run { $0.apply(revoke, now: $1) }
    #expect(try Self.permissions(app).keys.sorted() == ["OnTouchEvent", "SendHapticData", "Show"])
    app.forget()
    app.run { $0.apply(revoke, now: $1) }
    #expect(app.rpcs.isEmpty)
  }

  /// Whatever answers a request asks the policy first.
  @Test(
    arguments: [
      (FunctionID.getSystemCapability, ["systemCapabilityType": .string("VIDEO_STREAMING")]),
      (.sendHapticData, ["hapticRectData": .array([])]), (.listFiles, [:]), (.show, ["mainField1": .string("Hi")]),
      (.changeRegistration, ["language": .string("EN-US"), "hmiDisplayLanguage": .string("EN-US")]),
    ] as [(FunctionID, JSONObject)])
  func denied(function: FunctionID, parameters: JSONObject) throws {
    var app = TestApp.active()
    let deny = try Self.change("deny \(function)")
    app.run { $0.apply(deny, now: $1) }
    let id = app.request(function, parameters)
    #expect(app.result(id)?.resultCode == "DISALLOWED")
  }

  /// Apps that come later are told at their registration.
  @Test func changesStayForLaterApps() throws {
    var conditions = HeadUnitConditions()
    for line in ["deny Show", "permit Show none", "grant HapticGroup", "deny Alert"] {
      conditions.apply(try Self.change(line))
    }
    #expect(conditions.changes.count == 3)
    var app = TestApp(HeadUnitPreset.core.configuration)
    for change in conditions.changes { app.run { $0.apply(change, now: $1) } }
    app.startSession()
    app.register()
    let permissions = try Self.permissions(app)
    #expect(permissions["Show"] == ["NONE"] && permissions["SendHapticData"] == ["FULL"] && permissions["Alert"] == nil)
  }

  @Test(arguments: [
    ("permit Sow", "there is no RPC \"Sow\""), ("permit Show half", "is not of the form"),
    ("permit Show full full", "is not of the form"), ("deny", "is not of the form"),
    ("deny Show full", "is not of the form"), ("grant A B", "is not of the form"),
  ])
  func malformedCommands(line: String, error: String) {
    let malformed = #expect(throws: HeadUnitCommand.Malformed.self) { try HeadUnitCommand.parse(line) }
    #expect(malformed?.description.contains(error) == true, "\(String(describing: malformed))")
  }

  @Test func aScriptNamesOnlyGroupsOfTheTable() throws {
    let script = try HeadUnitScript("at 1: grant Talk\nat 2: revoke Base-4")
    let fault = try #require(script.fault(in: try Self.table()))
    #expect(fault.line == 2 && fault.text.contains("no group \"Base-4\", but Base, Consent, Talk"))
    #expect(script.fault(in: .listedApp)?.line == 1)
  }
}
