import SDLApp
import SDLHeadUnit
import Testing

/// App and emulated head unit joined: whole conversations.
@Suite struct SequenceChartTests {
  private static func status(_ level: HMILevel, _ state: VideoStreamingState) -> HMIStatus {
    HMIStatus(level: level, videoStreamingState: state)
  }

  @Test(arguments: JoinedSessions.seeds) func coldStart(seed: UInt64) {
    let sessions = JoinedSessions(
      JoinedSessions.configuration { $0.behaviour.sendsCoreNotifications = true }, seed: seed)
    sessions.setVideoRequest(AppDriver.videoRequest)
    sessions.connect()
    #expect(
      sessions.take() == [
        "→ StartService rpc 5.4.1",
        "← StartServiceACK rpc 5.4.0",
        "• session 5.4.0",
        "→ RegisterAppInterface request",
        "← RegisterAppInterface response SUCCESS",
        "← OnHMIStatus NONE NOT_STREAMABLE",
        "← OnSystemCapabilityUpdated",
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
    sessions.wait(.milliseconds(100))
    #expect(
      sessions.take() == [
        "← OnHMIStatus FULL STREAMABLE",
        "• status FULL STREAMABLE",
        "→ StartService video 800×480 RAW H264",
        "← StartServiceACK video 800×480 RAW H264",
        "• started 800×480 epoch 1",
      ])
    #expect(sessions.violations.isEmpty)
  }

