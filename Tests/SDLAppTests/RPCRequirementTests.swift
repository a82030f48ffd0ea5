import SDLApp
import SDLHeadUnit
import SDLMessages
import TestSupport
import Testing

/// RPCs that must not be in clear, because the user says so, or because of the head unit's policy.
@Suite struct RPCRequirementTests {
  private static let touchPolicy: JSONObject = [
    "requireEncryption": .bool(true),
    "permissionItem": .array([.object(["rpcName": .string("OnTouchEvent"), "requireEncryption": .bool(true)])]),
  ]

  /// Encrypted video runs, unless it waits for the capability, and the start of protected RPCs is not answered.
  private func streaming(_ policy: EncryptionPolicy = .require, rpcs: RPCEncryption) -> AppDriver {
    let driver = AppDriver.registeredWithTLS(policy, rpcs: rpcs)
    if rpcs != .require {
      driver.answerCapability()
      driver.notify(.onPermissionsChange, Self.touchPolicy)
    }
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.status(.full, .streamable)
    driver.shakeHands()
    driver.acknowledgeEncrypted(.video)
    #expect(driver.isStreaming == (rpcs != .require))
    driver.setNotifications([.onTouchEvent])
    return driver
  }

  private func touchIsTaken(_ driver: AppDriver) -> Bool {
    _ = driver.take()
    driver.touch(80, 160)
    return driver.take().contains { $0.hasPrefix("• touch") || $0 == "• application: OnTouchEvent" }
  }

  /// Answers that anybody on the way could send.
  enum Forgery: CaseIterable {
    case refusal
    case acknowledgementInClear
    case silence

    func send(to driver: AppDriver) {
      switch self {
      case .refusal: driver.control(.startServiceNAK, .rpc)
      case .acknowledgementInClear: driver.control(.startServiceACK, .rpc)
      case .silence: driver.wait(.seconds(31))
      }
    }
  }

  /// Neither before the answer nor after it a touch in clear is one; the error names the cause.
  @Test(arguments: Forgery.allCases, [RPCEncryption.require, .prefer])
  func forgedAnswer(forgery: Forgery, rpcs: RPCEncryption) {
    let driver = streaming(rpcs: rpcs)
    #expect(!touchIsTaken(driver))
    forgery.send(to: driver)
    guard case .rpcsNotEncrypted(let reason, let isRequiredByHeadUnit) = driver.failure else {
      Issue.record("\(forgery): \(String(describing: driver.failure))")
      return
    }
    #expect(!reason.isEmpty && isRequiredByHeadUnit == (rpcs == .prefer))
    let text = driver.failure.map { "\($0)" } ?? ""
    #expect(text.contains(rpcs == .prefer ? "encryption-policy=prefer" : "rpc-encryption=prefer"), "\(text)")
    #expect(driver.isClosed && driver.failure?.canHeal == false)
    #expect(!touchIsTaken(driver))
  }

  /// A user who prefers encryption gets a warning, and the touch.
  @Test(arguments: Forgery.allCases) func preferred(forgery: Forgery) {
    let driver = streaming(.prefer, rpcs: .prefer)
    #expect(touchIsTaken(driver))
    forgery.send(to: driver)
    #expect(driver.take().contains { $0.hasPrefix("• RPCs in clear: ") })
    #expect(driver.failure == nil && touchIsTaken(driver))
  }

  /// The app asks for it by itself. Before that, only the registration is in clear.
  @Test(arguments: JoinedSessions.seeds) func requiredByTheUser(seed: UInt64) {
    for isRequiredByHeadUnit in [true, false] {
      let sessions = JoinedSessions.encrypting(
        .authenticateAndEncrypt, .require, .accept, rpcs: .require, handshake: .regular, seed: seed
      ) { $0.requiresRPCEncryption = isRequiredByHeadUnit }
      sessions.setVideoRequest(AppDriver.videoRequest)
      sessions.wait(.seconds(1))
      sessions.finish()
      sessions.wait(.seconds(2))
      let lines = sessions.take()
      let inClear = lines.filter { $0.hasPrefix("→") && $0.contains("request") && !$0.hasSuffix("encrypted") }
      #expect(inClear == ["→ RegisterAppInterface request"], "\(lines)")
      #expect(lines.contains("→ GetSystemCapability request encrypted"))
      // Without that policy, it sends its notifications in clear.
      #expect(lines.contains("• status FULL STREAMABLE") == isRequiredByHeadUnit)
      #expect(lines.contains("• OnHMIStatus ignored in clear") == !isRequiredByHeadUnit)
      #expect(sessions.failure == nil && sessions.violations.isEmpty)
    }
  }

  /// Video and sound may stay in clear.
  @Test func onlyRPCs() {
    let driver = AppDriver.registeredWithTLS(media: .none, rpcs: .require)
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.shakeHands()
    driver.acknowledgeEncrypted(.rpc)
    driver.status(.full, .streamable)
    #expect(driver.session.status.isRPCEncrypted)
    #expect(!driver.take().contains("→ StartService video 800×480 RAW H264 encrypted"))
    #expect(driver.failure == nil)
  }

