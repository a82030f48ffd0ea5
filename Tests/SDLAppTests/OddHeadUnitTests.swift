import SDLApp
import Testing

/// Unusual messages of head units.
@Suite struct OddHeadUnitTests {
  @Test func statusOfOtherWindows() {
    let driver = AppDriver.streaming()
    driver.status(.none, .notStreamable, window: 1)
    #expect(driver.take().isEmpty)
    driver.status(.limited, .streamable, window: 0)
    #expect(driver.take() == ["• status LIMITED STREAMABLE"])
    #expect(driver.isStreaming)
  }

  @Test func unknownLevel() {
    let driver = AppDriver.streaming()
    driver.notify(.onHMIStatus, ["hmiLevel": .string("HALF"), "videoStreamingState": .string("NOT_STREAMABLE")])
    driver.notify(.onHMIStatus, [:])
    #expect(driver.take() == ["• diagnostic", "• diagnostic"])
    #expect(driver.isStreaming)
  }

  /// Head units number notifications 0 or −1.
  @Test(arguments: [0, -1, 1, 2] as [Int32]) func correlationIDsOfNotifications(id: Int32) {
    let driver = AppDriver.ready()
    let status = HMIStatus(level: .full, videoStreamingState: .streamable)
    driver.send(RPCMessage(type: .notification, function: .onHMIStatus, correlationID: id, parameters: status.json))
    #expect(driver.take().last == "→ StartService video 800×480 RAW H264")
  }

  @Test func policyUpdateOnTheHybridService() {
    let driver = AppDriver.streaming()
    driver.notify(
      .onSystemRequest, ["requestType": .string("HTTP")], bulk: [UInt8](repeating: 0x7B, count: 20_000))
    driver.notify(.onSystemRequest, ["requestType": .string("LOCK_SCREEN_ICON_URL")])
    driver.notify(.onHashChange, ["hashID": .string("1")])
    driver.notify(FunctionID(rawValue: 0x8FFF), [:])
    #expect(driver.take().isEmpty)
  }

  @Test func driverDistractionAndPermissions() {
    let driver = AppDriver.streaming()
    driver.notify(.onDriverDistraction, OnDriverDistraction(isDistractionLimited: true).json)
    driver.notify(.onPermissionsChange, OnPermissionsChange(allowedLevels: [:]).json)
    #expect(driver.take() == ["• distraction true"])
    driver.notify(.onPermissionsChange, OnPermissionsChange(allowedLevels: [:], requiresEncryption: true).json)
    #expect(driver.take() == ["• RPCs in clear: this app does not encrypt (see the property encryption)"])
  }

  @Test func answersToNothingAndRequests() {
    let driver = AppDriver.streaming()
    driver.send(RPCMessage(type: .response, function: .registerAppInterface, correlationID: 77))
    driver.send(RPCMessage(type: .response, function: .genericResponse, correlationID: -1))
    driver.send(RPCMessage(type: .request, function: .getSystemCapability, correlationID: 1))
    #expect(driver.take() == ["• diagnostic", "• diagnostic", "• diagnostic"])
  }

  /// A response with the right correlation id but another function does not answer the request.
  @Test func answerOfAnotherFunction() {
    let driver = AppDriver.registering()
    driver.send(
      RPCMessage(
        type: .response, function: .getSystemCapability, correlationID: 1,
        parameters: RPCResult(success: true, resultCode: .success).json))
    #expect(driver.take() == ["• diagnostic"])
    driver.wait(.seconds(12))
    #expect(driver.failure == .unanswered(request: "RegisterAppInterface"))
  }

  @Test(
    arguments: [
      [0x10, 0, 0, 1, 0, 0, 0, 1], [0x30, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0],
      [0x20, 0, 0x80, 0, 0, 0, 0, 1, 0, 0, 0, 9, 0x7B, 0x7D], [0x20, 0, 0x80, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0x5B, 0x5D],
    ] as [[UInt8]])
  func unreadableRPC(payload: [UInt8]) {
    let driver = AppDriver.streaming()
    let header = FrameHeader(
      version: 5, frameType: .single, service: .rpc, frameInfo: 0, sessionID: AppDriver.sessionID,
      dataSize: UInt32(payload.count), messageID: 9)
    driver.receive(Frame(header: header, payload: payload))
    #expect(driver.take() == ["• diagnostic"])
    #expect(driver.isStreaming)
  }

  @Test func brokenMultiFrameMessage() {
    let driver = AppDriver.streaming()
    let header = FrameHeader(
      version: 5, frameType: .consecutive, service: .rpc, frameInfo: 3, sessionID: AppDriver.sessionID, dataSize: 1,
      messageID: 9)
    driver.receive(Frame(header: header, payload: [1]))
    #expect(driver.take() == ["• diagnostic"])
  }

