import Glibc
import Testing

@testable import SDLApp
@testable import SDLLink

extension LinkTests {
  /// The rules of writing, without a connection thread: each test is that thread and the streaming thread in turn.
  @Suite struct OutletTests {
    private let queue = VideoQueue(capacity: 3)
    private let outlet: Outlet
    private let peer: Socket

    init() throws {
      let (ours, theirs) = try Socket.pair()
      outlet = Outlet(queue: queue)
      outlet.open(ours)
      peer = theirs
    }

    private func makeGrant(_ epoch: UInt32) -> VideoGrant {
      VideoGrant(epoch: epoch, sessionID: 9, version: 5, maximumPayload: 1000, size: VideoSize(800, 480))
    }

    private func put(_ grant: VideoGrant?, sending frames: [[UInt8]] = []) throws {
      try outlet.change(grant: grant, sending: frames, peer: "test")
      queue.setGrant(epoch: grant?.epoch)
    }

    private func submit(_ size: Int, epoch: UInt32) -> TestPayload {
      let payload = TestPayload(noise(size), cuts: [size / 3])
      #expect(queue.submit(payload, grantEpoch: epoch, blocking: false) == .queued)
      return payload
    }

    private let heartbeat = Frame.control(.heartbeat, service: .control, version: 5, sessionID: 9).bytes

    /// Reads and writes in turn until there is nothing left; returns what was read.
    private func writeOn() -> [UInt8] {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 50_000)
      while outlet.write() != .idle {
        if case .bytes(let count) = buffer.withUnsafeMutableBytes({ peer.receive(into: $0) }) {
          bytes += buffer[..<count]
        }
        outlet.becameWritable()
      }
      outlet.close()
      return bytes + peer.readAll()
    }

    /// The frames in `bytes`, and how many bytes of another one follow.
    private func frames(_ bytes: [UInt8]) -> (frames: [Frame], rest: Int) {
      var decoder = FrameDecoder()
      decoder.append(bytes)
      var frames: [Frame] = []
      while case .frame(let frame)? = decoder.next() { frames.append(frame) }
      return (frames, decoder.bufferedByteCount)
    }

    @Test func whoBringsAFrameWritesIt() throws {
      try put(makeGrant(1))
      let payloads = (0..<3).map { _ in submit(2500, epoch: 1) }
      #expect(queue.claim())
      #expect(outlet.writeIfFree() == .idle)
      #expect(payloads.map(\.outcomes) == [[true], [true], [true]])
      #expect(queue.isEmpty)
      let sent = writeOn()
      #expect(outlet.sentByteCount == UInt64(sent.count))
      let ids = frames(sent).frames.map(\.header.messageID)
      #expect(ids == [0, 1, 2].flatMap { Array(repeating: VideoMessageIDs.first + $0, count: 4) })
    }

    @Test func controlFramesGoFirst() throws {
      try put(makeGrant(1))
      let payload = submit(10, epoch: 1)
      try put(makeGrant(1), sending: [heartbeat, heartbeat])
      #expect(outlet.writeIfFree() == .idle)
      #expect(payload.outcomes == [true])
      #expect(frames(writeOn()).frames.map(\.header.service) == [.control, .control, .video])
    }

    /// Begins a message that the socket does not take whole; returns how many frames of it have begun.
    private func fillSocket() throws -> Int {
      try put(makeGrant(1))
      _ = submit(2_000_000, epoch: 1)
      #expect(outlet.writeIfFree() == .full)
      let stream = Fragmentation(
        service: .video, version: 5, sessionID: 9, messageID: 0x8000_0000, payloadSize: 2_000_000, maximumPayload: 1000
      ).frames(of: noise(2_000_000))
      let (begun, rest) = frames(Array(stream.prefix(Int(outlet.sentByteCount))))
      return begun.count + (rest > 0 ? 1 : 0)
    }

    @Test func controlFramesWaitForTheEndOfAFrameOnly() throws {
      let begun = try fillSocket()
      try put(makeGrant(1), sending: [heartbeat])
      let (frames, rest) = frames(writeOn())
      #expect(frames.firstIndex { $0.header.service == .control } == begun)
      #expect(frames.count == 1 + 1 + 2000 && rest == 0)
    }

