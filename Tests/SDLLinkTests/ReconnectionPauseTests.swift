import Glibc
import SDLHeadUnit
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLLink

extension LinkTests {
  /// The pause between two connections, and what the second keeps of the first.
  @Suite struct ReconnectionPauseTests {
    @Test func pausesGrowAndAreKept() throws {
      let clock = ManualClock()
      let timing = Reconnection.Timing(first: .seconds(2), longest: .seconds(30))
      let pair = try ReconnectingPair(timing, clock: clock)
      #expect(pair.app.waitForGrant() != nil)
      pair.breakForGood()
      for number in 1...7 {
        #expect(pair.app.waitForLoss(number: number))
        let pause = try #require(pair.app.losses.last?.pause)
        let least = min(timing.first * (1 << (number - 1)), timing.longest * 0.8)
        #expect(pause >= least && pause <= min(least * 1.25, timing.longest), "\(number): \(pause)")
        clock.advance(by: pause - .nanoseconds(1))
        // Commands do not end the pause.
        pair.connection.setVideoRequest(testRequest)
        #expect(pair.app.attemptCount == number)
        clock.advance(by: .nanoseconds(1))
        #expect(eventually { pair.app.attemptCount == number + 1 })
      }
      pair.stop()
    }

    /// Where the second attempt is when it is stopped.
    enum Place: CaseIterable {
      case pause, resolving, connecting, connected, registered, started
    }

    @Test(arguments: Place.allCases) func stopsInEveryPlace(place: Place) throws {
      let beginning = Monitor<Duration?>(nil)
      let attempts = Monitor(0)
      let app = ConnectionRecorder { connection, event in
        if case .resolving = event { attempts.withLock { $0 += 1 } }
        let isThere =
          switch event {
          case .lost: place == .pause
          case .resolving: place == .resolving
          case .connecting: place == .connecting
          case .connected: place == .connected
          case .session(.registered): place == .registered
          case .session(.videoStarted): place == .started
          default: false
          }
        guard isThere, place == .pause || attempts.withLock({ $0 }) == 2 else { return }
        beginning.withLock { $0 = MonotonicClock.now }
        connection.stop(grace: .milliseconds(500))
      }
      let pair = try ReconnectingPair(.init(first: place == .pause ? .seconds(1000) : .milliseconds(2)), app: app)
      #expect(app.waitForGrant() != nil)
      pair.relay.cutNow()
      #expect(app.waitForEnd() == .some(nil))
      pair.connection.join()
      #expect(MonotonicClock.now - (try #require(beginning.withLock { $0 })) < .seconds(1))
      pair.stop()
    }

    /// A stop by another thread ends a pause and a connection attempt that hangs.
    @Test(arguments: [true, false]) func stopsFromOutside(isPausing: Bool) throws {
      let pair = try ReconnectingPair(.init(first: isPausing ? .seconds(1000) : .milliseconds(2)))
      #expect(pair.app.waitForGrant() != nil)
      let unresponsive = try RawListener()
      pair.relay.route(to: unresponsive.port)
      pair.relay.cutNow()
      #expect(pair.app.waitForLoss())
      if !isPausing {
        #expect(eventually { pair.app.events.count { if case .connected = $0 { true } else { false } } == 2 })
      }
      pair.stop()
    }

    @Test func newSessionLearnsEverything() throws {
      let pair = try ReconnectingPair()
      #expect(pair.app.waitForGrant() != nil)
      pair.connection.setAppState(.background)
      let isSuspended: Bool? = pair.app.waitFor {
        if case .sessionChanged(let status, _) = $0, status.video.state == .suspended { true } else { nil }
      }
      #expect(isSuspended == true)
      pair.relay.cutNow()
      #expect(eventually { pair.app.registrationCount == 2 })
      // In the background no service is opened; the request is remembered for later.
      let last = try #require(pair.headUnit.connectionIDs.last)
      #expect(eventually { pair.headUnit.statuses(of: last).last?.level == .full })
      #expect(pair.app.epochs.count == 1)
      pair.connection.setAppState(.foreground)
      #expect(pair.app.waitForGrant(number: 2)?.size == testRequest.size)
      pair.stop()
    }

    @Test func newSessionLearnsWhatChangedMeanwhile() throws {
      let pair = try ReconnectingPair()
      #expect(pair.app.waitForGrant() != nil)
      pair.breakForGood()
      #expect(pair.app.waitForLoss(number: 2))
      pair.connection.setVideoRequest(VideoStartRequest(size: VideoSize(640, 360)))
      pair.relay.route(to: try #require(pair.server.port))
      #expect(pair.app.waitForGrant(number: 2)?.size == VideoSize(640, 360))
      pair.stop()
    }

    @Test func epochsAreNeverUsedTwice() throws {
      let pair = try ReconnectingPair(.init(first: .milliseconds(1), longest: .milliseconds(2)))
      for number in 1...30 {
        #expect(pair.app.waitForGrant(number: number) != nil)
        pair.relay.cutNow()
      }
      #expect(pair.app.waitForGrant(number: 31) != nil)
      #expect(Set(pair.app.epochs).count == 31)
      pair.stop()
    }

    @Test func queuedPayloadsAreReleasedOnce() throws {
      let pair = try ReconnectingPair(capacity: 4)
      let grant = try #require(pair.app.waitForGrant())
      pair.server.setReading(false, for: try #require(pair.headUnit.waitForConnection()))
      // More than the kernel takes.
      let payloads = (0..<6).map { TestPayload([UInt8](repeating: $0, count: 8_000_000)) }
      let results = payloads.map { pair.connection.video.submit($0, grantEpoch: grant.epoch, blocking: false) }
      var queued: [TestPayload] = []
      #expect(eventually { pair.connection.isBlocked })
      for (payload, result) in zip(payloads, results) {
        if result == .queued, payload.outcomes.isEmpty { queued.append(payload) }
        if result != .queued { #expect(payload.outcomes == []) }
      }
      #expect(!queued.isEmpty)
      #expect(pair.connection.statistics.video.queuedFrames == queued.count)
      pair.server.perform(.cut)
      let next = try #require(pair.app.waitForGrant(number: 2))
      for payload in queued { #expect(payload.outcomes == [false]) }
      let statistics = pair.connection.statistics
      #expect(statistics.video.queuedFrames == 0 && statistics.video.discardedMessages == UInt64(queued.count))
      // What was made for the old grant does not get into the new stream.
      let late = TestPayload(noise(100))
      #expect(pair.connection.video.submit(late, grantEpoch: grant.epoch, blocking: true) == .stale)
      #expect(pair.connection.video.submit(late, grantEpoch: next.epoch, blocking: true) == .queued)
      #expect(eventually { late.outcomes == [true] })
      pair.stop()
      for payload in queued { #expect(payload.outcomes == [false]) }
    }

    @Test func nothingIsTakenInBetween() throws {
      let pair = try ReconnectingPair(.init(first: .seconds(1000)))
      let grant = try #require(pair.app.waitForGrant())
      pair.relay.cutNow()
      #expect(pair.app.waitForLoss())
      let payload = TestPayload(noise(100))
      #expect(pair.connection.video.submit(payload, grantEpoch: grant.epoch, blocking: true) == .closed)
      #expect(payload.outcomes == [])
      pair.stop()
    }
  }
}
