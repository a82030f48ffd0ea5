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
  /// An app that streams to a real head unit over two connections.
  @Suite struct SecondaryStreamingTests {
    private final class Pair {
      let headUnit = HeadUnitRecorder()
      let app = ConnectionRecorder()
      let server: HeadUnitServer
      let connection: AppConnection
      /// All messages that were submitted.
      private(set) var submitted: [[UInt8]] = []
      private(set) var payloads: [TestPayload] = []

      init(
        video: [TransportRole]? = [.secondary, .primary], isEncrypted: Bool = false,
        reconnection: Reconnection.Timing? = nil, _ change: (inout HeadUnitConfiguration) -> Void = { _ in }
      ) throws {
        var configuration = quickHeadUnit()
        configuration.behaviour.secondaryTransport = .served
        configuration.behaviour.videoTransports = video
        configuration.behaviour.audioTransports = video
        if isEncrypted { configuration.security = .require }
        change(&configuration)
        server = try HeadUnitServer(
          configuration: configuration, address: "127.0.0.1", port: 0, tls: isEncrypted ? TestTLS.headUnit() : nil,
          observer: headUnit)
        try server.start()
        var session = testSession
        session.appID = TestCertificates.appID
        session.encryption = isEncrypted ? .authenticateAndEncrypt : .none
        var settings = AppConnection.Configuration(
          endpoint: .tcp(host: "127.0.0.1", port: try #require(server.port)), session: session,
          reconnection: reconnection)
        settings.tls = isEncrypted ? try TestTLS.app() : nil
        connection = AppConnection(configuration: settings, observer: app)
        connection.setVideoRequest(testRequest)
        try connection.start()
      }

      func stop() {
        connection.stop(grace: .seconds(1))
        connection.join()
        server.stop()
        server.join()
      }

      /// Offers a message of its own for the grant.
      @discardableResult
      func submit(_ grant: VideoGrant, size: Int = 5000) -> SubmitResult {
        let message = noise(size, seed: UInt64(submitted.count + 1))
        let payload = TestPayload(message, cuts: [4, size / 2].filter { size > 8 && $0 < size })
        let result = connection.video.submit(payload, grantEpoch: grant.epoch, blocking: true)
        if result == .queued {
          submitted.append(message)
          payloads.append(payload)
        }
        return result
      }

      /// What the app has heard of the secondary transport.
      var statuses: [SecondaryTransportStatus] {
        app.events.compactMap {
          if case .session(.secondaryTransportChanged(let status)) = $0 { status } else { nil }
        }
      }

      var states: [SecondaryTransportState] { statuses.map(\.state) }

      func waitForState(_ state: SecondaryTransportState, after count: Int = 0) -> Bool {
        eventually { self.states.dropFirst(count).contains(state) }
      }
    }

    @Test func videoOnTheSecondary() throws {
      let pair = try Pair(video: [.secondary])
      let grant = try #require(pair.app.waitForGrant())
      #expect(grant.role == .secondary)
      for size in [1, 1000, 300_000, 2_000_003] { pair.submit(grant, size: size) }
      #expect(pair.headUnit.waitForMessages(4))
      #expect(pair.headUnit.videoMessages == pair.submitted)
      #expect(
        pair.headUnit.hasReported {
          if case .session(1, .videoStarted(_, on: .secondary)) = $0 { true } else { false }
        })
      #expect(pair.headUnit.connectionIDs == [1])
      pair.stop()
      #expect(pair.app.waitForEnd() == .some(nil))
      #expect(pair.headUnit.protocolViolations.isEmpty)
      #expect(pair.states.prefix(4) == [.waiting, .connecting, .registering, .registered])
    }

    /// Cut and restored: video is back on the primary transport at once, and moves when there is a secondary one again.
    /// What was queued is discarded and counted.
    @Test func cutAndRestored() throws {
      let pair = try Pair()
      let first = try #require(pair.app.waitForGrant())
      #expect(first.role == .secondary)
      while pair.submitted.count < 20 { pair.submit(first) }
      let (cutAt, standstills) = (MonotonicClock.now, Standstills())
      pair.server.perform(.cutSecondary)
      let second = try #require(pair.app.waitForGrant(number: 2))
      #expect(MonotonicClock.now - cutAt - standstills.total < .seconds(1))
      #expect(second.role == .primary)
      while pair.submit(second) == .queued, pair.submitted.count < 100_000 { poll(nil, 0, 5) }
      // It has moved.
      let third = try #require(pair.app.waitForGrant(number: 3))
      #expect(third.role == .secondary)
      for _ in 0..<20 { pair.submit(third) }
      #expect(pair.connection.video.waitUntilDrained(timeout: testTimeout))
      let statistics = pair.connection.statistics
      #expect(
        statistics.video.sentMessages + statistics.video.discardedMessages == UInt64(pair.submitted.count))
      pair.stop()
      let outcomes = pair.payloads.map(\.outcomes)
      #expect(outcomes.allSatisfy { $0.count == 1 })
      // In order, and none but what was submitted. What the kernel had at the cut is lost without that being known.
      var rest = pair.submitted[...]
      for message in pair.headUnit.videoMessages {
        rest = rest.drop { $0 != message }.dropFirst()
      }
      #expect(pair.headUnit.videoMessages.last == pair.submitted.last)
      #expect(pair.headUnit.videoMessages.count + 25 >= pair.submitted.count)
      #expect(pair.headUnit.protocolViolations.isEmpty)
      let reasons = pair.app.events.compactMap {
        if case .session(.videoStopped(let reason)) = $0 { reason } else { nil }
      }
      #expect(reasons == [.transportLost, .moved, .app])
    }

    /// The move of a running stream interrupts it for less than 300 ms; no message is cut.
    @Test func move() throws {
      let pair = try Pair { $0.behaviour.secondaryTransportDelay = .milliseconds(300) }
      let first = try #require(pair.app.waitForGrant())
      #expect(first.role == .primary)
      let standstills = Standstills()
      var last = MonotonicClock.now
      while pair.submit(first, size: 50_000) == .queued { last = MonotonicClock.now }
      let second = try #require(pair.app.waitForGrant(number: 2))
      #expect(second.role == .secondary)
      #expect(MonotonicClock.now - last - standstills.total < .milliseconds(300))
      pair.submit(second)
      #expect(pair.connection.video.waitUntilDrained(timeout: testTimeout))
      pair.stop()
      #expect(eventually { pair.payloads.allSatisfy { $0.outcomes.count == 1 } })
      let sent = pair.payloads.count { $0.outcomes == [true] }
      #expect(pair.headUnit.videoMessages.count == sent)
      #expect(pair.headUnit.protocolViolations.isEmpty)
    }

    /// The head unit moves its port: the former connection is given up for a single one there, which stays.
    @Test func anotherAddress() throws {
      let pair = try Pair(video: [.secondary])
      let former = try #require(pair.server.secondaryPort)
      pair.submit(try #require(pair.app.waitForGrant()))
      #expect(pair.headUnit.waitForMessages(1))
      pair.server.perform(.serveSecondaryTransport(port: 0))
      let grant = try #require(pair.app.waitForGrant(number: 2))
      #expect(grant.role == .secondary)
      let steps: [SecondaryTransportState] = [.connecting, .registering, .registered]
      #expect(pair.states == [.waiting] + steps + steps)
      let status = try #require(pair.statuses.last)
      #expect(status.address?.port == pair.server.secondaryPort && status.address?.port != former)
      #expect(status.counters.attempts == 2 && status.counters.registrations == 2)
      pair.submit(grant)
      #expect(pair.headUnit.waitForMessages(2))
      #expect(pair.headUnit.videoMessages == pair.submitted)
      pair.stop()
      #expect(pair.headUnit.protocolViolations.isEmpty)
    }

    /// TLS goes on over the secondary transport; its loss costs records, and with them the session.
    @Test func encrypted() throws {
      let pair = try Pair(isEncrypted: true, reconnection: .init(first: .milliseconds(10)))
      let grant = try #require(pair.app.waitForGrant())
      #expect(grant.role == .secondary && grant.isEncrypted)
      for size in [10, 20_000, 300_000] { pair.submit(grant, size: size) }
      #expect(pair.headUnit.waitForMessages(3))
      #expect(pair.headUnit.videoMessages == pair.submitted)
      pair.server.perform(.cutSecondary)
      #expect(pair.app.waitForLoss())
      #expect(pair.app.losses.first?.failure == .session(.encryptedTransportLost))
      let next = try #require(pair.app.waitForGrant(number: 2))
      #expect(next.isEncrypted)
      pair.submit(next)
      #expect(pair.headUnit.waitForMessages(4))
      pair.stop()
    }

    /// Nothing but the secondary transport waits for an address that does not answer.
    @Test func silentAddress() throws {
      let silent = try SilentPort()
      let pair = try Pair {
        $0.behaviour.secondaryTransport = .elsewhere(
          TransportEventUpdate(address: "127.0.0.1", port: Int32(silent.port)))
      }
      let grant = try #require(pair.app.waitForGrant())
      #expect(grant.role == .primary)
      pair.submit(grant)
      #expect(pair.headUnit.waitForMessages(1))
      #expect(pair.states == [.waiting, .connecting])
      pair.stop()
    }

    @Test func refusedAddress() throws {
      let refusing = try RefusingPort()
      let pair = try Pair(video: [.secondary]) {
        $0.behaviour.secondaryTransport = .elsewhere(
          TransportEventUpdate(address: "127.0.0.1", port: Int32(refusing.port)))
      }
      let wait = pair.app.waitFor { if case .sessionChanged(let status, _) = $0 { status.video.wait } else { nil } }
      #expect(wait == .secondaryTransport)
      let reason = pair.app.waitFor {
        if case .session(.secondaryTransportChanged(let status)) = $0 { status.reason } else { nil }
      }
      #expect(reason?.contains("refused") == true)
      #expect(pair.app.latestGrant == nil)
      // And served after all.
      pair.server.perform(.behave(.secondaryTransport(.served)))
      #expect(try #require(pair.app.waitForGrant()).role == .secondary)
      let waits: Bool? = pair.app.waitFor {
        if case .sessionChanged(let status, _) = $0, status.video.grant != nil { status.video.wait != nil } else { nil }
      }
      #expect(waits == false)
      pair.stop()
    }

    /// A flood there is read slowly, and does not keep the primary transport from being read.
    @Test func flood() throws {
      let listener = try RawListener()
      let pair = try Pair {
        $0.behaviour.secondaryTransport = .elsewhere(
          TransportEventUpdate(address: "127.0.0.1", port: Int32(listener.port)))
      }
      var socket: Socket? = try listener.accept()
      func statusCount() -> Int {
        pair.app.events.count { if case .session(.hmiStatus) = $0 { true } else { false } }
      }
      #expect(eventually { statusCount() > 0 })
      let (began, before) = (MonotonicClock.now, pair.connection.statistics.receivedByteCount)
      // Sixteen seconds of the budget.
      let heartbeat = Frame.control(.heartbeat, service: .control, version: 5, sessionID: 1).bytes
      socket?.write((0..<8000).flatMap { _ in heartbeat })
      #expect(eventually { pair.connection.statistics.receivedByteCount > before + 10_000 })
      let former = statusCount()
      pair.server.control(.everyApp) { session, now in
        session.setHMIStatus(
          HMIStatus(level: .full, audioStreamingState: .attenuated, videoStreamingState: .streamable), now: now)
      }
      #expect(eventually { statusCount() > former })
      let received = pair.connection.statistics.receivedByteCount - before
      // 500 frames of 12 bytes a second, a burst of 1000, and what the primary transport has brought.
      #expect(received < 40_000 + UInt64((MonotonicClock.now - began) / .milliseconds(1)) * 6)
      // A peer that is gone is noticed in the pause as well.
      let count = pair.states.count
      socket = nil
      #expect(pair.waitForState(.waiting, after: count))
      pair.stop()
    }

    /// The end of the primary transport ends the secondary one, whichever side it is.
    @Test func lossOfThePrimary() throws {
      let pair = try Pair(reconnection: .init(first: .milliseconds(10)))
      let grant = try #require(pair.app.waitForGrant())
      pair.submit(grant)
      pair.server.perform(.cut)
      #expect(pair.app.waitForLoss())
      let next = try #require(pair.app.waitForGrant(number: 2))
      #expect(eventually { pair.app.latestGrant?.role == .secondary })
      #expect(next.epoch > grant.epoch)
      pair.stop()
      #expect(pair.headUnit.protocolViolations.isEmpty)
    }
  }
}
