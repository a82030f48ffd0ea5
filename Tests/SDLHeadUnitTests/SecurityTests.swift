import SDLHeadUnit
import SDLMessages
import SDLWire
import Synchronization
import Testing

/// TLS as the head unit sees it, with apps that stall, lie, and send what they like.
@Suite struct SecurityTests {
  /// A client whose handshake is one message each way, and whose records have a header and nothing else.
  private final class Channel: SecureChannel {
    private let established = Mutex(false)

    var isEstablished: Bool { established.withLock { $0 } }
    var summary: SecureChannelSummary? {
      let peer = SecureChannelSummary.Peer(
        subject: "CN=app", issuer: "CN=authority", serialNumber: RegisterAppInterface.test.appID.uppercased(),
        notBefore: 0, notAfter: 1)
      return isEstablished
        ? SecureChannelSummary(protocolVersion: "test", cipher: "none", peer: peer, isPeerVerified: true) : nil
    }

    func begin() -> SecureChannelStep { SecureChannelStep(output: [22, 3, 3, 0, 1, 1]) }

    func advance(_ bytes: [UInt8]) -> SecureChannelStep {
      guard bytes == SecurityTests.answer else {
        return SecureChannelStep(output: [21, 3, 3, 0, 1, 0], failure: SecureChannelFailure(.invalidData, "no hello"))
      }
      established.withLock { $0 = true }
      return SecureChannelStep()
    }

    func encrypt(
      _ plaintext: UnsafeRawBufferPointer, into destination: UnsafeMutableRawBufferPointer
    ) throws(SecureChannelFailure) -> Int {
      destination.copyBytes(from: [23, 3, 3, UInt8(plaintext.count >> 8), UInt8(plaintext.count & 0xFF)] + plaintext)
      return plaintext.count + 5
    }

    func decrypt(_ records: [UInt8]) throws(SecureChannelFailure) -> [UInt8] {
      guard records.starts(with: [23, 3, 3]) else { throw SecureChannelFailure(.decryptionFailed, "no record") }
      return Array(records.dropFirst(5))
    }
  }

