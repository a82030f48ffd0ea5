import SDLHeadUnit
import SDLMessages
import Testing
import TestSupport

@testable import SDLApp

/// RPCs of the application's own.
@Suite struct ApplicationRequestTests {
  private static func request(_ number: Int32, _ function: FunctionID = .getVehicleData) -> ApplicationRequest {
    ApplicationRequest(id: ApplicationRequest.ids.lowerBound + number, function, ["speed": .bool(true)])
  }

  private static func response(_ request: ApplicationRequest, _ parameters: JSONObject = success) -> RPCMessage {
    RPCMessage(type: .response, function: request.function, correlationID: request.id, parameters: parameters)
  }

  private static let success = RPCResult(success: true, resultCode: .success).json

  private static func ready() -> AppDriver {
    let driver = AppDriver.ready(request: nil)
    driver.status(.full)
    _ = driver.take()
    return driver
  }

  /// The answers that the application gets, by the last digits of their ids.
  private static func answers(_ driver: AppDriver) -> [String] {
    driver.applicationRPCs.filter { $0.type == .response }.map {
      "\($0.correlationID - ApplicationRequest.ids.lowerBound) \(RPCResult(json: $0.parameters).resultCode)"
    }
  }

  @Test func answerIsThatOfTheRequest() throws {
    let driver = Self.ready()
    let requests = [Self.request(0), Self.request(1, .alert)]
    requests.forEach(driver.send)
    #expect(driver.take() == ["→ GetVehicleData request", "→ Alert request"])
    driver.send(Self.response(requests[1]))
    var unreadable = Self.response(requests[0], RPCResult(success: false, resultCode: .invalidData).json)
    unreadable.function = .genericResponse
    driver.send(unreadable)
    #expect(
      driver.take() == [
        "• application: Alert response SUCCESS", "• application: GetVehicleData response INVALID_DATA",
      ])
    // Each once, and none for what was not asked.
    driver.send(Self.response(requests[1]))
    driver.send(Self.response(Self.request(7)))
    #expect(driver.take() == ["• diagnostic", "• diagnostic"])
    #expect(Self.answers(driver) == ["1 SUCCESS", "0 INVALID_DATA"])
  }

  @Test func beforeTheRegistration() {
    let driver = AppDriver.registering()
    driver.send(Self.request(0))
    #expect(driver.take() == ["• application: GetVehicleData response ABORTED"])
  }

  @Test(arguments: [false, true]) func endOfTheSession(isByApp: Bool) {
    let driver = Self.ready()
    for number in 0..<100 { driver.send(Self.request(Int32(number))) }
    driver.send(Self.response(Self.request(3)))
    isByApp ? driver.finish() : driver.lose()
    let answers = Self.answers(driver)
    #expect(answers.count == 100 && Set(answers).count == 100)
    #expect(answers.filter { $0.hasSuffix("ABORTED") }.count == 99)
  }

  /// The session may have ended while another thread made the request.
  @Test(arguments: [false, true]) func afterTheEnd(isByApp: Bool) {
    let driver = Self.ready()
    if isByApp { driver.finish() }
    driver.lose()
    _ = driver.take()
    driver.send(Self.request(0))
    #expect(driver.take() == ["• application: GetVehicleData response ABORTED"])
  }

  /// The driver may take long to answer, others not.
  @Test func noAnswer() {
    let driver = Self.ready()
    driver.send(Self.request(0))
    driver.send(Self.request(1, .performInteraction))
    driver.wait(.seconds(11))
    #expect(Self.answers(driver) == [])
    driver.wait(.seconds(1))
    #expect(Self.answers(driver) == ["0 TIMED_OUT"])
    driver.wait(.seconds(1187))
    #expect(Self.answers(driver).count == 1)
    driver.wait(.seconds(1))
    #expect(Self.answers(driver).last == "1 TIMED_OUT")
  }

  /// Fewer than for which SDL Core unregisters apps: 1000 in 10 s, and 100 in HMI level NONE.
  @Test(arguments: [(HMILevel.full, 1000), (.none, 100)]) func pace(level: HMILevel, limit: Int) {
    let driver = Self.ready()
    driver.status(level)
    _ = driver.take()
    for number in 0..<2000 { driver.send(Self.request(Int32(number))) }
    driver.wait(.seconds(10))
    let count = driver.take().filter { $0 == "→ GetVehicleData request" }.count
    #expect((limit * 8 / 10..<limit).contains(count), "\(count)")
  }

  /// What the head unit has not answered is bounded in bytes as well, but for one that is larger.
  @Test func bytesOnTheWay() {
    let driver = Self.ready()
    func large(_ number: Int32, _ size: Int) -> ApplicationRequest {
      ApplicationRequest(
        id: ApplicationRequest.ids.lowerBound + number, .systemRequest, [:], bulk: [UInt8](repeating: 1, count: size))
    }
    driver.send(large(0, 2 << 20))
    driver.send(Self.request(1))
    #expect(driver.take() == ["→ SystemRequest request"])
    driver.send(Self.response(large(0, 1)))
    #expect(driver.take() == ["• application: SystemRequest response SUCCESS", "→ GetVehicleData request"])
  }

  /// Two that have a mebibyte together are on the way at once, and not with a byte more.
  @Test(arguments: [0, 1]) func bytesOnTheWayTogether(excess: Int) {
    let driver = Self.ready()
    let braces = ApplicationRequest(id: 0, .systemRequest, [:]).byteCount
    for (number, size) in [(0, 512 << 10), (1, (512 << 10) + excess)] as [(Int32, Int)] {
      driver.send(
        ApplicationRequest(
          id: ApplicationRequest.ids.lowerBound + number, .systemRequest, [:],
          bulk: [UInt8](repeating: 1, count: size - braces)))
    }
    #expect(driver.take() == Array(repeating: "→ SystemRequest request", count: 2 - excess))
  }

  /// Only for what the driver hears, sees or answers.
  @Test func timesForAnswers() throws {
    let usual = Duration.seconds(12)
    func time(_ name: String) throws -> Duration {
      Self.request(0, try #require(FunctionID(name: name))).timeout(usual: usual)
    }
    for name in [
      "Alert", "SubtleAlert", "AlertManeuver", "PerformInteraction", "ScrollableMessage", "Slider", "Speak",
      "PerformAudioPassThru",
    ] {
      #expect(try time(name) == .seconds(1200), "\(name)")
    }
    for name in ["GetVehicleData", "Show", "PutFile", "EndAudioPassThru"] { #expect(try time(name) == usual) }
  }

  /// In parts, each after the answer to the one before; what follows waits for the whole.
  @Test func file() throws {
    let driver = Self.ready()
    let bytes = (0..<150_000).map { UInt8(truncatingIfNeeded: $0) }
    let file = ApplicationRequest(
      id: ApplicationRequest.ids.lowerBound, .putFile, ["syncFileName": .string("a.png")], bulk: bytes)
    driver.send(file)
    driver.send(Self.request(1))
    var parts: [RPCMessage] = []
    for _ in 0..<3 {
      #expect(driver.take().last == "→ PutFile request")
      parts.append(try #require(driver.lastRPC))
      driver.send(Self.response(file))
    }
    #expect(driver.take() == ["• application: PutFile response SUCCESS", "→ GetVehicleData request"])
    #expect(parts.flatMap(\.bulk) == bytes)
    #expect(parts.map { $0.parameters["offset"]?.integer } == [0, 65_536, 131_072])
    #expect(parts.map { $0.parameters["length"]?.integer } == [150_000, 65_536, 18_928])
    #expect(parts.allSatisfy { $0.parameters["syncFileName"]?.string == "a.png" })
  }

  /// What follows does not wait for the rest of a file that was refused, or not answered.
  @Test(arguments: [ResultCode.outOfMemory, nil]) func unfinishedFile(refusal: ResultCode?) {
    let driver = Self.ready()
    let file = ApplicationRequest(
      id: ApplicationRequest.ids.lowerBound, .putFile, [:], bulk: [UInt8](repeating: 1, count: 100_000))
    driver.send(file)
    driver.send(Self.request(1))
    #expect(driver.take() == ["→ PutFile request"])
    if let refusal {
      driver.send(Self.response(file, RPCResult(success: false, resultCode: refusal).json))
    } else {
      driver.wait(.seconds(12))
    }
    let result = refusal?.rawValue ?? "TIMED_OUT"
    #expect(driver.take() == ["• application: PutFile response \(result)", "→ GetVehicleData request"])
  }

  /// Besides what the session makes of them itself.
  @Test func notifications() {
    let driver = Self.ready()
    driver.notify(.onVehicleData, ["speed": .integer(50)])
    #expect(driver.take() == [])
    driver.setNotifications([.onVehicleData, .onHMIStatus])
    driver.notify(.onVehicleData, ["speed": .integer(50)])
    driver.status(.limited)
    #expect(
      driver.take() == [
        "• application: OnVehicleData", "• application: OnHMIStatus LIMITED STREAMABLE", "• status LIMITED STREAMABLE",
      ])
    #expect(driver.applicationRPCs.first?.parameters == ["speed": .integer(50)])
  }

  @Test func reserved() {
    func isReserved(_ name: String, _ type: String? = nil, wantsButtons: Bool = true) -> Bool? {
      FunctionID(name: name).map {
        ApplicationRequest.isReserved(
          $0, type.map { ["systemCapabilityType": .string($0)] } ?? [:], wantsButtons: wantsButtons)
      }
    }
    for name in ["RegisterAppInterface", "UnregisterAppInterface", "SendHapticData", "SubscribeButton", "OnHMIStatus"] {
      #expect(isReserved(name) == true, "\(name)")
    }
    #expect(isReserved("GetSystemCapability", "VIDEO_STREAMING") == true)
    #expect(isReserved("GetSystemCapability", "NAVIGATION") == false)
    for name in ["GetVehicleData", "Alert", "Show", "CreateWindow", "SystemRequest"] {
      #expect(isReserved(name) == false, "\(name)")
    }
    #expect(isReserved("SubscribeButton", wantsButtons: false) == false)
  }

  private static func protected(_ encryption: MediaEncryption, seed: UInt64) -> JoinedSessions {
    let headUnit = JoinedSessions.configuration {
      $0.security = .accept
      $0.requiresRPCEncryption = true
    }
    var app = AppDriver.configuration
    app.encryption = encryption
    return JoinedSessions(
      headUnit, app: app, seed: seed, server: { FakeChannel(isServer: true) },
      client: { FakeChannel(isServer: false, serialNumber: AppDriver.configuration.appID) })
  }

  /// What the policy wants encrypted is never sent in clear.
  @Test(arguments: JoinedSessions.seeds) func encrypted(seed: UInt64) {
    let sessions = Self.protected(.authenticateAndEncrypt, seed: seed)
    sessions.connect()
    #expect(sessions.app.status.isRPCEncrypted)
    _ = sessions.take()
    sessions.send(Self.request(0))
    #expect(
      sessions.take() == [
        "→ GetVehicleData request encrypted", "← GetVehicleData response DISALLOWED encrypted",
        "• application: GetVehicleData response DISALLOWED",
      ])
  }

  @Test func notEncrypted() {
    let sessions = Self.protected(.none, seed: 1)
    sessions.connect()
    _ = sessions.take()
    sessions.send(Self.request(0))
    #expect(sessions.take() == ["• application: GetVehicleData response ENCRYPTION_NEEDED"])
  }

  /// Vehicle data, from the request to the notification.
  @Test(arguments: JoinedSessions.seeds) func vehicleData(seed: UInt64) throws {
    let sessions = JoinedSessions(JoinedSessions.configuration(), seed: seed)
    sessions.connect()
    sessions.wait(.seconds(1))
    #expect(sessions.app.status.hmi?.level == .full)
    _ = sessions.take()
    let speed = try #require(VehicleReading("speed", "50"))
    sessions.setNotifications([.onVehicleData])
    sessions.send(Self.request(0, .subscribeVehicleData))
    sessions.headUnitDoes { $0.apply(.vehicle(speed), now: $1) }
    #expect(
      sessions.take() == [
        "→ SubscribeVehicleData request", "← SubscribeVehicleData response SUCCESS", "← OnHashChange",
        "• application: SubscribeVehicleData response SUCCESS", "← OnVehicleData", "• application: OnVehicleData",
      ])
    #expect(sessions.violations == [])
  }

  /// Of a file only a part is on the way, so that it need not wait for what is unanswered.
  @Test func fileBesideAnother() {
    let driver = Self.ready()
    driver.send(Self.request(0))
    driver.send(
      ApplicationRequest(
        id: ApplicationRequest.ids.lowerBound + 1, .putFile, ["syncFileName": .string("a.png")],
        bulk: [UInt8](repeating: 1, count: 2 << 20)))
    #expect(driver.take() == ["→ GetVehicleData request", "→ PutFile request"])
  }
}
