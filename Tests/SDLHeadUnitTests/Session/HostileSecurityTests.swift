import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// Apps, and others in the network, that want more than the certificate, the level or the encryption allows.
@Suite struct HostileSecurityTests {
  private func refusals(of app: TestApp) -> [String] {
    app.events.compactMap { if case .videoRefused(let refusal) = $0 { refusal.reason ?? "" } else { nil } }
  }

  private func failures(of app: TestApp) -> [String] {
    app.events.compactMap { if case .handshakeFailed(let reason) = $0 { reason } else { nil } }
  }

  private func show(_ text: String) -> RPCMessage {
    RPCMessage(type: .request, function: .show, correlationID: 70, parameters: ["mainField1": .string(text)])
  }

  // MARK: The level

  /// Otherwise the app would take the screen of the app that the driver has opened meanwhile.
  @Test(arguments: [HMILevel.background, .none], [HeadUnitSecurity.accept, .require])
  func levelForbidsVideoDuringTheHandshake(level: HMILevel, security: HeadUnitSecurity) {
    var app = TestApp.secured(security, change: { $0.behaviour.dropsToNoneAfterRefusal = true })
    app.startEncrypted()
    app.forget()
    app.set(level, .notStreamable)
    #expect(app.controls == ["video startServiceNAK"])
    #expect(refusals(of: app) == ["The service is disallowed with the current HMI level"])
    // As the driver has chosen it.
    #expect(app.levels == [level])
    app.forget()
    app.shakeHands()
    app.wait(.seconds(20))
    #expect(app.controls == [] && failures(of: app) == [])
    #expect(app.session.summary?.isStreaming == false)
    // The handshake was given up with the start.
    app.set(.full, .streamable)
    app.startEncrypted()
    app.shakeHands()
    #expect(app.controls == ["video startServiceACK"])
  }

  // MARK: The certificate

  /// The next app on the session has to show a certificate of its own.
  @Test(arguments: [HeadUnitSecurity.accept, .require]) func channelEndsWithTheRegistration(security: HeadUnitSecurity)
  {
    var app = TestApp.secured(security)
    app.startEncrypted()
    app.shakeHands()
    #expect(app.controls == ["video startServiceACK"])
    app.request(.unregisterAppInterface)
    app.register {
      $0["appID"] = .string("other")
      $0["fullAppID"] = .string("other")
    }
    app.wait(.milliseconds(100))
    app.forget()
    app.startEncrypted()
    #expect(app.controls == [])
    app.shakeHands()
    #expect(failures(of: app) == ["The certificate's serialNumber is \"1234\", but the app id is \"other\""])
    #expect(app.controls == [security == .require ? "video startServiceNAK" : "video startServiceACK"])
    #expect(app.headers.last?.isEncrypted == false)
  }

  /// Also of an app that starts its service again.
  @Test(arguments: [HeadUnitSecurity.accept, .require]) func certificateIsComparedAtEveryStart(
    security: HeadUnitSecurity
  ) {
    let channel = TestChannel()
    var app = TestApp.secured(security, makeSecureChannel: { channel })
    app.startEncrypted()
    app.shakeHands()
    app.send(.endService, .video)
    channel.setSerialNumber("other")
    app.forget()
    app.startEncrypted()
    #expect(failures(of: app).count == 1)
    #expect(app.controls == [security == .require ? "video startServiceNAK" : "video startServiceACK"])
    #expect(app.headers.last?.isEncrypted == false)
    app.forget()
    app.startEncrypted(.rpc)
    #expect(app.controls.first == "rpc startServiceNAK" && failures(of: app).count == 1)
    #expect(app.controls.last == "rpc endService")
    #expect(app.rpcs.map { $0.parameters["reason"]?.string } == ["PROTOCOL_VIOLATION"])
  }

