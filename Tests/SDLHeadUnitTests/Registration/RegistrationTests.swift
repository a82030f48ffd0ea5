import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@Suite struct RegistrationTests {
  @Test func coldStart() throws {
    var app = TestApp(HeadUnitPreset.core.configuration)
    app.startSession()
    let id = app.register()
    #expect(app.result(id) == RPCResult(success: true, resultCode: .success))
    let response = RegisterAppInterfaceResponse(json: try #require(app.rpcs.first).parameters)
    #expect(response.rpcVersion == RPCVersion(8))
    #expect(response.videoStreaming == true)
    #expect(response.screenResolution == VideoSize(800, 380))
    #expect(app.rpcs.dropFirst().map(\.function) == [.onHMIStatus, .onSystemCapabilityUpdated, .onPermissionsChange])
    #expect(app.rpcs.dropFirst().allSatisfy { $0.correlationID == -1 && $0.type == .notification })
    #expect(app.levels == [HMILevel.none])
    app.wait(.milliseconds(99))
    #expect(app.levels.count == 1)
    app.wait(.milliseconds(1))
    let status = HMIStatus(json: try #require(app.rpcs.last).parameters)
    #expect(status == HMIStatus(level: .full, audioStreamingState: .audible, videoStreamingState: .streamable))
    #expect(app.session.nextDeadline == nil)
    #expect(app.violations == [])
  }

  @Test func messageIDsCountFromZero() {
    var app = TestApp()
    app.startSession()
    app.register()
    #expect(app.headers.map(\.messageID) == [0, 1, 2, 3, 4])
  }

  @Test func languageOfTheHeadUnitWins() {
    var app = TestApp()
    app.startSession()
    let id = app.register { $0["languageDesired"] = .string("DE-DE") }
    #expect(app.result(id) == RPCResult(success: true, resultCode: .wrongLanguage))
  }

  @Test(
    arguments: [
      ("syncMsgVersion", nil), ("appName", nil), ("appID", nil), ("languageDesired", nil), ("isMediaApplication", nil),
      ("hmiDisplayLanguageDesired", nil), ("appName", .string("")), ("isMediaApplication", .string("yes")),
      ("appName", .string(String(repeating: "n", count: 101))), ("languageDesired", .string("XX-XX")),
      // One character for a person.
      ("appName", .string("a" + String(repeating: "\u{301}", count: 100))),
      ("appID", .string("a" + String(repeating: "\u{301}", count: 100))),
      ("fullAppID", .string("")), ("fullAppID", .string(String(repeating: "1", count: 101))),
      ("appHMIType", .array([])),
      ("syncMsgVersion", .object(["majorVersion": .integer(11), "minorVersion": .integer(0)])),
    ] as [(String, JSONValue?)])
  func invalidRegistrationEndsTheSession(key: String, value: JSONValue?) {
    var app = TestApp()
    app.startSession()
    let id = app.register { $0[key] = value }
    #expect(app.result(id)?.resultCode == "INVALID_DATA")
    #expect(app.controls == ["rpc startServiceACK", "rpc endService"])
    #expect(app.isClosed)
    #expect(app.events.allSatisfy { if case .registrationRefused(_, _, .invalidData) = $0 { true } else { false } })
  }

  @Test func longestNames() {
    var app = TestApp()
    app.startSession()
    let id = app.register {
      $0["appName"] = .string(String(repeating: "图", count: 100))
      $0["fullAppID"] = .string(String(repeating: "1", count: 100))
    }
    #expect(app.result(id)?.success == true)
  }

  @Test func unreadableRegistrationEndsTheSession() {
    var app = TestApp()
    app.startSession()
    let header = RPCHeader(type: .request, functionID: 1, correlationID: 7, jsonSize: 1)
    app.send(data: header.bytes + [UInt8(ascii: "{")], .rpc)
    #expect(app.result(7)?.resultCode == "INVALID_DATA")
    #expect(app.isClosed)
  }

  @Test func duplicateIsRefusedAndHarmless() {
    var app = TestApp.active()
    let id = app.register()
    #expect(app.result(id)?.resultCode == "APPLICATION_REGISTERED_ALREADY")
    #expect(!app.isClosed)
    app.startVideo(.standard)
    #expect(app.controls == ["video startServiceACK"])
  }

  @Test func requestsBeforeRegistration() {
    var app = TestApp()
    app.startSession()
    for function in [FunctionID.getSystemCapability, .unregisterAppInterface, FunctionID(rawValue: 34)] {
      let id = app.request(function)
      #expect(app.result(id)?.resultCode == "APPLICATION_NOT_REGISTERED")
    }
  }

  @Test func unknownRequestsAreAnswered() {
    var app = TestApp.registered()
    for number in [42, 12345, 0x0FFF_FFFF] as [UInt32] {
      let id = app.request(FunctionID(rawValue: number))
      #expect(app.rpcs.last?.function.rawValue == number)
      #expect(app.result(id)?.resultCode == "UNSUPPORTED_REQUEST")
    }
    app.send(RPCMessage(type: .request, function: .getSystemCapability, correlationID: -5))
    #expect(app.result(-5)?.resultCode == "INVALID_ID")
  }

  @Test func scriptedAnswers() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.registration = .silence
    var silent = TestApp(configuration)
    silent.startSession()
    silent.register()
    #expect(silent.rpcs == [] && silent.events == [])

    configuration.behaviour.registration = .result(.disallowed, success: false)
    var refusing = TestApp(configuration)
    refusing.startSession()
    let refused = refusing.register()
    #expect(refusing.result(refused)?.resultCode == "DISALLOWED")
    #expect(refusing.isClosed)

    configuration.behaviour.registration = .result(.resumeFailed, success: true)
    var resuming = TestApp(configuration)
    resuming.startSession()
    let resumed = resuming.register()
    #expect(resuming.result(resumed) == RPCResult(success: true, resultCode: .resumeFailed))
    #expect(resuming.levels == [HMILevel.none])
  }

  @Test func notificationsOfARealCore() throws {
    var configuration = HeadUnitPreset.core.configuration
    configuration.behaviour.sendsCoreNotifications = true
    configuration.behaviour.policyUpdateSize = 300_000
    configuration.behaviour.activatesBeforePermissions = true
    var app = TestApp(configuration)
    app.startSession()
    app.register()
    #expect(
      app.rpcs.map(\.function) == [
        .registerAppInterface, .onHMIStatus, .onSystemCapabilityUpdated, .onHMIStatus, .onPermissionsChange,
        .onSystemRequest, .onDriverDistraction,
      ])
    let update = app.rpcs[2].parameters["systemCapability"]?.object
    #expect(update?["systemCapabilityType"] == .string("DISPLAYS") && update?["displayCapabilities"]?.array?.count == 1)
    #expect(app.levels == [HMILevel.none, .full])
    app.forget()
    app.wait(.seconds(2))
    let request = try #require(app.rpcs.first)
    #expect(app.rpcs.count == 1 && request.function == .onSystemRequest && request.bulk.count == 300_000)
    #expect(app.headers.first?.frameType == .first && app.headers.count == 4)
    #expect(app.headers.allSatisfy { $0.service == .hybrid && $0.dataSize < 131_072 - 12 })
    let policy = app.request(.systemRequest, ["requestType": .string("HTTP")])
    #expect(app.result(policy)?.resultCode == "SUCCESS")
  }

  /// Displays came with RPC 6.0.
  @Test func displaysAreNotToldToOldApps() {
    for (version, count) in [(5, 0), (6, 1)] {
      var app = TestApp()
      app.startSession()
      app.register { $0["syncMsgVersion"] = .object(["majorVersion": .integer(version), "minorVersion": .integer(0)]) }
      #expect(app.rpcs.count { $0.function == .onSystemCapabilityUpdated } == count)
    }
  }

  @Test func activationCanBeLeftToTheDriver() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.activation = nil
    var app = TestApp.registered(configuration)
    app.wait(.seconds(60))
    #expect(app.levels == [])
    app.set(.limited, .streamable)
    #expect(app.levels == [.limited])
  }

  @Test func appsThatMayNotStreamAreNotStreamable() throws {
    var app = TestApp()
    app.startSession()
    app.register { $0["appHMIType"] = .array([.string("DEFAULT")]) }
    app.wait(.seconds(1))
    let status = HMIStatus(json: try #require(app.rpcs.last).parameters)
    #expect(status == HMIStatus(level: .full, videoStreamingState: .notStreamable))
  }

  @Test func unregisterAppInterface() {
    var app = TestApp.streaming()
    let id = app.request(.unregisterAppInterface)
    #expect(app.result(id) == RPCResult(success: true, resultCode: .success))
    // Before the response.
    #expect(app.answers.first == .control(.endService, .video, payload: []))
    #expect(app.events == [.videoStopped(reason: .unregistered), .appUnregistered(reason: .requestedByApp)])
    #expect(!app.isClosed)
    app.send(.endService, .rpc, payload: EndServiceRequest(hashID: 0x0001_0001).bytes(version: 5))
    #expect(app.controls == ["video endService", "video endService", "rpc endServiceACK"])
    #expect(!app.isClosed && app.session.nextDeadline == nil)
    // The same transport may carry another session.
    app.startSession()
    app.register()
    #expect(app.events.count == 4)
  }
}
