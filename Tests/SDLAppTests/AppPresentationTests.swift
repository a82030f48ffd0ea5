import SDLApp
import SDLHeadUnit
import SDLMessages
import Testing
import TestSupport

/// Name and icon of the app in the head unit's lists, and its end on the screen.
@Suite struct AppPresentationTests {
  private static let policy = OnPermissionsChange(
    allowedLevels: ["PutFile", "SetAppIcon", "ChangeRegistration"].reduce(into: [:]) {
      $0[$1] = HMILevel.allCases
    })
  private static let success = RPCResult(success: true, resultCode: .success).json

  private static func configuration(icon count: Int? = 1000) -> AppSession.Configuration {
    var configuration = AppDriver.configuration
    configuration.names = ["DE-DE": "Karte"]
    configuration.icon = count.map { AppIcon(png: (0..<$0).map { UInt8(truncatingIfNeeded: $0) }) }
    return configuration
  }

  /// Registered, without the policy.
  private static func registered(
    _ configuration: AppSession.Configuration = Self.configuration(),
    _ change: (inout RegisterAppInterfaceResponse) -> Void = { _ in }
  ) -> AppDriver {
    let driver = AppDriver.registering(configuration)
    driver.acceptRegistration(change)
    driver.answerCapability()
    driver.status(.none, .notStreamable)
    _ = driver.take()
    return driver
  }

  private static func sent(_ driver: AppDriver) -> [String] { driver.take().filter { $0.hasPrefix("→") } }

  @Test func icon() throws {
    let driver = Self.registered()
    driver.notify(.onPermissionsChange, Self.policy.json)
    #expect(Self.sent(driver) == ["→ PutFile request"])
    let file = try #require(driver.lastRPC)
    #expect(file.bulk.count == 1000 && file.parameters["fileType"]?.string == "GRAPHIC_PNG")
    #expect(file.parameters["persistentFile"] == .bool(true) && file.parameters["offset"] == nil)
    driver.respond(.putFile, Self.success)
    #expect(Self.sent(driver) == ["→ SetAppIcon request"])
    #expect(driver.lastRPC?.parameters["syncFileName"] == file.parameters["syncFileName"])
    driver.respond(.setAppIcon, Self.success)
    driver.notify(.onPermissionsChange, Self.policy.json)
    driver.status(.full)
    #expect(driver.take().filter { $0.hasPrefix("→") || $0.contains("refused") } == [])
  }

  /// In parts, so that it does not hold up video.
  @Test func largeIcon() {
    let driver = Self.registered(Self.configuration(icon: 100_000))
    driver.notify(.onPermissionsChange, Self.policy.json)
    #expect(Self.sent(driver) == ["→ PutFile request"])
    driver.respond(.putFile, Self.success)
    #expect(Self.sent(driver) == ["→ PutFile request"] && driver.lastRPC?.bulk.count == 100_000 - 65_536)
    driver.respond(.putFile, Self.success)
    #expect(Self.sent(driver) == ["→ SetAppIcon request"])
  }

  /// The head unit still has it, or does not allow it.
  @Test func notSent() {
    let resumed = Self.registered { $0.isIconResumed = true }
    resumed.notify(.onPermissionsChange, Self.policy.json)
    #expect(Self.sent(resumed) == [])
    let forbidden = Self.registered()
    forbidden.notify(.onPermissionsChange, OnPermissionsChange(allowedLevels: [:]).json)
    #expect(Self.sent(forbidden) == [])
  }

  /// Told once, and the rest goes on.
  @Test(arguments: [false, true]) func refused(isUnanswered: Bool) {
    let driver = Self.registered()
    driver.notify(.onPermissionsChange, Self.policy.json)
    _ = driver.take()
    if isUnanswered {
      driver.wait(.seconds(12))
    } else {
      driver.respond(.putFile, RPCResult(success: false, resultCode: .outOfMemory).json)
    }
    #expect(driver.take() == ["• PutFile refused \(isUnanswered ? "no answer" : "OUT_OF_MEMORY")"])
    driver.status(.full)
    #expect(Self.sent(driver) == [])
    #expect(driver.failure == nil)
  }

  /// The name does not keep the icon back, and each refusal is told.
  @Test func refusedNameAndIcon() {
    let driver = Self.registered { $0.language = "DE-DE" }
    driver.notify(.onPermissionsChange, Self.policy.json)
    #expect(Self.sent(driver) == ["→ ChangeRegistration request"])
    let refusal = RPCResult(success: false, resultCode: .rejected).json
    driver.respond(.changeRegistration, refusal)
    #expect(driver.take() == ["• ChangeRegistration refused REJECTED", "→ PutFile request"])
    driver.respond(.putFile, Self.success)
    _ = driver.take()
    driver.respond(.setAppIcon, refusal)
    driver.status(.full)
    #expect(driver.take() == ["• SetAppIcon refused REJECTED", "• status FULL STREAMABLE"])
  }