  /// Nor does a handshake outlive the registration that has begun it.
  @Test func registrationEndsDuringTheHandshake() {
    var app = TestApp.secured(.require)
    app.startEncrypted()
    app.request(.unregisterAppInterface)
    app.register()
    app.wait(.milliseconds(100))
    app.forget()
    app.startEncrypted()
    app.shakeHands()
    #expect(app.controls == ["video startServiceACK"] && app.headers.last?.isEncrypted == true)
  }

  /// A handshake could prove nothing, and would be one less for the apps.
  @Test func protectedRPCsBeforeARegistration() {
    var app = TestApp.secured(
      .accept,
      makeSecureChannel: { () throws(SecureChannelFailure) in
        Issue.record("A handshake was begun")
        return TestChannel()
      })
    app.request(.unregisterAppInterface)
    app.forget()
    app.startEncrypted(.rpc)
    #expect(app.controls == ["rpc startServiceNAK", "rpc endService"])
    #expect(!app.events.contains(.rpcProtected))
  }

  /// A session that is started anew on the same connection has no new handshakes.
  @Test func handshakesOfAllSessionsOfAConnection() {
    var app = TestApp.secured(.accept)
    for _ in 0..<10 {
      app.startEncrypted()
      app.shakeHands([1])
      app.send(.endService, .video)
    }
    app.send(.endService, .rpc, payload: EndServiceRequest(hashID: 0x1_0001).bytes(version: 5))
    app.startSession()
    app.register()
    app.wait(.milliseconds(100))
    app.forget()
    app.startEncrypted()
    #expect(failures(of: app) == ["too many handshakes"])
  }

  // MARK: The encryption

  /// A start that can't be acknowledged as it must be is refused.
  @Test func encryptionFails() {
    for service in [ServiceType.video, .rpc] {
      var app = TestApp.secured(.require, makeSecureChannel: { TestChannel(canEncrypt: false) })
      app.startEncrypted(service)
      app.shakeHands()
      #expect(app.controls.first == "\(service) startServiceNAK")
      #expect(!app.headers.contains(where: \.isEncrypted) && app.session.summary?.isStreaming != true)
    }
    var app = TestApp.secured(.accept, makeSecureChannel: { TestChannel(canEncrypt: false) })
    app.startEncrypted()
    app.shakeHands()
    #expect(app.controls == ["video startServiceACK"] && app.headers.last?.isEncrypted == false)
  }

  /// One start, one answer.
  @Test func repeatedStartsOfRPCsDuringAHandshake() {
    var app = TestApp.secured(.accept)
    for _ in 0..<50 { app.startEncrypted(.rpc) }
    app.shakeHands()
    #expect(app.controls == ["rpc startServiceACK"])
    #expect(app.violations == Array(repeating: .startWhileActive(.rpc), count: 49))
    #expect(app.events.filter { $0 == .rpcProtected }.count == 1 && !app.isClosed)
  }

  /// OnAppInterfaceUnregistered is not sent in clear then, so the end of the session has to tell the app.
  @Test(arguments: [true, false]) func unregistrationInClear(isDemandedByPolicy: Bool) {
    var app = TestApp.secured(.accept, change: { $0.requiresRPCEncryption = isDemandedByPolicy })
    app.run { $0.unregisterApp(.languageChange, now: $1) }
    #expect(app.isClosed == isDemandedByPolicy && app.session.isStarted != isDemandedByPolicy)
    #expect(app.controls == (isDemandedByPolicy ? ["rpc endService"] : []))
    #expect(app.rpcs.map(\.function) == (isDemandedByPolicy ? [] : [.onAppInterfaceUnregistered]))
  }

