import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@Suite struct SessionStartTests {
  @Test(arguments: [
    ("5.0.0", "5.0.0"), ("5.2.0", "5.2.0"), ("5.4.0", "5.4.0"), ("5.4.1", "5.4.0"), ("5.9.0", "5.4.0"),
    ("6.0.0", "5.4.0"),
  ])
  func versionIsTheSmallerOne(wanted: String, got: String) throws {
    var app = TestApp()
    app.startSession(ProtocolVersion(wanted))
    let payload = try #require(app.payload(.startServiceACK, .rpc))
    let acknowledgement = RPCServiceAcknowledgement(payload: payload, version: 5)
    #expect(acknowledgement.protocolVersion == ProtocolVersion(got))
    #expect(acknowledgement.hashID == 0x0001_0001)
    #expect(acknowledgement.mtu == 131_072)
    #expect(acknowledgement.videoServiceTransports == (wanted == "5.0.0" ? nil : [1]))
    #expect(acknowledgement.make == (got == "5.4.0" ? "SDL" : nil))
    #expect(app.headers.map(\.version) == [5])
    #expect(app.headers.map(\.sessionID) == [1])
    // SDL's libraries accept no larger first frame.
    #expect(payload.count <= 1011)
  }

  /// Of an app in a cloud, from protocol 5.2 on.
  @Test(arguments: [("5.4.0", true), ("5.2.0", true), ("5.1.0", false), ("5.0.0", false)])
  func authToken(version: String, isSent: Bool) throws {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.authToken = "secret"
    var app = TestApp(configuration)
    app.startSession(ProtocolVersion(version))
    let document = try BSONDocument(decoding: try #require(app.payload(.startServiceACK, .rpc)))
    #expect(document.string("authToken") == (isSent ? "secret" : nil))
  }

  @Test(arguments: ["4.0.0", "3.0.0", "5", "rubbish"])
  func olderVersionInThePayloadIsRefusedWithAVersion1Frame(text: String) {
    var app = TestApp()
    let payload = BSONDocument([("protocolVersion", .string(text))]).bytes
    app.send(.startService, .rpc, payload: payload, version: 1, sessionID: 0)
    #expect(app.answers == [.control(.startServiceNAK, .rpc, payload: [])])
    #expect(app.headers.map(\.bytes) == [[0x10, 0x07, 0x03, 0, 0, 0, 0, 0]])
  }

  @Test func payloadThatIsNotBSONCountsAsNone() {
    var app = TestApp()
    app.send(.startService, .rpc, payload: [1, 2, 3], version: 1, sessionID: 0)
    #expect(app.answers == [.control(.startServiceACK, .rpc, payload: [0, 1, 0, 1])])
    #expect(app.headers.map(\.version) == [4])
  }

  /// The head unit chooses the id.
  @Test func firstStartWithASessionIDIsRefused() {
    var app = TestApp()
    let request = RPCServiceRequest(protocolVersion: ProtocolVersion(5)).bytes
    app.send(.startService, .rpc, payload: request, version: 1, sessionID: 1)
    #expect(app.controls == ["rpc startServiceNAK"])
    #expect(app.violations == [.sessionID(expected: 0, got: 1)])
  }

  @Test func hashIsMadeOfSessionAndConnection() {
    var app = TestApp()
    app.session = HeadUnitSession(
      configuration: HeadUnitPreset.legacy.configuration, sessionID: 0xFE, connectionID: 0x1234)
    app.run { $0.transportConnected(now: $1) }
    app.startSession()
    #expect(app.answers == [.control(.startServiceACK, .rpc, payload: [0, 0xFE, 0x12, 0x34])])
    #expect(app.headers.map(\.sessionID) == [0xFE])
  }

  @Test(arguments: [2, 3, 4] as [UInt8])
  func beforeProtocol5TheAppPicksTheVersion(version: UInt8) {
    var app = TestApp(HeadUnitPreset.legacy.configuration)
    app.startSession()
    app.version = version
    app.register()
    #expect(app.violations == [])
    #expect(app.headers.dropFirst().allSatisfy { $0.version == version })
    #expect(
      app.events.first
        == .appRegistered(
          name: "Map", id: "1234", types: [.navigation], protocolVersion: ProtocolVersion(Int(version)), .success))
    app.wait(.seconds(1))
    app.startVideo(VideoServiceParameters())
    #expect(app.controls.last == (version == 2 ? "video startServiceNAK" : "video startServiceACK"))
    // It has picked one.
    let other: UInt8 = version == 2 ? 3 : 2
    app.send(.heartbeat, .control, version: other)
    #expect(app.violations == [.headerVersion(expected: version, got: other)])
  }

  @Test(arguments: [(1, 2), (2, 2), (3, 3), (4, 4), (5, 5), (9, 5)] as [(Int, UInt8)])
  func maximumVersionIsConfigurable(maximum: Int, version: UInt8) {
    var configuration = HeadUnitPreset.legacy.configuration
    configuration.maximumProtocolVersion = ProtocolVersion(maximum)
    var app = TestApp(configuration)
    app.startSession()
    #expect(app.headers.map(\.version) == [version])
    app.version = version
    app.register()
    #expect(app.violations == [])
    guard version < 5 else { return }
    app.send(.heartbeat, .control, version: version + 1)
    #expect(app.violations == [.malformedBytes(.version(version + 1))])
  }

  /// A start that names no session gets another one from the owner of the sessions, if there may be more.
  @Test func secondStartIsRefused() {
    var app = TestApp.registered()
    let request = RPCServiceRequest(protocolVersion: ProtocolVersion(5)).bytes
    app.send(.startService, .rpc, payload: request, version: 1)
    #expect(app.controls == ["rpc startServiceNAK"])
    #expect(app.violations == [.startWhileActive(.rpc)])
    app.forget()
    func startAnother() {
      app.run {
        $0.refuseSession(.control(.startService, service: .rpc, version: 1, sessionID: 0, messageID: 0), now: $1)
      }
    }
    startAnother()
    #expect(app.controls == ["rpc startServiceNAK"] && app.headers.map(\.sessionID) == [0])
    #expect(app.violations == [] && app.session.isStarted)
    // Not without end.
    for _ in 0..<2000 { startAnother() }
    #expect(app.controls.count < 1001)
    #expect(app.violations.first == .tooManyFrames(limit: 1000, within: .seconds(1)))
    #expect((90...101).contains(app.violations.count) && app.session.isStarted)
  }

  @Test func scriptedAnswers() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.rpcStart = .silence
    var silent = TestApp(configuration)
    silent.startSession()
    #expect(silent.answers == [])
    configuration.behaviour.rpcStart = .reject
    var refusing = TestApp(configuration)
    refusing.startSession()
    #expect(refusing.controls == ["rpc startServiceNAK"])
  }

  @Test func nothingElseWorksWithoutASession() {
    var app = TestApp()
    app.register()
    app.startVideo(.standard)
    app.video(Stream.keyFrame)
    app.send(.endService, .rpc)
    #expect(app.controls == ["rpc endServiceNAK"])
    #expect(app.violations == [.noSession(.rpc), .noSession(.video), .noSession(.video), .noSession(.rpc)])
  }

  @Test func framesOfAnotherSessionAreIgnored() {
    var app = TestApp.registered()
    app.send(.startService, .video, sessionID: 9)
    app.send(.endService, .rpc, sessionID: 9)
    #expect(app.controls == [])
    #expect(app.violations == [.sessionID(expected: 1, got: 9), .sessionID(expected: 1, got: 9)])
  }

  /// There is no app in it.
  @Test func requestsInAnotherSessionAreRefused() throws {
    var app = TestApp.registered()
    let request = RPCMessage(type: .request, function: .listFiles, correlationID: 77)
    let frame = Fragmentation(
      service: .rpc, version: 5, sessionID: 9, messageID: 5, payloadSize: request.payload.count, maximumPayload: 1000)
    app.send(bytes: frame.frames(of: request.payload))
    #expect(app.result(77)?.resultCode == "APPLICATION_NOT_REGISTERED")
    #expect(app.headers.map(\.sessionID) == [9])
    #expect(app.violations == [.sessionID(expected: 1, got: 9)] && !app.isClosed)
  }

  /// Another app on the same connection may have sent them.
  @Test func floodInAnotherSession() {
    var app = TestApp.active()
    for _ in 0..<2000 { app.send(.heartbeat, .control, sessionID: 9) }
    for _ in 0..<2000 { app.send(.startService, .rpc, sessionID: 9) }
    #expect(app.session.summary != nil && !app.isClosed)
    #expect(app.violations.last == .tooManyViolations(limit: 100, within: .seconds(1)))
    #expect(app.answers.isEmpty)
  }

  @Test func anotherVersionIsReported() {
    var app = TestApp.registered()
    app.send(.heartbeat, .control, version: 4)
    #expect(app.violations == [.headerVersion(expected: 5, got: 4)])
  }

  /// From protocol 5.4 on the app learns before its registration which car it is in.
  @Test(arguments: [(ProtocolVersion(5, 4), true), (ProtocolVersion(5, 3), false)])
  func vehicle(version: ProtocolVersion, isTold: Bool) throws {
    var configuration = HeadUnitPreset.standard.configuration
    (configuration.vehicle.make, configuration.vehicle.model) = ("Rover", "P6")
    (configuration.vehicle.modelYear, configuration.vehicle.trim) = ("1972", "V8")
    (configuration.vehicle.systemSoftwareVersion, configuration.vehicle.systemHardwareVersion) = ("1.2", "3.4")
    var app = TestApp(configuration)
    app.startSession(version)
    let document = try BSONDocument(decoding: try #require(app.payload(.startServiceACK, .rpc)))
    let names = ["make", "model", "modelYear", "trim", "systemSoftwareVersion", "systemHardwareVersion"]
    let told = names.compactMap { document.string($0) }
    #expect(told == (isTold ? ["Rover", "P6", "1972", "V8", "1.2", "3.4"] : []))
  }
}