    @Test func onlyTheFrameBegunOutlivesItsGrant() throws {
      let begun = try fillSocket()
      let others = [submit(10, epoch: 1), submit(10, epoch: 1)]
      let end = Frame.control(.endService, service: .video, version: 5, sessionID: 9).bytes
      try put(nil, sending: [end])
      #expect(others.map(\.outcomes) == [[false], [false]])
      let (frames, rest) = frames(writeOn())
      #expect(frames.count == begun + 1 && rest == 0)
      #expect(frames.last?.header.controlFrame == .endService)
      #expect(queue.counters.sentMessages == 0 && queue.counters.discardedMessages == 3)
    }

    @Test(arguments: [nil, 2] as [UInt32?]) func videoOfAnotherGrantIsNotWritten(next: UInt32?) throws {
      try put(makeGrant(1))
      // The queue hears of the change a little later.
      try outlet.change(grant: next.map(makeGrant), sending: [], peer: "test")
      let payloads = [submit(10, epoch: 1), submit(10, epoch: 1)]
      #expect(outlet.writeIfFree() == .idle)
      #expect(payloads.map(\.outcomes) == [[false], [false]])
      #expect(writeOn().isEmpty)
    }

    @Test func fullSocketIsLeftAloneUntilPolled() throws {
      _ = try fillSocket()
      let sent = outlet.sentByteCount
      #expect(peer.readAll { $0.count == sent }.count == sent)
      #expect(outlet.writeIfFree() == .full)
      #expect(outlet.write() == .full)
      #expect(outlet.sentByteCount == sent)
      outlet.becameWritable()
      #expect(outlet.writeIfFree() == .full)
      #expect(outlet.sentByteCount > sent)
    }

    @Test func frameBroughtWhileAnotherThreadWritesIsWrittenToo() throws {
      try put(makeGrant(1))
      let slow = HoldingPayload()
      #expect(queue.submit(slow, grantEpoch: 1, blocking: false) == .queued)
      let pause = Monitor<Outlet.Pause?>(nil)
      let writer = WorkerThread(name: "writer")
      try writer.start { [outlet] in
        let result = outlet.write()
        pause.withLock { $0 = result }
      }
      slow.waitUntilHeld()
      let payload = submit(10, epoch: 1)
      #expect(queue.claim())
      #expect(outlet.writeIfFree() == .turnOver, "it does not wait")
      #expect(payload.outcomes.isEmpty)
      slow.letGo()
      writer.join()
      #expect(pause.withLock { $0 } == .idle)
      #expect(payload.outcomes == [true])
    }

    @Test func lossIsKeptForTheConnectionThread() throws {
      try put(makeGrant(1))
      _ = shutdown(peer.descriptor, Int32(SHUT_RDWR))
      let payload = submit(10, epoch: 1)
      #expect(outlet.writeIfFree() == .failed(.failed(errno: EPIPE)))
      #expect(outlet.write() == .failed(.failed(errno: EPIPE)))
      #expect(payload.outcomes.isEmpty)
      outlet.close()
      queue.close()
      #expect(payload.outcomes == [false])
      #expect(outlet.writeIfFree() == .idle)
    }

    @Test func laneIsBounded() throws {
      let frames = Array(repeating: [UInt8](repeating: 0, count: 1 << 20), count: 5)
      #expect(throws: LinkError.peerNotReading(address: "test", queuedByteCount: 4 << 20)) {
        try put(nil, sending: frames)
      }
    }
  }
}

/// A payload that keeps whoever writes it until it is let go.
private final class HoldingPayload: VideoPayload {
  private enum Phase {
    case untouched, held, free
  }
  private let phase = Monitor(Phase.untouched)
  private let content = TestPayload(noise(10))
  let isKeyFrame = true
  let byteCount = 10
  let segmentCount = 1

  func segment(at index: Int) -> UnsafeRawBufferPointer {
    phase.withLock { if $0 == .untouched { $0 = .held } }
    phase.broadcast()
    _ = phase.wait(until: MonotonicClock.now + testTimeout) { $0 == .free ? true : nil }
    return content.segment(at: index)
  }

  func release(wasSent: Bool) {}

  func waitUntilHeld() {
    #expect(phase.wait(until: MonotonicClock.now + testTimeout) { $0 == .held ? true : nil } == true)
  }

  func letGo() {
    phase.withLock { $0 = .free }
    phase.broadcast()
  }
}
