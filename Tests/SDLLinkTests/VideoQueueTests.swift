import Testing

@testable import SDLLink

extension LinkTests {
  @Suite struct VideoQueueTests {
    private func makeQueue(capacity: Int = 3, maximumByteCount: Int = 1000, epoch: UInt32? = 7) -> VideoQueue {
      let queue = VideoQueue(capacity: capacity, maximumByteCount: maximumByteCount)
      queue.setGrant(epoch: epoch)
      return queue
    }

    private func payload(_ count: Int = 10) -> TestPayload { TestPayload(noise(count)) }

    @Test func takesNothingWithoutGrant() {
      let queue = makeQueue(epoch: nil)
      #expect(queue.submit(payload(), grantEpoch: 7, blocking: true) == .closed)
    }

    @Test func refusesOtherEpochs() {
      let queue = makeQueue()
      #expect(queue.submit(payload(), grantEpoch: 6, blocking: true) == .stale)
      #expect(queue.submit(payload(), grantEpoch: 8, blocking: true) == .stale)
    }

    @Test func isBoundedInFrames() {
      let queue = makeQueue()
      for _ in 0..<3 { #expect(queue.submit(payload(), grantEpoch: 7, blocking: false) == .queued) }
      let last = payload()
      #expect(queue.submit(last, grantEpoch: 7, blocking: false) == .full)
      #expect(last.outcomes.isEmpty)
    }

    @Test func isBoundedInBytesButTakesOneOfAnySize() {
      let queue = makeQueue()
      #expect(queue.submit(payload(5000), grantEpoch: 7, blocking: false) == .queued)
      #expect(queue.submit(payload(1), grantEpoch: 7, blocking: false) == .full)
      _ = queue.takeFirst()
      queue.complete(wasSent: true)?.release()
      #expect(queue.submit(payload(600), grantEpoch: 7, blocking: false) == .queued)
      #expect(queue.submit(payload(600), grantEpoch: 7, blocking: false) == .full)
      #expect(queue.submit(payload(400), grantEpoch: 7, blocking: false) == .queued)
    }

    @Test func keepsOrderAroundTheRing() {
      let queue = makeQueue()
      var submitted: [TestPayload] = []
      var taken: [TestPayload] = []
      for round in 0..<10 {
        for _ in 0..<(round % 3 + 1) {
          let next = payload()
          if queue.submit(next, grantEpoch: 7, blocking: false) == .queued { submitted.append(next) }
        }
        for _ in 0..<(round % 2 + 1) {
          guard let first = queue.takeFirst()?.payload as? TestPayload else { continue }
          taken.append(first)
          queue.complete(wasSent: true)?.release()
        }
      }
      #expect(taken.count > 10)
      #expect(zip(taken, submitted).allSatisfy { $0 === $1 && $0.outcomes == [true] })
    }

    @Test func flushingIsStickyAndEndsWaits() throws {
      let queue = makeQueue(capacity: 1)
      #expect(queue.submit(payload(), grantEpoch: 7, blocking: false) == .queued)
      let outcome = Monitor<SubmitResult?>(nil)
      let thread = WorkerThread(name: "submitter")
      try thread.start {
        let result = queue.submit(TestPayload(noise(10)), grantEpoch: 7, blocking: true)
        outcome.withLock { $0 = result }
      }
      queue.setFlushing(true)
      thread.join()
      #expect(outcome.withLock { $0 } == .flushing)
      #expect(queue.submit(payload(), grantEpoch: 7, blocking: true) == .flushing)
      #expect(!queue.waitUntilDrained(until: MonotonicClock.now + testTimeout))
      queue.setFlushing(false)
      #expect(queue.counters.queuedFrames == 1)
      #expect(queue.submit(payload(), grantEpoch: 7, blocking: false) == .full)
    }

    @Test(arguments: [nil, 8] as [UInt32?]) func changedGrantDiscardsAndEndsWaits(next: UInt32?) throws {
      let queue = makeQueue(capacity: 2)
      let payloads = [payload(), payload()]
      for payload in payloads { #expect(queue.submit(payload, grantEpoch: 7, blocking: false) == .queued) }
      _ = queue.takeFirst()
      let outcome = Monitor<SubmitResult?>(nil)
      let thread = WorkerThread(name: "submitter")
      try thread.start {
        let result = queue.submit(TestPayload(noise(10)), grantEpoch: 7, blocking: true)
        outcome.withLock { $0 = result }
      }
      queue.setGrant(epoch: next)
      thread.join()
      #expect(outcome.withLock { $0 } == (next == nil ? .closed : .stale))
      #expect(payloads.map(\.outcomes) == [[], [false]], "the first is being written")
      queue.complete(wasSent: false)?.release()
      #expect(payloads.map(\.outcomes) == [[false], [false]])
      #expect(queue.isEmpty)
      #expect(queue.counters.discardedMessages == 2)
    }

    @Test func closeReleasesEverythingOnce() {
      let queue = makeQueue()
      let payloads = [payload(), payload(), payload()]
      for payload in payloads { _ = queue.submit(payload, grantEpoch: 7, blocking: false) }
      _ = queue.takeFirst()
      queue.close()
      queue.complete(wasSent: true)?.release()
      queue.close()
      #expect(payloads.map(\.outcomes) == [[false], [false], [false]])
      #expect(queue.submit(payload(), grantEpoch: 7, blocking: true) == .closed)
    }

    @Test func drainedMeansSent() throws {
      let queue = makeQueue()
      _ = queue.submit(payload(), grantEpoch: 7, blocking: false)
      #expect(!queue.waitUntilDrained(until: MonotonicClock.now))
      let thread = WorkerThread(name: "writer")
      try thread.start {
        _ = queue.takeFirst()
        queue.complete(wasSent: true)?.release()
      }
      #expect(queue.waitUntilDrained(until: MonotonicClock.now + testTimeout))
      thread.join()
      _ = queue.submit(payload(), grantEpoch: 7, blocking: false)
      let closer = WorkerThread(name: "closer")
      try closer.start { queue.close() }
      // Either order: with the queue closed before the wait begins there is nothing left to wait for.
      _ = queue.waitUntilDrained(until: MonotonicClock.now + testTimeout)
      closer.join()
      #expect(queue.counters.discardedMessages == 1)
    }

    @Test func drainingLetsNobodyIn() {
      let queue = makeQueue()
      let queued = payload()
      _ = queue.submit(queued, grantEpoch: 7, blocking: false)
      queue.setDraining(true)
      #expect(queue.submit(payload(), grantEpoch: 7, blocking: true) == .closed)
      #expect(queue.takeFirst()?.payload === queued)
      queue.setDraining(false)
      #expect(queue.submit(payload(), grantEpoch: 7, blocking: false) == .queued)
    }

    @Test func oneThreadIsAnswerableUntilTheQueueIsFoundEmpty() {
      let queue = makeQueue()
      #expect(!queue.claim(), "there is nothing to write")
      #expect(queue.submit(payload(), grantEpoch: 7, blocking: false) == .queued)
      #expect(queue.claim())
      #expect(queue.submit(payload(), grantEpoch: 7, blocking: false) == .queued)
      #expect(!queue.claim())
      for _ in 0..<2 {
        #expect(queue.takeFirst() != nil)
        queue.complete(wasSent: true)?.release()
      }
      #expect(queue.submit(payload(), grantEpoch: 7, blocking: false) == .queued)
      #expect(!queue.claim(), "the first has not looked again yet")
      #expect(queue.takeFirst() != nil)
      queue.complete(wasSent: true)?.release()
      #expect(queue.takeFirst() == nil)
      #expect(queue.submit(payload(), grantEpoch: 7, blocking: false) == .queued)
      #expect(queue.claim())
    }
  }
}