  /// In the language of what is shown.
  @Test(
    arguments: [
      ("EN-US", nil, nil), ("DE-DE", nil, "DE-DE"), ("DE-DE", "EN-US", nil), ("EN-US", "DE-DE", "DE-DE"),
      ("FR-FR", nil, nil),
    ] as [(String, String?, String?)])
  func name(language: String, display: String?, expected: String?) {
    let driver = Self.registered(Self.configuration(icon: nil)) {
      $0.language = language
      $0.displayLanguage = display
    }
    driver.notify(.onPermissionsChange, Self.policy.json)
    let isChanged = driver.lastRPC?.function == .changeRegistration
    #expect(isChanged == (expected != nil))
    if let expected {
      #expect(
        driver.lastRPC?.parameters == [
          "language": .string(expected), "hmiDisplayLanguage": .string(expected), "appName": .string("Karte"),
        ])
    }
  }

  @Test func spokenNames() {
    var configuration = AppDriver.configuration
    configuration.spokenName = "Gee Streamer"
    configuration.synonyms = ["Map", "Streamer"]
    let driver = AppDriver.registering(configuration)
    let parameters = driver.lastRPC?.parameters ?? [:]
    #expect(parameters["vrSynonyms"] == .array([.string("Map"), .string("Streamer")]))
    let chunk: JSONObject = ["text": .string("Gee Streamer"), "type": .string("TEXT")]
    #expect(parameters["ttsName"] == .array([.object(chunk)]))
    #expect(RegisterAppInterface(json: parameters).synonyms == ["Map", "Streamer"])
  }

  /// Everything with the head unit, which still has the icon after a lost connection.
  @Test(arguments: JoinedSessions.seeds) func joined(seed: UInt64) {
    var configuration = Self.configuration(icon: 70_000)
    configuration.spokenName = "Map"
    configuration.synonyms = ["Chart"]
    let headUnit = JoinedSessions.configuration { $0.language = "DE-DE" }
    let sessions = JoinedSessions(headUnit, app: configuration, seed: seed)
    sessions.connect()
    #expect(
      sessions.take().filter { $0.hasPrefix("→") }.suffix(4) == [
        "→ ChangeRegistration request", "→ PutFile request", "→ PutFile request", "→ SetAppIcon request",
      ])
    #expect(sessions.headUnit.identity?.name == "Karte" && sessions.violations == [])
    #expect(sessions.headUnit.savedApp != nil)
  }

  /// On the screen, if the head unit knows the request.
  @Test(arguments: [
    (HMILevel.full, RPCVersion(8), true), (.limited, RPCVersion(6), true), (.background, RPCVersion(8), false),
    (.none, RPCVersion(8), false), (.full, RPCVersion(5), false),
  ])
  func close(level: HMILevel, version: RPCVersion, isAsked: Bool) {
    let driver = AppDriver.registering()
    driver.acceptRegistration { $0.rpcVersion = version }
    driver.notify(
      .onPermissionsChange,
      OnPermissionsChange(allowedLevels: ["CloseApplication": [.full, .limited, .background]]).json)
    driver.status(level)
    _ = driver.take()
    driver.finish()
    #expect(
      Self.sent(driver) == (isAsked ? ["→ CloseApplication request"] : []) + ["→ UnregisterAppInterface request"])
  }

  /// A file that the head unit wants encrypted is sent from its beginning once RPCs are, and not before.
  @Test func encryptionNeeded() {
    var configuration = Self.configuration(icon: 100_000)
    configuration.encryption = .authenticateAndEncrypt
    configuration.encryptionPolicy = .prefer
    let driver = AppDriver(configuration, makeSecureChannel: { FakeChannel(isServer: true) })
    driver.connect()
    driver.acknowledgeSession()
    driver.acceptRegistration()
    driver.answerCapability()
    driver.status(.none, .notStreamable)
    driver.notify(.onPermissionsChange, Self.policy.json)
    driver.respond(.putFile, Self.success)
    #expect(driver.lastRPC?.parameters["offset"]?.integer == 65_536)
    _ = driver.take()
    driver.respond(.putFile, RPCResult(success: false, resultCode: .encryptionNeeded).json)
    #expect(!driver.take().contains { $0.contains("PutFile") })
    driver.shakeHands()
    driver.acknowledgeEncrypted(.rpc)
    #expect(driver.take().contains { $0.hasPrefix("→ PutFile request") })
    #expect(driver.lastRPC?.parameters["offset"]?.integer == 0 && driver.lastRPC?.bulk.count == 65_536)
  }
}
