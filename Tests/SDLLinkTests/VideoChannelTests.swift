import Glibc
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  /// What the channel accepts and what becomes of it; the test decides when the socket can be written.
  @Suite struct VideoChannelTests {
    private let clock = ManualClock()
    private let writer: ConnectionWriter
    private let channel: MediaChannel
    private let socket: Socket
    private let peer: Socket

    init() throws {
      writer = ConnectionWriter(
        videoCapacity: 3, maximumVideoByteCount: 1000, clock: TimeSource(clock), wakeUp: WakeUp())
      channel = MediaChannel(.video, writer: writer, thread: WorkerThread(name: "connection"))
      (socket, peer) = try Socket.pair()
      try setGrant(7)
    }

    private func setGrant(_ epoch: UInt32?) throws {
      try writer.setVideoGrant(epoch.map { makeGrant($0) }, sending: [], peer: "test")
    }

    private func submit(_ payload: TestPayload, epoch: UInt32 = 7, blocking: Bool = false) -> SubmitResult {
      channel.submit(payload, grantEpoch: epoch, blocking: blocking)
    }

    private func payload(_ count: Int = 10) -> TestPayload { TestPayload(noise(count)) }

    /// Waits in `submit` on another thread while `change` is made; returns what it got.
    private func resultOfWaiting(during change: () throws -> Void) throws -> SubmitResult? {
      let outcome = Monitor<SubmitResult?>(nil)
      let thread = WorkerThread(name: "submitter")
      try thread.start { [channel] in
        let result = channel.submit(TestPayload(noise(10)), grantEpoch: 7, blocking: true)
        outcome.withLock { $0 = result }
      }
      try change()
      thread.join()
      return outcome.withLock { $0 }
    }

    @Test func takesNothingWithoutGrant() throws {
      try setGrant(nil)
      #expect(submit(payload(), blocking: true) == .closed)
    }

    @Test func refusesOtherEpochs() {
      #expect(submit(payload(), epoch: 6, blocking: true) == .stale)
      #expect(submit(payload(), epoch: 8, blocking: true) == .stale)
    }

    @Test func isBounded() {
      for _ in 0..<3 {
        #expect(!channel.isFull)
        #expect(submit(payload()) == .queued)
      }
      #expect(channel.isFull)
      let last = payload()
      #expect(submit(last) == .full)
      #expect(last.outcomes.isEmpty)
      #expect(channel.statistics.queuedFrames == 3 && channel.statistics.queuedByteCount == 30)
    }

    @Test func waitsForRoom() throws {
      for _ in 0..<3 { #expect(submit(payload()) == .queued) }
      let result = try resultOfWaiting {
        writer.open(socket)
        #expect(writer.write() == .idle)
      }
      #expect(result == .queued)
      #expect(channel.statistics.sentMessages == 4)
    }

    /// What a peer has read is as old as that, however late the thread that wrote it goes on.
    @Test func queueTimeIsFromBeforeTheWriting() throws {
      writer.open(socket)
      let began = clock.now
      let submission = channel.submit(SlowPayload(clock), grantEpoch: 7, blocking: false, samplesLink: true)
      #expect(submission.result == .queued)
      #expect(submission.time == began && clock.now == began + .seconds(1))
      // The link is looked at after the writing.
      #expect((submission.link?.handedByteCount ?? 0) > 0)
    }

    @Test func flushingIsStickyAndEndsWaits() throws {
      for _ in 0..<3 { #expect(submit(payload()) == .queued) }
      #expect(try resultOfWaiting { channel.setFlushing(true) } == .flushing)
      #expect(submit(payload(), blocking: true) == .flushing)
      #expect(!channel.waitUntilDrained(timeout: testTimeout))
      channel.setFlushing(false)
      #expect(channel.statistics.queuedFrames == 3)
      #expect(submit(payload()) == .full)
    }

    @Test(arguments: [nil, 8] as [UInt32?]) func changedGrantDiscardsAndEndsWaits(next: UInt32?) throws {
      let payloads = (0..<3).map { _ in payload() }
      for payload in payloads { #expect(submit(payload) == .queued) }
      #expect(try resultOfWaiting { try setGrant(next) } == (next == nil ? .closed : .stale))
      #expect(payloads.map(\.outcomes) == [[false], [false], [false]])
      #expect(channel.statistics.discardedMessages == 3 && channel.statistics.queuedFrames == 0)
    }

    @Test func closeReleasesEverythingOnce() throws {
      writer.open(socket)
      // More than the kernel takes, so that it is being written when the connection is closed.
      let payloads = [payload(2_000_000), payload(1)]
      #expect(submit(payloads[0]) == .queued)
      #expect(submit(payloads[1]) == .full, "the first one is above the limit in bytes")
      writer.close()
      writer.close()
      #expect(payloads.map(\.outcomes) == [[false], []])
      #expect(submit(payload(), blocking: true) == .closed)
    }

    @Test func drainedMeansSent() throws {
      #expect(submit(payload()) == .queued)
      #expect(!channel.waitUntilDrained(timeout: .zero))
      let thread = WorkerThread(name: "writer")
      try thread.start { [writer, socket] in
        writer.open(socket)
        _ = writer.write()
      }
      #expect(channel.waitUntilDrained(timeout: testTimeout))
      thread.join()
      #expect(channel.statistics.sentMessages == 1)
    }

    @Test func discardedIsNotDrained() throws {
      #expect(submit(payload()) == .queued)
      let isDrained = Monitor<Bool?>(nil)
      let isWaiting = Monitor(false)
      let waiter = WorkerThread(name: "waiter")
      try waiter.start { [channel] in
        isWaiting.withLock { $0 = true }
        let result = channel.waitUntilDrained(timeout: testTimeout)
        isDrained.withLock { $0 = result }
      }
      #expect(eventually { isWaiting.withLock { $0 } })
      writer.close()
      waiter.join()
      // Closed before the wait has begun, there is nothing left to wait for.
      #expect(isDrained.withLock { $0 } != nil)
      #expect(channel.statistics.discardedMessages == 1)
    }

    /// Waits for the queue while the connection ends.
    private func isDrainedByTheEnd() throws -> Bool? {
      try setGrant(7)
      #expect(submit(payload()) == .queued)
      let result = Monitor<Bool?>(nil)
      let waiter = WorkerThread(name: "waiter")
      try waiter.start { [channel] in
        let isDrained = channel.waitUntilDrained(timeout: testTimeout)
        result.withLock { $0 = isDrained }
      }
      poll(nil, 0, 1)
      writer.close()
      waiter.join()
      return result.withLock { $0 }
    }

    /// The queue is empty then, but what was in it has not arrived. What is discarded before the wait has begun is none of
    /// its business, so that it may take more than one try.
    @Test func discardedWhileItIsWaitedFor() {
      #expect(eventually { (try? isDrainedByTheEnd()) == false })
    }

    @Test func drainingLetsNothingIn() throws {
      let queued = payload()
      #expect(submit(queued) == .queued)
      writer.change(.video) { $0.isDraining = true }
      #expect(submit(payload()) == .ending)
      writer.open(socket)
      #expect(writer.write() == .idle)
      #expect(queued.outcomes == [true])
      writer.change(.video) { $0.isDraining = true }
      #expect(submit(payload()) == .ending)
      writer.change(.video) { $0.isDraining = false }
      #expect(submit(payload()) == .queued)
    }

    /// The app takes the end of a service back while the head unit has yet to acknowledge what is queued.
    @Test func endThatIsCalledOffLosesNothing() throws {
      writer.change(.video) { $0.isDraining = true }
      let result = try resultOfWaiting { writer.change(.video) { $0.isDraining = false } }
      #expect(result == .queued)
      writer.change(.video) { $0.isDraining = true }
      #expect(try resultOfWaiting { try setGrant(nil) } == .closed)
    }

    @Test func dwellTimeIsFromSubmissionToKernel() throws {
      #expect(submit(payload()) == .queued)
      clock.advance(by: .milliseconds(70))
      #expect(submit(payload()) == .queued)
      clock.advance(by: .milliseconds(30))
      writer.open(socket)
      #expect(writer.write() == .idle)
      #expect(channel.statistics.longestDwellTime == .milliseconds(100))
      #expect(channel.statistics.lastDwellTime == .milliseconds(30))
    }
  }
}

/// A payload whose last byte is with the kernel a second before the thread that wrote it goes on.
private final class SlowPayload: MediaPayload {
  private let bytes = TestPayload([1])
  private let clock: ManualClock

  init(_ clock: ManualClock) {
    self.clock = clock
  }

  var segmentCount: Int { bytes.segmentCount }
  var byteCount: Int { bytes.byteCount }
  func segment(at index: Int) -> UnsafeRawBufferPointer { bytes.segment(at: index) }
  func release(wasSent: Bool) { clock.advance(by: .seconds(1)) }
}
