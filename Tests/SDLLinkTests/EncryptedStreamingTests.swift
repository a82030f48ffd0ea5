import Glibc
import SDLHeadUnit
import SDLWire
import TLSEngine
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLHeadUnitLink
@testable import SDLLink

/// Contexts from the test certificates.
enum TestTLS {
  static func app(
    _ certificates: TestCertificates = .desk, role: TLSContext.Role = .server, variant: TLSContext.Variant = .tls
  ) throws -> TLSContext {
    var sources = TLSCredentials.Sources()
    sources.certificate = .file(certificates.app)
    sources.privateKey = .file(certificates.appKey)
    return try TLSContext(role: role, variant: variant, credentials: TLSCredentials(sources))
  }

  static func headUnit(
    _ certificates: TestCertificates = .desk, role: TLSContext.Role = .client, variant: TLSContext.Variant = .tls
  ) throws -> TLSContext {
    var sources = TLSCredentials.Sources()
    sources.authorities = .file(certificates.authority)
    if role == .server {
      sources.certificate = .file(certificates.headUnit)
      sources.privateKey = .file(certificates.headUnitKey)
    }
    return try TLSContext(role: role, variant: variant, credentials: TLSCredentials(sources))
  }
}

extension LinkTests {
  /// Encrypted video through real sockets and OpenSSL.
  @Suite struct EncryptedStreamingTests {
    private func headUnit(_ security: HeadUnitSecurity = .accept) -> HeadUnitConfiguration {
      var configuration = quickHeadUnit()
      configuration.security = security
      return configuration
    }

    /// An app that connects anew for each handshake gets no more of them.
    @Test func handshakesOfAllAppsAreLimited() throws {
      let clock = ManualClock()
      let server = try HeadUnitServer(
        configuration: headUnit(), address: "127.0.0.1", port: 0, tls: TestTLS.headUnit(), clock: TimeSource(clock),
        observer: HeadUnitRecorder())
      let makeChannel = try #require(server.secureChannels(for: "192.0.2.1"))
      for _ in 0..<HandshakeBudget.total.limit { _ = try makeChannel() }
      #expect(throws: SecureChannelFailure(.handshakeFailed, "too many handshakes of all apps")) { try makeChannel() }
      #expect(try server.secureChannels(for: "192.0.2.2")?().begin().output.isEmpty == false)
      clock.advance(by: .seconds(10))
      #expect(try !makeChannel().begin().output.isEmpty)
    }

    private func start(
      _ recorder: HeadUnitRecorder, _ configuration: HeadUnitConfiguration, tls: TLSContext
    ) throws -> HeadUnitServer {
      let server = try HeadUnitServer(
        configuration: configuration, address: "127.0.0.1", port: 0, tls: tls, observer: recorder)
      try server.start()
      return server
    }

