import SDLApp
import SDLHeadUnit
import Testing

/// Both machines, joined; head units of all kinds.
@Suite struct JoinedHeadUnitTests {
  @Test(arguments: Duet.seeds) func legacyHeadUnit(seed: UInt64) {
    let duet = Duet(Duet.configuration(.legacy), seed: seed)
    duet.connect()
    duet.setWish(AppDriver.wish)
    duet.wait(.milliseconds(200))
    #expect(
      duet.take() == [
        "→ StartService rpc 5.4.1", "← StartServiceACK rpc v4", "• session 4.0.0", "→ RegisterAppInterface request",
        "← RegisterAppInterface response SUCCESS", "← OnHMIStatus NONE NOT_STREAMABLE", "← OnPermissionsChange",
        "• registered", "• no capability, display 800×480", "• status NONE NOT_STREAMABLE",
        "← OnHMIStatus FULL STREAMABLE", "• status FULL STREAMABLE", "→ StartService video",
        "← StartServiceACK video", "• started 800×480 epoch 1",
      ])
    #expect(duet.sendVideo([0, 0, 0, 1, 0x67, 0x42]))
    #expect(duet.take() == ["← ServiceDataACK video"])
    duet.finish()
    #expect(duet.isClosedByApp)
    #expect(duet.failure == nil)
    #expect(duet.take().contains("→ EndService rpc hash 65537"))
  }

  @Test(arguments: Duet.seeds) func everyPresetStreams(seed: UInt64) throws {
    for preset in HeadUnitPreset.allCases {
      let duet = Duet(Duet.configuration(preset), seed: seed)
      duet.connect()
      let capability = preset.configuration.videoCapability
      let displays = VideoDisplay.displays(of: capability, screen: VideoSize(800, 480))
      let size = try #require(displays.first?.streamSize)
      duet.setSupportedDisplays(displays)
      duet.setWish(VideoWish(size: size))
      duet.wait(.seconds(1))
      #expect(duet.app.videoGrant?.size == size)
      #expect(duet.violations.isEmpty)
      duet.finish()
      #expect(duet.isClosedByApp)
    }
  }

  /// FULL may overtake OnPermissionsChange; the policy update comes in many frames on the hybrid service.
  @Test(arguments: Duet.seeds) func unusualOrderAndPolicyUpdate(seed: UInt64) {
    let configuration = Duet.configuration {
      $0.behaviour.activatesBeforePermissions = true
      $0.behaviour.policyUpdateSize = 140_000
    }
    let duet = Duet(configuration, seed: seed)
    duet.setWish(AppDriver.wish)
    duet.connect()
    #expect(duet.app.videoGrant != nil)
    _ = duet.take()
    duet.wait(.seconds(3))
    #expect(duet.take() == ["← OnSystemRequest"])
    #expect(duet.app.videoGrant != nil)
  }

  @Test(arguments: Duet.seeds) func silentHeadUnits(seed: UInt64) {
    let noSession = Duet(Duet.configuration { $0.behaviour.rpcStart = .silence }, seed: seed)
    noSession.connect()
    noSession.wait(.seconds(10))
    #expect(noSession.failure == .unanswered(request: "StartService"))

    let noRegistration = Duet(Duet.configuration { $0.behaviour.registration = .silence }, seed: seed)
    noRegistration.connect()
    noRegistration.wait(.seconds(12))
    #expect(noRegistration.failure == .unanswered(request: "RegisterAppInterface"))

    let noEnd = Duet.streaming(Duet.configuration { $0.behaviour.serviceEnd = .silence }, seed: seed)
    noEnd.finish()
    #expect(!noEnd.isClosedByApp)
    noEnd.wait(.seconds(1))
    #expect(noEnd.isClosedByApp)
    #expect(noEnd.failure == nil)
  }

  @Test(arguments: Duet.seeds) func refusedRegistration(seed: UInt64) {
    let configuration = Duet.configuration { $0.behaviour.registration = .result(.disallowed, success: false) }
    let duet = Duet(configuration, seed: seed)
    duet.connect()
    #expect(duet.failure == .registrationRefused(resultCode: "DISALLOWED", info: nil))
    #expect(duet.isClosedByApp)
  }

  /// Heartbeats of both sides for a minute, with and without video.
  @Test(arguments: Duet.seeds) func heartbeats(seed: UInt64) {
    var app = AppDriver.configuration
    app.heartbeatInterval = .seconds(3)
    let duet = Duet(Duet.configuration(), app: app, seed: seed)
    duet.connect()
    duet.setWish(AppDriver.wish)
    duet.wait(.seconds(60))
    #expect(duet.failure == nil)
    #expect(duet.app.videoGrant != nil)
    let lines = duet.take()
    #expect(lines.filter { $0 == "→ Heartbeat" }.count == 20 - 1)
    #expect(lines.filter { $0 == "← HeartbeatACK control" }.count == 20 - 1)

    let pinging = Duet(Duet.configuration { $0.behaviour.heartbeat = .pings(every: .seconds(2)) }, seed: seed)
    pinging.connect()
    pinging.wait(.seconds(21))
    let answers = pinging.take().filter { $0 == "→ HeartbeatACK control" }
    #expect(answers.count == 10)
    #expect(pinging.violations.isEmpty)

    let silent = Duet(Duet.configuration { $0.behaviour.heartbeat = .silence }, app: app, seed: seed)
    silent.connect()
    silent.wait(.seconds(60))
    #expect(silent.failure == .heartbeatLost)
  }

  @Test(arguments: Duet.seeds, UnregisteredReason.allCases) func unregistered(seed: UInt64, reason: UnregisteredReason)
  {
    let duet = Duet.streaming(Duet.configuration(), seed: seed)
    duet.headUnitDoes { $0.unregisterApp(reason, now: $1) }
    #expect(duet.failure == .unregistered(reason: reason.rawValue))
    #expect(duet.isClosedByApp)
    #expect(duet.app.videoGrant == nil)
  }
}
