import SDLHeadUnit
import SDLHeadUnitLink
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

    /// The app reads on by itself when the time is over; nothing else wakes it up here.
    @Test func theEndOfAPause() throws {
      let headUnit = HeadUnitRecorder()
      let server = try HeadUnitServer(configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: headUnit)
      try server.start()
      let app = ConnectionRecorder()
      let connection = makeConnection(port: try #require(server.port), heartbeat: nil, observer: app)
      try connection.start()
      #expect(eventually { app.events.contains { if case .session(.hmiStatus) = $0 { true } else { false } } })
      let before = count(app)
      server.control(.everyApp) { session, now in
        (0..<220).flatMap { _ in
          session.setHMIStatus(HMIStatus(level: .full, videoStreamingState: .streamable), now: now)
        }
      }
      #expect(eventually { count(app) >= before + 220 })
      connection.stop(grace: .seconds(1))
      connection.join()
      server.stop()
      server.join()
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
