import SDLHeadUnit
import SDLMessages
import TestSupport
import Testing

@testable import SDLApp

extension LinkTests {
  /// A head unit that sends more than one should is read more slowly, and nothing of it is lost.
  @Suite struct InputPauseTests {
    private func count(_ app: ConnectionRecorder) -> Int {
      app.events.count { if case .session(.hmiStatus) = $0 { true } else { false } }
    }

    @Test func statusesAtLineRate() throws {
      let clock = ManualClock()
      let pair = try StreamingPair(clock: clock)
      let before = count(pair.app)
      pair.server.control(.everyApp) { session, now in
        (0..<600).flatMap { number in
          session.setHMIStatus(
            HMIStatus(
              level: .full, audioStreamingState: number.isMultiple(of: 2) ? .audible : .notAudible,
              videoStreamingState: .streamable), now: now)
        }
      }
      #expect(eventually { count(pair.app) >= before + 190 })
      #expect(pair.connection.settle(pair.app))
      // Two seconds in advance, of 10 ms each, less what the start has cost.
      let first = count(pair.app) - before
      #expect((190...201).contains(first), "\(first)")
      clock.advance(by: .seconds(1))
      #expect(eventually { count(pair.app) >= before + first + 100 })
      #expect(pair.connection.settle(pair.app))
      #expect(count(pair.app) <= before + first + 101)
      for _ in 0..<4 {
        clock.advance(by: .seconds(1))
        #expect(pair.connection.settle(pair.app))
      }
      #expect(eventually { count(pair.app) == before + 600 })
      pair.stop()
    }

    /// A peer that is gone is read to the end, which may be the reason.
    @Test func endOfAHeadUnitThatSendsTooMuch() throws {
      let clock = ManualClock()
      let pair = try StreamingPair(clock: clock)
      pair.server.control(.everyApp) { session, now in
        (0..<600).flatMap { _ in
          session.setHMIStatus(HMIStatus(level: .full, videoStreamingState: .streamable), now: now)
        }
      }
      #expect(eventually { count(pair.app) >= 190 })
      pair.server.stop()
      pair.server.join()
      #expect(eventually { count(pair.app) >= 600 })
      #expect(pair.app.waitForEnd() != nil)
      pair.stop()
    }
  }
}
