import SDLApp
import SDLHeadUnit
import Testing

/// Both machines, joined; whole conversations.
@Suite struct SequenceChartTests {
  private static let seeds: [UInt64] = [1, 2, 3, 4]
  private static let wish = VideoWish(size: VideoSize(800, 480))

  private static func configuration(
    _ preset: HeadUnitPreset = .standard, _ change: (inout HeadUnitConfiguration) -> Void = { _ in }
  ) -> HeadUnitConfiguration {
    var configuration = preset.configuration
    change(&configuration)
    return configuration
  }

  private static func streaming(_ configuration: HeadUnitConfiguration, seed: UInt64) -> Duet {
    let duet = Duet(configuration, seed: seed)
    duet.connect()
    duet.setWish(wish)
    duet.wait(.milliseconds(200))
    #expect(duet.app.videoGrant != nil)
    _ = duet.take()
    return duet
  }

  private static func status(_ level: HMILevel, _ state: VideoStreamingState) -> HMIStatus {
    HMIStatus(level: level, videoStreamingState: state)
  }

  @Test(arguments: seeds) func coldStart(seed: UInt64) {
    let duet = Duet(Self.configuration { $0.behaviour.sendsCoreNotifications = true }, seed: seed)
    duet.setWish(Self.wish)
    duet.connect()
    #expect(
      duet.take() == [
        "→ StartService rpc 5.4.1",
        "← StartServiceACK rpc 5.4.0",
        "• session 5.4.0",
        "→ RegisterAppInterface request",
        "← RegisterAppInterface response SUCCESS",
        "← OnHMIStatus NONE NOT_STREAMABLE",
        "← OnPermissionsChange",
        "← OnSystemRequest",
        "← OnDriverDistraction",
        "• registered",
        "→ GetSystemCapability request",
        "• status NONE NOT_STREAMABLE",
        "• distraction false",
        "← GetSystemCapability response SUCCESS",
        "• capability 800×480",
      ])
    duet.wait(.milliseconds(100))
    #expect(
      duet.take() == [
        "← OnHMIStatus FULL STREAMABLE",
        "• status FULL STREAMABLE",
        "→ StartService video 800×480 RAW H264",
        "← StartServiceACK video 800×480 RAW H264",
        "• started 800×480 epoch 1",
      ])
    #expect(duet.violations.isEmpty)
  }

  @Test(arguments: seeds) func leaveAndReturn(seed: UInt64) {
    let duet = Self.streaming(Self.configuration(), seed: seed)
    duet.headUnitDoes { $0.setHMIStatus(Self.status(.limited, .streamable), now: $1) }
    #expect(duet.take() == ["← OnHMIStatus LIMITED STREAMABLE", "• status LIMITED STREAMABLE"])
    duet.headUnitDoes { $0.setHMIStatus(Self.status(.limited, .notStreamable), now: $1) }
    #expect(
      duet.take() == [
        "← OnHMIStatus LIMITED NOT_STREAMABLE", "• status LIMITED NOT_STREAMABLE", "• stopped hmi-status",
        "→ EndService video", "← EndServiceACK video",
      ])
    duet.wait(.seconds(3))
    #expect(duet.take().isEmpty)
    duet.headUnitDoes { $0.setHMIStatus(Self.status(.full, .streamable), now: $1) }
    #expect(
      duet.take() == [
        "← OnHMIStatus FULL STREAMABLE", "• status FULL STREAMABLE", "→ StartService video 800×480 RAW H264",
        "← StartServiceACK video 800×480 RAW H264", "• started 800×480 epoch 2",
      ])
    #expect(duet.violations.isEmpty)
  }

  /// The status and the head unit's EndService come together, and the app's EndService crosses the latter.
  @Test(arguments: seeds, [false, true]) func levelNone(seed: UInt64, twice: Bool) {
    let configuration = Self.configuration { $0.behaviour.endsVideoServiceTwice = twice }
    let duet = Self.streaming(configuration, seed: seed)
    duet.headUnitDoes { $0.setHMIStatus(Self.status(.none, .notStreamable), now: $1) }
    let ends = twice ? 2 : 1
    #expect(
      duet.take()
        == ["← OnHMIStatus NONE NOT_STREAMABLE"] + Array(repeating: "← EndService video", count: ends)
        + ["• status NONE NOT_STREAMABLE", "• stopped hmi-status", "→ EndService video"]
        + Array(repeating: "→ EndServiceACK video", count: ends) + ["← EndServiceACK video"])
    duet.wait(.seconds(10))
    #expect(duet.take().isEmpty)
    duet.headUnitDoes { $0.setHMIStatus(Self.status(.full, .streamable), now: $1) }
    #expect(duet.take().last == "• started 800×480 epoch 2")
    #expect(duet.violations.isEmpty)
  }

  @Test(arguments: seeds, [false, true]) func serviceEndedByHeadUnit(seed: UInt64, twice: Bool) {
    let configuration = Self.configuration { $0.behaviour.endsVideoServiceTwice = twice }
    let duet = Self.streaming(configuration, seed: seed)
    duet.headUnitDoes { $0.endVideoService(now: $1) }
    #expect(
      duet.take()
        == Array(repeating: "← EndService video", count: twice ? 2 : 1)
        + ["• stopped head-unit"].flatMap { stopped in
          twice
            ? ["→ EndServiceACK video", stopped, "→ EndServiceACK video"] : ["→ EndServiceACK video", stopped]
        })
    duet.wait(.milliseconds(1999))
    #expect(duet.take().isEmpty)
    duet.wait(.milliseconds(1))
    #expect(
      duet.take() == [
        "→ StartService video 800×480 RAW H264", "← StartServiceACK video 800×480 RAW H264",
        "• started 800×480 epoch 2",
      ])
    #expect(duet.violations.isEmpty)
  }

  /// Seen on SDL Core: EndService may also come before the status that explains it.
  @Test(arguments: seeds) func serviceEndedBeforeTheStatus(seed: UInt64) {
    let duet = Self.streaming(Self.configuration(), seed: seed)
    duet.headUnitDoes { $0.endVideoService(now: $1) }
    duet.headUnitDoes { $0.setHMIStatus(Self.status(.none, .notStreamable), now: $1) }
    #expect(
      duet.take() == [
        "← EndService video", "→ EndServiceACK video", "• stopped head-unit", "← OnHMIStatus NONE NOT_STREAMABLE",
        "• status NONE NOT_STREAMABLE",
      ])
    duet.wait(.seconds(10))
    #expect(duet.take().isEmpty)
    duet.headUnitDoes { $0.setHMIStatus(Self.status(.full, .streamable), now: $1) }
    #expect(duet.take().last == "• started 800×480 epoch 2")
    #expect(duet.violations.isEmpty)
  }

  @Test(arguments: seeds) func resize(seed: UInt64) {
    let duet = Self.streaming(Self.configuration { $0.refusesUnknownSizes = false }, seed: seed)
    var update = VideoStreamingCapability()
    update.preferredResolution = ImageResolution(400, 380)
    duet.headUnitDoes { $0.updateCapability(update, now: $1) }
    #expect(duet.take() == ["← OnSystemCapabilityUpdated", "• capability 400×380"])
    duet.headUnitDoes { $0.updateCapability(update, now: $1) }
    #expect(duet.take() == ["← OnSystemCapabilityUpdated"])
    duet.setWish(VideoWish(size: VideoSize(400, 380)))
    #expect(
      duet.take() == [
        "• stopped resized", "→ EndService video", "← EndServiceACK video", "→ StartService video 400×380 RAW H264",
        "← StartServiceACK video 400×380 RAW H264", "• started 400×380 epoch 2",
      ])
    #expect(duet.violations.isEmpty)
  }

  @Test(arguments: seeds) func cleanEnd(seed: UInt64) {
    let duet = Self.streaming(Self.configuration(), seed: seed)
    duet.finish()
    #expect(
      duet.take() == [
        "• stopped app", "→ EndService video", "→ UnregisterAppInterface request", "← EndServiceACK video",
        "← UnregisterAppInterface response SUCCESS", "→ EndService rpc hash 65537", "← EndServiceACK rpc", "■",
      ])
    #expect(duet.failure == nil)
    #expect(duet.violations.isEmpty)
  }

  @Test(arguments: seeds) func ignitionOff(seed: UInt64) {
    let duet = Self.streaming(Self.configuration(), seed: seed)
    duet.headUnitDoes { $0.unregisterApp(.ignitionOff, now: $1) }
    #expect(
      duet.take() == [
        "← EndService video", "← EndService rpc", "← OnAppInterfaceUnregistered IGNITION_OFF", "← close",
        "→ EndServiceACK video", "• stopped head-unit", "→ EndServiceACK rpc", "• failed", "■",
      ])
    #expect(duet.failure == .unregistered(reason: "IGNITION_OFF"))
  }

  @Test(arguments: seeds, UnregisteredReason.allCases) func unregistered(seed: UInt64, reason: UnregisteredReason) {
    let duet = Self.streaming(Self.configuration(), seed: seed)
    duet.headUnitDoes { $0.unregisterApp(reason, now: $1) }
    #expect(duet.failure == .unregistered(reason: reason.rawValue))
    #expect(duet.isClosedByApp)
    #expect(duet.app.videoGrant == nil)
  }

  @Test(arguments: seeds) func cableCut(seed: UInt64) {
    let duet = Self.streaming(Self.configuration(), seed: seed)
    duet.disconnect()
    #expect(duet.take() == ["• stopped session-ended", "• failed", "■"])
    #expect(duet.failure == .connectionLost)
  }

  /// SDL Core takes the level away after a refusal; the driver opens the app again.
  @Test(arguments: seeds) func refusedWithoutParameters(seed: UInt64) {
    let configuration = Self.configuration { $0.behaviour.videoStarts = [.reject([]), .regular] }
    let duet = Duet(configuration, seed: seed)
    duet.connect()
    duet.setWish(Self.wish)
    _ = duet.take()
    duet.wait(.milliseconds(100))
    #expect(
      duet.take() == [
        "← OnHMIStatus FULL STREAMABLE", "• status FULL STREAMABLE", "→ StartService video 800×480 RAW H264",
        "← StartServiceNAK video []", "← OnHMIStatus NONE NOT_STREAMABLE",
        "• start of 800×480 failed [], again after 2.0 seconds", "• status NONE NOT_STREAMABLE",
      ])
    duet.wait(.seconds(10))
    #expect(duet.take().isEmpty)
    duet.headUnitDoes { $0.setHMIStatus(Self.status(.full, .streamable), now: $1) }
    #expect(duet.take().last == "• started 800×480 epoch 1")
    #expect(duet.violations.isEmpty)
  }

  @Test(arguments: seeds) func refusedWithParameters(seed: UInt64) {
    let configuration = Self.configuration { $0.behaviour.dropsToNoneAfterRefusal = false }
    let duet = Duet(configuration, seed: seed)
    duet.connect()
    duet.setWish(VideoWish(size: VideoSize(1024, 600)))
    _ = duet.take()
    duet.wait(.milliseconds(100))
    #expect(
      duet.take().suffix(3) == [
        "→ StartService video 1024×600 RAW H264", "← StartServiceNAK video [height,width]",
        "• start of 1024×600 failed [height,width], never again",
      ])
    duet.wait(.seconds(60))
    #expect(duet.take().isEmpty)
    duet.setWish(Self.wish)
    #expect(
      duet.take() == [
        "→ StartService video 800×480 RAW H264", "← StartServiceACK video 800×480 RAW H264",
        "• started 800×480 epoch 1",
      ])
  }

  @Test(arguments: seeds) func legacyHeadUnit(seed: UInt64) {
    let duet = Duet(Self.configuration(.legacy), seed: seed)
    duet.connect()
    duet.setWish(Self.wish)
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

  @Test(arguments: seeds) func everyPresetStreams(seed: UInt64) {
    for preset in HeadUnitPreset.allCases {
      let duet = Duet(Self.configuration(preset), seed: seed)
      duet.connect()
      let capability = preset.configuration.videoCapability
      let offer = capability.flatMap { VideoOffer.offers(of: $0).first }
      duet.setWish(VideoWish(size: offer?.size ?? VideoSize(800, 480)))
      duet.wait(.seconds(1))
      #expect(duet.app.videoGrant?.size == offer?.size ?? VideoSize(800, 480))
      #expect(duet.violations.isEmpty)
      duet.finish()
      #expect(duet.isClosedByApp)
    }
  }

  /// FULL may overtake OnPermissionsChange; the policy update comes in many frames on the hybrid service.
  @Test(arguments: seeds) func unusualOrderAndPolicyUpdate(seed: UInt64) {
    let configuration = Self.configuration {
      $0.behaviour.activatesBeforePermissions = true
      $0.behaviour.policyUpdateSize = 300_000
    }
    let duet = Duet(configuration, seed: seed)
    duet.setWish(Self.wish)
    duet.connect()
    #expect(duet.app.videoGrant != nil)
    _ = duet.take()
    duet.wait(.seconds(3))
    #expect(duet.take() == ["← OnSystemRequest"])
    #expect(duet.app.videoGrant != nil)
  }

  @Test(arguments: seeds) func silentHeadUnits(seed: UInt64) {
    let noSession = Duet(Self.configuration { $0.behaviour.rpcStart = .silence }, seed: seed)
    noSession.connect()
    noSession.wait(.seconds(10))
    #expect(noSession.failure == .unanswered(request: "StartService"))

    let noRegistration = Duet(Self.configuration { $0.behaviour.registration = .silence }, seed: seed)
    noRegistration.connect()
    noRegistration.wait(.seconds(12))
    #expect(noRegistration.failure == .unanswered(request: "RegisterAppInterface"))

    let noEnd = Self.streaming(Self.configuration { $0.behaviour.serviceEnd = .silence }, seed: seed)
    noEnd.finish()
    #expect(!noEnd.isClosedByApp)
    noEnd.wait(.seconds(1))
    #expect(noEnd.isClosedByApp)
    #expect(noEnd.failure == nil)
  }

  @Test(arguments: seeds) func refusedRegistration(seed: UInt64) {
    let configuration = Self.configuration { $0.behaviour.registration = .result(.disallowed, success: false) }
    let duet = Duet(configuration, seed: seed)
    duet.connect()
    #expect(duet.failure == .registrationRefused(resultCode: "DISALLOWED", info: nil))
    #expect(duet.isClosedByApp)
  }

  /// Heartbeats of both sides for a minute, with and without video.
  @Test(arguments: seeds) func heartbeats(seed: UInt64) {
    var app = AppDriver.configuration
    app.heartbeatInterval = .seconds(3)
    let duet = Duet(Self.configuration(), app: app, seed: seed)
    duet.connect()
    duet.setWish(Self.wish)
    duet.wait(.seconds(60))
    #expect(duet.failure == nil)
    #expect(duet.app.videoGrant != nil)
    let lines = duet.take()
    #expect(lines.filter { $0 == "→ Heartbeat" }.count == 20 - 1)
    #expect(lines.filter { $0 == "← HeartbeatACK control" }.count == 20 - 1)

    let pinging = Duet(Self.configuration { $0.behaviour.heartbeat = .pings(every: .seconds(2)) }, seed: seed)
    pinging.connect()
    pinging.wait(.seconds(21))
    let answers = pinging.take().filter { $0 == "→ HeartbeatACK control" }
    #expect(answers.count == 10)
    #expect(pinging.violations.isEmpty)

    let silent = Duet(Self.configuration { $0.behaviour.heartbeat = .silence }, app: app, seed: seed)
    silent.connect()
    silent.wait(.seconds(60))
    #expect(silent.failure == .heartbeatLost)
  }
}
