import SDLHeadUnit
import SDLMessages
import TestSupport
import Testing

@testable import SDLApp

extension LinkTests {
  /// A head unit that does not read, or hangs, takes what has piled up for neither a pause nor the rate of the app.
  @Suite struct ReadingPauseTests {
    private let clock = ManualClock()

    /// A message with so many pictures, which need no key frame for being counted.
    private func pictures(_ count: Int) -> TestPayload {
      TestPayload((0..<count).flatMap { _ -> [UInt8] in [0, 0, 0, 1, 0x41, 0x9A, 0x20, 0x26, 0x80, 0x25, 0xB0] })
    }

    private func send(_ count: Int, with pair: StreamingPair) {
      let result = pair.connection.video.submit(pictures(count), grantEpoch: pair.grant.epoch, blocking: true)
      #expect(result == .queued)
    }

    /// Operations are carried out in order, also while the head unit hangs.
    private func settle(_ pair: StreamingPair, _ level: HMILevel) {
      pair.server.perform(.level(level, .streamable))
      #expect(eventually { pair.headUnit.statuses(of: 1).last?.level == level })
    }

    @Test(arguments: [true, false])
    func neitherPauseNorRate(hangs: Bool) throws {
      let pair = try StreamingPair(clock: clock)
      let observer = pair.headUnit
      send(1, with: pair)
      #expect(observer.waitForMessages(1))
      let before = observer.streamViolations.count
      if hangs { pair.server.perform(.stall(.seconds(2))) } else { pair.server.setReading(false, for: 1) }
      settle(pair, .limited)
      send(60, with: pair)
      clock.advance(by: .seconds(2))
      if !hangs {
        // A second time, since what is due is carried out before the operations that come with the time.
        settle(pair, .full)
        pair.server.setReading(true, for: 1)
      }
      #expect(observer.waitForMessages(2))
      for count in 3...6 {
        clock.advance(by: .milliseconds(900))
        send(30, with: pair)
        #expect(observer.waitForMessages(count))
      }
      #expect(observer.streamViolations.dropFirst(before) == [])
      #expect(!observer.hasReported { if case .session(1, .videoDataStopped) = $0 { true } else { false } })
      pair.stop()
    }
  }
}