  @Test func tlsHandshakeIsRefused() throws {
    let driver = AppDriver.streaming()
    let hello = SecurityQuery(
      type: 0x20, queryID: SecurityQuery.handshakeID, sequenceNumber: 4, binary: [0x16, 0x03, 0x01])
    let payload = hello.bytes
    let header = FrameHeader(
      version: 5, frameType: .single, service: .control, frameInfo: 0, sessionID: AppDriver.sessionID,
      dataSize: UInt32(payload.count), messageID: 3)
    driver.receive(Frame(header: header, payload: payload))
    let frame = try #require(driver.frames.last)
    #expect(frame.header.service == .control)
    #expect(frame.header.frameType == .single)
    let answer = try #require(SecurityQuery(payload: frame.payload))
    #expect(answer.type == 0x20)
    #expect(answer.queryID == SecurityQuery.internalErrorID)
    #expect(answer.binary == [3])
    #expect(try JSONObject(parsing: answer.json)["id"] == .integer(3))
    #expect(driver.take().last == "• diagnostic")

    // The head unit's own error report must not be answered with another.
    let report = SecurityQuery(type: 0x20, queryID: SecurityQuery.internalErrorID, sequenceNumber: 0, binary: [8]).bytes
    var second = header
    second.dataSize = UInt32(report.count)
    driver.receive(Frame(header: second, payload: report))
    #expect(driver.take() == ["• diagnostic"])
  }

  @Test func encryptedFramesAreIgnored() {
    let driver = AppDriver.streaming()
    for control in [ControlFrame.endService, .startServiceNAK, .startServiceACK] {
      var frame = Frame.control(control, service: .video, version: 5, sessionID: AppDriver.sessionID)
      frame.header.isEncrypted = true
      driver.receive(frame)
    }
    #expect(driver.take() == ["• diagnostic", "• diagnostic", "• diagnostic"])
    #expect(driver.isStreaming)
  }

  @Test func otherSessionsAreIgnored() {
    let driver = AppDriver.streaming()
    driver.receive(.control(.endService, service: .rpc, version: 5, sessionID: 2))
    driver.receive(.control(.endService, service: .video, version: 5, sessionID: 0))
    #expect(driver.take() == ["• diagnostic", "• diagnostic"])
    #expect(driver.isStreaming)
  }

  @Test func controlFramesWithoutMeaning() {
    let driver = AppDriver.streaming()
    driver.control(.serviceDataACK, .video, payload: [0, 0, 0, 1])
    driver.control(.heartbeatACK, .control)
    driver.control(.transportEventUpdate, .control, payload: TransportEventUpdate(address: "::1", port: 1).bytes)
    #expect(driver.take().isEmpty)
    driver.control(.startServiceACK, .rpc)
    driver.control(.startServiceNAK, .hybrid)
    driver.control(.registerSecondaryTransportNAK, .control)
    driver.control(.startService, .video)
    #expect(driver.take() == Array(repeating: "• diagnostic", count: 4))
    #expect(driver.isStreaming)
  }

  @Test func garbageBeforeTheFirstFrame() {
    let driver = AppDriver()
    driver.connect()
    let answer = Array("HTTP/1.1 400 Bad Request\r\n".utf8)
    driver.receiveGarbage(answer)
    #expect(driver.failure == .notSDL(firstBytes: answer))
    #expect(driver.isClosed)
    #expect(driver.failure?.description.contains("\"HTTP/1.1 400 Bad Request..\"") == true)
  }

  @Test func garbageLater() {
    let driver = AppDriver.streaming()
    func receiveTenRuns() {
      for _ in 0..<10 {
        driver.receiveGarbage([0xFF])
        driver.control(.serviceDataACK, .video)
      }
    }
    for _ in 0..<5 {
      receiveTenRuns()
      driver.wait(.seconds(1))
    }
    #expect(driver.take() == Array(repeating: "• diagnostic", count: 50))
    receiveTenRuns()
    #expect(!driver.isClosed)
    driver.receiveGarbage([0xFE])
    #expect(driver.failure == .notSDL(firstBytes: [0xFE]))
    #expect(driver.isClosed)
  }

  /// The decoder reports the same run again.
  @Test func garbageWithoutEnd() {
    let driver = AppDriver.streaming()
    driver.receiveGarbage([0xFF])
    driver.wait(.seconds(2))
    #expect(!driver.isClosed)
    driver.receiveGarbage([0xFE])
    #expect(driver.failure == .notSDL(firstBytes: [0xFE]))
    #expect(driver.isClosed)
  }
}
