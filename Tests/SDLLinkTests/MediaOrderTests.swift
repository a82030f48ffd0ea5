import Glibc
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  /// Which frame goes when video, sound and control frames wait for the same socket.
  @Suite struct MediaOrderTests {
    private let writer: ConnectionWriter
    private let wakeUp: WakeUp
    private let peer: Socket
    private let heartbeat = Frame.control(.heartbeat, service: .control, version: 5, sessionID: 9).bytes

    init() throws {
      (writer, wakeUp, peer) = try makeWriter()
      try writer.setGrants(
        [
          .init(medium: .video, grant: makeGrant(1, maximumPayload: 4000)),
          .init(medium: .audio, grant: makeGrant(2, of: .audio)),
        ], sending: [], peer: "test")
    }

    private func submit(_ bytes: [UInt8], to medium: ConnectionWriter.Medium) -> TestPayload {
      let payload = TestPayload(bytes)
      let epoch: UInt32 = medium == .audio ? 2 : 1
      #expect(writer.submit(payload, to: medium, grantEpoch: epoch, waits: false).result == .queued)
      return payload
    }

    /// Writes all that is queued, and returns all frames since the socket was opened.
    private func drain() -> [Frame] {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      var status = writer.write()
      while true {
        if case .bytes(let count) = buffer.withUnsafeMutableBytes({ peer.receive(into: $0) }) {
          bytes += buffer[..<count]
        } else if status == .idle {
          break
        }
        writer.becameWritable()
        status = writer.write()
      }
      let (frames, rest) = decode(bytes)
      #expect(rest == 0, "no frame is cut by another")
      return frames
    }

    /// A picture of 100 frames has been begun when three pieces of sound come.
    @Test func soundGoesBetweenTheFramesOfAPicture() throws {
      let bytes = noise(400_000)
      let picture = submit(bytes, to: .video)
      let sound = (0..<3).map { noise(640, seed: $0) }
      let pieces = sound.map { submit($0, to: .audio) }
      try writer.send([.frames(heartbeat)], peer: "test")
      let frames = drain()
      let order = frames.map { "\($0.header.service)" }
      let first = try #require(order.firstIndex(of: "audio"))
      #expect(order.prefix(first).count { $0 == "video" } < 100, "in the middle of the picture")
      #expect(order[first - 1] == "control", "control frames go before it")
      #expect(order[first...].prefix(6) == ["audio", "video", "audio", "video", "audio", "video"], "video takes turns")
      #expect(frames.filter { $0.header.service == .audio }.map(\.payload) == sound)
      var assembler = MessageAssembler(maximumMessageSize: 1 << 20)
      let pictures = try frames.filter { $0.header.service == .video }
        .compactMap { try assembler.accept($0, now: .zero)?.payload }
      #expect(pictures == [bytes])
      #expect(([picture] + pieces).allSatisfy { $0.outcomes == [true] })
    }

    /// The numbers of the messages of both services never meet.
    @Test func messageIDs() {
      for size in [10, 10_000] {
        _ = submit(noise(size), to: .audio)
        _ = submit(noise(size), to: .video)
      }
      let ids = drain().map { ($0.header.service, $0.header.messageID) }
      #expect(Set(ids.filter { $0.0 == .audio }.map(\.1)) == [0x2000_0000, 0x2000_0001])
      #expect(Set(ids.filter { $0.0 == .video }.map(\.1)) == [0x4000_0000, 0x4000_0001])
    }

    /// The end of the sound's frame that was begun is written, and of the rest nothing; the picture arrives whole.
    @Test func theGrantOfOneServiceEnds() throws {
      let sound = submit(noise(200_000), to: .audio)
      let picture = submit(noise(20_000), to: .video)
      #expect(sound.outcomes == [] && writer.write() == .blocked)
      try writer.setGrants([.init(medium: .audio)], sending: [.frames(heartbeat)], peer: "test")
      #expect(sound.outcomes == [false])
      let frames = drain()
      let last = try #require(frames.lastIndex { $0.header.service == .audio })
      #expect(frames[last + 1].header.service == .control)
      #expect(frames[(last + 2)...].allSatisfy { $0.header.service == .video })
      #expect(picture.outcomes == [true])
      let late = TestPayload([1])
      #expect(writer.submit(late, to: .audio, grantEpoch: 2, waits: false).result == .closed)
    }
  }

  /// When the end of a service may be asked for.
  @Suite struct DrainTests {
    @Test func bytesOfTheOtherServiceDoNotCount() {
      var drain = Drain(deadline: .seconds(1))
      // 700 of the video are written after the first 1000.
      let answers = [(1000, 300), (1700, 701), (1700, 700)].map { (handed: UInt64, unacknowledged: UInt64) in
        drain.isDelivered(handed: handed, unacknowledged: unacknowledged)
      }
      #expect(answers == [false, false, true])
    }

    @Test func nothingIsUnderWay() {
      var drain = Drain(deadline: .seconds(1))
      let isDelivered = drain.isDelivered(handed: 1000, unacknowledged: 0)
      #expect(isDelivered)
    }
  }
}
