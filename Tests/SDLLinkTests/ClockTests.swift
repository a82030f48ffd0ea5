import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  /// What the connection thread does when a deadline is reached, and not before.
  @Suite struct ClockTests {
    private let clock = ManualClock()

    /// A connection whose head unit has stopped reading, with video in the queue that the kernel does not take.
    private func blockedPair() throws -> StreamingPair {
      let pair = try StreamingPair(clock: clock)
      pair.server.setReading(false, for: try #require(pair.headUnit.waitForConnection()))
      let payload = TestPayload(noise(7_500_000))
      #expect(pair.connection.video.submit(payload, grantEpoch: pair.grant.epoch, blocking: true) == .queued)
      #expect(eventually { pair.connection.isBlocked })
      #expect(pair.connection.settle(pair.app))
      return pair
    }

    /// The same, but the kernel takes all video, of which the head unit's has room for a part.
    private func unacknowledgedPair() throws -> StreamingPair {
      let pair = try StreamingPair(clock: clock)
      pair.server.setReading(false, for: try #require(pair.headUnit.waitForConnection()))
      for _ in 0..<1000 where pair.connection.video.linkSample()?.unsentByteCount == 0 { submitLittle(pair) }
      #expect(pair.connection.settle(pair.app))
      return pair
    }

    private func submitLittle(_ pair: StreamingPair) {
      let video = pair.connection.video
      let count = video.statistics.sentMessages
      #expect(video.submit(TestPayload(noise(4000)), grantEpoch: pair.grant.epoch, blocking: true) == .queued)
      #expect(eventually { video.statistics.sentMessages > count } && !pair.connection.isBlocked)
    }

    private func stallCount(_ pair: StreamingPair) -> Int {
      pair.app.events.count { if case .stalled = $0 { true } else { false } }
    }

    /// The kernel may take all bytes, as it does for long at a low bitrate: then the peer acknowledges none.
    @Test(arguments: [true, false]) func stalledPeerIsReportedAndGivenUp(isBlocked: Bool) throws {
      let pair = try isBlocked ? blockedPair() : unacknowledgedPair()
      clock.advance(by: StallWatch.noticeTime - .milliseconds(1))
      #expect(pair.connection.settle(pair.app))
      #expect(stallCount(pair) == 0)
      // What the kernel of a busy machine takes even now begins the wait anew; `StallWatchTests` has the exact times.
      func advance(until isDone: () -> Bool) -> Bool {
        eventually {
          clock.advance(by: .milliseconds(50))
          // Of the last window the kernel may still send a part, a moment later.
          if !isBlocked, pair.connection.video.linkSample()?.unsentByteCount == 0 { submitLittle(pair) }
          return isDone()
        }
      }
      #expect(advance { stallCount(pair) == 1 } && pair.app.endedCount == 0)
      #expect(advance { pair.app.endedCount == 1 })
      guard case .link(.stalled(_, let time))?? = pair.app.waitForEnd(), time >= StallWatch.limit else {
        Issue.record("\(pair.app.events)")
        return
      }
      #expect(pair.connection.video.statistics.discardedMessages == (isBlocked ? 1 : 0))
      pair.stop()
    }

    /// Of Bluetooth, only what the kernel takes is known.
    @Test func slowPeerIsKeptWithoutAcknowledgements() throws {
      let headUnit = HeadUnitRecorder(keepsVideo: false)
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: headUnit)
      try server.start()
      let (app, clock) = (ConnectionRecorder(), clock)
      var session = testSession
      session.heartbeatInterval = nil
      var configuration = AppConnection.Configuration(
        endpoint: .tcp(host: "127.0.0.1", port: try #require(server.port)), session: session,
        clock: TimeSource { clock.now })
      configuration.makeSocket = UnacknowledgedSocket.make
      let connection = AppConnection(configuration: configuration, observer: app)
      let wakeUp = connection.wakeUp
      clock.onAdvance { wakeUp.signal() }
      connection.setVideoRequest(testRequest)
      try connection.start()
      let grant = try #require(app.waitForGrant())
      let id = try #require(headUnit.waitForConnection())
      server.setReading(false, for: id)
      let payload = TestPayload(noise(7_500_000))
      #expect(connection.video.submit(payload, grantEpoch: grant.epoch, blocking: true) == .queued)
      #expect(eventually { connection.isBlocked })
      server.perform(.shape(try LinkShape.parse(["up=16mbit"])))
      server.setReading(true, for: id)
      for _ in 0..<3 {
        let count = connection.writer.sentByteCount
        #expect(eventually { connection.writer.sentByteCount > count || payload.outcomes == [true] })
        #expect(connection.settle(app))
        clock.advance(by: .seconds(4))
        #expect(connection.settle(app))
      }
      #expect(!app.events.contains { if case .stalled = $0 { true } else { false } })
      connection.stop(grace: .seconds(1))
      clock.advance(by: .seconds(1))
      connection.join()
      #expect(app.waitForEnd() == .some(nil))
      server.stop()
      server.join()
    }

    @Test func drainingIsBounded() throws {
      let pair = try blockedPair()
      pair.connection.setVideoRequest(nil)
      #expect(pair.connection.settle(pair.app))
      clock.advance(by: ConnectionLoop.drainTimeout - .milliseconds(1))
      #expect(pair.connection.settle(pair.app))
      #expect(pair.connection.video.statistics.queuedFrames == 1)
      clock.advance(by: .milliseconds(1))
      #expect(pair.app.waitForStop(number: 1))
      #expect(eventually { pair.connection.video.statistics.queuedFrames == 0 })
      pair.server.setReading(true, for: 1)
      pair.stop()
    }

    @Test func stopIsBounded() throws {
      let pair = try blockedPair()
      pair.connection.stop(grace: .seconds(1))
      clock.advance(by: .milliseconds(999))
      #expect(pair.connection.settle(pair.app))
      #expect(pair.app.endedCount == 0)
      clock.advance(by: .milliseconds(1))
      pair.connection.join()
      #expect(pair.app.waitForEnd() == .some(nil))
      pair.stop()
    }

    /// Whoever asks again can only bring the end forward.
    @Test func earliestStopCounts() throws {
      let pair = try blockedPair()
      for grace in [5, 1, 1000] { pair.connection.stop(grace: .seconds(grace)) }
      clock.advance(by: .seconds(1))
      pair.connection.join()
      #expect(pair.app.waitForEnd() == .some(nil))
      pair.stop()
    }

    @Test func timerFiresWhenItsTimeHasCome() throws {
      let pair = try StreamingPair(clock: clock)
      let connection = pair.connection
      connection.setTimer(at: clock.now + .milliseconds(30))
      clock.advance(by: .milliseconds(29))
      #expect(pair.app.timerCount == 0)
      clock.advance(by: .milliseconds(1))
      #expect(eventually { pair.app.timerCount == 1 })
      // The earlier of two counts, whichever came first, and fires once for both.
      connection.setTimer(at: clock.now + .seconds(1000))
      connection.setTimer(at: clock.now + .milliseconds(5))
      clock.advance(by: .milliseconds(5))
      #expect(eventually { pair.app.timerCount == 2 })
      connection.setTimer(at: clock.now + .milliseconds(20))
      connection.setTimer(at: clock.now + .milliseconds(80))
      clock.advance(by: .milliseconds(20))
      #expect(eventually { pair.app.timerCount == 3 })
      clock.advance(by: .seconds(2000))
      #expect(connection.settle(pair.app))
      #expect(pair.app.timerCount == 5, "the two that settle() sets")
      pair.stop()
    }

    @Test func timerWaitsForAConnection() throws {
      let pair = try ReconnectingPair(.init(first: .seconds(100), longest: .seconds(100)), clock: clock)
      #expect(pair.app.waitForGrant() != nil)
      pair.relay.cutNow()
      #expect(pair.app.waitForLoss())
      pair.connection.setTimer(at: clock.now)
      clock.advance(by: .seconds(1))
      #expect(pair.app.timerCount == 0)
      clock.advance(by: .seconds(100))
      #expect(eventually { pair.app.timerCount == 1 })
      let events = pair.app.events
      let timer = try #require(events.firstIndex { if case .timerFired = $0 { true } else { false } })
      let connected = try #require(events.lastIndex { if case .connected = $0 { true } else { false } })
      #expect(connected < timer && pair.app.losses.count == 1)
      pair.stop()
      #expect(pair.app.timerCount == 1)
    }
  }
}

/// One that does not tell what the peer has acknowledged.
private final class UnacknowledgedSocket: Socket, @unchecked Sendable {
  override var unacknowledgedByteCount: UInt64? { nil }

  static func make(family: Int32) -> Socket? {
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    return descriptor < 0 ? nil : UnacknowledgedSocket(adopting: descriptor)
  }
}