  /// What SDL-0207 leaves in clear until RPCs are encrypted, and nothing of what it does not.
  @Test func beforeTheProtection() {
    let driver = AppDriver.registeredWithTLS(rpcs: .require)
    driver.setNotifications([.onSystemRequest])
    _ = driver.take()
    driver.status(.limited, .notStreamable)
    driver.notify(.onSystemRequest, ["requestType": .string("HTTP")])
    driver.notify(.onPermissionsChange, OnPermissionsChange(allowedLevels: ["OnTouchEvent": [.full]]).json)
    #expect(driver.session.status.permissions?.touchLevels == [.full])
    let taken = ["• status LIMITED NOT_STREAMABLE", "• application: OnSystemRequest"]
    #expect(driver.take() == taken)
    driver.notify(.onDriverDistraction, OnDriverDistraction(isDistractionLimited: true).json)
    driver.updateCapability(AppDriver.capability)
    driver.notify(.onAppInterfaceUnregistered, OnAppInterfaceUnregistered(reason: .masterReset).json)
    #expect(driver.take() == ["• diagnostic", "• diagnostic", "• diagnostic"])
    #expect(driver.failure == nil)
  }

  /// A head unit whose policy leaves its notifications in clear: the user reads once why nothing happens. If the policy
  /// names them, they are somebody else's.
  @Test func notificationsInClear() {
    let driver = AppDriver.registeredWithTLS(rpcs: .require)
    driver.shakeHands()
    driver.acknowledgeEncrypted(.rpc)
    _ = driver.take()
    driver.status(.full, .streamable)
    driver.touch(80, 160)
    driver.notify(.onPermissionsChange, Self.touchPolicy)
    #expect(driver.take() == ["• diagnostic", "• OnHMIStatus ignored in clear", "• diagnostic", "• diagnostic"])
    #expect(driver.session.status.hmi == nil && driver.failure == nil)
    driver.protection = FakeChannel(isServer: false)
    driver.status(.full, .streamable)
    #expect(driver.take().contains("• status FULL STREAMABLE"))
    let named = AppDriver.registeringWithTLS(rpcs: .require)
    named.notify(.onPermissionsChange, ["requireEncryption": .bool(true)])
    named.acceptRegistration()
    named.shakeHands()
    named.acknowledgeEncrypted(.rpc)
    _ = named.take()
    named.status(.full, .streamable)
    #expect(named.take() == ["• diagnostic"])
  }

  /// What the app sends by itself waits, or is left out.
  @Test func nothingIsSentInClear() {
    let driver = AppDriver.registeredWithTLS(rpcs: .require)
    let policy = OnPermissionsChange(
      allowedLevels: ["CloseApplication": [.full], "SendHapticData": [.full], "SubscribeButton": [.full]])
    driver.notify(.onPermissionsChange, policy.json)
    driver.setButtonsWanted(true)
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.setHapticRectangles(HapticTests.list([10]))
    driver.send(ApplicationRequest(id: ApplicationRequest.ids.lowerBound, .getVehicleData, [:]))
    driver.status(.full, .streamable)
    driver.shakeHands()
    driver.acknowledgeEncrypted(.video)
    driver.wait(.seconds(1))
    driver.finish()
    let rpcs = driver.take().filter { $0.hasSuffix("request") || $0.hasPrefix("→ On") }
    #expect(rpcs == ["→ RegisterAppInterface request", "→ UnregisterAppInterface request"])
  }

  /// Nor are the displays that it supports, while the start of encrypted RPCs is not answered.
  @Test func displaysAreNotToldInClear() {
    let driver = AppDriver.registeredWithTLS()
    driver.answerCapability()
    driver.setSupportedDisplays(VideoDisplay.displays(of: AppDriver.capability))
    driver.notify(.onPermissionsChange, ["requireEncryption": .bool(true)])
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.status(.full, .streamable)
    let lines = driver.take()
    #expect(lines.contains("→ StartService video 800×480 RAW H264 encrypted"), "\(lines)")
    #expect(!lines.contains("→ OnAppCapabilityUpdated"), "\(lines)")
  }

  /// The user wants none, whatever the head unit does.
  @Test func none() {
    let driver = AppDriver.registeredWithTLS(rpcs: .none)
    driver.notify(.onPermissionsChange, ["requireEncryption": .bool(true)])
    let lines = driver.take()
    let warning = "• RPCs in clear: this app does not encrypt (see the property rpc-encryption)"
    #expect(lines.contains(warning), "\(lines)")
    #expect(!lines.contains { $0.contains("rpc encrypted") })
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.answerCapability()
    driver.status(.full, .streamable)
    driver.shakeHands()
    driver.acknowledgeEncrypted(.video)
    driver.acknowledgeEncrypted(.rpc)
    #expect(driver.session.status.video.grant?.isEncrypted == true)
    #expect(driver.failure == nil && !driver.session.status.isRPCEncrypted && touchIsTaken(driver))
  }

  /// A handshake that did not end is made once more before the connection is given up, which another one may mend.
  @Test func unfinishedHandshake() {
    let driver = AppDriver.registeredWithTLS(rpcs: .require)
    for _ in 0..<2 {
      #expect(driver.failure == nil && driver.take().contains("→ StartService rpc encrypted"))
      driver.receive(SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: [22, 3, 3, 0, 1, 1]))
      driver.wait(.seconds(6))
    }
    #expect(driver.failure == .handshakeLost)
  }

  /// Without an end of TLS nothing can be encrypted.
  @Test func withoutAChannel() {
    var configuration = AppDriver.configuration
    configuration.rpcEncryption = .require
    let driver = AppDriver.registering(configuration)
    driver.acceptRegistration()
    #expect(driver.failure != nil && !driver.take().contains("→ GetSystemCapability request"))
  }
}
