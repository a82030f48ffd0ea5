import SDLApp
import Testing
import TestSupport

/// The first request, its answers, and the version of all later frames.
@Suite struct NegotiationTests {
  private static func connected(_ change: (inout AppSession.Configuration) -> Void = { _ in }) -> AppDriver {
    var configuration = AppDriver.configuration
    change(&configuration)
    let driver = AppDriver(configuration)
    driver.connect()
    return driver
  }

  @Test func firstFrameAsBytes() {
    let driver = Self.connected()
    let header: [UInt8] = [0x10, 0x07, 0x01, 0x00, 0x00, 0x00, 0x00, 0x20]
    // {protocolVersion: "5.4.1"}
    let payload = joined(
      [0x20, 0x00, 0x00, 0x00, 0x02], Array("protocolVersion".utf8), [0x00, 0x06, 0x00, 0x00, 0x00],
      Array("5.4.1".utf8), [0x00, 0x00])
    #expect(driver.frames.first?.bytes == header + payload)
  }

  @Test func appsBelowProtocol5SayNothing() {
    let driver = Self.connected { $0.maximumProtocolVersion = ProtocolVersion(4) }
    #expect(driver.frames.first?.bytes == [0x10, 0x07, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00])
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var offered: String?
    var header: UInt8
    var negotiated: ProtocolVersion
    var testDescription: String { "\(offered ?? "nothing") in v\(header)" }
  }

  @Test(arguments: [
    Case(offered: "5.4.0", header: 5, negotiated: ProtocolVersion(5, 4, 0)),
    Case(offered: "5.4.1", header: 5, negotiated: ProtocolVersion(5, 4, 1)),
    Case(offered: "5.0.0", header: 5, negotiated: ProtocolVersion(5, 0, 0)),
    Case(offered: "6.1.0", header: 5, negotiated: ProtocolVersion(5, 4, 1)),
    Case(offered: nil, header: 5, negotiated: ProtocolVersion(5, 0, 0)),
    Case(offered: "five", header: 5, negotiated: ProtocolVersion(5, 0, 0)),
    Case(offered: nil, header: 4, negotiated: ProtocolVersion(4, 0, 0)),
    Case(offered: nil, header: 3, negotiated: ProtocolVersion(3, 0, 0)),
  ])
  func versions(_ input: Case) throws {
    let driver = Self.connected()
    driver.version = input.header
    let hash = BSONValue.int32(AppDriver.hashID)
    let bson = BSONDocument([("hashId", hash), ("protocolVersion", input.offered.map(BSONValue.string))])
    driver.control(.startServiceACK, .rpc, payload: input.header < 5 ? [0x00, 0x01, 0x00, 0x01] : bson.bytes)
    let expected = ["• session \(input.negotiated)", "→ RegisterAppInterface request"]
    #expect(driver.frames.allSatisfy { $0.header.version == input.header || $0.header.version == 1 })
    #expect(driver.take().suffix(2) == expected)

    driver.acceptRegistration { $0.rpcVersion = RPCVersion(4, 4) }
    #expect(driver.headUnit?.protocolVersion == input.negotiated)
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.status(.full, .streamable)
    let start = try #require(driver.frames.last)
    #expect(start.header.version == input.header)
    #expect(start.header.controlFrame == .startService)
    #expect(start.payload.isEmpty == (input.header < 5))
    driver.acknowledgeVideo()
    #expect(driver.session.status.video.grant?.version == input.header)
    #expect(driver.session.status.video.grant?.sessionID == AppDriver.sessionID)

    driver.finish()
    driver.respond(.unregisterAppInterface, RPCResult(success: true, resultCode: .success).json)
    let end = try #require(driver.frames.last)
    #expect(end.header.version == input.header)
    #expect(
      end.payload
        == (input.header < 5 ? [0x00, 0x01, 0x00, 0x01] : BSONDocument([("hashId", hash)]).bytes))
  }

  @Test(arguments: [1, 2] as [UInt8]) func tooOld(version: UInt8) {
    let driver = Self.connected()
    driver.version = version
    driver.control(.startServiceACK, .rpc, payload: version == 1 ? [] : [0, 1, 0, 1])
    #expect(driver.failure == .unsupportedProtocol(version: "\(version).0.0"))
    #expect(driver.take().suffix(2) == ["• failed", "■"])
  }

  /// SDL Core answers in the version of the request, without a payload; the specification has BSON.
  @Test func refusals() {
    let core = Self.connected()
    core.receive(.control(.startServiceNAK, service: .rpc, version: 1, sessionID: 0))
    #expect(core.failure == .sessionRefused(reason: nil))
    #expect(core.isClosed)

    let modern = Self.connected()
    let rejection = ServiceRejection(rejectedParameters: ["protocolVersion"], reason: "too new")
    modern.receive(
      .control(.startServiceNAK, service: .rpc, version: 5, sessionID: 0, payload: rejection.bytes(version: 5)))
    #expect(modern.failure == .sessionRefused(reason: "too new"))
    #expect(modern.isClosed)
  }

  @Test func otherFramesBeforeTheAnswerAreIgnored() {
    let driver = Self.connected()
    _ = driver.take()
    driver.control(.transportEventUpdate, .control)
    driver.control(.startServiceACK, .video)
    driver.control(.heartbeat, .control)
    driver.notify(.onDriverDistraction, ["state": .string("DD_ON")])
    #expect(driver.take().isEmpty)
    driver.acknowledgeSession()
    #expect(driver.take() == ["• session 5.4.0", "→ RegisterAppInterface request"])
  }

  @Test func noAnswer() {
    let driver = Self.connected { $0.sessionTimeout = .seconds(3) }
    driver.wait(.milliseconds(2999))
    #expect(!driver.isClosed)
    driver.wait(.milliseconds(1))
    #expect(driver.failure == .unanswered(request: "StartService"))
    #expect(driver.isClosed)
  }

  @Test func vehicleDataFromEitherAnswer() {
    let driver = Self.connected()
    driver.acknowledgeSession { $0.make = "Make" }
    driver.acceptRegistration {
      $0.make = "Other"
      $0.model = "Model"
    }
    #expect(driver.headUnit?.make == "Make")
    #expect(driver.headUnit?.model == "Model")
    #expect(driver.headUnit?.rpcVersion == RPCVersion(8, 0, 0))
  }
}