    private func connect(
      _ server: HeadUnitServer, _ recorder: ConnectionRecorder, _ certificates: TestCertificates = .desk,
      tls: TLSContext? = nil
    ) throws -> AppConnection {
      var session = testSession
      session.appID = TestCertificates.appID
      session.encryption = .authenticateAndEncrypt
      let tls = try tls ?? TestTLS.app(certificates)
      session.beginsHandshake = tls.role == .client
      var configuration = AppConnection.Configuration(
        endpoint: .tcp(host: "127.0.0.1", port: try #require(server.port)), session: session)
      configuration.tls = tls
      let connection = AppConnection(configuration: configuration, observer: recorder)
      connection.setVideoRequest(testRequest)
      try connection.start()
      return connection
    }

    private func stop(_ connection: AppConnection, _ server: HeadUnitServer) {
      connection.stop(grace: .seconds(1))
      connection.join()
      server.stop()
      server.join()
    }

    /// Messages of one frame and of hundreds, in blocks of all sizes.
    @Test(arguments: [2048, 131_072]) func messagesArriveUnchanged(maximumPayload: Int) throws {
      let recorder = HeadUnitRecorder()
      let app = ConnectionRecorder()
      var configuration = headUnit(.require)
      configuration.maximumPayload = maximumPayload
      let server = try start(recorder, configuration, tls: TestTLS.headUnit())
      let connection = try connect(server, app)
      let grant = try #require(app.waitForGrant())
      #expect(grant.isEncrypted)
      let messages = [1, 100, 16_091, 16_092, 70_000, 1_000_003, 2_000_006].enumerated().map {
        noise($0.element, seed: UInt64($0.offset + 1))
      }
      let payloads = messages.map { message in
        TestPayload(message, cuts: [4, 40, 1000, 20_000, 500_000].filter { $0 < message.count })
      }
      for payload in payloads {
        #expect(connection.video.submit(payload, grantEpoch: grant.epoch, blocking: true) == .queued)
      }
      #expect(recorder.waitForMessages(messages.count))
      #expect(recorder.videoMessages == messages)
      #expect(eventually { payloads.map(\.outcomes) == Array(repeating: [true], count: messages.count) })
      stop(connection, server)
      #expect(recorder.protocolViolations.isEmpty)
      let summary = app.waitFor { if case .session(.secured(let summary)) = $0 { summary } else { nil } }
      #expect(summary?.protocolVersion == "TLSv1.2")
      let checked = recorder.waitFor { if case .session(_, .secured(let summary)) = $0 { summary } else { nil } }
      #expect(checked?.peer?.serialNumber == TestCertificates.appID)
    }

    /// Either end may be the server, and speak TLS or DTLS; each checks the other's certificate where it can.
    @Test(arguments: [(TLSContext.Role.client, TLSContext.Variant.dtls), (.server, .tls)])
    func rolesAndVariants(ofTheHeadUnit role: TLSContext.Role, variant: TLSContext.Variant) throws {
      let recorder = HeadUnitRecorder()
      let app = ConnectionRecorder()
      var configuration = headUnit(.require)
      configuration.beginsHandshake = role == .client
      let server = try start(recorder, configuration, tls: TestTLS.headUnit(role: role, variant: variant))
      let appTLS = try TestTLS.app(role: role == .client ? .server : .client, variant: variant)
      let connection = try connect(server, app, tls: appTLS)
      let grant = try #require(app.waitForGrant())
      #expect(grant.isEncrypted)
      let messages = [1, 16_091, 70_000, 1_000_003].enumerated().map {
        noise($0.element, seed: UInt64($0.offset + 1))
      }
      for message in messages {
        #expect(connection.video.submit(TestPayload(message), grantEpoch: grant.epoch, blocking: true) == .queued)
      }
      #expect(recorder.waitForMessages(messages.count))
      #expect(recorder.videoMessages == messages)
      stop(connection, server)
      #expect(recorder.protocolViolations.isEmpty)
      let summary = app.waitFor { if case .session(.secured(let summary)) = $0 { summary } else { nil } }
      #expect(summary?.protocolVersion == (variant == .dtls ? "DTLSv1.2" : "TLSv1.2"))
      let checked = recorder.waitFor { if case .session(_, .secured(let summary)) = $0 { summary } else { nil } }
      #expect(checked?.peer?.serialNumber == TestCertificates.appID)
    }

    /// Touches, heartbeats and the end of the service go between encrypted frames; what was cut off stays readable.
    @Test func serviceThatEndsAndBeginsAgain() throws {
      let recorder = HeadUnitRecorder()
      let app = ConnectionRecorder()
      let server = try start(recorder, headUnit(), tls: TestTLS.headUnit())
      let connection = try connect(server, app)
      for number in 1...5 {
        let grant = try #require(app.waitForGrant(number: number))
        #expect(grant.isEncrypted)
        // More than the kernel takes at once, so that the end of the service comes in the middle.
        for seed in 0..<3 {
          _ = connection.video.submit(
            TestPayload(noise(3_000_000, seed: UInt64(seed))), grantEpoch: grant.epoch, blocking: false)
        }
        connection.setVideoRequest(nil)
        #expect(app.waitForStop(number: number))
        connection.setVideoRequest(testRequest)
      }
      let grant = try #require(app.waitForGrant(number: 6))
      let last = noise(50_000, seed: 99)
      #expect(connection.video.submit(TestPayload(last), grantEpoch: grant.epoch, blocking: true) == .queued)
      #expect(eventually { recorder.videoMessages.last == last })
      stop(connection, server)
      #expect(!recorder.protocolViolations.contains(.undecryptableFrame(.video)))
    }

    /// Pictures and sound from two threads: TLS counts the records of both together, as they come to the socket.
    @Test func soundAndPictures() throws {
      let recorder = HeadUnitRecorder()
      let app = ConnectionRecorder()
      let server = try start(recorder, headUnit(.require), tls: TestTLS.headUnit())
      let connection = try connect(server, app)
      connection.setAudioRequest(AudioStartRequest())
      let grant = try #require(app.waitForGrant())
      let audioGrant = try #require(app.waitForAudioGrant())
      #expect(grant.isEncrypted && audioGrant.isEncrypted)
      let frames = (0..<60).map { noise(50_000, seed: UInt64($0 + 1)) }
      let sound = (0..<100).map { noise(640, seed: UInt64($0 + 1000)) }
      let thread = WorkerThread(name: "video")
      try thread.start {
        for frame in frames {
          _ = connection.video.submit(
            TestPayload(frame, cuts: [4, 20_000]), grantEpoch: grant.epoch, blocking: true)
        }
      }
      for piece in sound {
        let payload = TestPayload(piece, cuts: [320])
        #expect(connection.audio.submit(payload, grantEpoch: audioGrant.epoch, blocking: true) == .queued)
      }
      thread.join()
      #expect(recorder.waitForMessages(frames.count))
      #expect(eventually { recorder.audioMessages.count == sound.count })
      #expect(recorder.audioMessages == sound && recorder.videoMessages == frames)
      stop(connection, server)
      #expect(recorder.protocolViolations.isEmpty)
    }

    /// A certificate that the head unit does not accept: the error names the cause, and nothing is sent in clear.
    @Test func refusedCertificate() throws {
      let recorder = HeadUnitRecorder()
      let app = ConnectionRecorder()
      let server = try start(recorder, headUnit(), tls: TestTLS.headUnit())
      let connection = try connect(server, app, .expired)
      let end = try #require(app.waitForEnd())
      guard case .session(.notEncrypted(_, let reason))? = end else {
        Issue.record("\(String(describing: end))")
        return
      }
      #expect(reason.contains("expired"), "\(reason)")
      stop(connection, server)
      #expect(recorder.videoMessages.isEmpty)
    }

    @Test(arguments: TLSContext.Role.allCases) func builtInHeadUnit(role: TLSContext.Role) throws {
      let app = ConnectionRecorder()
      var session = testSession
      session.appID = TestCertificates.appID
      session.encryption = .authenticateAndEncrypt
      session.beginsHandshake = role == .client
      let tls = try TestTLS.app(role: role)
      var configuration = AppConnection.Configuration(
        endpoint: .transport(BuiltInHeadUnit(quickHeadUnit(), tls: tls)), session: session)
      configuration.tls = tls
      let connection = AppConnection(configuration: configuration, observer: app)
      connection.setVideoRequest(testRequest)
      try connection.start()
      #expect(try #require(app.waitForGrant()).isEncrypted)
      connection.stop(grace: .seconds(1))
      connection.join()
    }
  }
}
