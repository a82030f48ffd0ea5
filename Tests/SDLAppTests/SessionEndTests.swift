import SDLApp
import Testing

/// How sessions end, from either side and in every phase.
@Suite struct SessionEndTests {
  enum Phase: CaseIterable, Sendable {
    case idle, startingSession, registering, ready, starting, streaming, ending, endedByHeadUnit, finishing

    func driver() -> AppDriver {
      switch self {
      case .idle: return AppDriver()
      case .startingSession:
        let driver = AppDriver()
        driver.connect()
        _ = driver.take()
        return driver
      case .registering: return AppDriver.registering()
      case .ready: return AppDriver.ready()
      case .starting: return AppDriver.starting()
      case .streaming: return AppDriver.streaming()
      case .ending:
        let driver = AppDriver.streaming()
        driver.status(.background, .notStreamable)
        _ = driver.take()
        return driver
      case .endedByHeadUnit:
        let driver = AppDriver.ready()
        driver.control(.endService, .rpc)
        _ = driver.take()
        return driver
      case .finishing:
        let driver = AppDriver.ready()
        driver.finish()
        _ = driver.take()
        return driver
      }
    }

    var whenLost: [String] {
      switch self {
      case .finishing: ["■"]
      case .streaming: ["• stopped connection-lost", "• failed", "■"]
      default: ["• failed", "■"]
      }
    }

    var whenFinished: [String] {
      switch self {
      case .idle, .startingSession, .endedByHeadUnit: ["■"]
      // After the time-out of RegisterAppInterface.
      case .registering: ["→ EndService rpc hash 65537", "■"]
      case .ready, .starting, .ending: ["→ UnregisterAppInterface request", "■"]
      case .streaming: ["• stopped app", "→ EndService video", "→ UnregisterAppInterface request", "■"]
      case .finishing: ["■"]
      }
    }
  }

  @Test(arguments: Phase.allCases) func connectionLost(phase: Phase) {
    let driver = phase.driver()
    driver.lose()
    #expect(driver.take() == phase.whenLost)
    switch phase {
    case .finishing: #expect(driver.failure == nil)
    // Head units close the connection after their EndService, which is no network failure.
    case .endedByHeadUnit: #expect(driver.failure == .endedByHeadUnit)
    default: #expect(driver.failure == .connectionLost)
    }
    Self.expectSilence(driver)
  }

  /// Without an answer, the end takes one second at most, unless the app is about to be registered.
  @Test(arguments: Phase.allCases) func finishWithoutAnswers(phase: Phase) {
    let driver = phase.driver()
    driver.finish()
    driver.wait(.seconds(phase == .registering ? 13 : 1))
    #expect(driver.take() == phase.whenFinished)
    #expect(driver.failure == nil)
    Self.expectSilence(driver)
  }

  /// After the end, nothing happens any more, whatever arrives.
  private static func expectSilence(_ driver: AppDriver) {
    driver.status(.full, .streamable)
    driver.control(.heartbeat, .control)
    driver.control(.endService, .rpc)
    driver.acknowledgeVideo()
    driver.receiveGarbage([1, 2, 3])
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.wait(.seconds(100))
    driver.finish()
    driver.lose()
    driver.connect()
    #expect(driver.take().isEmpty)
    #expect(!driver.isStreaming)
    #expect(driver.session.nextDeadline == nil)
  }

