import SDLApp
import SDLHeadUnit
import SDLMessages
import TestSupport
import Testing

/// RPCs that the head unit's policy wants encrypted, app and head unit joined.
@Suite struct RPCProtectionTests {
  private func sessions(
    _ encryption: MediaEncryption = .authenticateAndEncrypt, _ security: HeadUnitSecurity = .accept,
    handshake: HeadUnitBehaviour.Handshake = .regular, version: ProtocolVersion = ProtocolVersion(5, 4, 0),
    requiresRPCEncryption: Bool = true, seed: UInt64 = 1
  ) -> JoinedSessions {
    JoinedSessions.encrypting(encryption, .prefer, security, handshake: handshake, version: version, seed: seed) {
      $0.requiresRPCEncryption = requiresRPCEncryption
    }
  }

  /// The first request is refused in clear, and made again encrypted; video then needs no further handshake.
  @Test(arguments: JoinedSessions.seeds) func protected(seed: UInt64) {
    let sessions = sessions(seed: seed)
    let lines = sessions.take()
    #expect(
      lines.suffix(12) == [
        "→ StartService rpc encrypted", "← GetSystemCapability response ENCRYPTION_NEEDED", "← single control",
        "→ single control", "← single control", "→ single control", "• secured XOR",
        "← StartServiceACK rpc v5 encrypted", "• RPCs encrypted", "→ GetSystemCapability request encrypted",
        "← GetSystemCapability response SUCCESS encrypted", "• capability 800×480",
      ])
    #expect(sessions.app.status.isRPCEncrypted)
    sessions.setVideoRequest(AppDriver.videoRequest)
    sessions.wait(.milliseconds(200))
    #expect(sessions.app.status.video.grant?.isEncrypted == true)
    #expect(sessions.take().filter { $0.hasSuffix("single control") }.isEmpty)
    // Records of both services are numbered together.
    for number in 0..<3 {
      #expect(sessions.sendVideo([0, 0, 0, 1, 0x67, 0x42, UInt8(number)]))
      let touch = OnTouchEvent(kind: .begin, fingers: [.init(id: number, samples: [.init(x: 80, y: 160)])])
      sessions.headUnitDoes { $0.touch(touch, now: $1) }
    }
    #expect(sessions.take().contains { $0.hasPrefix("• touch down") })
    sessions.finish()
    sessions.wait(.seconds(2))
    #expect(sessions.take().contains("→ UnregisterAppInterface request encrypted"))
    #expect(sessions.failure == nil)
    #expect(sessions.violations.filter { if case .stream = $0 { false } else { true } }.isEmpty)
  }

  /// Before protocol 5 the acknowledgement has no payload.
  @Test func protocol4() {
    #expect(sessions(version: ProtocolVersion(4)).app.status.isRPCEncrypted)
  }

  /// Nobody asks for it, so nothing is encrypted.
  @Test func notDemanded() {
    let sessions = sessions(requiresRPCEncryption: false)
    #expect(!sessions.app.status.isRPCEncrypted)
    #expect(!sessions.take().contains { $0.contains("encrypted") })
  }

  /// The app does not encrypt: it says so once, and goes on with what the head unit does in clear.
  @Test func notOffered() {
    let sessions = sessions(MediaEncryption.none)
    let lines = sessions.take()
    #expect(lines.filter { $0.hasPrefix("• RPCs in clear: this app does not encrypt") }.count == 1)
    #expect(lines.last == "• no capability, display 800×480")
    #expect(sessions.failure == nil)
  }

  /// A head unit that can't ends the session, as SDL Core does.
  @Test(arguments: [(HeadUnitSecurity.refuse, HeadUnitBehaviour.Handshake.regular), (.accept, .expired)])
  func refused(security: HeadUnitSecurity, handshake: HeadUnitBehaviour.Handshake) {
    let sessions = sessions(.authenticateAndEncrypt, security, handshake: handshake)
    let lines = sessions.take()
    #expect(lines.contains("← StartServiceNAK rpc []"))
    #expect(lines.contains { $0.hasPrefix("• RPCs in clear: ") }, "\(lines)")
    sessions.wait(.seconds(1))
    #expect(sessions.failure != nil && !sessions.app.status.isRPCEncrypted)
  }

  /// Acknowledged without the E bit: RPCs stay in clear.
  @Test func acknowledgedInClear() {
    let sessions = sessions(handshake: .clear)
    #expect(sessions.take().contains("• RPCs in clear: the head unit acknowledged in clear"))
    #expect(sessions.failure == nil && !sessions.app.status.isRPCEncrypted)
  }

  /// The head unit never answers: the app does without a capability in the end.
  @Test func silence() {
    let sessions = sessions(handshake: .silence)
    _ = sessions.take()
    sessions.wait(.seconds(31))
    let lines = sessions.take()
    #expect(lines.contains { $0.hasPrefix("• RPCs in clear: ") })
    #expect(!sessions.app.status.isRPCEncrypted)
  }

  private static let refusal = RPCResult(success: false, resultCode: .encryptionNeeded).json

  /// An app whose RPCs are encrypted, with GetSystemCapability sent again.
  private func protectedDriver(_ permissions: JSONObject? = nil) -> AppDriver {
    let driver = AppDriver.registeredWithTLS()
    if let permissions { driver.notify(.onPermissionsChange, permissions) }
    driver.respond(.getSystemCapability, Self.refusal)
    protect(driver)
    return driver
  }

  /// The handshake, and the acknowledgement of the protected service.
  private func protect(_ driver: AppDriver) {
    driver.shakeHands()
    driver.acknowledgeEncrypted(.rpc)
    #expect(driver.session.status.isRPCEncrypted)
  }

  private static func permissions(_ names: [String]) -> JSONObject {
    [
      "requireEncryption": .bool(true),
      "permissionItem": .array(
        names.map { .object(["rpcName": .string($0), "requireEncryption": .bool(true)]) }
          + [.object(["rpcName": .string("OnDriverDistraction")])]),
    ]
  }

  /// What somebody puts between the head unit's messages in clear: a status, a touch, a distraction, and the answer to
  /// a request.
  private func inject(_ driver: AppDriver) -> [String] {
    _ = driver.take()
    driver.status(.full, .streamable)
    driver.notify(.onDriverDistraction, OnDriverDistraction(isDistractionLimited: true).json)
    driver.answerCapability()
    return driver.take().filter { $0 != "• diagnostic" }
  }

  /// Once RPCs are encrypted, those in clear are none of the head unit's, unless its policy leaves them in clear.
  @Test func injectedInClear() {
    #expect(inject(protectedDriver(["requireEncryption": .bool(true)])) == [])
    let distraction = "• distraction true"
    let driver = protectedDriver(Self.permissions(["GetSystemCapability", "OnHMIStatus"]))
    #expect(inject(driver) == [distraction])
    // The policy is not taken back in clear, but what is added holds.
    driver.notify(.onPermissionsChange, ["requireEncryption": .bool(false)])
    #expect(inject(driver) == [distraction])
    driver.notify(.onPermissionsChange, Self.permissions(["OnDriverDistraction"]))
    #expect(inject(driver) == [])
    #expect(driver.failure == nil)
    // SDL Core sends the rest in clear.
    let rest = inject(protectedDriver(Self.permissions(["GetSystemCapability"])))
    #expect(rest == ["• status FULL STREAMABLE", distraction])
  }

  /// A handshake that a start of video has left unfinished is not that of the RPCs.
  @Test func handshakeLeftUnfinished() {
    let driver = AppDriver.encrypting(.require)
    driver.receive(SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: [22, 3, 3, 0, 1, 1]))
    driver.control(.endService, .video)
    driver.setVideoRequest(nil)
    driver.wait(.seconds(6))
    driver.notify(.onPermissionsChange, ["requireEncryption": .bool(true)])
    driver.wait(.seconds(1))
    let lines = driver.take()
    #expect(lines.contains("→ StartService rpc encrypted"), "\(lines)")
    #expect(!lines.contains { $0.hasPrefix("• RPCs in clear") }, "\(lines)")
    protect(driver)
  }

  /// Video runs encrypted, so that the RPC service needs no handshake: a refusal of what would be sent in clear meanwhile
  /// could come after the acknowledgement.
  @Test func requestsWaitForTheProtection() {
    let driver = AppDriver.registeredWithTLS()
    driver.answerCapability(HapticTests.capability())
    driver.notify(.onSystemCapabilityUpdated, SystemCapability(type: .displays, buttons: [.search]).json)
    driver.setButtonsWanted(true)
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.status(.full, .streamable)
    driver.shakeHands()
    driver.acknowledgeEncrypted(.video)
    #expect(driver.session.status.video.grant?.isEncrypted == true)
    _ = driver.take()
    let policy = OnPermissionsChange(
      allowedLevels: ["SubscribeButton": [.full], "SendHapticData": [.full]], requiresEncryption: true)
    driver.notify(.onPermissionsChange, policy.json)
    driver.setHapticRectangles(HapticTests.list([10]))
    #expect(driver.take() == ["→ StartService rpc encrypted"])
    driver.acknowledgeEncrypted(.rpc)
    #expect(driver.take() == ["• RPCs encrypted", "→ SendHapticData request", "→ SubscribeButton request"])
  }

  /// The capability is asked for in clear only if nothing comes of the protection.
  @Test(arguments: [true, false]) func capabilityWaitsForTheProtection(isProtected: Bool) {
    let driver = AppDriver.registeredWithTLS(.prefer)
    driver.respond(.getSystemCapability, RPCResult(success: false, resultCode: .disallowed).json)
    let policy = OnPermissionsChange(allowedLevels: ["GetSystemCapability": [.full]], requiresEncryption: true)
    driver.notify(.onPermissionsChange, policy.json)
    _ = driver.take()
    driver.status(.full, .streamable)
    #expect(driver.take() == ["• status FULL STREAMABLE"])
    isProtected ? protect(driver) : driver.control(.startServiceNAK, .rpc)
    #expect(driver.take().last == "→ GetSystemCapability request")
  }

  private static let vehicleData = ApplicationRequest(id: ApplicationRequest.ids.lowerBound, .getVehicleData, [:])

  /// A policy that comes before the app is registered holds from the registration on.
  @Test func policyBeforeTheRegistration() {
    let driver = AppDriver.registeringWithTLS()
    driver.notify(.onPermissionsChange, Self.permissions(["GetVehicleData"]))
    #expect(!driver.take().contains("→ StartService rpc encrypted"))
    driver.acceptRegistration()
    driver.send(Self.vehicleData)
    let lines = driver.take()
    #expect(lines.contains("→ StartService rpc encrypted"), "\(lines)")
    #expect(!lines.contains("→ GetVehicleData request"))
    protect(driver)
    #expect(driver.take().contains("→ GetVehicleData request"))
  }

  /// The head unit may need the policy update for its certificate, and takes it in clear.
  @Test func policyUpdateDoesNotWait() {
    let driver = AppDriver.registeredWithTLS()
    driver.answerCapability()
    driver.notify(.onPermissionsChange, ["requireEncryption": .bool(true)])
    _ = driver.take()
    driver.send(Self.vehicleData)
    driver.send(ApplicationRequest(id: Self.vehicleData.id + 1, .putFile, [:], bulk: [1]))
    driver.send(ApplicationRequest(id: Self.vehicleData.id + 2, .systemRequest, [:]))
    #expect(driver.take() == ["→ SystemRequest request"])
    protect(driver)
    #expect(driver.take().suffix(2) == ["→ GetVehicleData request", "→ PutFile request"])
  }

  private static func answer(_ parameters: JSONObject) -> RPCMessage {
    RPCMessage(
      type: .response, function: vehicleData.function, correlationID: vehicleData.id, parameters: parameters)
  }

  /// What somebody puts in between in clear is not the answer to a request that went encrypted.
  @Test func applicationsAnswerInClear() {
    let driver = protectedDriver(["requireEncryption": .bool(true)])
    driver.send(Self.vehicleData)
    let answer = Self.answer(RPCResult(success: true, resultCode: .success).json)
    driver.send(answer)
    #expect(driver.applicationRPCs == [])
    driver.protection = FakeChannel(isServer: false)
    driver.send(answer)
    #expect(driver.applicationRPCs == [answer])
  }

  /// A request of the application shows as well as the session's own what the head unit wants.
  @Test func applicationsRequestThatIsRefusedInClear() {
    let driver = AppDriver.registeredWithTLS()
    driver.answerCapability()
    driver.send(Self.vehicleData)
    _ = driver.take()
    driver.send(Self.answer(Self.refusal))
    #expect(
      driver.take() == ["• application: GetVehicleData response ENCRYPTION_NEEDED", "→ StartService rpc encrypted"])
  }

  /// A request that went in clear is answered in clear.
  @Test func answerToARequestInClear() {
    let driver = AppDriver.registeredWithTLS()
    driver.notify(.onPermissionsChange, ["requireEncryption": .bool(true)])
    protect(driver)
    driver.answerCapability()
    #expect(driver.take().contains("• capability 800×480"))
  }

  /// A head unit that refuses what is encrypted as well is not asked again and again.
  @Test func neverSatisfied() {
    let driver = protectedDriver()
    driver.protection = FakeChannel(isServer: false)
    driver.respond(.getSystemCapability, Self.refusal)
    let lines = driver.take()
    #expect(lines.filter { $0 == "→ GetSystemCapability request" }.count == 2, "\(lines)")
    #expect(lines.last?.hasPrefix("• no capability") == true)
  }

  /// Video asked for while the handshake for the RPCs is under way waits for the same one.
  @Test func oneHandshakeForBoth() {
    let driver = AppDriver.registeredWithTLS()
    driver.answerCapability()
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.status(.full, .streamable)
    driver.notify(.onPermissionsChange, ["requireEncryption": .bool(true)])
    driver.notify(.onPermissionsChange, ["requireEncryption": .bool(true)])
    let starts = ["→ StartService video 800×480 RAW H264 encrypted", "→ StartService rpc encrypted"]
    #expect(
      driver.frames.last?.header.isEncrypted == true && driver.frames.last?.payload == []
        && driver.frames.last?.header.sessionID == AppDriver.sessionID)
    #expect(driver.take().suffix(2) == starts)
  }

  /// The handshake that video waits for goes on when the policy demands encrypted RPCs in the middle of it.
  @Test func policyDuringTheHandshakeOfVideo() {
    let driver = AppDriver.registeredWithTLS()
    driver.answerCapability()
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.status(.full, .streamable)
    driver.receiveHandshake(1)
    driver.notify(.onPermissionsChange, ["requireEncryption": .bool(true)])
    #expect(driver.take().last == "→ StartService rpc encrypted")
    driver.receiveHandshake(3)
    driver.acknowledgeEncrypted(.video)
    driver.acknowledgeEncrypted(.rpc)
    #expect(driver.session.status.isRPCEncrypted && driver.session.status.video.state == .streaming)
    #expect(driver.failure == nil)
  }
}
