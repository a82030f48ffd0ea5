import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import SDLWire
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  /// A head unit that stops reading the secondary transport, in virtual time.
  @Suite struct SecondaryStallTests {
    /// An app whose video goes over a secondary transport that the test reads, and nothing else over the primary one
    /// than what the test has it send.
    private final class Pair {
      let clock = ManualClock()
      let app = ConnectionRecorder()
      let server: HeadUnitServer
      let connection: AppConnection
      /// The head unit's end.
      let secondary: Socket

      init(video: [TransportRole]) throws {
        let listener = try RawListener()
        // So that little of the video is on its way.
        listener.socket.set(SOL_SOCKET, SO_RCVBUF, 4096)
        var configuration = quickHeadUnit()
        configuration.behaviour.secondaryTransport = .elsewhere(
          TransportEventUpdate(address: "127.0.0.1", port: Int32(listener.port)))
        configuration.behaviour.videoTransports = video
        server = try HeadUnitServer(
          configuration: configuration, address: "127.0.0.1", port: 0, observer: HeadUnitRecorder())
        try server.start()
        connection = makeConnection(port: try #require(server.port), clock: clock, heartbeat: nil, observer: app)
        connection.setVideoRequest(testRequest)
        try connection.start()
        secondary = try listener.accept()
        try answer(.registerSecondaryTransport, .registerSecondaryTransportACK)
        let parameters = VideoServiceParameters(width: 800, height: 480, videoProtocol: "RAW", videoCodec: "H264")
        try answer(.startService, .startServiceACK, payload: parameters.bytes(version: 5))
      }

      /// Waits for a control frame on the secondary transport, and answers it.
      private func answer(_ control: ControlFrame, _ answer: ControlFrame, payload: [UInt8] = []) throws {
        func find(_ bytes: [UInt8]) -> Frame? { decode(bytes).frames.first { $0.header.controlFrame == control } }
        let header = try #require(find(secondary.readAll { find($0) != nil })).header
        secondary.write(
          Frame.control(
            answer, service: header.service, version: header.version, sessionID: header.sessionID, payload: payload
          ).bytes)
      }

      func submit(_ byteCount: Int) throws {
        try #require(eventually { app.latestGrant?.role == .secondary })
        let grant = try #require(app.latestGrant)
        let payload = TestPayload(noise(byteCount))
        #expect(connection.video.submit(payload, grantEpoch: grant.epoch, blocking: true) == .queued)
      }

      /// Fills the secondary transport with video.
      func block() throws {
        try submit(7_500_000)
        #expect(eventually { connection.isBlocked })
        #expect(connection.settle(app))
      }

      /// Uses the primary transport alone until the secondary one is lost. What the kernel of a busy machine takes even
      /// then begins the wait anew, so that may take more than `limit`.
      func waitForLoss(_ limit: Duration) throws {
        for _ in 0..<20 where reason == nil {
          try usePrimary()
          #expect(connection.settle(app))
          clock.advance(by: limit / 4)
          #expect(connection.settle(app))
        }
      }

      var writer: ConnectionWriter { connection.writer }

      /// An RPC and its answer, over the primary transport.
      func usePrimary() throws {
        let (count, answers) = (writer.sentByteCount(.primary), answerCount)
        _ = try connection.request(.listFiles, [:])
        #expect(eventually { answerCount > answers } && writer.sentByteCount(.primary) > count)
      }

      private var answerCount: Int {
        app.events.count { if case .session(.applicationRPC) = $0 { true } else { false } }
      }

      /// Why the secondary transport is lost; nil while it is there.
      var reason: String? {
        app.events.lazy.compactMap { event in
          if case .session(.secondaryTransportChanged(let status)) = event { status.reason } else { nil }
        }.first
      }

      var stallCount: Int { app.events.count { if case .stalled = $0 { true } else { false } } }

      func stop() {
        connection.stop(grace: .seconds(1))
        // Its grace is a time of the test's clock.
        clock.advance(by: .seconds(1))
        connection.join()
        server.stop()
        server.join()
      }
    }

    /// However much goes over the primary transport meanwhile; and soon where video can go on there.
    @Test(arguments: [([.secondary, .primary], 2), ([.secondary], 20)] as [([TransportRole], Int)])
    func isGivenUpAlthoughThePrimaryIsUsed(video: [TransportRole], limit: Int) throws {
      let pair = try Pair(video: video)
      try pair.block()
      try pair.waitForLoss(.seconds(limit))
      #expect(pair.reason == "it has not read anything for \(limit) s")
      // Where another transport takes its place, nobody has to know.
      #expect((pair.stallCount > 0) == (video == [.secondary]))
      #expect(pair.app.endedCount == 0)
      pair.stop()
    }

    /// The kernel has all that was sent, and what is not encoded yet waits until that is acknowledged.
    @Test func isGivenUpAlthoughNothingWaitsForTheKernel() throws {
      let pair = try Pair(video: [.secondary, .primary])
      try pair.submit(30_000)
      #expect(eventually { pair.connection.video.statistics.sentMessages == 1 })
      pair.connection.video.setAwaitsAcknowledgement(true)
      try pair.waitForLoss(StallWatch.replaceableLimit)
      #expect(pair.reason == "it has not read anything for 2 s")
      pair.stop()
    }

    /// However long nothing goes over the primary one.
    @Test func isKeptWhileItIsRead() throws {
      let pair = try Pair(video: [.secondary, .primary])
      try pair.block()
      let primary = pair.writer.sentByteCount(.primary)
      for _ in 0..<4 {
        let count = pair.writer.sentByteCount(.secondary)
        #expect(
          eventually {
            _ = receive(pair.secondary)
            return pair.writer.sentByteCount(.secondary) > count
          })
        #expect(pair.connection.settle(pair.app))
        pair.clock.advance(by: StallWatch.replaceableLimit - .milliseconds(1))
        #expect(pair.connection.settle(pair.app))
      }
      #expect(pair.reason == nil && pair.connection.isBlocked)
      #expect(pair.writer.sentByteCount(.primary) == primary)
      pair.stop()
    }
  }
}
