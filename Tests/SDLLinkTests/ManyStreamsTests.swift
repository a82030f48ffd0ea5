import SDLHeadUnit
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLLink

extension LinkTests {
  /// Several streams, one after the other, of an app that stays registered.
  @Suite struct ManyStreamsTests {
    @Test(arguments: [true, false]) func eachStartsAfresh(isDrained: Bool) throws {
      let pair = try StreamingPair()
      let connection = pair.connection
      var accepted = 0
      for number in 1...20 {
        // The same request every other time: it is another stream all the same.
        connection.setVideoRequest(VideoStartRequest(size: VideoSize(800, number % 4 < 2 ? 480 : 360)))
        let grant = try #require(pair.app.waitForGrant(number: number))
        let payloads = (0..<3).map { TestPayload(noise(50_000, seed: UInt64($0))) }
        for payload in payloads {
          #expect(connection.video.submit(payload, grantEpoch: grant.epoch, blocking: true) == .queued)
        }
        accepted += payloads.count
        if isDrained { #expect(connection.video.waitUntilDrained(timeout: testTimeout)) }
        connection.video.setFlushing(true)
        connection.resetVideo()
        #expect(eventually { payloads.allSatisfy { $0.outcomes.count == 1 } })
        #expect(connection.video.submit(TestPayload(noise(1)), grantEpoch: grant.epoch, blocking: true) == .closed)
        let statistics = connection.video.statistics
        #expect(statistics.queuedFrames == 0)
        #expect(statistics.sentMessages + statistics.discardedMessages == UInt64(accepted))
      }
      #expect(pair.app.waitForStop(number: 20))
      #expect(pair.headUnit.waitForMessages(Int(connection.video.statistics.sentMessages)))
      pair.stop()
      #expect(pair.app.registrationCount == 1 && Set(pair.app.epochs).count == 20)
      #expect(pair.headUnit.protocolViolations == [])
    }

    /// The head unit hangs in the middle of a frame: nothing of the old stream has to wait for it.
    @Test func streamOfAHungHeadUnitEndsAtOnce() throws {
      let pair = try StreamingPair()
      let connection = pair.connection
      pair.server.setReading(false, for: try #require(pair.headUnit.waitForConnection()))
      let payloads = (0..<3).map { _ in TestPayload(noise(2_500_000)) }
      for payload in payloads {
        #expect(connection.video.submit(payload, grantEpoch: pair.grant.epoch, blocking: true) == .queued)
      }
      #expect(eventually { connection.isBlocked })
      connection.resetVideo()
      #expect(payloads.allSatisfy { $0.outcomes.count == 1 } && payloads.last?.outcomes == [false])
      let sentCount = payloads.count { $0.outcomes == [true] }
      connection.setVideoRequest(testRequest)
      pair.server.setReading(true, for: 1)
      let grant = try #require(pair.app.waitForGrant(number: 2))
      let message = noise(100_000, seed: 99)
      #expect(connection.video.submit(TestPayload(message), grantEpoch: grant.epoch, blocking: true) == .queued)
      #expect(pair.headUnit.waitForMessages(sentCount + 1))
      #expect(pair.headUnit.videoMessages.last == message)
      pair.stop()
      #expect(pair.headUnit.protocolViolations.filter(\.isAboutFrames).isEmpty)
    }

    /// Settings of one stream do not apply to the next.
    @Test func parametersAreThoseOfANewConnection() throws {
      let pair = try StreamingPair()
      let connection = pair.connection
      let rectangle = HapticRectangle(id: 1, x: 10, y: 20, width: 30, height: 40)
      connection.setHapticRectangles(HapticRectangleList([rectangle]))
      #expect(waitForRectangles(pair, [rectangle]))
      connection.setAppState(.background)
      #expect(pair.app.waitFor { if case .session(.videoSuspended) = $0 { true } else { nil } } == true)
      connection.resetVideo()
      #expect(pair.app.waitForStop(number: 1))
      connection.setVideoRequest(testRequest)
      // In the foreground, or it would not start.
      #expect(pair.app.waitForGrant(number: 2) != nil)
      #expect(waitForRectangles(pair, []))
      pair.stop()
      #expect(pair.headUnit.protocolViolations == [])
    }

    private func waitForRectangles(_ pair: StreamingPair, _ expected: [HapticRectangle]) -> Bool {
      pair.headUnit.waitFor { event in
        if case .session(_, .hapticRectangles(expected)) = event { true } else { nil }
      } ?? false
    }

    /// The timer may belong to something other than the stream.
    @Test func timerStaysSet() throws {
      let clock = ManualClock()
      let pair = try StreamingPair(clock: clock)
      pair.connection.setTimer(at: clock.now + .seconds(1))
      pair.connection.resetVideo()
      #expect(pair.app.waitForStop(number: 1))
      #expect(pair.app.timerCount == 0)
      clock.advance(by: .seconds(1))
      #expect(eventually { pair.app.timerCount == 1 })
      pair.stop()
    }

    /// Before the connection stands, and while it is lost, there is nothing to end.
    @Test func resetWithoutAService() throws {
      let pair = try ReconnectingPair()
      pair.connection.resetVideo()
      pair.connection.setVideoRequest(testRequest)
      #expect(pair.app.waitForGrant() != nil)
      pair.relay.cutNow()
      pair.connection.resetVideo()
      pair.connection.setVideoRequest(testRequest)
      #expect(eventually { (pair.app.latestGrant?.epoch).map { $0 >= 2 } ?? false })
      #expect(eventually { pair.app.registrationCount >= 2 })
      pair.stop()
    }
  }
}
