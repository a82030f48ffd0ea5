import Glibc
import SDLHeadUnit
import Synchronization
import Testing
import TestSupport

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  /// The streaming thread and the connection thread at the same socket, as often as possible.
  @Suite struct SharedWritingTests {
    /// One thread finds the queue empty at the moment in which another submits a frame: one of the two writes it.
    @Test func noFrameIsLeftToTheOther() throws {
      let (ours, theirs) = try Socket.pair()
      let wakeUp = WakeUp()
      try wakeUp.open()
      let writer = ConnectionWriter(videoCapacity: 3, clock: .monotonic, wakeUp: wakeUp)
      writer.open(ours)
      try writer.setVideoGrant(makeGrant(1), sending: [], peer: "test")
      let rounds = Monitor((begun: 0, ended: 0))
      let count = 2000
      let finder = WorkerThread(name: "finder")
      try finder.start {
        for round in 1...count {
          rounds.wait { $0.begun >= round }
          for _ in 0..<(round % 3 + 1) { _ = writer.write() }
          rounds.withLock { $0.ended = round }
          rounds.broadcast()
        }
      }
      var buffer = [UInt8](repeating: 0, count: 1000)
      for round in 1...count {
        let payload = TestPayload([1])
        rounds.withLock { $0.begun = round }
        rounds.broadcast()
        for _ in 0..<(round % 50) { _ = writer.sentByteCount }
        #expect(writer.submit(payload, to: .video, grantEpoch: 1, waits: false).result == .queued)
        rounds.wait { $0.ended >= round }
        // There is no other thread that could write it.
        #expect(payload.outcomes == [true])
        _ = buffer.withUnsafeMutableBytes { theirs.receive(into: $0) }
      }
      finder.join()
    }

    /// Nothing else would wake the connection thread: a frame that each thread leaves to the other is never written.
    @Test func everyFrameIsWritten() throws {
      let pair = try StreamingPair()
      let round = Monitor(0)
      let count = 3000
      let disturber = WorkerThread(name: "disturber")
      let connection = pair.connection
      try disturber.start {
        for next in 1...count {
          guard round.wait(atLatest: MonotonicClock.now + testTimeout, until: { $0 >= next }) else {
            return
          }
          // Makes the connection thread check its queue.
          connection.setVideoRequest(testRequest)
        }
      }
      for number in 1...count {
        round.withLock { $0 = number }
        round.broadcast()
        let payload = TestPayload(noise(number % 50 + 1))
        #expect(connection.video.submit(payload, grantEpoch: pair.grant.epoch, blocking: true) == .queued)
        guard eventually({ payload.outcomes == [true] }) else {
          Issue.record("frame \(number) was never written")
          round.withLock { $0 = count }
          round.broadcast()
          break
        }
      }
      disturber.join()
      #expect(pair.headUnit.waitForMessages(count))
      pair.stop()
      #expect(pair.headUnit.protocolViolations.isEmpty)
    }

    /// Two threads submit video while the head unit opens and closes the service and stops reading now and then.
    @Test func changingGrantsHarmNoFrame() throws {
      let pair = try StreamingPair()
      let id = try #require(pair.headUnit.waitForConnection())
      let (connection, app) = (pair.connection, pair.app)
      let isOver = Atomic(false)
      let submitted = Mutex<[[TestPayload]]>([[], []])
      let submitters = try (0..<2).map { submitter in
        let thread = WorkerThread(name: "submitter")
        try thread.start {
          var number: UInt32 = 0
          while !isOver.load(ordering: .relaxed) {
            let payload = TestPayload(Self.message(submitter: UInt8(submitter), number: number))
            guard let epoch = app.latestGrant?.epoch,
              connection.video.submit(payload, grantEpoch: epoch, blocking: true) == .queued
            else {
              poll(nil, 0, 1)
              continue
            }
            number += 1
            submitted.withLock { $0[submitter].append(payload) }
          }
        }
        return thread
      }
      for round in 2...25 {
        let before = pair.headUnit.videoMessages.count
        #expect(pair.headUnit.waitForMessages(before + 10))
        pair.server.setReading(round % 3 != 0, for: id)
        pair.server.perform(.level(.background, .notStreamable))
        #expect(app.waitForStop(number: round - 1))
        pair.server.setReading(true, for: id)
        pair.server.perform(.level(.full, .streamable))
        _ = try #require(app.waitForGrant(number: round))
      }
      isOver.store(true, ordering: .relaxed)
      for thread in submitters { thread.join() }
      pair.stop()
      #expect(pair.headUnit.protocolViolations.filter(\.isAboutFrames).isEmpty)
      let received = pair.headUnit.videoMessages
      for (submitter, payloads) in submitted.withLock({ $0 }).enumerated() {
        #expect(payloads.allSatisfy { $0.outcomes.count == 1 })
        let numbers = received.filter { $0.first == UInt8(submitter) }.map(Self.number)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "in order, and none twice")
        #expect(numbers.allSatisfy { Int($0) < payloads.count && payloads[Int($0)].outcomes == [true] })
      }
      #expect(received.allSatisfy { $0 == Self.message(submitter: $0[0], number: Self.number($0)) })
    }

    private static let content = noise(60_000)

    /// A message that names its submitter; of sizes below and above one frame.
    private static func message(submitter: UInt8, number: UInt32) -> [UInt8] {
      let number4 = (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
      return joined([submitter], number4, Array(content.prefix(Int(number) * 977 % content.count)))
    }

    private static func number(_ message: [UInt8]) -> UInt32 {
      message.dropFirst().prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
  }
}