  /// Whoever is between app and head unit can add messages in clear.
  @Test(arguments: [(HeadUnitSecurity.accept, true), (.require, false)])
  func clearRPCsOnceTheServiceIsEncrypted(security: HeadUnitSecurity, isDemandedByPolicy: Bool) {
    var app = TestApp.secured(security, change: { $0.requiresRPCEncryption = isDemandedByPolicy })
    app.startEncrypted(.rpc)
    app.shakeHands()
    // It may have crossed the acknowledgement, and so is no violation; but another may have sent it, and drop what the
    // app sends. Each has its answer, encrypted, and nothing else comes of it.
    app.forget()
    app.readsRPCs = false
    app.send(show("crossed"))
    app.request(.unregisterAppInterface)
    app.notify(.onHMIStatus, ["hmiLevel": .string("FULL")])
    #expect(app.events == [] && app.headers.allSatisfy(\.isEncrypted) && app.headers.count == 2)
    #expect(app.session.summary != nil)
    // What the specification leaves in clear.
    app.request(.systemRequest, ["requestType": .string("HTTP")])
    #expect(app.violations == [] && app.headers.count == 3)
    app.readsRPCs = true
    app.sendEncrypted(show("encrypted"))
    #expect(app.violations == [])

    app.forget()
    app.readsRPCs = false
    app.request(.unregisterAppInterface)
    app.notify(.onHMIStatus, ["hmiLevel": .string("FULL")])
    app.send(show("added"))
    // Each request has its answer, encrypted; nothing else has come of them.
    #expect(app.headers.count == 2 && app.headers.allSatisfy(\.isEncrypted))
    #expect(app.events == [.violation(.clearFrame(.rpc))])
    // What the specification leaves in clear.
    app.request(.systemRequest, ["requestType": .string("HTTP")])
    #expect(app.headers.count == 3 && app.violations.count == 1)
    app.set(.limited, .streamable)
    #expect(app.headers.last?.isEncrypted == true)
  }

  /// The app decides which RPCs it encrypts, as with SDL Core, where nothing demands it.
  @Test func clearRPCsThatNothingForbids() {
    var app = TestApp.secured(.accept)
    app.startEncrypted(.rpc)
    app.shakeHands()
    app.sendEncrypted(show("encrypted"))
    app.forget()
    app.request(.unregisterAppInterface)
    #expect(app.violations == [.clearFrame(.rpc)])
    #expect(app.events.last == .appUnregistered(reason: .requestedByApp))
  }

  /// What crosses the acknowledgement is no violation in the next registration, either.
  @Test func clearRPCsOfTheNextRegistration() {
    var app = TestApp.secured(.accept)
    for _ in 0..<2 {
      app.startEncrypted(.rpc)
      app.shakeHands()
      app.forget()
      app.send(show("crossed"))
      #expect(app.violations == [])
      app.sendEncrypted(show("encrypted"))
      app.send(show("in clear"))
      #expect(app.violations == [.clearFrame(.rpc)])
      app.sendEncrypted(RPCMessage(type: .request, function: .unregisterAppInterface, correlationID: 71))
      app.register()
      app.wait(.milliseconds(100))
    }
  }

  /// Frames in clear among those of an encrypted message would get its rights.
  @Test func clearFramesWithinAnEncryptedMessage() {
    var app = TestApp.secured(.require)
    app.startEncrypted(.rpc)
    app.shakeHands()
    app.forget()
    let payload = show("x").payload
    let message = Fragmentation(
      service: .rpc, version: 5, sessionID: 1, messageID: 5, payloadSize: payload.count,
      maximumPayload: payload.count - 1)
    for fragment in message {
      switch fragment.content {
      case .announcement(let totalSize, let frameCount):
        let numbers = [totalSize, frameCount].flatMap { withUnsafeBytes(of: $0.bigEndian, Array.init) }
        app.send(Frame(header: fragment.header, payload: numbers))
      case .payload(let range):
        var frame = Frame(header: fragment.header, payload: Array(payload[range]))
        if range.upperBound == payload.count {
          frame.payload = TestChannel.record(frame.payload)
          frame.header.isEncrypted = true
        }
        app.send(frame)
      }
    }
    #expect(app.violations == [.brokenMessage(.rpc, .mixedEncryption)] && app.headers == [])
  }
}