  @Test(arguments: JoinedSessions.seeds) func leaveAndReturn(seed: UInt64) {
    let sessions = JoinedSessions.streaming(JoinedSessions.configuration(), seed: seed)
    sessions.headUnitDoes { $0.setHMIStatus(Self.status(.limited, .streamable), now: $1) }
    #expect(sessions.take() == ["← OnHMIStatus LIMITED STREAMABLE", "• status LIMITED STREAMABLE"])
    sessions.headUnitDoes { $0.setHMIStatus(Self.status(.limited, .notStreamable), now: $1) }
    #expect(
      sessions.take() == [
        "← OnHMIStatus LIMITED NOT_STREAMABLE", "• status LIMITED NOT_STREAMABLE", "• stopped hmi-status",
        "→ EndService video", "← EndServiceACK video",
      ])
    sessions.wait(.seconds(3))
    #expect(sessions.take().isEmpty)
    sessions.headUnitDoes { $0.setHMIStatus(Self.status(.full, .streamable), now: $1) }
    #expect(
      sessions.take() == [
        "← OnHMIStatus FULL STREAMABLE", "• status FULL STREAMABLE", "→ StartService video 800×480 RAW H264",
        "← StartServiceACK video 800×480 RAW H264", "• started 800×480 epoch 2",
      ])
    #expect(sessions.violations.isEmpty)
  }

  /// The status and the head unit's EndService come together, and the app's EndService crosses the latter.
  @Test(arguments: JoinedSessions.seeds, [false, true]) func levelNone(seed: UInt64, twice: Bool) {
    let configuration = JoinedSessions.configuration { $0.behaviour.endsVideoServiceTwice = twice }
    let sessions = JoinedSessions.streaming(configuration, seed: seed)
    sessions.headUnitDoes { $0.setHMIStatus(Self.status(.none, .notStreamable), now: $1) }
    let ends = twice ? 2 : 1
    var expected = ["← OnHMIStatus NONE NOT_STREAMABLE"]
    expected += Array(repeating: "← EndService video", count: ends)
    expected += ["• status NONE NOT_STREAMABLE", "• stopped hmi-status", "→ EndService video"]
    expected += Array(repeating: "→ EndServiceACK video", count: ends)
    expected += ["← EndServiceACK video"]
    #expect(sessions.take() == expected)
    sessions.wait(.seconds(10))
    #expect(sessions.take().isEmpty)
    sessions.headUnitDoes { $0.setHMIStatus(Self.status(.full, .streamable), now: $1) }
    #expect(sessions.take().last == "• started 800×480 epoch 2")
    #expect(sessions.violations.isEmpty)
  }

  @Test(arguments: JoinedSessions.seeds, [false, true]) func serviceEndedByHeadUnit(seed: UInt64, twice: Bool) {
    let configuration = JoinedSessions.configuration { $0.behaviour.endsVideoServiceTwice = twice }
    let sessions = JoinedSessions.streaming(configuration, seed: seed)
    sessions.headUnitDoes { $0.endService(.video, now: $1) }
    let ends = twice ? 2 : 1
    let expected = ["← EndService video", "→ EndServiceACK video"].flatMap { [String](repeating: $0, count: ends) }
    #expect(sessions.take() == expected)
    sessions.wait(.milliseconds(100))
    #expect(sessions.take() == ["• stopped head-unit"])
    sessions.wait(.milliseconds(1899))
    #expect(sessions.take().isEmpty)
    sessions.wait(.milliseconds(1))
    #expect(
      sessions.take() == [
        "→ StartService video 800×480 RAW H264", "← StartServiceACK video 800×480 RAW H264",
        "• started 800×480 epoch 2",
      ])
    #expect(sessions.violations.isEmpty)
  }

  /// Seen on SDL Core: EndService may also come before the status that explains it.
  @Test(arguments: JoinedSessions.seeds) func serviceEndedBeforeTheStatus(seed: UInt64) {
    let sessions = JoinedSessions.streaming(JoinedSessions.configuration(), seed: seed)
    sessions.headUnitDoes { $0.endService(.video, now: $1) }
    sessions.headUnitDoes { $0.setHMIStatus(Self.status(.none, .notStreamable), now: $1) }
    #expect(
      sessions.take() == [
        "← EndService video", "→ EndServiceACK video", "← OnHMIStatus NONE NOT_STREAMABLE",
        "• status NONE NOT_STREAMABLE", "• stopped hmi-status",
      ])
    sessions.wait(.seconds(10))
    #expect(sessions.take().isEmpty)
    sessions.headUnitDoes { $0.setHMIStatus(Self.status(.full, .streamable), now: $1) }
    #expect(sessions.take().last == "• started 800×480 epoch 2")
    #expect(sessions.violations.isEmpty)
  }

  @Test(arguments: JoinedSessions.seeds) func resize(seed: UInt64) {
    let sessions = JoinedSessions.streaming(JoinedSessions.configuration { $0.refusesUnknownSizes = false }, seed: seed)
    var update = VideoStreamingCapability()
    update.preferredResolution = VideoSize(400, 380)
    sessions.headUnitDoes { $0.updateCapability(update, now: $1) }
    #expect(sessions.take() == ["← OnSystemCapabilityUpdated", "• capability 400×380"])
    sessions.headUnitDoes { $0.updateCapability(update, now: $1) }
    #expect(sessions.take() == ["← OnSystemCapabilityUpdated"])
    sessions.setVideoRequest(VideoStartRequest(size: VideoSize(400, 380)))
    #expect(
      sessions.take() == [
        "• stopped resized", "→ EndService video", "← EndServiceACK video", "→ StartService video 400×380 RAW H264",
        "← StartServiceACK video 400×380 RAW H264", "• started 400×380 epoch 2",
      ])
    #expect(sessions.violations.isEmpty)
  }

  @Test(arguments: JoinedSessions.seeds) func cleanEnd(seed: UInt64) {
    let sessions = JoinedSessions.streaming(JoinedSessions.configuration(), seed: seed)
    sessions.finish()
    #expect(
      sessions.take() == [
        "• stopped app", "→ EndService video", "→ CloseApplication request", "→ UnregisterAppInterface request",
        "← EndServiceACK video", "← OnHMIStatus NONE NOT_STREAMABLE", "← CloseApplication response SUCCESS",
        "← UnregisterAppInterface response SUCCESS", "• status NONE NOT_STREAMABLE", "→ EndService rpc hash 65537",
        "← EndServiceACK rpc", "■",
      ])
    #expect(sessions.failure == nil)
    #expect(sessions.violations.isEmpty)
  }

  @Test(arguments: JoinedSessions.seeds) func ignitionOff(seed: UInt64) {
    let sessions = JoinedSessions.streaming(JoinedSessions.configuration(), seed: seed)
    sessions.headUnitDoes { $0.unregisterApp(.ignitionOff, now: $1) }
    #expect(
      sessions.take() == [
        "← EndService video", "← EndService rpc", "← OnAppInterfaceUnregistered IGNITION_OFF", "← close",
        "→ EndServiceACK video", "→ EndServiceACK rpc", "• stopped head-unit", "• failed", "■",
      ])
    #expect(sessions.failure == .unregistered(reason: "IGNITION_OFF"))
  }

  @Test(arguments: JoinedSessions.seeds) func cableCut(seed: UInt64) {
    let sessions = JoinedSessions.streaming(JoinedSessions.configuration(), seed: seed)
    sessions.disconnect()
    #expect(sessions.take() == ["• stopped connection-lost", "• failed", "■"])
    #expect(sessions.failure == .connectionLost)
  }

  /// SDL Core takes the level away after a refusal; the driver opens the app again.
  @Test(arguments: JoinedSessions.seeds) func refusedWithoutParameters(seed: UInt64) {
    let configuration = JoinedSessions.configuration { $0.behaviour.videoStarts = [.reject([]), .regular] }
    let sessions = JoinedSessions(configuration, seed: seed)
    sessions.connect()
    sessions.setVideoRequest(AppDriver.videoRequest)
    _ = sessions.take()
    sessions.wait(.milliseconds(100))
    #expect(
      sessions.take() == [
        "← OnHMIStatus FULL STREAMABLE", "• status FULL STREAMABLE", "→ StartService video 800×480 RAW H264",
        "← StartServiceNAK video []", "← OnHMIStatus NONE NOT_STREAMABLE",
        "• start of 800×480 failed [], again after 2.0 seconds", "• status NONE NOT_STREAMABLE",
      ])
    sessions.wait(.seconds(10))
    #expect(sessions.take().isEmpty)
    sessions.headUnitDoes { $0.setHMIStatus(Self.status(.full, .streamable), now: $1) }
    #expect(sessions.take().last == "• started 800×480 epoch 1")
    #expect(sessions.violations.isEmpty)
  }

  @Test(arguments: JoinedSessions.seeds) func refusedWithParameters(seed: UInt64) {
    let configuration = JoinedSessions.configuration { $0.behaviour.dropsToNoneAfterRefusal = false }
    let sessions = JoinedSessions(configuration, seed: seed)
    sessions.connect()
    sessions.setVideoRequest(VideoStartRequest(size: VideoSize(1024, 600)))
    _ = sessions.take()
    sessions.wait(.milliseconds(100))
    #expect(
      sessions.take().suffix(3) == [
        "→ StartService video 1024×600 RAW H264", "← StartServiceNAK video [height,width]",
        "• start of 1024×600 failed [height,width], never again",
      ])
    sessions.wait(.seconds(60))
    #expect(sessions.take().isEmpty)
    sessions.setVideoRequest(AppDriver.videoRequest)
    #expect(
      sessions.take() == [
        "→ StartService video 800×480 RAW H264", "← StartServiceACK video 800×480 RAW H264",
        "• started 800×480 epoch 1",
      ])
  }
}
