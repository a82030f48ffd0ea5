import SDLApp
import SDLHeadUnit
import Testing

/// App and emulated head unit joined, with head units of all kinds.
@Suite struct JoinedHeadUnitTests {
  @Test(arguments: JoinedSessions.seeds) func legacyHeadUnit(seed: UInt64) {
    let sessions = JoinedSessions(JoinedSessions.configuration(.legacy), seed: seed)
    sessions.connect()
    sessions.setVideoRequest(AppDriver.videoRequest)
    sessions.wait(.milliseconds(200))
    #expect(
      sessions.take() == [
        "→ StartService rpc 5.4.1", "← StartServiceACK rpc v4", "• session 4.0.0", "→ RegisterAppInterface request",
        "← RegisterAppInterface response SUCCESS", "← OnHMIStatus NONE NOT_STREAMABLE", "← OnPermissionsChange",
        "• registered", "• no capability, display 800×480", "• status NONE NOT_STREAMABLE",
        "← OnHMIStatus FULL STREAMABLE", "• status FULL STREAMABLE", "→ StartService video",
        "← StartServiceACK video", "• started 800×480 epoch 1",
      ])
    #expect(sessions.sendVideo([0, 0, 0, 1, 0x67, 0x42]))
    #expect(sessions.take() == ["← ServiceDataACK video"])
    sessions.finish()
    #expect(sessions.isClosedByApp)
    #expect(sessions.failure == nil)
    #expect(sessions.take().contains("→ EndService rpc hash 65537"))
  }

  @Test(arguments: JoinedSessions.seeds) func everyPresetStreams(seed: UInt64) throws {
    // Video over the one transport that there is here.
    for preset in HeadUnitPreset.allCases where preset != .bluetoothAndWiFi {
      let sessions = JoinedSessions(preset.configuration, seed: seed)
      sessions.connect()
      let capability = preset.configuration.videoCapability
      let displays = VideoDisplay.displays(of: capability, screen: VideoSize(800, 480))
      let size = try #require(displays.first?.streamSize)
      sessions.setSupportedDisplays(displays)
      sessions.setVideoRequest(VideoStartRequest(size: size))
      sessions.wait(.seconds(1))
      #expect(sessions.app.status.video.grant?.size == size)
      #expect(sessions.violations.isEmpty)
      sessions.finish()
      #expect(sessions.isClosedByApp)
    }
  }

  /// FULL may overtake OnPermissionsChange; the policy update comes in many frames on the hybrid service.
  @Test(arguments: JoinedSessions.seeds) func unusualOrderAndPolicyUpdate(seed: UInt64) {
    let configuration = JoinedSessions.configuration {
      $0.behaviour.activatesBeforePermissions = true
      $0.behaviour.policyUpdateSize = 140_000
    }
    let sessions = JoinedSessions(configuration, seed: seed)
    sessions.setVideoRequest(AppDriver.videoRequest)
    sessions.connect()
    #expect(sessions.app.status.video.grant != nil)
    _ = sessions.take()
    sessions.wait(.seconds(3))
    #expect(sessions.take() == ["← OnSystemRequest"])
    #expect(sessions.app.status.video.grant != nil)
  }

  @Test(arguments: JoinedSessions.seeds) func silentHeadUnits(seed: UInt64) {
    let noSession = JoinedSessions(JoinedSessions.configuration { $0.behaviour.rpcStart = .silence }, seed: seed)
    noSession.connect()
    noSession.wait(.seconds(10))
    #expect(noSession.failure == .unanswered(request: "StartService"))

    let noRegistration = JoinedSessions(
      JoinedSessions.configuration { $0.behaviour.registration = .silence }, seed: seed)
    noRegistration.connect()
    noRegistration.wait(.seconds(12))
    #expect(noRegistration.failure == .unanswered(request: "RegisterAppInterface"))

    let noEnd = JoinedSessions.streaming(
      JoinedSessions.configuration { $0.behaviour.serviceEnd = .silence }, seed: seed)
    noEnd.finish()
    #expect(!noEnd.isClosedByApp)
    noEnd.wait(.seconds(1))
    #expect(noEnd.isClosedByApp)
    #expect(noEnd.failure == nil)
  }

  /// Heartbeats of both sides for a minute, with and without video.
  @Test(arguments: JoinedSessions.seeds) func heartbeats(seed: UInt64) {
    var app = AppDriver.configuration
    app.heartbeatInterval = .seconds(3)
    let sessions = JoinedSessions(JoinedSessions.configuration(), app: app, seed: seed)
    sessions.connect()
    sessions.setVideoRequest(AppDriver.videoRequest)
    sessions.wait(.seconds(60))
    #expect(sessions.failure == nil)
    #expect(sessions.app.status.video.grant != nil)
    let lines = sessions.take()
    #expect(lines.filter { $0 == "→ Heartbeat" }.count == 20)
    #expect(lines.filter { $0 == "← HeartbeatACK control" }.count == 20)

    let pinging = JoinedSessions(
      JoinedSessions.configuration { $0.behaviour.heartbeat = .pings(every: .seconds(2)) }, seed: seed)
    pinging.connect()
    pinging.wait(.seconds(21))
    let answers = pinging.take().filter { $0 == "→ HeartbeatACK control" }
    #expect(answers.count == 10)
    #expect(pinging.violations.isEmpty)

    let silent = JoinedSessions(
      JoinedSessions.configuration { $0.behaviour.heartbeat = .silence }, app: app, seed: seed)
    silent.connect()
    silent.setVideoRequest(AppDriver.videoRequest)
    silent.wait(.seconds(60))
    #expect(silent.failure == nil && silent.app.status.video.grant != nil)
    #expect(silent.take().count { $0 == "→ Heartbeat" } == 1)
  }

  /// The app gets the buttons that the head unit has for it, each with its keys; only those that the stock policy
  /// allows.
  @Test(arguments: [HeadUnitPreset.standard, .core, .listedInCore]) func buttons(preset: HeadUnitPreset) {
    let sessions = JoinedSessions(JoinedSessions.configuration(preset), seed: 1)
    sessions.setButtonsWanted(true)
    sessions.connect()
    #expect(sessions.take().contains { $0.contains("SubscribeButton") } == false)
    sessions.wait(.milliseconds(200))
    // OK and eleven for the map, each answered before the next.
    let lines = sessions.take().filter { $0.contains("SubscribeButton") }
    #expect(
      lines.count == 24 && lines.prefix(2) == ["→ SubscribeButton request", "← SubscribeButton response SUCCESS"])
    sessions.headUnitDoes { $0.take(.button("NAV_PAN_LEFT", .long), now: $1) }
    sessions.wait(.seconds(2))
    var expected = ["• button NAV_PAN_LEFT down"]
    expected += [String](repeating: "• keys +NAV_PAN_LEFT", count: 9)
    expected += ["• button NAV_PAN_LEFT up", "• keys −NAV_PAN_LEFT", "• button NAV_PAN_LEFT longPress"]
    #expect(sessions.take().filter { $0.hasPrefix("•") } == expected)
    sessions.setButtonsWanted(false)
    sessions.headUnitDoes { $0.take(.button("NAV_PAN_LEFT"), now: $1) }
    #expect(sessions.take().contains { $0.hasPrefix("• button") } == false)
    #expect(sessions.violations.isEmpty)
    // Base-4, SDL Core's stock policy, has buttons, and neither touches nor touchable rectangles.
    let permissions = sessions.app.status.permissions
    #expect(permissions?.touchLevels == (preset == .core ? [] : [.full]))
    #expect(permissions?.hapticLevels == (preset == .core ? [] : [.full]))
    #expect(permissions?.buttonLevels == [.full, .limited, .background])
  }
}