  private static let answer: [UInt8] = [22, 3, 3, 0, 1, 2]
  private static let picture: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x1E, 0xDA, 0x02, 0x80, 0xF6, 0x84]

  private func active(
    _ security: HeadUnitSecurity, _ handshake: HeadUnitBehaviour.Handshake = .regular,
    makeSecureChannel: @escaping SecureChannelFactory = { Channel() }
  ) -> TestApp {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.security = security
    configuration.behaviour.handshake = handshake
    configuration.behaviour.dropsToNoneAfterRefusal = false
    var app = TestApp(configuration)
    app.session = HeadUnitSession(
      configuration: app.session.configuration, makeSecureChannel: makeSecureChannel)
    app.run { $0.transportConnected(now: $1) }
    app.startSession()
    app.register()
    app.wait(.milliseconds(100))
    app.forget()
    return app
  }

  private func start(_ app: inout TestApp, isEncrypted: Bool = true) {
    var frame = Frame.control(
      .startService, service: .video, version: 5, sessionID: 1,
      payload: VideoServiceParameters.standard.bytes(version: 5))
    frame.header.isEncrypted = isEncrypted
    app.send(frame)
  }

  private func shakeHands(_ app: inout TestApp, _ bytes: [UInt8] = answer) {
    app.send(data: SecurityQuery(type: 0x10, queryID: 1, sequenceNumber: 1, binary: bytes).bytes, .control)
  }

  private func videoFrame(_ payload: [UInt8], isEncrypted: Bool) -> Frame {
    Frame(
      header: FrameHeader(
        version: 5, isEncrypted: isEncrypted, frameType: .single, service: .video, frameInfo: 0, sessionID: 1,
        dataSize: UInt32(payload.count), messageID: 99),
      payload: payload)
  }

  private func failures(_ app: TestApp) -> [String] {
    app.events.compactMap { if case .handshakeFailed(let reason) = $0 { reason } else { nil } }
  }

  @Test func acknowledgementIsEncrypted() throws {
    var app = active(.require)
    start(&app)
    #expect(app.controls == [])
    shakeHands(&app)
    #expect(app.controls == ["video startServiceACK"])
    #expect(app.headers.last?.isEncrypted == true)
    let payload = try #require(app.payload(.startServiceACK, .video))
    #expect(payload.starts(with: [23, 3, 3]))
    #expect(VideoServiceParameters(payload: Array(payload.dropFirst(5))).width == 800)
    app.forget()
    app.send(videoFrame([23, 3, 3, 0, 13] + Self.picture, isEncrypted: true))
    #expect(app.events.contains(.videoData(Self.picture)))
  }

  /// Others may have taken all handshakes that there are at the moment.
  @Test(arguments: [(HeadUnitSecurity.accept, "video startServiceACK"), (.require, "video startServiceNAK")])
  func noChannel(security: HeadUnitSecurity, answer: String) {
    let failure = SecureChannelFailure(.handshakeFailed, "too many")
    var app = active(security, makeSecureChannel: { () throws(SecureChannelFailure) in throw failure })
    start(&app)
    #expect(app.controls == [answer] && app.headers.last?.isEncrypted == false)
    #expect(failures(app) == ["too many"])
  }

  /// SDL Core takes frames in clear between encrypted ones. It is said once; a head unit that requires encryption drops them.
  @Test(arguments: [(HeadUnitSecurity.accept, 2), (.require, 0)]) func clearFrames(
    security: HeadUnitSecurity, taken: Int
  ) {
    var app = active(security)
    start(&app)
    shakeHands(&app)
    app.forget()
    app.send(videoFrame(Self.picture, isEncrypted: false))
    app.send(videoFrame(Self.picture, isEncrypted: false))
    #expect(app.violations.filter { $0 == .clearFrame(.video) }.count == 1)
    #expect(app.events.filter { $0 == .videoData(Self.picture) }.count == taken)
  }

  /// The app is unregistered, as SDL Core closes the session.
  @Test func changedRecord() {
    var app = active(.accept)
    start(&app)
    shakeHands(&app)
    app.forget()
    app.send(videoFrame([9, 9, 9], isEncrypted: true))
    #expect(app.violations.contains(.undecryptableFrame(.video)))
    #expect(app.isClosed)
    #expect(app.rpcs.contains { $0.function == .onAppInterfaceUnregistered })
  }

  /// An app that stalls loses its start after ten seconds.
  @Test func stall() {
    for (security, answer) in [(HeadUnitSecurity.accept, "video startServiceACK"), (.require, "video startServiceNAK")]
    {
      var app = active(security)
      start(&app)
      app.wait(.milliseconds(9900))
      #expect(app.controls == [])
      app.wait(.milliseconds(200))
      #expect(app.controls == [answer])
      #expect(app.headers.last?.isEncrypted == false)
      #expect(failures(app) == ["the app does not answer"])
    }
  }

  /// As SDL Core, whatever comes.
  @Test func silence() {
    var app = active(.accept, .silence)
    start(&app)
    app.wait(.seconds(100))
    #expect(app.controls == [])
    app.send(.endService, .video)
    #expect(app.controls == ["video endServiceACK"])
  }

  @Test func badAnswers() throws {
    for bytes in [[], [1], [22, 3, 3, 0, 1, 7], [UInt8](repeating: 0xFF, count: 100_000)] as [[UInt8]] {
      var app = active(.require)
      start(&app)
      shakeHands(&app, bytes)
      #expect(app.controls == ["video startServiceNAK"])
      #expect(app.rejection?.reason?.contains("no hello") == true)
      #expect(failures(app) == ["no hello"])
      #expect(!app.isClosed)
    }
  }

  /// Of the app's errors two end the handshake, as in SDL Core.
  @Test func errorsOfTheApp() {
    for code in SecurityErrorCode.allCases {
      var app = active(.accept)
      start(&app)
      app.send(data: SecurityQuery.error(code, "no certificate").bytes, .control)
      let ends = code == .invalidData || code == .notSupported
      #expect(app.controls == (ends ? ["video startServiceACK"] : []), "\(code)")
    }
  }

  @Test func queriesWithoutHandshake() {
    var app = active(.accept)
    shakeHands(&app)
    app.send(data: [1, 2, 3], .control)
    app.send(data: SecurityQuery(type: 0, queryID: 77, sequenceNumber: 1).bytes, .control)
    app.send(data: SecurityQuery.error(.invalidData, "x").bytes, .control)
    #expect(app.headers.count == 3)
    #expect(app.controls == [] && !app.isClosed)
  }

  /// Handshakes cost computing time: no more than ten in ten seconds.
  @Test func manyHandshakes() {
    var app = active(.require)
    for _ in 0..<10 {
      start(&app)
      shakeHands(&app, [1])
    }
    app.forget()
    start(&app)
    #expect(failures(app) == ["too many handshakes"])
    app.wait(.seconds(11))
    app.forget()
    start(&app)
    shakeHands(&app)
    #expect(app.controls == ["video startServiceACK"])
  }

  @Test func endAndSecondStartDuringHandshake() {
    var app = active(.accept)
    start(&app)
    start(&app)
    #expect(app.controls == ["video startServiceNAK"])
    app.send(.endService, .video)
    app.forget()
    // What is still on its way is for nobody.
    shakeHands(&app)
    #expect(app.controls == [])
    start(&app)
    shakeHands(&app)
    #expect(app.controls == ["video startServiceACK"])
  }

  @Test func startInClear() {
    var required = active(.require)
    start(&required, isEncrypted: false)
    #expect(required.rejection?.reason == "The service has to be protected")
    var accepting = active(.accept)
    start(&accepting, isEncrypted: false)
    #expect(accepting.controls == ["video startServiceACK"])
    #expect(accepting.headers.last?.isEncrypted == false)
  }

  @Test func commands() throws {
    for handshake in HeadUnitBehaviour.Handshake.allCases {
      #expect(
        try HeadUnitCommand.parse("answer start-tls \(handshake.rawValue)") == .behave(.handshake(handshake)))
    }
    #expect(throws: HeadUnitCommand.Malformed.self) { try HeadUnitCommand.parse("answer start-tls often") }
  }
}
