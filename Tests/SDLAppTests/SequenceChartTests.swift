import SDLApp
import SDLHeadUnit
import Testing

/// Both machines, joined; whole conversations.
@Suite struct SequenceChartTests {
  private static func status(_ level: HMILevel, _ state: VideoStreamingState) -> HMIStatus {
    HMIStatus(level: level, videoStreamingState: state)
  }

  @Test(arguments: Duet.seeds) func coldStart(seed: UInt64) {
    let duet = Duet(Duet.configuration { $0.behaviour.sendsCoreNotifications = true }, seed: seed)
    duet.setWish(AppDriver.wish)
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

  @Test(arguments: Duet.seeds) func leaveAndReturn(seed: UInt64) {
    let duet = Duet.streaming(Duet.configuration(), seed: seed)
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
  @Test(arguments: Duet.seeds, [false, true]) func levelNone(seed: UInt64, twice: Bool) {
    let configuration = Duet.configuration { $0.behaviour.endsVideoServiceTwice = twice }
    let duet = Duet.streaming(configuration, seed: seed)
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

  @Test(arguments: Duet.seeds, [false, true]) func serviceEndedByHeadUnit(seed: UInt64, twice: Bool) {
    let configuration = Duet.configuration { $0.behaviour.endsVideoServiceTwice = twice }
    let duet = Duet.streaming(configuration, seed: seed)
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
  @Test(arguments: Duet.seeds) func serviceEndedBeforeTheStatus(seed: UInt64) {
    let duet = Duet.streaming(Duet.configuration(), seed: seed)
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

  @Test(arguments: Duet.seeds) func resize(seed: UInt64) {
    let duet = Duet.streaming(Duet.configuration { $0.refusesUnknownSizes = false }, seed: seed)
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

  @Test(arguments: Duet.seeds) func cleanEnd(seed: UInt64) {
    let duet = Duet.streaming(Duet.configuration(), seed: seed)
    duet.finish()
    #expect(
      duet.take() == [
        "• stopped app", "→ EndService video", "→ UnregisterAppInterface request", "← EndServiceACK video",
        "← UnregisterAppInterface response SUCCESS", "→ EndService rpc hash 65537", "← EndServiceACK rpc", "■",
      ])
    #expect(duet.failure == nil)
    #expect(duet.violations.isEmpty)
  }

  @Test(arguments: Duet.seeds) func ignitionOff(seed: UInt64) {
    let duet = Duet.streaming(Duet.configuration(), seed: seed)
    duet.headUnitDoes { $0.unregisterApp(.ignitionOff, now: $1) }
    #expect(
      duet.take() == [
        "← EndService video", "← EndService rpc", "← OnAppInterfaceUnregistered IGNITION_OFF", "← close",
        "→ EndServiceACK video", "• stopped head-unit", "→ EndServiceACK rpc", "• failed", "■",
      ])
    #expect(duet.failure == .unregistered(reason: "IGNITION_OFF"))
  }

  @Test(arguments: Duet.seeds) func cableCut(seed: UInt64) {
    let duet = Duet.streaming(Duet.configuration(), seed: seed)
    duet.disconnect()
    #expect(duet.take() == ["• stopped connection-lost", "• failed", "■"])
    #expect(duet.failure == .connectionLost)
  }

  /// SDL Core takes the level away after a refusal; the driver opens the app again.
  @Test(arguments: Duet.seeds) func refusedWithoutParameters(seed: UInt64) {
    let configuration = Duet.configuration { $0.behaviour.videoStarts = [.reject([]), .regular] }
    let duet = Duet(configuration, seed: seed)
    duet.connect()
    duet.setWish(AppDriver.wish)
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

  @Test(arguments: Duet.seeds) func refusedWithParameters(seed: UInt64) {
    let configuration = Duet.configuration { $0.behaviour.dropsToNoneAfterRefusal = false }
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
    duet.setWish(AppDriver.wish)
    #expect(
      duet.take() == [
        "→ StartService video 800×480 RAW H264", "← StartServiceACK video 800×480 RAW H264",
        "• started 800×480 epoch 1",
      ])
  }
}
