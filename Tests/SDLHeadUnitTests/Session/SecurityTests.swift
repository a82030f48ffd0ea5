import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// TLS as the head unit sees it, with apps that stall, lie, and send what they like.
@Suite struct SecurityTests {
  private static let picture: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x1E, 0xDA, 0x02, 0x80, 0xF6, 0x84]

  private func failures(_ app: TestApp) -> [String] {
    app.events.compactMap { if case .handshakeFailed(let reason) = $0 { reason } else { nil } }
  }

  @Test func acknowledgementIsEncrypted() throws {
    var app = TestApp.secured(.require)
    app.startEncrypted()
    #expect(app.controls == [])
    app.shakeHands()
    #expect(app.controls == ["video startServiceACK"])
    #expect(app.headers.last?.isEncrypted == true)
    let payload = try #require(app.payload(.startServiceACK, .video))
    #expect(payload.starts(with: [23, 3, 3]))
    #expect(VideoServiceParameters(payload: Array(payload.dropFirst(5))).width == 800)
    app.forget()
    app.send(TestApp.videoFrame([23, 3, 3, 0, 13] + Self.picture, isEncrypted: true))
    #expect(app.events.contains(.videoData(Self.picture)))
  }

  /// Others may have taken all handshakes that there are at the moment.
  @Test(arguments: [(HeadUnitSecurity.accept, "video startServiceACK"), (.require, "video startServiceNAK")])
  func noChannel(security: HeadUnitSecurity, answer: String) {
    let failure = SecureChannelFailure(.handshakeFailed, "too many")
    var app = TestApp.secured(security, makeSecureChannel: { () throws(SecureChannelFailure) in throw failure })
    app.startEncrypted()
    #expect(app.controls == [answer] && app.headers.last?.isEncrypted == false)
    #expect(failures(app) == ["too many"])
  }

  /// SDL Core takes frames in clear between encrypted ones. It is said once; a head unit that requires encryption drops
  /// them.
  @Test(arguments: [(HeadUnitSecurity.accept, 2), (.require, 0)]) func clearFrames(
    security: HeadUnitSecurity, taken: Int
  ) {
    var app = TestApp.secured(security)
    app.startEncrypted()
    app.shakeHands()
    app.forget()
    app.send(TestApp.videoFrame(Self.picture, isEncrypted: false))
    app.send(TestApp.videoFrame(Self.picture, isEncrypted: false))
    #expect(app.violations.filter { $0 == .clearFrame(.video) }.count == 1)
    #expect(app.events.filter { $0 == .videoData(Self.picture) }.count == taken)
  }

  /// The app is unregistered, as SDL Core closes the session.
  @Test func changedRecord() {
    var app = TestApp.secured(.accept)
    app.startEncrypted()
    app.shakeHands()
    app.forget()
    app.send(TestApp.videoFrame([9, 9, 9], isEncrypted: true))
    #expect(app.violations.contains(.undecryptableFrame(.video)))
    #expect(app.isClosed)
    #expect(app.rpcs.contains { $0.function == .onAppInterfaceUnregistered })
  }

  /// An app that stalls loses its start after ten seconds.
  @Test func stall() {
    for (security, answer) in [(HeadUnitSecurity.accept, "video startServiceACK"), (.require, "video startServiceNAK")]
    {
      var app = TestApp.secured(security)
      app.startEncrypted()
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
    var app = TestApp.secured(.accept, .silence)
    app.startEncrypted()
    app.wait(.seconds(100))
    #expect(app.controls == [])
    app.send(.endService, .video)
    #expect(app.controls == ["video endServiceACK"])
  }

  @Test func badAnswers() throws {
    for bytes in [[], [1], [22, 3, 3, 0, 1, 7], [UInt8](repeating: 0xFF, count: 100_000)] as [[UInt8]] {
      var app = TestApp.secured(.require)
      app.startEncrypted()
      app.shakeHands(bytes)
      #expect(app.controls == ["video startServiceNAK"])
      #expect(app.rejection?.reason?.contains("no hello") == true)
      #expect(failures(app) == ["no hello"])
      #expect(!app.isClosed)
    }
  }

  /// Of the app's errors two end the handshake, as in SDL Core.
  @Test func errorsOfTheApp() {
    for code in SecurityErrorCode.allCases {
      var app = TestApp.secured(.accept)
      app.startEncrypted()
      app.send(data: SecurityQuery.error(code, "no certificate").bytes, .control)
      let ends = code == .invalidData || code == .notSupported
      #expect(app.controls == (ends ? ["video startServiceACK"] : []), "\(code)")
    }
  }

  @Test func queriesWithoutHandshake() {
    var app = TestApp.secured(.accept)
    app.shakeHands()
    app.send(data: [1, 2, 3], .control)
    app.send(data: SecurityQuery(type: 0, queryID: 77, sequenceNumber: 1).bytes, .control)
    app.send(data: SecurityQuery.error(.invalidData, "x").bytes, .control)
    #expect(app.headers.count == 3)
    #expect(app.controls == [] && !app.isClosed)
  }

  /// Handshakes cost computing time: no more than ten in ten seconds.
  @Test func manyHandshakes() {
    var app = TestApp.secured(.require)
    for _ in 0..<10 {
      app.startEncrypted()
      app.shakeHands([1])
    }
    app.forget()
    app.startEncrypted()
    #expect(failures(app) == ["too many handshakes"])
    app.wait(.seconds(11))
    app.forget()
    app.startEncrypted()
    app.shakeHands()
    #expect(app.controls == ["video startServiceACK"])
  }

  @Test func endAndSecondStartDuringHandshake() {
    var app = TestApp.secured(.accept)
    app.startEncrypted()
    app.startEncrypted()
    #expect(app.controls == ["video startServiceNAK"])
    app.send(.endService, .video)
    app.forget()
    // What is still on its way is not looked at.
    app.shakeHands()
    #expect(app.controls == [])
    app.startEncrypted()
    app.shakeHands()
    #expect(app.controls == ["video startServiceACK"])
  }

  @Test func startInClear() {
    var required = TestApp.secured(.require)
    required.startVideo(.standard)
    #expect(required.rejection?.reason == "The service has to be protected")
    var accepting = TestApp.secured(.accept)
    accepting.startVideo(.standard)
    #expect(accepting.controls == ["video startServiceACK"])
    #expect(accepting.headers.last?.isEncrypted == false)
  }

  private static let sound: [UInt8] = [1, 2, 3, 4]

  /// The rules of `require` and `accept` are those of video.
  @Test func encryptedSound() throws {
    for security in [HeadUnitSecurity.accept, .require] {
      var app = TestApp.secured(security)
      app.startEncrypted(.audio)
      #expect(app.controls == [])
      app.shakeHands()
      #expect(app.controls == ["audio startServiceACK"])
      #expect(app.headers.last?.isEncrypted == true)
      let payload = try #require(app.payload(.startServiceACK, .audio))
      #expect(payload.starts(with: [23, 3, 3]))
      #expect(AudioServiceAcknowledgement(payload: Array(payload.dropFirst(5))).mtu != nil)
      app.forget()
      app.send(TestApp.frame(.audio, [23, 3, 3, 0, 4] + Self.sound, isEncrypted: true))
      #expect(app.events.last == .audioData(Self.sound))
      app.forget()
      app.send(TestApp.frame(.audio, Self.sound, isEncrypted: false))
      app.send(TestApp.frame(.audio, Self.sound, isEncrypted: false))
      #expect(app.violations == [.clearFrame(.audio)])
      #expect(app.events.filter { $0 == .audioData(Self.sound) }.count == (security == .accept ? 2 : 0))
    }
  }

  /// In clear a required start is refused at once, after a handshake that fails when that is known.
  @Test func soundInClear() {
    var required = TestApp.secured(.require)
    required.send(.startService, .audio)
    #expect(required.controls == ["audio startServiceNAK"])
    #expect(required.events.last == .audioRefused(ServiceRejection(reason: "The service has to be protected")))
    required.forget()
    required.startEncrypted(.audio)
    required.shakeHands([1])
    #expect(required.controls == ["audio startServiceNAK"])
    #expect(
      required.events.last == .audioRefused(ServiceRejection(reason: "The TLS handshake failed: no hello")))
    var accepting = TestApp.secured(.accept)
    accepting.startEncrypted(.audio)
    accepting.shakeHands([1])
    #expect(accepting.controls == ["audio startServiceACK"] && accepting.headers.last?.isEncrypted == false)
    #expect(accepting.events.contains(.audioInClear))
  }

  /// One handshake serves the starts that wait for it, which are answered in their order, and those to come.
  @Test func soundAndPicturesShareAHandshake() {
    var app = TestApp.secured(.require)
    app.startEncrypted(.audio)
    app.startEncrypted()
    app.startEncrypted(.audio)
    #expect(app.controls == ["audio startServiceNAK"] && app.violations == [.startWhileActive(.audio)])
    app.forget()
    app.shakeHands()
    #expect(app.controls == ["audio startServiceACK", "video startServiceACK"])
    #expect(app.headers.map(\.isEncrypted) == [true, true])
    app.send(.endService, .audio)
    app.forget()
    app.startEncrypted(.audio)
    #expect(app.controls == ["audio startServiceACK"] && app.headers.map(\.isEncrypted) == [true])
  }

  /// A start of sound that waits for its handshake ends with the app's level, and by the app.
  @Test func endOfSoundDuringHandshake() {
    var app = TestApp.secured(.accept)
    app.startEncrypted(.audio)
    app.send(.endService, .audio)
    #expect(app.controls == ["audio endServiceACK"])
    app.forget()
    app.shakeHands()
    #expect(app.controls == [])
    app.startEncrypted(.audio)
    app.set(.none, .notStreamable)
    #expect(app.controls == ["audio startServiceNAK"])
    app.forget()
    app.shakeHands()
    #expect(app.controls == [])
    var early = TestApp.secured(.accept)
    early.startEncrypted(.audio)
    early.send(TestApp.frame(.audio, Self.sound, isEncrypted: false))
    #expect(early.violations == [.dataBeforeAcknowledgement(.audio)])
  }

  /// The handshake goes on for the start that is left.
  @Test(arguments: [ServiceType.audio, .video]) func endOfOneOfTwoDuringHandshake(ended: ServiceType) {
    var app = TestApp.secured(.require)
    app.startEncrypted(.audio)
    app.startEncrypted()
    app.send(.endService, ended)
    app.forget()
    app.shakeHands()
    #expect(app.controls == [ended == .audio ? "video startServiceACK" : "audio startServiceACK"])
  }

  @Test func commands() throws {
    for handshake in HeadUnitBehaviour.Handshake.allCases {
      #expect(
        try HeadUnitCommand.parse("answer start-tls \(handshake.rawValue)") == .behave(.handshake(handshake)))
    }
    #expect(throws: HeadUnitCommand.Malformed.self) { try HeadUnitCommand.parse("answer start-tls often") }
  }

  /// A channel that video has set up serves RPCs as well. Their acknowledgement has no hash, as SDL Core's.
  @Test func protectedRPCsAfterAHandshakeOfVideo() throws {
    var app = TestApp.secured(.accept)
    app.startEncrypted()
    app.shakeHands()
    app.forget()
    app.startEncrypted(.rpc)
    let payload = try #require(app.payload(.startServiceACK, .rpc))
    let acknowledgement = RPCServiceAcknowledgement(payload: Array(payload.dropFirst(5)), version: 5)
    #expect(acknowledgement.protocolVersion == ProtocolVersion(5, 4, 0))
    #expect(acknowledgement.hashID == 0 && acknowledgement.mtu == 131_072)
    #expect(app.events.contains(.rpcProtected) && app.headers.map(\.isEncrypted) == [true])
    app.forget()
    app.readsRPCs = false
    app.request(.listFiles)
    #expect(app.headers.map(\.isEncrypted) == [true])
  }

  /// A frame in clear is reported once for each service.
  @Test func clearFramesOfTheNextService() {
    var app = TestApp.secured(.accept)
    for round in 1...2 {
      app.startEncrypted()
      if round == 1 { app.shakeHands() }
      app.send(TestApp.videoFrame(Self.picture, isEncrypted: false))
      app.send(TestApp.videoFrame(Self.picture, isEncrypted: false))
      app.send(.endService, .video)
      #expect(app.violations.count { $0 == .clearFrame(.video) } == round)
    }
  }
}
