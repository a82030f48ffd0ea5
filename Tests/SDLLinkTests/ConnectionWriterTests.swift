import Glibc
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  /// The rules of writing, without a connection thread: each test acts as that thread and as the streaming thread.
  @Suite struct ConnectionWriterTests {
    private let writer: ConnectionWriter
    private let wakeUp: WakeUp
    private let peer: Socket
    private let heartbeat = Frame.control(.heartbeat, service: .control, version: 5, sessionID: 9).bytes

    init() throws {
      (writer, wakeUp, peer) = try makeWriter()
    }

    private func setGrant(_ epoch: UInt32?, sending frames: [[UInt8]] = []) throws {
      try writer.setVideoGrant(epoch.map { makeGrant($0) }, sending: frames, peer: "test")
    }

    private func submit(_ size: Int, epoch: UInt32 = 1) -> TestPayload {
      let payload = TestPayload(noise(size), cuts: [size / 3])
      #expect(writer.submit(payload, to: .video, grantEpoch: epoch, waits: false).result == .queued)
      return payload
    }

    /// Whether the connection thread has been woken since the last call.
    private func takeWakeUp() -> Bool {
      var descriptor = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
      defer { wakeUp.clear() }
      return poll(&descriptor, 1, 0) == 1
    }

    /// Reads and writes in turn until there is nothing left; returns what was read.
    private func writeAll() -> [UInt8] {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 50_000)
      while writer.write() != .idle {
        if case .bytes(let count) = buffer.withUnsafeMutableBytes({ peer.receive(into: $0) }) {
          bytes += buffer[..<count]
        }
        writer.becameWritable()
      }
      writer.close()
      return bytes + peer.readAll()
    }

    /// Begins a message that the socket does not take whole; returns how many frames of it have begun.
    private func fillSocket() throws -> Int {
      try setGrant(1)
      _ = submit(100_000)
      #expect(takeWakeUp())
      let stream = Fragmentation(
        service: .video, version: 5, sessionID: 9, messageID: MessageIDs.video.range.lowerBound,
        payloadSize: 100_000,
        maximumPayload: 1000
      ).frames(of: noise(100_000))
      let (begun, rest) = decode(Array(stream.prefix(Int(writer.sentByteCount))))
      return begun.count + (rest > 0 ? 1 : 0)
    }

    @Test func submittingThreadWrites() throws {
      try setGrant(1)
      let payloads = (0..<3).map { _ in submit(2500) }
      #expect(payloads.map(\.outcomes) == [[true], [true], [true]])
      #expect(!takeWakeUp())
      let count = writer.sentByteCount
      let sent = writeAll()
      #expect(count == UInt64(sent.count))
      let ids = decode(sent).frames.map(\.header.messageID)
      let first = MessageIDs.video.range.lowerBound
      let expected = (first...first + 2).flatMap { Array(repeating: $0, count: 4) }
      #expect(ids == expected)
    }

    @Test func controlFramesWaitForTheEndOfAFrameOnly() throws {
      let begun = try fillSocket()
      _ = submit(10)
      try writer.send([.frames(heartbeat), .frames(heartbeat)], peer: "test")
      let (frames, rest) = decode(writeAll())
      let services = frames.map(\.header.service)
      #expect(services[begun..<(begun + 2)] == [.control, .control])
      #expect(services.filter { $0 == .video }.count == 1 + 100 + 1)
      #expect(rest == 0)
    }

    /// What a secondary transport does not read costs that alone.
    @Test func controlFramesThatTheSecondaryDoesNotRead() throws {
      let (ours, theirs) = try Socket.pair()
      writer.open(ours, as: .secondary)
      let frames = [UInt8](repeating: 0, count: ControlFrameBuffer.maximumByteCount)
      try withExtendedLifetime(theirs) {
        for _ in 0..<2 { try writer.send([.frames(frames, on: .secondary), .frames(heartbeat)], peer: "test") }
        #expect(writer.write(.secondary) == .failed(.failed(errno: ENOBUFS)))
      }
      #expect(writer.write() == .idle && writer.isFlushed)
      #expect(throws: LinkError.peerNotReading(address: "test", queuedByteCount: 0)) {
        try writer.send([.frames(frames + heartbeat)], peer: "test")
      }
    }

    @Test func onlyTheFrameBegunOutlivesItsGrant() throws {
      try setGrant(1)
      let first = submit(100_000)
      let others = [submit(10), submit(10)]
      let sent = Int(writer.sentByteCount)
      let end = Frame.control(.endService, service: .video, version: 5, sessionID: 9).bytes
      try setGrant(nil, sending: [end])
      // The call does not wait for the peer to read.
      #expect(([first] + others).map(\.outcomes) == [[false], [false], [false]])
      let bytes = writeAll()
      let (frames, rest) = decode(bytes)
      #expect(rest == 0)
      #expect(bytes.count - sent < 1012 + end.count)
      #expect(frames.dropLast().allSatisfy { $0.header.service == .video })
      #expect(frames.last?.header.controlFrame == .endService)
      let stream = Fragmentation(
        service: .video, version: 5, sessionID: 9, messageID: MessageIDs.video.range.lowerBound,
        payloadSize: 100_000,
        maximumPayload: 1000
      ).frames(of: noise(100_000))
      #expect(bytes.dropLast(end.count) == stream.prefix(bytes.count - end.count))
      let statistics = writer.read(.video, \.statistics)
      #expect(statistics.sentMessages == 0 && statistics.discardedMessages == 3 && statistics.queuedFrames == 0)
    }

    /// Wherever in a frame the kernel has stopped: in its header, between header and payload, in either memory block.
    @Test func anyRestOfAFrameIsFinished() throws {
      let writer = MediaWriter()
      let bytes = noise(100)
      let stream = Fragmentation(
        service: .video, version: 5, sessionID: 9, messageID: 5, payloadSize: 100, maximumPayload: 1000
      ).frames(of: bytes)
      for written in 0...stream.count {
        let hasBegun = writer.begin(TestPayload(bytes, cuts: [33]), grant: makeGrant(1), messageID: 5)
        #expect(hasBegun)
        writer.advance(by: written)
        let (rest, isEndOfPayload) = writer.abandon()
        let isBegun = written > 0 && written < stream.count
        #expect(rest == (isBegun ? Array(stream[written...]) : []), "\(written)")
        #expect(isEndOfPayload == isBegun)
        #expect(!writer.hasMessage)
      }
    }

    /// A payload whose last frame has been begun arrives whole.
    @Test func lastFrameBegunCountsAsSent() throws {
      try writer.setVideoGrant(makeGrant(1, maximumPayload: 120_000), sending: [], peer: "test")
      let payloads = [submit(100_000), submit(10)]
      try setGrant(nil)
      #expect(payloads.map(\.outcomes) == [[true], [false]])
      let statistics = writer.read(.video, \.statistics)
      #expect(statistics.sentMessages == 1 && statistics.discardedMessages == 1)
      let (frames, rest) = decode(writeAll())
      #expect(frames.map(\.payload.count) == [100_000] && rest == 0)
    }

    /// Without a connection nothing of it arrives.
    @Test func lostConnectionDiscardsTheLastFrameToo() throws {
      try writer.setVideoGrant(makeGrant(1, maximumPayload: 120_000), sending: [], peer: "test")
      let payload = submit(100_000)
      writer.close()
      #expect(payload.outcomes == [false])
      #expect(writer.read(.video, \.statistics).sentMessages == 0)
    }

    @Test func nextGrantBeginsAfterTheUnfinishedFrame() throws {
      _ = try fillSocket()
      try setGrant(2)
      let payload = submit(10, epoch: 2)
      let (frames, rest) = decode(writeAll())
      #expect(rest == 0 && payload.outcomes == [true])
      #expect(frames.last?.header.frameType == .single && frames.last?.payload.count == 10)
    }

    @Test func fullSocketIsLeftAloneUntilPolled() throws {
      _ = try fillSocket()
      let sent = writer.sentByteCount
      #expect(peer.readAll { $0.count == sent }.count == sent)
      _ = submit(10)
      #expect(!takeWakeUp(), "the connection thread has been woken already")
      #expect(writer.write() == .blocked)
      #expect(writer.sentByteCount == sent)
      writer.becameWritable()
      _ = submit(10)
      #expect(writer.sentByteCount > sent)
      #expect(takeWakeUp())
    }

    /// Would never return if the lock were held.
    @Test func releaseMayCallBack() throws {
      try setGrant(1)
      let writer = writer
      let payload = CallingPayload {
        #expect(writer.read(.video, \.statistics).sentMessages == 1)
        #expect(writer.submit(TestPayload([1]), to: .video, grantEpoch: 1, waits: false).result == .queued)
      }
      #expect(writer.submit(payload, to: .video, grantEpoch: 1, waits: true).result == .queued)
      #expect(writer.read(.video, \.statistics).sentMessages == 2)
    }

    @Test func failureIsKeptForTheConnectionThread() throws {
      try setGrant(1)
      _ = shutdown(peer.descriptor, Int32(SHUT_RDWR))
      let payload = submit(10)
      #expect(takeWakeUp())
      #expect(writer.write() == .failed(.failed(errno: EPIPE)))
      #expect(payload.outcomes.isEmpty)
      writer.close()
      #expect(payload.outcomes == [false])
      #expect(writer.write() == .idle)
    }

    /// However fast the head unit reads, a thread that writes gets to its other work.
    @Test func oneMebibyteAtATime() throws {
      let (ours, theirs) = try tcpPair(isNarrow: false)
      let writer = ConnectionWriter(videoCapacity: 3, clock: .monotonic, wakeUp: wakeUp)
      writer.open(ours)
      try writer.setVideoGrant(makeGrant(1), sending: [], peer: "test")
      let payload = TestPayload(noise(2 << 20))
      #expect(writer.submit(payload, to: .video, grantEpoch: 1, waits: false).result == .queued)
      #expect(writer.sentByteCount < 3 << 19)
      #expect(payload.outcomes.isEmpty && takeWakeUp())
      #expect(writer.write() == .idle)
      #expect(payload.outcomes == [true])
      withExtendedLifetime(theirs) {}
    }

    @Test func controlFramesAreBounded() throws {
      let frames = Array(repeating: [UInt8](repeating: 0, count: 1 << 20), count: 5)
      #expect(throws: LinkError.peerNotReading(address: "test", queuedByteCount: 4 << 20)) {
        try writer.send(frames.map { .frames($0) }, peer: "test")
      }
    }

    /// Nothing goes in clear under a grant for an encrypted service, nor encrypted under another.
    @Test(arguments: [true, false]) func protectionThatDoesNotFitTheGrant(isEncrypted: Bool) throws {
      var grant = makeGrant(1)
      grant.isEncrypted = isEncrypted
      let channel = isEncrypted ? nil : FakeChannel(isServer: true)
      try writer.setGrants([.init(medium: .video, grant: grant, channel: channel)], sending: [], peer: "test")
      let payload = submit(10)
      #expect(payload.outcomes == [false] && writer.sentByteCount == 0)
      #expect(writer.read(.video, \.statistics).discardedMessages == 1)
    }

    /// A connection that breaks while a service is about to end leaves nothing behind; another transport of the same
    /// session does not call the end off.
    @Test(arguments: ConnectionWriter.Medium.allCases) func endsAreThoseOfOneSession(medium: ConnectionWriter.Medium)
      throws
    {
      func offer(_ epoch: UInt32) throws -> SubmitResult {
        let grant = makeGrant(epoch, of: medium == .video ? .video : .audio)
        try writer.setGrants([.init(medium: medium, grant: grant)], sending: [], peer: "test")
        return writer.submit(TestPayload([1]), to: medium, grantEpoch: epoch, waits: false).result
      }
      writer.change(medium) { $0.isDraining = true }
      let (secondary, _) = try Socket.pair()
      writer.open(secondary, as: .secondary)
      #expect(try offer(1) == .ending)
      writer.close()
      let (next, _) = try Socket.pair()
      writer.open(next)
      #expect(try offer(2) == .queued)
    }

    /// What the peer has not acknowledged counts as if it waited, but only while media wait for that, on the same
    /// transport. The connection's thread may sleep, and has to look.
    @Test(arguments: ConnectionWriter.Medium.allCases, TransportRole.allCases)
    func waitingUntilAcknowledged(medium: ConnectionWriter.Medium, role: TransportRole) throws {
      let (secondary, other) = try Socket.pair()
      writer.open(secondary, as: .secondary)
      for role in TransportRole.allCases { try writer.send([.frames(heartbeat, on: role)], peer: "test") }
      for role in TransportRole.allCases { #expect(writer.write(role) == .idle) }
      var grant = makeGrant(1, of: medium == .video ? .video : .audio)
      grant.role = role
      try writer.setGrants([.init(medium: medium, grant: grant)], sending: [], peer: "test")
      let otherRole: TransportRole = role == .primary ? .secondary : .primary
      func isWaiting(_ role: TransportRole) -> Bool {
        writer.acknowledgedByteCount(role, onlyIfAwaited: true) != nil
      }
      #expect(!isWaiting(role) && writer.acknowledgedByteCount(role) != nil && !takeWakeUp())
      writer.setAwaitsAcknowledgement(true, medium)
      #expect(isWaiting(role) && !isWaiting(otherRole) && takeWakeUp())
      // For each picture or piece of sound, as long as that lasts.
      writer.setAwaitsAcknowledgement(true, medium)
      #expect(isWaiting(role) && !takeWakeUp())
      writer.setAwaitsAcknowledgement(false, medium)
      #expect(!isWaiting(role) && !takeWakeUp())
      writer.setAwaitsAcknowledgement(true, medium)
      for socket in [peer, other] { _ = socket.readAll { $0.count == heartbeat.count } }
      #expect(!isWaiting(role))
    }

    @Test func emptyPayloadIsDiscarded() throws {
      try setGrant(1)
      let payload = TestPayload([], cuts: [0])
      #expect(writer.submit(payload, to: .video, grantEpoch: 1, waits: false).result == .queued)
      #expect(payload.outcomes == [false])
      #expect(writer.read(.video, \.statistics).discardedMessages == 1)
      #expect(writeAll().isEmpty)
    }
  }
}

/// A payload of one byte that runs something when it is released.
private final class CallingPayload: MediaPayload {
  private let content = TestPayload([1])
  private let onRelease: @Sendable () -> Void
  let isKeyFrame = true
  let byteCount = 1
  let segmentCount = 1

  init(onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  func segment(at index: Int) -> UnsafeRawBufferPointer { content.segment(at: index) }
  func release(wasSent: Bool) { onRelease() }
}