  @Test func finishWithAnswers() {
    let driver = AppDriver.streaming()
    driver.finish()
    driver.control(.endServiceACK, .video)
    driver.respond(.unregisterAppInterface, RPCResult(success: true, resultCode: .success).json)
    #expect(
      driver.take() == [
        "• stopped app", "→ EndService video", "→ UnregisterAppInterface request", "→ EndService rpc hash 65537",
      ])
    driver.control(.endServiceACK, .rpc)
    #expect(driver.take() == ["■"])
    #expect(driver.failure == nil)
  }

  @Test func finishRefused() {
    let driver = AppDriver.ready()
    driver.finish()
    driver.respond(
      .unregisterAppInterface, RPCResult(success: false, resultCode: .genericError).json, as: .genericResponse)
    #expect(driver.take().last == "→ EndService rpc hash 65537")
    driver.control(.endServiceNAK, .rpc)
    #expect(driver.take() == ["■"])
  }

  /// The service that the head unit has begun ends with the registration: an EndService would find none.
  @Test func finishWhileVideoStarts() {
    let acknowledged = AppDriver.starting()
    acknowledged.finish()
    acknowledged.acknowledgeVideo()
    #expect(acknowledged.take() == ["→ UnregisterAppInterface request"])
    let refused = AppDriver.starting()
    refused.finish()
    refused.refuseVideo()
    #expect(refused.take() == ["→ UnregisterAppInterface request"])
  }

  /// A long time for finishing must not leave the retry of video behind as a deadline that is never handled.
  @Test func finishWithALongTimeout() {
    var configuration = AppDriver.configuration
    configuration.finishTimeout = .seconds(20)
    configuration.heartbeatInterval = .seconds(3)
    let driver = AppDriver.ready(configuration)
    driver.status(.full, .streamable)
    driver.finish()
    driver.refuseVideo()
    _ = driver.take()
    driver.wait(.seconds(12))
    #expect(driver.take() == ["→ EndService rpc hash 65537"])
    driver.wait(.seconds(8))
    #expect(driver.take() == ["■"])
  }

  @Test func eventsWhileFinishing() {
    let driver = AppDriver.registering()
    driver.acceptRegistration()
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.finish()
    _ = driver.take()
    driver.respond(.getSystemCapability, RPCResult(success: false, resultCode: .disallowed).json)
    driver.status(.full, .streamable)
    #expect(driver.take() == ["• status FULL STREAMABLE"])
    driver.notify(.onAppInterfaceUnregistered, OnAppInterfaceUnregistered(reason: .ignitionOff).json)
    #expect(driver.take() == ["→ EndService rpc hash 65537"])
    driver.control(.endService, .rpc)
    #expect(driver.take() == ["→ EndServiceACK rpc", "■"])
    #expect(driver.failure == nil)
  }

  @Test func headUnitEndsWithoutAReason() {
    let driver = AppDriver.streaming()
    driver.control(.endService, .rpc)
    #expect(driver.take() == ["→ EndServiceACK rpc", "• stopped session-ended"])
    driver.wait(.milliseconds(300))
    driver.control(.endService, .rpc)
    #expect(driver.take() == ["→ EndServiceACK rpc"])
    driver.wait(.milliseconds(199))
    #expect(!driver.isClosed)
    driver.wait(.milliseconds(1))
    #expect(driver.take() == ["• failed", "■"])
    #expect(driver.failure == .endedByHeadUnit)
  }

  @Test func headUnitEndsWithAReason() {
    let driver = AppDriver.streaming()
    driver.control(.endService, .video)
    driver.control(.endService, .rpc)
    driver.wait(.milliseconds(499))
    driver.notify(.onAppInterfaceUnregistered, OnAppInterfaceUnregistered(reason: .ignitionOff).json)
    #expect(
      driver.take() == [
        "→ EndServiceACK video", "→ EndServiceACK rpc", "• stopped head-unit", "• failed", "■",
      ])
    #expect(driver.failure == .unregistered(reason: "IGNITION_OFF"))
  }

  /// After the head unit has ended the session, requests and heartbeats are dropped.
  @Test func headUnitEndsWhileRegistering() {
    var configuration = AppDriver.configuration
    configuration.requestTimeout = .milliseconds(100)
    configuration.heartbeatInterval = .milliseconds(50)
    let driver = AppDriver.registering(configuration)
    driver.control(.endService, .rpc)
    driver.wait(.seconds(1))
    #expect(driver.take() == ["→ EndServiceACK rpc", "• failed", "■"])
    #expect(driver.failure == .endedByHeadUnit)
  }

  @Test(arguments: UnregisteredReason.allCases) func unregistered(reason: UnregisteredReason) {
    let driver = AppDriver.streaming()
    driver.notify(.onAppInterfaceUnregistered, OnAppInterfaceUnregistered(reason: reason).json)
    #expect(driver.take() == ["• stopped session-ended", "• failed", "■"])
    #expect(driver.failure == .unregistered(reason: reason.rawValue))
  }

  @Test func unregisteredForUnknownReasons() {
    let unknown = AppDriver.ready()
    unknown.notify(.onAppInterfaceUnregistered, ["reason": .string("MOON_PHASE")])
    #expect(unknown.failure == .unregistered(reason: "MOON_PHASE"))
    let none = AppDriver.ready()
    none.notify(.onAppInterfaceUnregistered, [:])
    #expect(none.failure?.description == "the head unit unregistered the app: it gave no reason")
  }

  @Test func registrationRefused() {
    let driver = AppDriver.registering()
    driver.respond(
      .registerAppInterface, RPCResult(success: false, resultCode: .duplicateName, info: "taken").json)
    #expect(driver.failure == .registrationRefused(resultCode: "DUPLICATE_NAME", info: "taken"))
    #expect(driver.take() == ["• failed", "■"])
  }

  /// Several result codes besides SUCCESS come with `success`.
  @Test(arguments: [ResultCode.warnings, .wrongLanguage, .resumeFailed]) func registeredWith(code: ResultCode) {
    let driver = AppDriver.registering()
    driver.acceptRegistration { $0.result = RPCResult(success: true, resultCode: code) }
    #expect(driver.take() == ["• registered", "→ GetSystemCapability request"])
  }

  @Test func registrationUnreadable() {
    let driver = AppDriver.registering()
    driver.respond(
      .registerAppInterface, RPCResult(success: false, resultCode: .invalidData).json, as: .genericResponse)
    #expect(driver.failure == .registrationRefused(resultCode: "INVALID_DATA", info: nil))
  }
}
