import Glibc
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLHeadUnitLink
@testable import SDLLink

extension LinkTests {
  /// What the kernel says about connections of this machine.
  @Suite struct LinkSampleTests {
    private let clock = ManualClock()
    private let writer: ConnectionWriter
    private let channel: MediaChannel

    init() throws {
      writer = ConnectionWriter(videoCapacity: 3, clock: TimeSource(clock), wakeUp: WakeUp())
      channel = MediaChannel(.video, writer: writer, thread: WorkerThread(name: "connection"))
    }

    private func send(_ byteCount: Int) throws {
      try writer.setVideoGrant(makeGrant(1, maximumPayload: 100_000), sending: [], peer: "test")
      #expect(channel.submit(TestPayload(noise(byteCount)), grantEpoch: 1, blocking: false) == .queued)
    }

    /// Waits until the kernel has heard from the peer what `condition` asks for.
    private func eventually(_ condition: (LinkSample) -> Bool) throws -> LinkSample {
      for _ in 0..<1000 {
        let sample = try #require(channel.linkSample())
        if condition(sample) { return sample }
        poll(nil, 0, 5)
      }
      Issue.record("never: \(String(describing: channel.linkSample()))")
      return try #require(channel.linkSample())
    }

    @Test func nothingWithoutAConnection() throws {
      #expect(channel.linkSample() == nil)
      let (ours, _) = try Socket.pair()
      writer.open(ours)
      #expect(channel.linkSample() != nil)
      writer.close()
      #expect(channel.linkSample() == nil)
    }

    @Test func acknowledgedOverTCP() throws {
      let (ours, theirs) = try tcpPair(isNarrow: true)
      writer.open(ours)
      clock.advance(by: .seconds(1))
      try send(1000)
      let sample = try eventually { $0.unacknowledgedByteCount == 0 }
      #expect(sample.time == clock.now)
      #expect(sample.handedByteCount == writer.sentByteCount)
      #expect(sample.handedByteCount > 1000)
      #expect(sample.unsentByteCount == 0)
      #expect(!sample.isBlocked)
      let roundTrip = try #require(sample.roundTrip)
      #expect(roundTrip.smoothed > .zero && roundTrip.smoothed < .seconds(1))
      #expect(roundTrip.minimum > .zero && roundTrip.minimum <= roundTrip.smoothed)
      _ = theirs
    }

    /// The peer's window is full: the rest is neither sent nor acknowledged, and soon the kernel takes no more.
    @Test func unsentOverTCP() throws {
      let (ours, theirs) = try tcpPair(isNarrow: true)
      writer.open(ours)
      try send(2_000_000)
      let sample = try eventually { ($0.unsentByteCount ?? 0) > 0 && $0.isBlocked }
      #expect((sample.unacknowledgedByteCount ?? 0) >= (sample.unsentByteCount ?? .max))
      #expect(sample.handedByteCount < 2_000_000)
      _ = theirs
    }

    /// The built-in head unit: the kernel knows what is not read, and no round trips.
    @Test func socketPair() throws {
      let (ours, theirs) = try Socket.pair()
      writer.open(ours)
      try send(1000)
      let before = try #require(channel.linkSample())
      #expect((before.unacknowledgedByteCount ?? 0) >= 1000)
      #expect(before.unsentByteCount == nil)
      #expect(before.roundTrip == nil)
      let handed = Int(before.handedByteCount)
      _ = theirs.readAll { $0.count >= handed }
      #expect(channel.linkSample()?.unacknowledgedByteCount == 0)
    }

    /// The numbers of another connection begin anew.
    @Test func everyConnectionCountsForItself() throws {
      let (first, peer) = try Socket.pair()
      writer.open(first)
      try send(1000)
      #expect((channel.linkSample()?.handedByteCount ?? 0) > 1000)
      writer.close()
      let (second, other) = try Socket.pair()
      writer.open(second)
      #expect(channel.linkSample()?.handedByteCount == 0)
      #expect(writer.sentByteCount > 1000)
      _ = (peer, other)
    }
  }
}
