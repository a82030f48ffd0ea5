import SDLHeadUnit
import TestSupport
import Testing

@testable import SDLApp

extension LinkTests {
  /// Several streams, one after the other, of an app that stays registered.
  @Suite struct ManyStreamsTests {
    @Test func eachStartsAfresh() throws {
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
        connection.setVideoRequest(nil)
        #expect(pair.app.waitForStop(number: number))
        #expect(eventually { payloads.allSatisfy { $0.outcomes.count == 1 } })
        #expect(connection.video.submit(TestPayload(noise(1)), grantEpoch: grant.epoch, blocking: true) == .closed)
        let statistics = connection.video.statistics
        #expect(statistics.queuedFrames == 0)
        #expect(statistics.sentMessages + statistics.discardedMessages == UInt64(accepted))
      }
      #expect(pair.headUnit.waitForMessages(Int(connection.video.statistics.sentMessages)))
      pair.stop()
      #expect(pair.app.registrationCount == 1 && Set(pair.app.epochs).count == 20)
      #expect(pair.headUnit.protocolViolations == [])
    }

    /// The head unit hangs in the middle of a frame: the end of the old stream does not wait for it.
    @Test func streamOfAHungHeadUnitEnds() throws {
      let pair = try StreamingPair()
      let connection = pair.connection
      pair.server.setReading(false, for: try #require(pair.headUnit.waitForConnection()))
      let payloads = (0..<3).map { _ in TestPayload(noise(2_500_000)) }
      for payload in payloads {
        #expect(connection.video.submit(payload, grantEpoch: pair.grant.epoch, blocking: true) == .queued)
      }
      #expect(eventually { connection.isBlocked })
      connection.setVideoRequest(nil)
      #expect(eventually { payloads.allSatisfy { $0.outcomes.count == 1 } })
      #expect(payloads.last?.outcomes == [false])
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
  }
}
