import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import Synchronization
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  /// Video through real sockets to a real head unit session.
  @Suite struct StreamingTests {
    @Test(arguments: [1024, 131_072]) func largeMessagesArriveUnchanged(maximumPayload: Int) throws {
      var configuration = quickHeadUnit()
      configuration.maximumPayload = maximumPayload
      let pair = try StreamingPair(configuration)
      let messages = [1, 5, 2, 3].enumerated().map { noise($0.element * 1_000_003, seed: UInt64($0.offset + 1)) }
      let payloads = messages.map { TestPayload($0, cuts: [4, 1000, 500_000]) }
      for payload in payloads {
        #expect(pair.connection.video.submit(payload, grantEpoch: pair.grant.epoch, blocking: true) == .queued)
      }
      #expect(pair.connection.video.waitUntilDrained(timeout: testTimeout))
      // The release follows the accounting.
      #expect(eventually { payloads.map(\.outcomes) == Array(repeating: [true], count: 4) })
      #expect(pair.headUnit.waitForMessages(4))
      #expect(pair.headUnit.videoMessages == messages)
      let statistics = pair.connection.statistics
      #expect(statistics.video.sentMessages == 4)
      #expect(statistics.video.sentByteCount == UInt64(messages.map(\.count).reduce(0, +)))
      #expect(statistics.sentByteCount > statistics.video.sentByteCount)
      #expect(statistics.video.queuedFrames == 0 && statistics.video.queuedByteCount == 0)
      pair.stop()
      #expect(pair.headUnit.protocolViolations.isEmpty)
      #expect(pair.app.waitForEnd() == .some(nil))
    }

    @Test func builtInHeadUnitTakesVideo() throws {
      let observer = ConnectionRecorder()
      let connection = AppConnection(
        configuration: AppConnection.Configuration(
          endpoint: .transport(BuiltInHeadUnit(quickHeadUnit())), session: testSession),
        observer: observer)
      connection.setVideoRequest(testRequest)
      try connection.start()
      let grant = try #require(observer.waitForGrant())
      let payload = TestPayload(noise(2_000_000))
      #expect(connection.video.submit(payload, grantEpoch: grant.epoch, blocking: true) == .queued)
      // Noise is no H.264: the built-in head unit has looked at what came.
      #expect(observer.waitFor { if case .faultFound = $0 { true } else { nil } } == true)
      connection.stop(grace: .seconds(1))
      connection.join()
      #expect(payload.outcomes == [true])
      #expect(observer.endedCount == 1)
      guard case .ended(nil) = observer.events.last else {
        Issue.record("the end is not the last event")
        return
      }
    }

    @Test func queueIsBoundedWhenHeadUnitStopsReading() throws {
      let pair = try StreamingPair()
      let id = try #require(pair.headUnit.waitForConnection())
      pair.server.setReading(false, for: id)
      var payloads: [TestPayload] = []
      var result = SubmitResult.queued
      while result == .queued, payloads.count < 100 {
        let payload = TestPayload(noise(1_000_000))
        result = pair.connection.video.submit(payload, grantEpoch: pair.grant.epoch, blocking: false)
        if result == .queued { payloads.append(payload) }
        // The thread may still be filling the kernel's buffers.
        if result == .full, payloads.filter({ $0.outcomes.isEmpty }).count < 3 { result = .queued }
      }
      #expect(result == .full)
      #expect(pair.connection.statistics.video.queuedFrames == 3)
      #expect(!pair.connection.video.waitUntilDrained(timeout: .milliseconds(1)))

      let outcome = Monitor<SubmitResult?>(nil)
      let submitter = WorkerThread(name: "submitter")
      let (connection, epoch) = (pair.connection, pair.grant.epoch)
      try submitter.start {
        let result = connection.video.submit(TestPayload(noise(10)), grantEpoch: epoch, blocking: true)
        outcome.withLock { $0 = result }
      }
      connection.video.setFlushing(true)
      submitter.join()
      #expect(outcome.withLock { $0 } == .flushing)

      let start = MonotonicClock.now
      connection.stop(grace: .seconds(1))
      connection.join()
      #expect(MonotonicClock.now - start < .seconds(10), "the grace bounds it")
      #expect(pair.app.waitForEnd() == .some(nil))
      #expect(payloads.allSatisfy { $0.outcomes.count == 1 })
      let statistics = connection.statistics
      #expect(statistics.video.sentMessages + statistics.video.discardedMessages == UInt64(payloads.count))
      pair.stop()
    }

    @Test func lostGrantMakesOldVideoStale() throws {
      let pair = try StreamingPair()
      let id = try #require(pair.headUnit.waitForConnection())
      pair.server.setReading(false, for: id)
      // Operations are carried out in order: when this one is seen, the one before it is in force.
      pair.server.perform(.level(.limited, .streamable))
      let isApplied = pair.headUnit.waitFor { event -> Bool? in
        if case .session(_, .hmiStatusSent(let status)) = event, status.level == .limited { true } else { nil }
      }
      #expect(isApplied == true)
      let payloads = (0..<3).map { _ in TestPayload(noise(2_500_000)) }
      for payload in payloads {
        #expect(pair.connection.video.submit(payload, grantEpoch: pair.grant.epoch, blocking: true) == .queued)
      }
      // The head unit still writes: the app loses its grant in the middle of the first message.
      pair.server.perform(.level(.background, .notStreamable))
      #expect(pair.app.waitFor { if case .session(.videoStopped) = $0 { true } else { nil } } == true)
      #expect(
        pair.connection.video.submit(TestPayload(noise(1)), grantEpoch: pair.grant.epoch, blocking: true) == .closed)
      // Also the first, although the frame that was begun has to be finished before anything else.
      #expect(payloads.allSatisfy { $0.outcomes == [false] })
      pair.server.setReading(true, for: id)

      pair.server.perform(.level(.full, .streamable))
      let second = try #require(pair.app.waitForGrant(number: 2))
      #expect(second.epoch != pair.grant.epoch)
      #expect(
        pair.connection.video.submit(TestPayload(noise(1)), grantEpoch: pair.grant.epoch, blocking: true) == .stale)
      let fresh = noise(100_000, seed: 99)
      let payload = TestPayload(fresh)
      #expect(pair.connection.video.submit(payload, grantEpoch: second.epoch, blocking: true) == .queued)
      #expect(pair.headUnit.waitForMessages(1))
      #expect(pair.headUnit.videoMessages == [fresh], "nothing of the old messages was passed on")
      pair.stop()
      #expect(payload.outcomes == [true])
      #expect(pair.headUnit.protocolViolations.filter(\.isAboutFrames).isEmpty)
    }

    @Test func endOfRequestLetsQueuedVideoLeave() throws {
      let pair = try StreamingPair()
      let messages = (1...3).map { noise(300_000, seed: $0) }
      let payloads = messages.map { TestPayload($0) }
      for payload in payloads {
        #expect(pair.connection.video.submit(payload, grantEpoch: pair.grant.epoch, blocking: true) == .queued)
      }
      pair.connection.setVideoRequest(nil)
      let reason = pair.app.waitFor { event -> SDLApp.StreamStopReason? in
        if case .session(.videoStopped(let reason)) = event { reason } else { nil }
      }
      #expect(reason == .app)
      #expect(pair.headUnit.waitForMessages(3))
      #expect(pair.headUnit.videoMessages == messages)
      #expect(payloads.allSatisfy { $0.outcomes == [true] })
      pair.connection.setVideoRequest(testRequest)
      #expect(pair.app.waitForGrant(number: 2) != nil)
      pair.stop()
      #expect(pair.headUnit.protocolViolations.isEmpty)
    }

    /// An app that comes back to the foreground with another size gets another service. The former one is not resumed,
    /// not even for a moment.
    @Test func comesBackWithAnotherSize() throws {
      let another = VideoStartRequest(size: VideoSize(640, 360))
      let app = ConnectionRecorder { connection, event in
        // On the connection's thread, which therefore takes both at once.
        guard case .timerFired = event else { return }
        connection.setAppState(.foreground)
        connection.setVideoRequest(another)
      }
      let pair = try StreamingPair(app: app)
      pair.connection.setAppState(.background)
      let isSuspended: Bool? = app.waitFor {
        if case .sessionChanged(let status, _) = $0, status.video.state == .suspended { true } else { nil }
      }
      #expect(isSuspended == true)
      pair.connection.setTimer(at: pair.connection.clock.now)
      #expect(app.waitForGrant(number: 2)?.size == another.size)
      let states = app.events.compactMap { event -> StreamState? in
        guard case .sessionChanged(let status, _) = event, status.video.grant?.epoch == pair.grant.epoch else {
          return nil
        }
        return status.video.state
      }
      #expect(states.drop { $0 != .suspended }.allSatisfy { $0 == .suspended }, "\(states)")
      pair.stop()
    }

    @Test func observerMayCallEverything() throws {
      let headUnit = HeadUnitRecorder()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: headUnit)
      try server.start()
      let queuedCount = Monitor(0)
      let app = ConnectionRecorder { connection, event in
        _ = connection.statistics
        connection.video.setFlushing(true)
        connection.video.setFlushing(false)
        connection.join()
        _ = connection.video.waitUntilDrained(timeout: .seconds(1000))
        switch event {
        case .session(.registered): connection.setVideoRequest(testRequest)
        case .session(.videoStarted(let grant)):
          server.setReading(false, for: 1)
          // A wait in the observer would never end.
          let isFull = eventually {
            let payload = TestPayload(noise(1_000_000))
            guard connection.video.submit(payload, grantEpoch: grant.epoch, blocking: true) == .queued else {
              return true
            }
            queuedCount.withLock { $0 += 1 }
            return false
          }
          #expect(isFull)
          server.setReading(true, for: 1)
          connection.stop(grace: testTimeout)
        default: break
        }
      }
      let connection = makeConnection(port: try #require(server.port), observer: app)
      try connection.start()
      connection.join()
      #expect(app.waitForEnd() == .some(nil))
      let statistics = connection.video.statistics
      #expect(statistics.sentMessages + statistics.discardedMessages == UInt64(queuedCount.withLock { $0 }))
      #expect(headUnit.waitForMessages(Int(statistics.sentMessages)), "what was sent arrives")
      server.stop()
      server.join()
    }

    @Test func manySmallMessagesAtFullSpeed() throws {
      let pair = try StreamingPair()
      let count = 3000
      let message = noise(20_000)
      let start = MonotonicClock.now
      for _ in 0..<count {
        #expect(
          pair.connection.video.submit(TestPayload(message), grantEpoch: pair.grant.epoch, blocking: true) == .queued)
      }
      #expect(pair.headUnit.waitForMessages(count))
      print("\(count) messages of \(message.count) bytes in \(MonotonicClock.now - start)")
      #expect(pair.headUnit.videoMessages.allSatisfy { $0 == message })
      pair.stop()
    }
  }
}

extension Violation {
  /// Whether the byte stream itself was damaged.
  var isAboutFrames: Bool {
    switch self {
    case .malformedBytes, .messageIDZero, .tooManyMalformedFrames, .headerVersion, .sessionID: true
    default: false
    }
  }
}
