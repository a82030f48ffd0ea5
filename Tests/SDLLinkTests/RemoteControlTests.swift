import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLLink

extension LinkTests {
  /// Commands to a head unit with apps of this process.
  @Suite struct RemoteControlTests {
    @Test func statusesReachTheApp() throws {
      let pair = try StreamingPair()
      pair.server.perform(.event(.emergency, isActive: true))
      pair.server.perform(.event(.emergency, isActive: false))
      pair.server.perform(.level(.limited, .streamable))
      let isLimited = pair.headUnit.waitFor { event in
        if case .session(_, .hmiStatusSent(let status)) = event, status.level == .limited { true } else { nil }
      }
      #expect(isLimited == true)
      let states = pair.headUnit.statuses(of: 1).suffix(3).map(\.videoStreamingState)
      #expect(states == [.notStreamable, .streamable, .streamable])
      pair.stop()
    }

    @Test func gesturesTakeTheirTime() throws {
      let pair = try StreamingPair()
      let tap = try #require(try HeadUnitCommand.parse("touch tap 10 20"))
      pair.server.perform(tap)
      let end = pair.headUnit.waitFor { event in
        if case .session(_, .touchSent(let touch)) = event, touch.kind == .end { touch } else { nil }
      }
      let time = try #require(end?.fingers.first?.samples.first?.time)
      let begin = pair.headUnit.waitFor { event in
        if case .session(_, .touchSent(let touch)) = event, touch.kind == .begin { touch } else { nil }
      }
      #expect(try time - #require(begin?.fingers.first?.samples.first?.time) >= 50)
      pair.stop()
    }

    @Test func cutEndsTheConnectionAlone() throws {
      let pair = try StreamingPair()
      pair.server.perform(.cut)
      #expect(try #require(pair.app.waitForEnd()) != nil)
      #expect(pair.headUnit.protocolViolations == [])
      pair.stop()
    }

    /// At each of its ports.
    @Test func refusedConnections() throws {
      var configuration = quickHeadUnit()
      configuration.behaviour.secondaryTransport = .served
      let server = try HeadUnitServer(
        configuration: configuration, address: "127.0.0.1", port: 0, observer: HeadUnitRecorder())
      let webSocketPort = try server.webSockets.listen(
        address: "127.0.0.1", port: 0, origins: AllowedOrigins(named: []), tls: nil)
      try server.start()
      let ports = [try #require(server.port), try #require(server.secondaryPort), webSocketPort]
      server.perform(.refuseConnections(true))
      #expect(eventually { !ports.contains(where: canConnect) })
      server.perform(.refuseConnections(false))
      #expect(eventually { ports.allSatisfy(canConnect) })
      server.stop()
      server.join()
    }

    /// What the app sends during the stall is read afterwards, and the stream is not reported as interrupted.
    @Test func stall() throws {
      let clock = ManualClock()
      let pair = try StreamingPair(clock: clock)
      _ = pair.connection.video.submit(TestPayload(noise(1000)), grantEpoch: pair.grant.epoch, blocking: true)
      #expect(pair.headUnit.waitForMessages(1))
      pair.server.perform(.stall(.milliseconds(1500)))
      let isApplied = Monitor(false)
      pair.server.control(.everyApp) { _, _ in
        isApplied.withLock { $0 = true }
        return []
      }
      #expect(eventually { isApplied.withLock { $0 } })
      _ = pair.connection.video.submit(TestPayload(noise(1000)), grantEpoch: pair.grant.epoch, blocking: true)
      clock.advance(by: .milliseconds(1499))
      #expect(pair.headUnit.videoMessages.count == 1)
      clock.advance(by: .milliseconds(1))
      #expect(pair.headUnit.waitForMessages(2))
      let hasStopped = pair.headUnit.hasReported { event in
        if case .session(_, .videoDataStopped) = event { true } else { false }
      }
      #expect(!hasStopped)
      pair.stop()
    }

    @Test func newSessionsLearnTheConditions() throws {
      let headUnit = HeadUnitRecorder()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: headUnit)
      try server.start()
      server.perform(.event(.embeddedNavigation, isActive: true))
      let app = ConnectionRecorder()
      let connection = makeConnection(port: try #require(server.port), observer: app)
      try connection.start()
      let isInBackground = headUnit.waitFor { event in
        if case .session(1, .hmiStatusSent(let status)) = event, status.level == .background { true } else { nil }
      }
      #expect(isInBackground == true)
      connection.stop(grace: .zero)
      connection.join()
      server.stop()
      server.join()
    }

    private func canConnect(to port: UInt16) -> Bool {
      guard let socket = Socket.tcp(family: AF_INET) else { return false }
      _ = fcntl(socket.descriptor, F_SETFL, fcntl(socket.descriptor, F_GETFL) & ~O_NONBLOCK)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      return withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
    }
  }
}
