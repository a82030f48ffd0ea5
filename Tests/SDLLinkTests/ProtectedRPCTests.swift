import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import Synchronization
import TLSEngine
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  /// Encrypted RPCs on the connection of encrypted video: all records of a TLS session are numbered together.
  @Suite struct ProtectedRPCTests {
    /// Its records begin with their number.
    private final class NumberingChannel: SecureChannel {
      private let count = Mutex(UInt8(0))

      var isEstablished: Bool { true }
      var summary: SecureChannelSummary? { nil }
      func begin() -> SecureChannelStep { SecureChannelStep() }
      func advance(_ bytes: [UInt8]) -> SecureChannelStep { SecureChannelStep() }

      func encrypt(
        _ plaintext: UnsafeRawBufferPointer, into destination: UnsafeMutableRawBufferPointer
      ) throws(SecureChannelFailure) -> Int {
        guard plaintext.count != 666 else { throw SecureChannelFailure(.encryptionFailed, "unlucky") }
        destination.copyBytes(
          from: [
            count.withLock { count in
              defer { count &+= 1 }
              return count
            }
          ] + plaintext)
        return plaintext.count + 1
      }

      func decrypt(_ records: [UInt8]) throws(SecureChannelFailure) -> [UInt8] { Array(records.dropFirst()) }
    }

    private let heartbeat = Frame.control(.heartbeat, service: .control, version: 5, sessionID: 9).bytes

    private func request(_ size: Int, id: UInt32) -> ProtectedMessage {
      ProtectedMessage(
        service: .rpc, version: 5, sessionID: 9, messageID: id, payload: noise(size), maximumPayload: 1000)
    }

    private func grant() -> MediaGrant {
      var grant = makeGrant(1)
      grant.isEncrypted = true
      return grant
    }

    /// RPCs that are queued while video waits encrypted for the socket are encrypted after it, and before all that
    /// follows.
    @Test func recordsLeaveInTheOrderOfTheirNumbers() throws {
      let (writer, _, peer) = try makeWriter()
      let channel = NumberingChannel()
      try writer.setGrants([.init(medium: .video, grant: grant(), channel: channel)], sending: [], peer: "test")
      #expect(writer.submit(TestPayload(noise(100_000)), to: .video, grantEpoch: 1, waits: false).result == .queued)
      try writer.send(
        [
          .protected(request(10, id: 1), by: channel), .frames(heartbeat),
          .protected(request(3000, id: 2), by: channel),
        ],
        peer: "test")
      #expect(writer.submit(TestPayload(noise(5000)), to: .video, grantEpoch: 1, waits: false).result == .queued)
      try writer.send([.frames(heartbeat)], peer: "test")
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 7000)
      while writer.write() != .idle {
        if case .bytes(let count) = buffer.withUnsafeMutableBytes({ peer.receive(into: $0) }) {
          bytes += buffer[..<count]
        }
        writer.becameWritable()
      }
      writer.close()
      let (frames, rest) = decode(bytes + peer.readAll())
      #expect(rest == 0)
      let encrypted = frames.filter(\.header.isEncrypted)
      #expect(encrypted.compactMap(\.payload.first) == encrypted.indices.map { UInt8(truncatingIfNeeded: $0) })
      var assembler = MessageAssembler()
      let messages = try frames.filter { $0.header.service == .rpc }.compactMap { frame -> Message? in
        try assembler.accept(frame.header.isEncrypted ? frame.decrypted(by: channel) : frame, now: .zero)
      }
      #expect(messages.map(\.payload) == [noise(10), noise(3000)])
      let controls = frames.map(\.header.service).filter { $0 != .video }
      let places = controls.indices.filter { controls[$0] == .control }
      #expect(places == [1, controls.count - 1] && controls.allSatisfy { $0 == .rpc || $0 == .control })
      // They went between the frames of the first picture.
      #expect(frames.last?.header.service == .video)
    }

    /// Nothing can follow what could not be encrypted.
    @Test func failureEndsTheConnection() throws {
      let (writer, _, _) = try makeWriter()
      try writer.send([.protected(request(666, id: 1), by: NumberingChannel())], peer: "test")
      guard case .failed = writer.write() else {
        Issue.record("not failed")
        return
      }
    }

    @Test func waitingMessagesAreBounded() throws {
      let (writer, _, _) = try makeWriter()
      let channel = NumberingChannel()
      let messages = (1...5).map { ConnectionWriter.Outgoing.protected(request(1 << 20, id: $0), by: channel) }
      #expect(throws: LinkError.peerNotReading(address: "test", queuedByteCount: 4 << 20)) {
        try writer.send(messages, peer: "test")
      }
    }

    /// What is written makes room.
    @Test func longSession() throws {
      let (writer, _, peer) = try makeWriter()
      let channel = NumberingChannel()
      var buffer = [UInt8](repeating: 0, count: 100_000)
      for id in 1...6 {
        try writer.send([.protected(request(1 << 20, id: UInt32(id)), by: channel)], peer: "test")
        while writer.write() != .idle {
          _ = buffer.withUnsafeMutableBytes { peer.receive(into: $0) }
          writer.becameWritable()
        }
      }
    }

    /// Real TLS and sockets: lists of rectangles, touches and video at the same time.
    @Test func besideEncryptedVideo() throws {
      let recorder = HeadUnitRecorder()
      let app = ConnectionRecorder()
      var headUnit = quickHeadUnit()
      headUnit.security = .require
      headUnit.requiresRPCEncryption = true
      let server = try HeadUnitServer(
        configuration: headUnit, address: "127.0.0.1", port: 0, tls: try TestTLS.headUnit(), observer: recorder)
      try server.start()
      var session = testSession
      session.appID = TestCertificates.appID
      session.encryption = .authenticateAndEncrypt
      var configuration = AppConnection.Configuration(
        endpoint: .tcp(host: "127.0.0.1", port: try #require(server.port)), session: session)
      configuration.tls = try TestTLS.app()
      let connection = AppConnection(configuration: configuration, observer: app)
      connection.setVideoRequest(testRequest)
      try connection.start()
      let grant = try #require(app.waitForGrant())
      #expect(app.waitFor { if case .session(.rpcProtected) = $0 { true } else { nil } } == true)
      var sent: [[UInt8]] = []
      for number in 1...5 {
        let rectangle = HapticRectangle(id: number, x: 0, y: 0, width: 100, height: Double(number * 10))
        connection.setHapticRectangles(HapticRectangleList([rectangle]))
        for _ in 0..<5 {
          sent.append(noise(300_000, seed: UInt64(sent.count)))
          #expect(
            connection.video.submit(TestPayload(sent[sent.count - 1]), grantEpoch: grant.epoch, blocking: true)
              == .queued)
        }
        server.perform(try #require(try HeadUnitCommand.parse("touch tap \(number) 20")))
        #expect(
          recorder.waitFor { event in
            if case .session(_, .hapticRectangles([rectangle])) = event { true } else { nil }
          } == true)
      }
      #expect(recorder.waitForMessages(sent.count))
      #expect(recorder.videoMessages == sent)
      #expect(app.waitFor { if case .session(.touch) = $0 { true } else { nil } } == true)
      connection.stop(grace: .seconds(1))
      connection.join()
      server.stop()
      server.join()
      #expect(recorder.protocolViolations.isEmpty)
      #expect(!recorder.hasReported { if case .session(_, .violation(.clearFrame)) = $0 { true } else { false } })
    }
  }
}
